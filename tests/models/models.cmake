# The micro-kernels on models of their instructions. Included by tests/CMakeLists.txt; tests say
# "with: ozg_models".
#
#   ozg_models_x86, ozg_models_arm   src/cpu/x86/product_*.c and src/cpu/arm/product_*.c with shadow/*.h in place
#                                    of the compiler's <immintrin.h> and <arm_neon.h>
#   ozg_models                       these, the models and the list of kernels
#
# SPDX-License-Identifier: MIT
set(models "")
foreach(family x86 arm)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/${family}/product_*.c)
    if(sources)
        add_library(ozg_models_${family} STATIC ${sources})
        ozg_compile_rules(ozg_models_${family})
        # -O2 in every build: models are slow.
        target_compile_options(ozg_models_${family} PRIVATE -O2 -include ${CMAKE_CURRENT_LIST_DIR}/as_${family}.h)
        target_include_directories(ozg_models_${family} BEFORE PRIVATE ${CMAKE_CURRENT_LIST_DIR}/shadow)
        list(APPEND models ozg_models_${family})
    endif()
endforeach()
add_library(ozg_models STATIC ${CMAKE_CURRENT_LIST_DIR}/kernels.c ${CMAKE_CURRENT_LIST_DIR}/x86.c)
ozg_compile_rules(ozg_models)
target_compile_options(ozg_models PRIVATE -O2)
foreach(library ${models} ozg_models)
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_SOURCE_DIR}/src)
endforeach()
target_include_directories(ozg_models INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(ozg_models PUBLIC ${models} ozgemm_static)
if(TARGET ozg_models_x86)
    target_link_libraries(ozg_models_x86 INTERFACE ozg_models) # the tiles
endif()
