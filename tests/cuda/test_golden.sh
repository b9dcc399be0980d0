#!/bin/bash
# test_golden.sh - products on an emulated device of either kind have the hashes of tests/golden/products.txt
# (prog_golden.c): one in five.
#
# SPDX-License-Identifier: MIT
set -u
driver=$OZG_BUILD_DIR/tests/libozg_fake_cuda.so
program=$OZG_BUILD_DIR/tests/cuda/prog_golden
if [ ! -e "$driver" ]; then
    echo "there is no emulated driver: no C++ compiler"
    exit 77
fi
for capability in 80 90; do
    "$program" --driver "$driver" --capability $capability --every 5 || exit 1
done
