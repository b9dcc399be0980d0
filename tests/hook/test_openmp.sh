# test_openmp.sh - case C19: small products in OpenMP loops and in POSIX threads, over many process starts.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
case ${OZG_SANITIZE:-} in
*thread*) skip "the thread sanitizer does not know the barriers of this OpenMP runtime" ;;
esac
build openmp -fopenmp
for start in 1 2 3 4 5 6 7 8; do
    for threads in 1 4 64; do
        for nested in 0 1; do
            preloaded env OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive "$scratch/openmp" $nested \
                >"$scratch/out" 2>&1 || {
                fail "start $start, $threads threads, nested $nested: exit status $?"
                tail -3 "$scratch/out"
            }
            [ $failures -lt 5 ] || finish
        done
    done
done
finish
