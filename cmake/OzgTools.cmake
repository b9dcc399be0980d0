# The command ozgemm. It is linked with the static library, so that one copied file works. All of it but main() is a
# library of its own, ozgemm_tool_parts, which tests may link.
#
# SPDX-License-Identifier: MIT
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.c)
set(OZG_BUILT_TOOL 0)
if(sources)
    if(NOT OZG_HAVE_HDF5)
        ozg_missing("HDF5 (libhdf5-dev; pkg-config finds it)" "the command ozgemm is not built")
    elseif(NOT OZG_HAVE_JANSSON)
        ozg_missing("jansson (libjansson-dev)" "the command ozgemm is not built")
    else()
        set(OZG_BUILT_TOOL 1)
        list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/tools/ozgemm.c)
        add_library(ozgemm_tool_parts STATIC ${sources} ${PROJECT_SOURCE_DIR}/bench/extended.c)
        add_executable(ozgemm_tool tools/ozgemm.c)
        ozg_compile_rules(ozgemm_tool_parts)
        ozg_compile_rules(ozgemm_tool)
        set_target_properties(ozgemm_tool PROPERTIES OUTPUT_NAME ozgemm)
        target_compile_definitions(ozgemm_tool_parts PRIVATE OZG_HAVE_FLINT=${OZG_HAVE_EXACT})
        target_include_directories(ozgemm_tool_parts INTERFACE ${PROJECT_SOURCE_DIR}/tools)
        target_link_libraries(ozgemm_tool_parts PUBLIC ozgemm_static ozg::HDF5 ozg::JANSSON ${OZG_CORE_LIBRARIES}
                                                       ${OZG_EXACT_LIBRARIES} ${CMAKE_DL_LIBS})
        target_link_libraries(ozgemm_tool PRIVATE ozgemm_tool_parts)
        if(NOT OZG_HAVE_EXACT)
            ozg_missing("FLINT, MPFR or GMP (libflint-dev libmpfr-dev libgmp-dev)"
                        "ozgemm accuracy and speed have no exact reference and say so")
        endif()
    endif()
endif()
