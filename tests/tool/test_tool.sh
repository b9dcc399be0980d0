#!/bin/bash
# test_tool.sh - the command ozgemm: files of all formats against NumPy, bad input, JSON.
#
# SPDX-License-Identifier: MIT
exec bash "$(dirname "$0")/run.sh" tool.py fast
