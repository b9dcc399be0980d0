#!/bin/bash
# run.sh SCRIPT WHICH - tests of the command ozgemm: a script here, with a Python that has NumPy. OZG_TOOL is the command.
#
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -x "${OZG_TOOL:-}" ]; then
    echo "SKIPPED: OZG_TOOL does not name the built command ozgemm (libhdf5-dev or libjansson-dev missing?)"
    exit 77
fi
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        PYTHONDONTWRITEBYTECODE=1 "$python" "$here/$1" "$OZG_TOOL" "$folder" "$2"
        exit 0
    fi
done
echo "SKIPPED: no Python with NumPy was found: install python3-numpy"
exit 77
