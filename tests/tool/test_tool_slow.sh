#!/bin/bash
# test_tool_slow.sh - the command ozgemm: check, and a product with a progress bar.
# ctest: full
#
# SPDX-License-Identifier: MIT
exec bash "$(dirname "$0")/run.sh" tool.py slow
