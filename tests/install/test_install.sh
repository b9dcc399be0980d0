#!/bin/bash
# ctest: full
# test_install.sh - what an outsider meets: the installed tree, its two packages, the source as a subdirectory,
# the exported names, the header alone, and a build by one plain cc line.
#
# SPDX-License-Identifier: MIT
set -euo pipefail

if [ -n "$OZG_SANITIZE" ]; then
    echo "a sanitized library cannot be linked by a plain consumer"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
here=$OZG_SOURCE_DIR/tests/install
failures=0

part() {
    echo "---- $*"
}
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# try TEXT COMMAND...: a failure is counted, the other parts still run
try() {
    local text=$1
    shift
    "$@" || fail "$text: $*"
}
# same_names TEXT EXPECTED FOUND
same_names() {
    diff "$2" "$3" >"$folder/diff" || fail "$1 (< expected, > found): $(tr '\n' ' ' <"$folder/diff")"
}
# exported FILE: the names of functions and data that a shared library offers, without versions
exported() {
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u
}

part "install into a prefix, then move it"
cmake --install "$OZG_BUILD_DIR" --prefix "$folder/first" >"$folder/install.log" || fail "cmake --install"
mv "$folder/first" "$prefix"
lib=$(dirname "$(find "$prefix" -name libozgemm.so)")
for file in include/ozgemm.h bin/ozgemm; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
for file in libozgemm.so.0 libozgemm.a libozgemm_blas.so.0 pkgconfig/ozgemm.pc cmake/ozgemm/ozgemmConfig.cmake; do
    [ -e "$lib/$file" ] || fail "lib/$file is not installed"
done
for page in "$OZG_SOURCE_DIR"/man/*.[137]; do
    [ ! -e "$page" ] || [ -e "$prefix/share/man/man${page##*.}/${page##*/}" ] || fail "${page##*/} is not installed"
done
try "the installed command starts" "$prefix/bin/ozgemm" --help >"$folder/help"

part "consumer by pkg-config, shared and static"
export PKG_CONFIG_PATH=$lib/pkgconfig
words() {
    pkg-config "$@" ozgemm
}
# shellcheck disable=SC2046 # the flags are words
try "compile" "$OZG_CC" -std=c11 "$here/consumer.c" -o "$folder/shared" $(words --cflags --libs)
try "run" env LD_LIBRARY_PATH="$lib" "$folder/shared"
# shellcheck disable=SC2046
try "compile" "$OZG_CC" -std=c11 "$here/consumer.c" -o "$folder/static" $(words --cflags) "$lib/libozgemm.a" \
    $(words --static --libs-only-l --libs-only-other | sed 's/-lozgemm//')
try "run" "$folder/static"
[ "$(words --modversion)" = "$("$folder/static" | sed 's/version \(.*\): right/\1/')" ] ||
    fail "ozgemm.pc and ozg_version() differ"

part "consumer by find_package and by add_subdirectory"
# cmake_consumer NAME OPTION...: configure, build, run both programs
cmake_consumer() {
    local name=$1
    shift
    cmake -S "$here" -B "$folder/$name" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$OZG_CC" "$@" &&
        cmake --build "$folder/$name" -j 2 && "$folder/$name/with_shared" && "$folder/$name/with_static"
}
for name in package subdirectory; do
    case $name in
    package) option=-DCMAKE_PREFIX_PATH=$prefix ;;
    *) option=-DOZG_SOURCE=$OZG_SOURCE_DIR ;;
    esac
    cmake_consumer $name "$option" >"$folder/log" 2>&1 || fail "$name: $(tail -n 30 "$folder/log")"
done

part "the header alone, as C11 and as C++17"
warnings="-Wall -Wextra -Werror -pedantic -fsyntax-only"
echo '#include <ozgemm.h>' | tee "$folder/alone.c" >"$folder/alone.cpp"
# shellcheck disable=SC2086 # the warnings are words
try "C11" "$OZG_CC" -std=c11 $warnings -I"$prefix/include" "$folder/alone.c"
# shellcheck disable=SC2086
try "C++17" c++ -std=c++17 $warnings -I"$prefix/include" "$folder/alone.cpp"

part "exported names: header, map and shared library agree"
grep -o '^OZG_API [^(]*(' "$prefix/include/ozgemm.h" | sed 's/.*[ *]\(ozg_[a-z0-9_]*\)($/\1/' | sort >"$folder/header"
sed -n 's/^ *\(ozg_[a-z0-9_]*\);$/\1/p' "$OZG_SOURCE_DIR/src/ozgemm.map" | sort >"$folder/map"
exported "$lib/libozgemm.so" >"$folder/library"
[ "$(wc -l <"$folder/header")" -ge 20 ] || fail "the header was not understood"
same_names "map and header" "$folder/header" "$folder/map"
same_names "shared library and header" "$folder/header" "$folder/library"
[ "$(nm -D --defined-only "$lib/libozgemm.so" | grep -c 'ozg_.*@@OZGEMM_0$')" = "$(wc -l <"$folder/header")" ] ||
    fail "not all names have the version OZGEMM_0"
soname() {
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}
[ "$(soname "$lib/libozgemm.so")" = libozgemm.so.0 ] || fail "SONAME $(soname "$lib/libozgemm.so")"

part "the drop-in: BLAS names without a version, nothing of its own"
drop=$lib/libozgemm_blas.so
exported "$drop" >"$folder/drop"
for name in sgemm_ dgemm_ cgemm_ zgemm_ cblas_dgemm; do
    grep -qx "$name" "$folder/drop" || fail "$drop does not export $name"
done
! grep -E '^(ozg_|xerbla|cblas_xerbla)' "$folder/drop" || fail "the drop-in exports names it must not have"
! nm -D --defined-only "$drop" | grep '@' || fail "the drop-in has versioned names"
[ "$(soname "$drop")" = libozgemm_blas.so.0 ] || fail "SONAME $(soname "$drop")"
! readelf -d "$drop" | grep -E 'NEEDED.*(libozgemm|blas)' || fail "the drop-in needs a second library"

part "the core by one plain cc line, without OpenMP"
cd "$OZG_SOURCE_DIR"
try "one cc line" "$OZG_CC" -std=c11 -O2 -Iinclude -Isrc src/*.c src/cpu/*.c src/cpu/x86/*.c src/cpu/arm/*.c src/cuda/*.c \
    tests/install/consumer.c -o "$folder/plain" -lm -lpthread -ldl
try "run" "$folder/plain"

echo "$failures failures"
[ "$failures" -eq 0 ]
