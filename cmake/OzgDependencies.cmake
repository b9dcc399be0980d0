# What the build found. Each OZG_HAVE_... is 1 or 0; ozg_missing() collects what a build without it lacks.
#
# SPDX-License-Identifier: MIT
set(OZG_MISSING "")

# ozg_missing(WHAT CONSEQUENCE): shown at the end of the configuration; an error if OZG_STRICT is on.
function(ozg_missing what consequence)
    if(OZG_STRICT)
        message(FATAL_ERROR "${what} is missing: install it (scripts/deps test), or set OZG_STRICT=OFF: ${consequence}.")
    endif()
    set(OZG_MISSING ${OZG_MISSING} "${what}: ${consequence}" PARENT_SCOPE)
endfunction()

find_package(PkgConfig)

# ozg_find(NAME MODULE HEADER LIBRARY): by pkg-config, else by header and library; makes the target ozg::NAME.
function(ozg_find name module header library)
    set(OZG_HAVE_${name} 0 PARENT_SCOPE)
    if(PkgConfig_FOUND)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
        if(${name}_FOUND)
            add_library(ozg::${name} ALIAS PkgConfig::${name})
            set(OZG_HAVE_${name} 1 PARENT_SCOPE)
            return()
        endif()
    endif()
    find_path(OZG_${name}_INCLUDE ${header})
    find_library(OZG_${name}_LIBRARY ${library})
    mark_as_advanced(OZG_${name}_INCLUDE OZG_${name}_LIBRARY)
    if(OZG_${name}_INCLUDE AND OZG_${name}_LIBRARY)
        add_library(ozg::${name} UNKNOWN IMPORTED)
        set_target_properties(ozg::${name} PROPERTIES IMPORTED_LOCATION ${OZG_${name}_LIBRARY}
                                                      INTERFACE_INCLUDE_DIRECTORIES ${OZG_${name}_INCLUDE})
        set(OZG_HAVE_${name} 1 PARENT_SCOPE)
    endif()
endfunction()

# ---- the core: libc, libm, threads, and OpenMP if there ------------------------------------------------------
set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)
set(OZG_CORE_LIBRARIES Threads::Threads m)
set(OZG_LIBS_PRIVATE "-lm -lpthread")
set(OZG_HAVE_OPENMP 0)
if(OZG_OPENMP)
    find_package(OpenMP QUIET COMPONENTS C)
    if(OpenMP_C_FOUND)
        set(OZG_HAVE_OPENMP 1)
        list(PREPEND OZG_CORE_LIBRARIES OpenMP::OpenMP_C)
        if("gomp" IN_LIST OpenMP_C_LIB_NAMES)
            string(PREPEND OZG_LIBS_PRIVATE "-lgomp ")
        elseif(OpenMP_omp_LIBRARY)
            string(PREPEND OZG_LIBS_PRIVATE "${OpenMP_omp_LIBRARY} ")
        endif()
    else()
        ozg_missing("OpenMP for ${CMAKE_C_COMPILER}" "the library computes with one thread")
    endif()
endif()

# ---- the tool and the tests ---------------------------------------------------------------------------------
if(OZG_TOOLS OR OZG_TESTS OR OZG_EXAMPLES)
    ozg_find(HDF5 hdf5 hdf5.h hdf5)
    ozg_find(JANSSON jansson jansson.h jansson)
    ozg_find(GMP gmp gmp.h gmp)
    ozg_find(MPFR mpfr mpfr.h mpfr)
    ozg_find(FLINT flint flint/fmpz_mat.h flint)
    ozg_find(CMOCKA cmocka cmocka.h cmocka)
    set(OZG_HAVE_EXACT 0) # all that an exact reference needs
    if(OZG_HAVE_GMP AND OZG_HAVE_MPFR AND OZG_HAVE_FLINT)
        set(OZG_HAVE_EXACT 1)
        set(OZG_EXACT_LIBRARIES ozg::FLINT ozg::MPFR ozg::GMP)
    endif()
endif()
