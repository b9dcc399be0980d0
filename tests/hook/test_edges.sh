# test_edges.sh - cases C01 and C06, and small integer products, by every ?gemm entry, with no other BLAS.
#
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/common.sh"
build edges
preloaded "$scratch/edges" || fail "edges"
finish
