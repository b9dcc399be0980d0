#!/bin/bash
# test_golden_all.sh - the same for all products of that file, with threads in another order.
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
"$program" --driver "$driver" --capability 90 --order 5 --fresh 0
