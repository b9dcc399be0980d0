# The command ozgemm. It is linked with the static library, so that one copied file works.
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
        add_executable(ozgemm_tool ${sources})
        ozg_compile_rules(ozgemm_tool)
        set_target_properties(ozgemm_tool PROPERTIES OUTPUT_NAME ozgemm)
        target_compile_definitions(ozgemm_tool PRIVATE OZG_HAVE_FLINT=${OZG_HAVE_EXACT})
        target_link_libraries(ozgemm_tool PRIVATE ozgemm_static ozg::HDF5 ozg::JANSSON Threads::Threads m
                                                  ${OZG_EXACT_LIBRARIES} ${CMAKE_DL_LIBS})
        if(NOT OZG_HAVE_EXACT)
            ozg_missing("FLINT, MPFR or GMP (libflint-dev libmpfr-dev libgmp-dev)"
                        "ozgemm accuracy has no exact reference and says so")
        endif()
    endif()
endif()
