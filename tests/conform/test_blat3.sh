# test_blat3.sh - netlib's level-3 testers, Fortran and C, on the drop-in, with every ?gemm call emulated.
# ctest: full
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../hook/common.sh"
folder=$(ls -d /usr/lib/*/blas 2>/dev/null | head -1)
[ -n "$folder" ] && [ -x "$folder/xblat3d" ] && [ -x "$folder/xdcblat3" ] ||
    skip "netlib's testers are not installed (Debian: libblas-test libblas3)"
# Small products by the hundred thousand: one thread each. The bits do not depend on it.
# The C testers need the variable RowMajorStrg of the reference BLAS: it is the provider for all of them.
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# larger ALPHA BETA: input of a tester, with N = 0 1 7 31 33 64 and these scalars in place of its own
larger() {
    sed -e '/NUMBER OF VALUES OF N/s/^[0-9]*/6/' -e '/VALUES OF N$/{/NUMBER/!s/^[0-9 ]*/0 1 7 31 33 64  /}' \
        -e '/NUMBER OF VALUES OF ALPHA/s/^[0-9]*/1/' -e '/NUMBER OF VALUES OF BETA/s/^[0-9]*/2/' \
        -e '/VALUES OF ALPHA/{/NUMBER/!s/^[-0-9.(), ]*/'"$1"' /}' \
        -e '/VALUES OF BETA/{/NUMBER/!s/^[-0-9.(), ]*/'"$2"' /}'
}

# tester PROGRAM INPUT TYPE PASSED: that many lines say PASSED, none complains, and no ?gemm was passed on
tester() {
    local program=$1 input=$2 type=$3 wanted=$4 what passed
    what="$(basename "$program") on $(basename "$input")"
    rm -f "$scratch/log" "$scratch"/*blat3.out
    (cd "$scratch" && preloaded env OZG_LOG=1 OZG_THREADS=1 "$program") <"$input" >"$scratch/log" \
        2>"$scratch/err" || fail "$what: exit status $?"
    cat "$scratch"/*blat3.out >>"$scratch/log" 2>/dev/null
    passed=$(grep -c ' PASSED ' "$scratch/log")
    [ "$passed" = "$wanted" ] || fail "$what: $passed of $wanted lines PASSED"
    grep -E 'FAIL|SUSPECT|\*\*\*|REJECT|ABNORMAL|ABANDON|ILLEGAL|INSTEAD' "$scratch/log" >"$scratch/odd"
    [ -s "$scratch/odd" ] && fail "$what: $(head -3 "$scratch/odd")"
    grep -q "${type}gemm_*: emulated [1-9]" "$scratch/err" || fail "$what: ${type}gemm was not emulated"
    grep -q "gemm_*: [^;]*passed on" "$scratch/err" && fail "$what: ${type}gemm was passed on"
    grep -o "; [^;]*gemm[^;]*" "$scratch/err" | sed "s/^;/$what:/"
}

for type in s d c z; do
    case $type in
    s | d) alpha=0.7 beta='0.0 1.3' lines=12 clines=18 ;;
    *) alpha='(0.7,-0.9)' beta='(0.0,0.0) (1.3,-1.1)' lines=18 clines=27 ;;
    esac
    larger "$alpha" "$beta" <"$folder/${type}blat3.in" >"$scratch/larger-$type"
    larger "$alpha" "$beta" <"$folder/${type}in3" >"$scratch/clarger-$type"
    tester "$folder/xblat3$type" "$folder/${type}blat3.in" $type $lines
    tester "$folder/xblat3$type" "$scratch/larger-$type" $type $lines
    tester "$folder/x${type}cblat3" "$folder/${type}in3" $type $clines
    tester "$folder/x${type}cblat3" "$scratch/clarger-$type" $type $clines
done
finish
