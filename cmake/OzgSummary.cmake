# The last words of the configuration: what is built, and loudly what is not.
#
# SPDX-License-Identifier: MIT
function(ozg_yes variable option built text)
    if(NOT ${option})
        set(${variable} "no (${option}=OFF)" PARENT_SCOPE)
    elseif(${built})
        set(${variable} "${text}" PARENT_SCOPE)
    else()
        set(${variable} "NO" PARENT_SCOPE)
    endif()
endfunction()
ozg_yes(openmp OZG_OPENMP OZG_HAVE_OPENMP "yes")
ozg_yes(cuda OZG_CUDA OZG_HAVE_NVCC "${OZG_CUDA_TEXT}")
if(OZG_CUDA AND NOT OZG_HAVE_NVCC)
    set(cuda "${OZG_CUDA_TEXT}")
endif()
ozg_yes(tool OZG_TOOLS OZG_BUILT_TOOL "ozgemm")
ozg_yes(hooks OZG_HOOKS OZG_BUILT_HOOKS "libozgemm_blas.so")
ozg_yes(tests OZG_TESTS OZG_BUILT_TESTS "${OZG_TEST_COUNT}")
ozg_yes(fuzzers OZG_FUZZ OZG_BUILT_FUZZERS "${OZG_BUILT_FUZZERS}")
if(OZG_SANITIZE)
    set(sanitize ", sanitizers ${OZG_SANITIZE}")
endif()
message(STATUS "
   ozgemm ${PROJECT_VERSION}
   compiler   ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}${sanitize}
   OpenMP     ${openmp}
   CUDA       ${cuda}
   tool       ${tool}
   drop-in    ${hooks}
   tests      ${tests}
   fuzzers    ${fuzzers}
   prefix     ${CMAKE_INSTALL_PREFIX}")
foreach(line IN LISTS OZG_MISSING)
    message(WARNING "MISSING ${line}.")
endforeach()
