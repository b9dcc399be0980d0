# The rules that every target obeys, and functions that make programs from single source files.
#
# SPDX-License-Identifier: MIT

if(OZG_SANITIZE)
    # For everything, so that no object is left out. A finding ends the program: a test must fail.
    add_compile_options(-fsanitize=${OZG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${OZG_SANITIZE})
endif()

# ozg_compile_rules(TARGET): strict C11, all warnings, and floating point as written: a contracted a*b + c has one
# rounding instead of two, which would change results from one machine to the next.
function(ozg_compile_rules target)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow
                                             -Wstrict-prototypes -Wmissing-prototypes)
    if(OZG_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(NOT OZG_HAVE_OPENMP)
        target_compile_options(${target} PRIVATE -Wno-unknown-pragmas) # "#pragma omp" is then meant to be ignored
    endif()
endfunction()

# ozg_export_map(TARGET MAP): export what the map says and nothing else, and leave nothing undefined.
function(ozg_export_map target map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${map})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
    if(NOT OZG_SANITIZE) # a sanitizer's own functions come from the program
        target_link_options(${target} PRIVATE -Wl,-z,defs)
    endif()
endfunction()

# ozg_head_word(VARIABLE SOURCE KEY): the rest of the line "KEY: ..." in the first comment of a file, else "".
# Sources say in their first five lines what is special about them: "ctest: full", "link: -lblas".
function(ozg_head_word variable source key)
    set(${variable} "" PARENT_SCOPE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines LIMIT_INPUT 1000)
    list(SUBLIST lines 0 5 lines)
    foreach(line IN LISTS lines)
        if(line MATCHES "^[/* #]*${key}: *([^*]*[^* ])")
            set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# ozg_add_program(TARGET SOURCE [LIBRARY...]): one executable from one file, linked with the static library, so that
# the internals can be reached. assert() stays on, whatever the build type.
function(ozg_add_program target source)
    add_executable(${target} ${source})
    ozg_compile_rules(${target})
    target_compile_options(${target} PRIVATE -UNDEBUG)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    ozg_head_word(options ${source} link)
    separate_arguments(options UNIX_COMMAND "${options}")
    target_link_libraries(${target} PRIVATE ${ARGN} ozgemm_static m ${CMAKE_DL_LIBS} ${options})
endfunction()

# ozg_add_folder(FOLDER): a program from each file of a folder. A file with a header of its own is no program.
function(ozg_add_folder folder)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/${name}.h)
            continue()
        endif()
        ozg_add_program(${folder}_${name} ${source})
        set_target_properties(${folder}_${name} PROPERTIES
                              OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    endforeach()
endfunction()
