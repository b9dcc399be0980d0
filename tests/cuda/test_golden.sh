#!/bin/bash
# test_golden.sh - products on an emulated device of capability 9.0, by both kernels, have the hashes of
# tests/golden/products.txt (prog_golden.c): one in five.
# ctest: full
#
# SPDX-License-Identifier: MIT
set -u
driver=$OZG_BUILD_DIR/tests/libozg_fake_cuda.so
program=$OZG_BUILD_DIR/tests/cuda/prog_golden
if [ ! -e "$driver" ]; then
    echo "there is no emulated driver: no C++ compiler"
    exit 77
fi
"$program" --driver "$driver" --capability 90 --every 5
