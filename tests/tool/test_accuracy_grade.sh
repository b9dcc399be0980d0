#!/bin/bash
# test_accuracy_grade.sh - ozgemm accuracy: grades of algorithms of known quality, all families, Table 7, pictures.
# ctest: full
#
# SPDX-License-Identifier: MIT
exec bash "$(dirname "$0")/run.sh" accuracy.py slow
