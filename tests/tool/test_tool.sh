#!/bin/bash
# test_tool.sh - the command ozgemm: files of all formats against NumPy, bad input, JSON, the self-test.
#
# OZG_TOOL is the command. The work is in tool.py; this script finds a Python with NumPy.
#
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${OZG_TOOL:-}" ] || [ ! -x "${OZG_TOOL:-}" ]; then
    echo "SKIPPED: OZG_TOOL does not name the built command ozgemm (libhdf5-dev or libjansson-dev missing?)"
    exit 77
fi
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        PYTHONDONTWRITEBYTECODE=1 "$python" "$here/tool.py" "$OZG_TOOL" "$folder"
        exit 0
    fi
done
echo "SKIPPED: no Python with NumPy was found: install python3-numpy"
exit 77
