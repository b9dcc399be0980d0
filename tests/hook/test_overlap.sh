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

# The same where the library refuses for want of memory, so that the next BLAS has to do it: 4 types,
# 3 interfaces, 4 shapes, 5 positions. What the next BLAS gets must not overlap any more.
$CC -std=c11 -Wall -Wextra -Werror -O1 -ffp-contract=off -fPIC -shared -o "$scratch/libloops.so" \
    "$here/loops.c" -lm || { echo "FAIL: loops.c does not compile"; exit 1; }
build refused "$scratch/libloops.so" -Wl,-rpath,"$scratch"
preloaded env OZG_LOG=1 OZG_MEMORY=1K "$scratch/refused" >"$scratch/out" 2>&1 || {
    fail "refused and passed on"
    tail -5 "$scratch/out"
}
grep -q 'emulated 0, passed on 240, empty 0, errors 0' "$scratch/out" || {
    fail "240 calls passed on expected"
    tail -1 "$scratch/out"
}
finish
