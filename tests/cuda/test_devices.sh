#!/bin/bash
# test_devices.sh - contexts on two emulated devices, and on two streams, at once (prog_devices.c).
#
# SPDX-License-Identifier: MIT
set -u
driver=$OZG_BUILD_DIR/tests/libozg_fake_cuda.so
program=$OZG_BUILD_DIR/tests/cuda/prog_devices
if [ ! -e "$driver" ]; then
    echo "there is no emulated driver: no C++ compiler"
    exit 77
fi
for capability in 80 90; do
    "$program" --driver "$driver" --capability $capability --quick || exit 1
done
