# common.sh - sourced by the shell tests of the drop-in: scratch folder, test programs, preloading, verdict.
#
# SPDX-License-Identifier: MIT
set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CC=${OZG_CC:-cc}
failures=0
scratch=$(mktemp -d -t ozgemm-test.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
unset LD_PRELOAD OZG_MODULI OZG_THREADS OZG_MEMORY OZG_KERNEL OZG_LOG

skip() {
    echo "SKIP: $*"
    exit 77
}
fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
finish() {
    [ $failures -eq 0 ] || exit 1
    echo "PASS"
    exit 0
}

[ -n "${OZG_BLAS:-}" ] || skip "OZG_BLAS does not name the drop-in: the build has none (OZG_HOOKS is off)"
[ -e "$OZG_BLAS" ] || { echo "FAIL: $OZG_BLAS does not exist"; exit 1; }

# With a sanitizer its runtime has to come first. gcc has it as a library of its own.
preload=$OZG_BLAS
for runtime in asan:address tsan:thread; do
    case ${OZG_SANITIZE:-} in
    *${runtime#*:}*)
        library=$($CC -print-file-name=lib${runtime%:*}.so)
        [ -e "$library" ] || skip "this compiler's sanitizer cannot be preloaded; the gcc build runs this"
        preload=$library:$preload
        export ASAN_OPTIONS=detect_leaks=0
        ;;
    esac
done

# preloaded COMMAND...: run it with the drop-in, within two minutes
preloaded() {
    timeout -k 5 120 env LD_PRELOAD="$preload" "$@"
}

# build NAME [OPTION...]: $scratch/NAME from NAME.c and calls.c; BLAS names are left to the drop-in
build() {
    local name=$1
    shift
    $CC -std=c11 -Wall -Wextra -Werror -O1 -ffp-contract=off -o "$scratch/$name" "$here/$name.c" \
        "$here/calls.c" "$@" "$OZG_BLAS" -lm -lpthread -ldl ||
        { echo "FAIL: $name.c does not compile"; exit 1; }
}

# build_provider FILE SONAME [OPTION...]: a small BLAS of our own, which notes what it is asked
build_provider() {
    local file=$1 soname=$2
    shift 2
    $CC -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -Wl,-soname,"$soname" -o "$file" \
        "$here/provider.c" "$@" ||
        { echo "FAIL: provider.c does not compile"; exit 1; }
}
