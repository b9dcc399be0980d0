#!/bin/bash
# test_check_gpu.sh - scripts/check-gpu counts what passed, failed and was left out, by programs that stand in.
#
# SPDX-License-Identifier: MIT
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/tests/cuda" "$work/bin"
ln -s "$(command -v bash)" "$work/bin/bash"
for tool in mkdir tail sed dirname realpath; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done

# stand_in FILE STATUS SENTENCE
# shellcheck disable=SC2016 # it expands there
stand_in() {
    printf '#!/bin/bash\necho "$0 $*" >>%q\necho %q\nexit %d\n' "$work/calls" "$3" "$2" >"$1"
    chmod +x "$1"
}
# expect STATUS WORDS : of the last run
expect() {
    if [ "$status" -ne "$1" ] || ! grep -qF "$2" "$work/out"; then
        echo "exit status $status, not $1, or no \"$2\" in:"
        cat "$work/out"
        exit 1
    fi
}
run() {
    : >"$work/calls"
    PATH=$work/bin "$OZG_SOURCE_DIR/scripts/check-gpu" "$work/build" "$@" >"$work/out" 2>&1
    status=$?
}

run
expect 2 "is not there"
for name in golden equal devices; do
    stand_in "$work/build/tests/cuda/prog_$name" 0 "all is well"
done
stand_in "$work/build/ozgemm" 0 "4 checks passed"
run
expect 0 "4 passed, 0 failed, 5 not run"
expect 0 "compute-sanitizer is not there"
run tall
expect 2 "quick, usual or big"
run big
expect 0 "4 passed"
grep -q 'prog_equal --big$' "$work/calls" || exit 1
stand_in "$work/build/tests/cuda/prog_devices" 77 "there is no device"
run quick
expect 0 "3 passed, 0 failed, 6 not run"
expect 0 "there is no device"
stand_in "$work/build/tests/cuda/prog_golden" 1 "a hash differs"
run
expect 1 "2 passed, 1 failed, 6 not run"
expect 1 "    a hash differs"

# The tools of compute-sanitizer: each by its name, and with an exit status of its own for what it finds.
# shellcheck disable=SC2016
printf '#!/bin/bash\necho "$*" >>%q\n[ "$2" != initcheck ] || exit 99\n' "$work/tools" >"$work/bin/compute-sanitizer"
chmod +x "$work/bin/compute-sanitizer"
run
expect 1 "6 passed, 2 failed, 1 not run"
expect 1 "exit status 99"
for tool in memcheck racecheck synccheck initcheck; do
    grep -q -- "--tool $tool --error-exitcode 99" "$work/tools" || exit 1
done
grep -q -- "--tool racecheck .*/prog_equal --group kernels$" "$work/tools" || exit 1
for name in golden equal devices; do
    stand_in "$work/build/tests/cuda/prog_$name" 77 "there is no device"
done
stand_in "$work/build/ozgemm" 77 "no device"
rm "$work/bin/compute-sanitizer"
run
expect 77 "0 passed, 0 failed, 9 not run"
