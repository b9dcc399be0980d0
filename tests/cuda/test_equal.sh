#!/bin/bash
# test_equal.sh - products on an emulated device of either kind have the bits of the CPU: some (prog_equal.c).
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
    "$program" --driver "$driver" --capability $capability --quick \
        --group kernels --group types --group scalars --group transposes --group complex || exit 1
done
