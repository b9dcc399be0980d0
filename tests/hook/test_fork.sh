# test_fork.sh - case C20: a child of fork() computes, whatever its parent did; Python's multiprocessing too.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
case ${OZG_SANITIZE:-} in *thread*) skip "the thread sanitizer forbids threads after fork()" ;; esac
build fork -fopenmp
for threads in 1 2 8; do
    preloaded env OMP_NUM_THREADS=$threads "$scratch/fork" >"$scratch/out" 2>&1 || {
        fail "$threads threads: exit status $?"
        tail -3 "$scratch/out"
    }
done
python=/usr/bin/python3
if ! $python -c 'import numpy' 2>/dev/null; then
    echo "NOTE: $python has no NumPy (Debian: python3-numpy); multiprocessing was not tried"
    finish
fi
cat >"$scratch/pool.py" <<'P'
import multiprocessing
import numpy

def product(n):
    a = numpy.full((n, n), 3.0)
    return bool(((a @ (a + 2)) == 15.0 * n).all())

if __name__ == "__main__":
    ok = [product(8), product(200)]
    with multiprocessing.get_context("fork").Pool(3) as pool:
        ok += pool.map(product, [8, 200] * 6, chunksize=1)
    ok += [product(8), product(200)]
    raise SystemExit(0 if all(ok) and len(ok) == 16 else 1)
P
preloaded $python "$scratch/pool.py" >"$scratch/out" 2>&1 || {
    fail "multiprocessing: exit status $?"
    tail -3 "$scratch/out"
}
finish
