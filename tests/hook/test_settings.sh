# test_settings.sh - case C32: the environment of the drop-in. A wrong value is one line and the default.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
build settings

# run SETTINGS... [-- ARGUMENT]: sets $error and $lines (what was printed on standard error)
run() {
    local words=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do words+=("$1"); shift; done
    [ $# -gt 0 ] && shift
    preloaded env "${words[@]}" "$scratch/settings" "$@" >"$scratch/out" 2>"$scratch/err" ||
        fail "${words[*]}: exit status $?"
    error=$(sed -n 's/^error //p' "$scratch/out")
    lines=$(wc -l <"$scratch/err")
}
# is LEAST MOST: the error of the product lies there
is() {
    awk -v e="$error" -v a="$1" -v b="$2" 'BEGIN { exit !(e != "" && e >= a && e <= b) }'
}
silent() {
    [ "$lines" = 0 ] || fail "$1: unexpected output: $(cat "$scratch/err")"
}

run
silent "no settings"
is 0 1e-14 || fail "no settings: error $error"

for value in '' auto 49 16; do
    run OZG_MODULI="$value"
    silent "OZG_MODULI=$value"
    is 0 1e-14 || fail "OZG_MODULI=$value: error $error"
done
for value in '' native rounded; do
    run OZG_ACCURACY="$value"
    silent "OZG_ACCURACY=$value"
    is 0 1e-14 || fail "OZG_ACCURACY=$value: error $error"
done
run OZG_MODULI=6
silent "OZG_MODULI=6"
is 1e-10 1e-3 || fail "OZG_MODULI=6 must be seen in the result: error $error"
run OZG_MODULI=6 -- unset
is 1e-10 1e-3 || fail "the environment is read once, at load: error $error"

wrong() {
    local name=${1%%=*}
    run "$1"
    [ "$lines" = 1 ] || fail "$1: $lines lines: $(cat "$scratch/err")"
    grep -q "^libozgemm_blas: $name=.* write .*; using .*\.$" "$scratch/err" ||
        fail "$1: $(cat "$scratch/err")"
    is 0 1e-14 || fail "$1: error $error"
}
for value in yes -1 15x 1e3 999 50 1 0 AUTO ' 15' 99999999999999999999; do
    wrong "OZG_MODULI=$value"
done
for value in yes 53 Native ' rounded'; do wrong "OZG_ACCURACY=$value"; done
for value in yes -1 0 4x 5000; do wrong "OZG_THREADS=$value"; done
for value in -1 0 K 1T 1MB 1.5G 99999999999999999999 99999999999G; do wrong "OZG_MEMORY=$value"; done
for value in none AVX2 a-name-that-is-too-long-for-any-kernel; do wrong "OZG_KERNEL=$value"; done
for value in yes 2 -1; do wrong "OZG_LOG=$value"; done

for value in OZG_THREADS=1 OZG_THREADS=4 OZG_MEMORY=64M OZG_MEMORY=1g OZG_MEMORY=500000K \
    OZG_MEMORY=100000000 OZG_KERNEL=ref OZG_LOG=0 OZG_THREADS= OZG_MEMORY= OZG_KERNEL= OZG_LOG=; do
    run "$value"
    silent "$value"
    is 0 1e-14 || fail "$value: error $error"
done

run OZG_LOG=1
[ "$lines" = 1 ] || fail "OZG_LOG=1: $lines lines"
counts='emulated 1, passed on 0, empty 0, errors 0; cblas_dgemm: emulated 1'
grep -Eq "^libozgemm_blas\[settings [0-9]+\]: $counts\$" "$scratch/err" ||
    fail "OZG_LOG=1: $(cat "$scratch/err")"

# No room for the smallest tile: the next BLAS does it, and the count and the reason say so.
cat >"$scratch/provider_cblas.c" <<'C'
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc)
{
    (void)o, (void)ta, (void)tb, (void)beta;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            c[i * ldc + j] = 0;
            for (int p = 0; p < k; p++)
                c[i * ldc + j] += alpha * a[i * lda + p] * b[p * ldb + j];
        }
}
C
mkdir "$scratch/next"
$CC -shared -fPIC -O1 -Wl,-soname,libblas.so.3 -o "$scratch/next/libblas.so.3" "$scratch/provider_cblas.c" ||
    fail "provider_cblas.c does not compile"
run OZG_MEMORY=1 OZG_LOG=1 LD_LIBRARY_PATH="$scratch/next"
counts='emulated 0, passed on 1, empty 0, errors 0; cblas_dgemm: passed on 1; first failure: ..*'
grep -q "$counts\$" "$scratch/err" ||
    fail "OZG_MEMORY=1: $(cat "$scratch/err")"
is 0 1e-13 || fail "OZG_MEMORY=1: error $error"
finish
