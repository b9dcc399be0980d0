# The CUDA kernels: each src/cuda/*.cu becomes one fat binary (machine code for sm_80 and sm_90a, PTX of compute_80 for
# later devices), and all of them a part of the library, in the list ozg_cuda_embedded that src/cuda/images.c offers.
# Without nvcc the library has no kernels, and its CUDA backend answers OZG_E_NODEVICE. Nothing of CUDA is linked.
#
#   OZG_NVCC    the compiler; found in PATH and the usual places, or -DOZG_NVCC=/path/to/nvcc
#
# -fmad=false: bounds of a report are proven rounding by rounding (doc/numerics.md); kernels ask for fma by name.
#
# SPDX-License-Identifier: MIT
file(GLOB OZG_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
set(OZG_HAVE_NVCC 0)
set(OZG_CUDA_TEXT "NO (there is no nvcc: the CUDA backend answers OZG_E_NODEVICE)")
set(OZG_CUDA_FLAGS -std=c++17 -O3 -fmad=false -gencode=arch=compute_80,code=[sm_80,compute_80]
                   -gencode=arch=compute_90a,code=sm_90a)

# ozg_nvcc_works(): sets OZG_NVCC_WORKS; it needs CUDA 12.0 and a host compiler that it knows.
function(ozg_nvcc_works)
    set(folder ${PROJECT_BINARY_DIR}/cuda)
    file(WRITE ${folder}/try.cu "extern \"C\" __global__ void ozg_try(const __grid_constant__ int a)\n{\n}\n")
    execute_process(COMMAND ${OZG_NVCC} ${OZG_CUDA_FLAGS} -fatbin -o ${folder}/try.fatbin ${folder}/try.cu
                    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    set(works 1)
    if(NOT status EQUAL 0)
        set(works 0)
        message(STATUS "${OZG_NVCC}: ${output}")
    endif()
    set(OZG_NVCC_WORKS ${works} CACHE INTERNAL "${OZG_NVCC} compiles for all devices")
    set(OZG_NVCC_TRIED ${OZG_NVCC} CACHE INTERNAL "")
endfunction()

if(OZG_CUDA AND OZG_CUDA_SOURCES)
    find_program(OZG_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin
                 DOC "nvcc, for the CUDA kernels")
    if(OZG_NVCC AND NOT OZG_NVCC STREQUAL "${OZG_NVCC_TRIED}")
        ozg_nvcc_works()
    endif()
    if(OZG_NVCC AND OZG_NVCC_WORKS)
        set(OZG_HAVE_NVCC 1)
        set(OZG_CUDA_TEXT "sm_80, sm_90a, PTX (${OZG_NVCC})")
    elseif(OZG_NVCC)
        set(OZG_CUDA_TEXT "NO (${OZG_NVCC} does not compile for sm_80 and sm_90a: the CUDA backend answers OZG_E_NODEVICE)")
    endif()
endif()

# ozg_embed_kernels(TARGET): compiles them and adds them to a target of C. An assembler's .incbin: no big C array.
function(ozg_embed_kernels target)
    set(folder ${PROJECT_BINARY_DIR}/cuda)
    set(blobs "")
    set(entries "")
    set(binaries "")
    foreach(source ${OZG_CUDA_SOURCES})
        get_filename_component(name ${source} NAME_WE)
        set(binary ${folder}/${name}.fatbin)
        add_custom_command(OUTPUT ${binary} DEPFILE ${binary}.d DEPENDS ${source} VERBATIM
                           COMMAND ${OZG_NVCC} ${OZG_CUDA_FLAGS} -I${PROJECT_SOURCE_DIR}/include
                                   -I${PROJECT_SOURCE_DIR}/src -MD -MF ${binary}.d -fatbin -o ${binary} ${source}
                           COMMENT "CUDA kernels of ${name}.cu")
        list(APPEND binaries ${binary})
        string(APPEND blobs "BLOB(${name}, \"${binary}\")\n")
        string(APPEND entries "    {\"${name}\", ozg_cuda_blob_${name}},\n")
    endforeach()
    set(file ${folder}/embedded.c)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[/* Made by cmake/OzgCuda.cmake. SPDX-License-Identifier: MIT */
#include "cuda/device.h"

#define BLOB(name, file)                                                                                     \
    extern const unsigned char ozg_cuda_blob_##name[];                                                       \
    __asm__(".pushsection .rodata\n.balign 64\n.hidden ozg_cuda_blob_" #name "\n.globl ozg_cuda_blob_" #name \
            "\nozg_cuda_blob_" #name ":\n.incbin \"" file "\"\n.popsection");

@blobs@
extern const ozg_cuda_image ozg_cuda_embedded[];
const ozg_cuda_image ozg_cuda_embedded[] = {
@entries@    {NULL, NULL},
};
]])
    set_source_files_properties(${file} PROPERTIES OBJECT_DEPENDS "${binaries}")
    target_sources(${target} PRIVATE ${file})
    target_compile_definitions(${target} PRIVATE OZG_CUDA_EMBEDDED=1)
endfunction()
