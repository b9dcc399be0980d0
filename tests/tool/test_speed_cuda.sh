#!/bin/bash
# test_speed_cuda.sh - "ozgemm speed --backend cuda" on stand-ins for the CUDA driver, cuBLAS and NVML.
#
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$OZG_BUILD_DIR/tests/tool/prog_speed
driver=$OZG_BUILD_DIR/tests/libozg_fake_cuda.so
if [ ! -x "$program" ] || [ ! -e "$driver" ]; then
    echo "SKIPPED: there is no $program or no $driver (libhdf5-dev, libjansson-dev or a C++ compiler missing?)"
    exit 77
fi
if ! python3 -c '' 2>/dev/null; then
    echo "SKIPPED: no python3 was found"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A folder for each cuBLAS and NVML, with the driver; LD_LIBRARY_PATH chooses one.
make_folder() { # NAME CUBLAS-FLAGS NVML-FLAGS; "-": no NVML
    mkdir "$folder/$1"
    ln -s "$driver" "$folder/$1/libcuda.so.1"
    compile "$here/fake_cublas.c" "$folder/$1/libcublas.so.13" $2
    [ "$3" = - ] || compile "$here/fake_nvml.c" "$folder/$1/libnvidia-ml.so.1" $3
}
compile() {
    local source=$1 output=$2
    shift 2
    "${OZG_CC:-cc}" -std=c11 -O2 -w -shared -fPIC -DNEED_STREAM "$@" "$source" -o "$output" -ldl
}
make_folder all "" ""
make_folder old "-DNO_EMULATION -DNO_INT8 -DNO_LONG" -DNO_FIND
make_folder none -DNO_CREATE -
make_folder broken -DNO_DGEMM -DNO_ENERGY
make_folder silent -DSILENT ""
make_folder flicker -DFLICKER ""
make_folder lazy2 -DLAZY=2 "" # calls 1: check, 2: burst, 3 to 5, 6 to 7: before and in the window of the sustained load
make_folder lazy3 -DLAZY=3 ""
make_folder failing1 -DFAILING=1 ""
make_folder failing5 -DFAILING=5 ""
for kind in 0 1 2; do
    make_folder "wrong$kind" "-DWRONG=1 -DWRONG_KIND=$kind" ""
    make_folder "late$kind" "-DWRONG=2 -DWRONG_KIND=$kind" ""
done
PYTHONDONTWRITEBYTECODE=1 python3 "$here/speed_cuda.py" "$program" "$folder"
