# test_next.sh - case C22: calls that are passed on arrive unchanged, wherever the next BLAS is.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
build_provider "$scratch/libprovider.so" libprovider.so
build passes "$scratch/libprovider.so" -Wl,-rpath,"$scratch"
build private
preloaded "$scratch/passes" || fail "all names, next BLAS linked"

# Opened privately, under file names that nobody could guess.
build_provider "$scratch/libfirst.so.7" libfirst.so.7
build_provider "$scratch/second-blas.so" second-blas.so
preloaded "$scratch/private" "$scratch/libfirst.so.7" || fail "a private BLAS"
preloaded "$scratch/private" "$scratch/libfirst.so.7" "$scratch/second-blas.so" || fail "another one opened"

# A second copy of the drop-in is no next BLAS: they would call each other for ever.
copy=$scratch/libozgemm_blas.so.copy
cp "$OZG_BLAS" "$copy"
for order in "$preload:$copy" "${preload%"$OZG_BLAS"}$copy:$OZG_BLAS"; do
    timeout 60 env LD_PRELOAD="$order" "$scratch/private" "$scratch/libfirst.so.7" || fail "two copies"
done

# None loaded: libblas.so.3 is opened ...
mkdir "$scratch/good" "$scratch/empty"
build_provider "$scratch/good/libblas.so.3" libblas.so.3
preloaded env LD_LIBRARY_PATH="$scratch/good" OZG_LOG=1 "$scratch/private" none 2>"$scratch/err" ||
    fail "libblas.so.3"
counts='emulated 2, passed on 1, empty 0, errors 0; dgemm_: emulated 2; dtrsm_: passed on 1'
grep -q "$counts\$" "$scratch/err" ||
    fail "counts: $(cat "$scratch/err")"

# ... and where that has no BLAS in it, there is one line and an abort.
build_provider "$scratch/empty/libblas.so.3" libblas.so.3 -DEMPTY
(
    ulimit -c 0
    preloaded env LD_LIBRARY_PATH="$scratch/empty" "$scratch/private" none
) >"$scratch/out" 2>"$scratch/err"
status=$?
[ $status = 134 ] || fail "without a BLAS: exit status $status, not that of abort()"
[ "$(grep -c '^libozgemm_blas: dtrsm_ needs a BLAS and none is loaded' "$scratch/err")" = 1 ] ||
    fail "no message: $(cat "$scratch/err")"
finish
