# test_overlap.sh - case C11: an output that overlaps an input: as if the inputs had been copied first.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
build overlap
preloaded env OZG_LOG=1 "$scratch/overlap" >"$scratch/out" 2>&1 || { fail "overlap"; tail -5 "$scratch/out"; }
# 3 sizes, 2 betas, 5 positions, each in place and apart: all of them by the library itself.
grep -q 'emulated 60, passed on 0, empty 0, errors 0; dgemm_: emulated 60$' "$scratch/out" || {
    fail "60 emulated calls expected"
    tail -1 "$scratch/out"
}
finish
