#!/bin/bash
# test_accuracy.sh - ozgemm accuracy: its figures against exact fractions, the shape of its JSON, bad arguments.
#
# SPDX-License-Identifier: MIT
exec bash "$(dirname "$0")/run.sh" accuracy.py fast
