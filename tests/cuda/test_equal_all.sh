#!/bin/bash
# test_equal_all.sh - the same for all groups of prog_equal.c, with threads in another order, other data, and other
# bytes in memory that nobody wrote.
# ctest: full
#
# SPDX-License-Identifier: MIT
set -u
driver=$OZG_BUILD_DIR/tests/libozg_fake_cuda.so
program=$OZG_BUILD_DIR/tests/cuda/prog_equal
if [ ! -e "$driver" ]; then
    echo "there is no emulated driver: no C++ compiler"
    exit 77
fi
for capability in 80 90; do
    "$program" --driver "$driver" --capability $capability --order $capability --seed $capability \
        --fresh $((capability + 37)) --quick ||
        exit 1
done
