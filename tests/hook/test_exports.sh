# test_exports.sh - the drop-in exports the 60 level-3 names, unversioned, nothing else, and needs no BLAS.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
for t in s d c z; do
    for r in gemm symm syrk syr2k trmm trsm; do echo "$t${r}_"; echo "cblas_$t$r"; done
done >"$scratch/wanted"
for t in c z; do
    for r in hemm herk her2k; do echo "$t${r}_"; echo "cblas_$t$r"; done
done >>"$scratch/wanted"
nm -D --defined-only "$OZG_BLAS" | sed 's/.* //' | sort >"$scratch/exported"
sort -o "$scratch/wanted" "$scratch/wanted"
[ "$(wc -l <"$scratch/wanted")" = 60 ] || fail "the test's own list has $(wc -l <"$scratch/wanted") names"
# "@" would mean a version: programs that ask for another one would pass the name by.
diff "$scratch/wanted" "$scratch/exported" || fail "exported names differ (<: wanted, >: exported)"
readelf -d "$OZG_BLAS" >"$scratch/dynamic"
grep -q 'SONAME.*\[libozgemm_blas\.so\.[0-9]*\]' "$scratch/dynamic" ||
    fail "SONAME: $(grep SONAME "$scratch/dynamic")"
grep NEEDED "$scratch/dynamic" | grep -i blas && fail "the drop-in must not be linked with a BLAS"
finish
