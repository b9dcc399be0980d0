# test_integers.sh - case C09: 32-bit and 64-bit integer BLAS in one process do not touch each other.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
build_provider "$scratch/libprovider.so" libprovider.so
build integers "$scratch/libprovider.so" -Wl,-rpath,"$scratch"
preloaded "$scratch/integers" || fail "integers"
finish
