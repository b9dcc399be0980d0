#!/bin/bash
# with: ozg_emulator
# test_processors.sh - an emulated processor that lacks instructions runs the kernels that need none of them, and
# gives the same bits: an instruction that it lacks would end the program.
#
# SPDX-License-Identifier: MIT
set -euo pipefail

# The kernels that a test announces on this processor, in one line.
kernels() {
    $OZG_EMULATOR "$OZG_BUILD_DIR/tests/kernels/test_round" | sed -n 's/^kernel //p' | tr '\n' ' '
}

# check PROCESSOR KERNELS
check() {
    local actual
    export QEMU_CPU=$1
    actual=$(kernels)
    if [ "$actual" != "$2 " ]; then
        echo "$1: kernels $actual, not $2" >&2
        exit 1
    fi
}

check max "neoni8mm neondot ref" # as in the other tests
for processor in "neoverse-n1 neondot ref" "cortex-a72 ref"; do
    check "${processor%% *}" "${processor#* }"
    $OZG_EMULATOR "$OZG_BUILD_DIR/tests/equal/test_golden"
done
