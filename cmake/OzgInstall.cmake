# What is installed, and how others find it: pkg-config (ozgemm.pc) and CMake (find_package(ozgemm)).
#
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

install(FILES include/ozgemm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ozgemm EXPORT ozgemm-shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# A set of its own: only who links the static library needs threads and OpenMP, see the package file.
install(TARGETS ozgemm_static EXPORT ozgemm-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(OZG_BUILT_HOOKS)
    install(TARGETS ozgemm_blas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(OZG_BUILT_TOOL)
    install(TARGETS ozgemm_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(section 1 3 7)
    file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# Both files find their prefix from where they lie, so that an installed tree may be moved.
set(directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(OZG_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(OZG_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
else()
    file(RELATIVE_PATH up /${directory} /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(OZG_PC_PREFIX "\${pcfiledir}/${up}")
    set(OZG_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(OZG_PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
else()
    set(OZG_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(ozgemm.pc.in ozgemm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ozgemm.pc DESTINATION ${directory})

set(directory ${CMAKE_INSTALL_LIBDIR}/cmake/ozgemm)
install(EXPORT ozgemm-shared NAMESPACE ozgemm:: DESTINATION ${directory})
install(EXPORT ozgemm-static NAMESPACE ozgemm:: DESTINATION ${directory})
configure_package_config_file(cmake/ozgemmConfig.cmake.in ozgemmConfig.cmake INSTALL_DESTINATION ${directory})
write_basic_package_version_file(ozgemmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ozgemmConfig.cmake ${PROJECT_BINARY_DIR}/ozgemmConfigVersion.cmake
        DESTINATION ${directory})
