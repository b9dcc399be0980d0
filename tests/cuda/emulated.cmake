# The CUDA kernels for the processor, and a driver that runs them so. Included by tests/CMakeLists.txt if a
# C++ compiler is there; tests say "with: ozg_cuda_emulated" or "with: ozg_fake_cuda".
#
#   ozg_cuda_emulated   objects: every src/cuda/*.cu as C++, and what runs them (emulate.h). No C++ library is
#                       needed.
#   ozg_fake_cuda       the same behind the CUDA driver API (fake_driver.h), a shared library to be opened by
#                       name; with it comes a stand-in for cuBLAS (../tool/fake_cublas.c)
#
# SPDX-License-Identifier: MIT
file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
file(GLOB emulation CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/emulate*.cpp)

# .cu is no name of C++ for most compilers: CMake says it by -x c++.
set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX)
# Matrix instructions are long loops: with -O3 the emulated products take 0.4 of the time.
file(GLOB products CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/product_*.cu)
set_source_files_properties(${products} ${emulation} PROPERTIES COMPILE_OPTIONS -O3)
add_library(ozg_cuda_emulated OBJECT ${kernels} ${emulation})
file(GLOB driver CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fake*.cpp)
add_library(ozg_fake_cuda SHARED ${driver} $<TARGET_OBJECTS:ozg_cuda_emulated>)
foreach(target ozg_cuda_emulated ozg_fake_cuda)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON
                                               POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
    # Kernels look at one object as several types, as nvcc allows. -O2 in every build: emulation is slow.
    # Of -Wmaybe-uninitialized and -Warray-bounds gcc guesses; sanitizers look.
    target_compile_options(${target} PRIVATE -O2 -g -ffp-contract=off -fno-strict-aliasing -fno-exceptions
                                             -fno-rtti -Wall -Wextra -Wno-unknown-pragmas
                                             -Wno-array-bounds
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    if(OZG_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(OZG_SANITIZE MATCHES thread) # it does not know fibers
        target_compile_options(${target} PRIVATE -fno-sanitize=thread)
    endif()
    if(OZG_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang) # it needs the C++ library
        target_compile_options(${target} PRIVATE -fno-sanitize=function)
    endif()
    target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_LIST_DIR}
                                         PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
endforeach()
target_compile_definitions(ozg_cuda_emulated PRIVATE OZG_EMULATED)
target_link_libraries(ozg_cuda_emulated PUBLIC Threads::Threads m)
target_link_libraries(ozg_fake_cuda PRIVATE Threads::Threads m)
target_compile_definitions(ozg_fake_cuda INTERFACE "OZG_FAKE_CUDA=\"$<TARGET_FILE:ozg_fake_cuda>\"")

foreach(which cublas cublas_none) # none: it gives no handles
    add_library(ozg_fake_${which} SHARED ${CMAKE_CURRENT_LIST_DIR}/../tool/fake_cublas.c)
    set_target_properties(ozg_fake_${which} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    target_link_libraries(ozg_fake_${which} PRIVATE ${CMAKE_DL_LIBS})
    string(TOUPPER ${which} upper)
    target_compile_definitions(ozg_fake_cuda INTERFACE "OZG_FAKE_${upper}=\"$<TARGET_FILE:ozg_fake_${which}>\"")
    add_dependencies(ozg_fake_cuda ozg_fake_${which})
endforeach()
target_compile_definitions(ozg_fake_cublas_none PRIVATE NO_CREATE)
