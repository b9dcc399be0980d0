# Cross build for 64-bit Arm, whose programs run here under qemu-aarch64 (preset aarch64).
#
# Compiler and emulator are packages of this machine (scripts/deps test), and the tests' libraries, unpacked from arm64
# packages, lie in build/aarch64-root (scripts/deps, too).
#
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

get_filename_component(OZG_AARCH64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${OZG_AARCH64_ROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# pkg-config would name the libraries of this machine
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig ON)
set(CMAKE_SKIP_BUILD_RPATH ON)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link=${OZG_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${OZG_AARCH64_ROOT})
