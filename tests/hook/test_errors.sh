# test_errors.sh - wrong arguments reach the program's own xerbla_ and cblas_xerbla with netlib's numbers.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
run() {
    local what=$1
    shift
    build errors -rdynamic "$@"
    preloaded "$scratch/errors" >"$scratch/out" 2>"$scratch/err" || { fail "$what"; cat "$scratch/out"; }
}
run "plain handlers"
run "a handler that knows RowMajorStrg, as netlib's testers have" -DNETLIB_HANDLER
run "xerbla_ only" -DNO_CBLAS_HANDLER
run "no handler" -DNO_HANDLER
grep -q '^libozgemm_blas: argument 8 of DGEMM ' "$scratch/err" || fail "no message for lda of DGEMM"
grep -q '^libozgemm_blas: argument 9 of cblas_zgemm ' "$scratch/err" || fail "no message for cblas_zgemm"

# With the reference BLAS behind us: its RowMajorStrg exists, its handlers do not count.
reference=$(ls /usr/lib/*/blas/libblas.so.3 2>/dev/null | head -1)
if [ -n "$reference" ]; then
    run "plain handlers before the reference BLAS" "$reference"
    run "netlib's handlers before the reference BLAS" -DNETLIB_HANDLER "$reference"
else
    echo "NOTE: no reference BLAS here (Debian: libblas3); its RowMajorStrg was not tried"
fi
finish
