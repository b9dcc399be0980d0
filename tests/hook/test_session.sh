# test_session.sh - case C23: a preload for a whole session leaves programs without BLAS alone.
# Case C24: a statically linked BLAS is not seen, and OZG_LOG says so.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"

# like_native COMMAND...: same exit status, same output, same errors with the preload as without
like_native() {
    local native
    timeout 60 "$@" >"$scratch/native.out" 2>"$scratch/native.err" </dev/null
    native=$?
    preloaded "$@" >"$scratch/ours.out" 2>"$scratch/ours.err" </dev/null
    [ $? = $native ] || fail "$*: another exit status than $native"
    cmp -s "$scratch/native.out" "$scratch/ours.out" || fail "$*: other output"
    cmp -s "$scratch/native.err" "$scratch/ours.err" || fail "$*: errors: $(head -1 "$scratch/ours.err")"
}
like_native true
like_native false
like_native sh -c 'exit 7'
like_native sh -c 'echo out; echo err >&2; ls /usr | sort | head -3'
like_native ls -l /usr
like_native ls /no/such/file
like_native cat /etc/passwd
[ -x /usr/bin/git ] && like_native git --version
[ -x /usr/bin/python3 ] &&
    like_native /usr/bin/python3 -c 'import json, subprocess; print(subprocess.call(["false"]))'
# A set-user-id program runs without the preload; it must run all the same (ld.so may warn about it).
[ -u /bin/su ] && { preloaded /bin/su --version >/dev/null 2>&1 || fail "su --version"; }
preloaded sh -c 'kill -TERM $$' 2>/dev/null
[ $? = 143 ] || fail "a signal is no longer the exit status"
threads=$(preloaded sed -n 's/^Threads:[^0-9]*//p' /proc/self/status)
[ "$threads" = 1 ] || fail "$threads threads in a program that computes nothing"

(
    export LD_PRELOAD="$preload"
    for _ in $(seq 200); do /bin/true || exit 1; done
) 2>"$scratch/err" || fail "200 short processes"
[ -s "$scratch/err" ] && fail "200 short processes: $(head -1 "$scratch/err")"

# A wrong setting is nothing to a program that never computes.
preloaded env OZG_MODULI=wrong true 2>"$scratch/err"
[ -s "$scratch/err" ] && fail "a wrong setting is reported by a program that computes nothing"

# C24 (a): the program brings its own BLAS inside; nothing can be intercepted, and the line at exit says 0.
cat >"$scratch/static.c" <<'C'
double dgemm_(double x);
double dgemm_(double x) { return x; }
int main(void) { return dgemm_(0) != 0; }
C
$CC -O0 -o "$scratch/static" "$scratch/static.c" || fail "static.c does not compile"
preloaded env OZG_LOG=1 "$scratch/static" 2>"$scratch/err" || fail "a program with a BLAS inside"
counts='emulated 0, passed on 0, empty 0, errors 0; no level-3 BLAS call was seen'
grep -Eq "^libozgemm_blas\[static [0-9]+\]: $counts\$" "$scratch/err" ||
    fail "no level-3 call: $(cat "$scratch/err")"
finish
