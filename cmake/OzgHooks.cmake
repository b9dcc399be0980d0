# libozgemm_blas.so: BLAS entries for LD_PRELOAD. One file that needs no second one: the library is inside, hidden.
# Its SONAME is its own and never libblas.so.3: a preloaded file of that name would keep the real BLAS from being loaded.
# The map is anonymous: with a named version node, programs that ask for a versioned symbol would pass it by.
#
# SPDX-License-Identifier: MIT
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hooks/*.c)
set(OZG_BUILT_HOOKS 0)
if(sources)
    set(OZG_BUILT_HOOKS 1)
    add_library(ozgemm_blas SHARED ${sources})
    ozg_compile_rules(ozgemm_blas)
    target_include_directories(ozgemm_blas PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(ozgemm_blas PRIVATE ozgemm_static ${OZG_CORE_LIBRARIES} ${CMAKE_DL_LIBS})
    set_target_properties(ozgemm_blas PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${OZG_ABI})
    ozg_export_map(ozgemm_blas ${PROJECT_SOURCE_DIR}/hooks/blas.map)
endif()
