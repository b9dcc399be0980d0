#!/bin/bash
# test_speed.sh - "ozgemm speed": the shape of its JSON, wrong arguments, and a BLAS that computes wrongly.
#
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -x "${OZG_TOOL:-}" ]; then
    echo "SKIPPED: OZG_TOOL does not name the built command ozgemm (libhdf5-dev or libjansson-dev missing?)"
    exit 77
fi
if ! python3 -c '' 2>/dev/null; then
    echo "SKIPPED: no python3 was found"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Three BLAS libraries: a right one, one with a small error in the last entry of C, and one with an error that
# only the comparison of all entries sees.
cat >"$folder/blas.c" <<'END'
#include <complex.h>
#define GEMM(name, type)                                                                                    \
    void name(const char *ta, const char *tb, const int *m, const int *n, const int *k, const type *alpha,  \
              const type *a, const int *lda, const type *b, const int *ldb, const type *beta, type *c,      \
              const int *ldc)                                                                               \
    {                                                                                                       \
        (void)ta, (void)tb, (void)beta;                                                                     \
        for (int j = 0; j < *n; j++)                                                                        \
            for (int i = 0; i < *m; i++) {                                                                  \
                type sum = 0;                                                                               \
                for (int p = 0; p < *k; p++)                                                                \
                    sum += a[i + p * *lda] * b[p + j * *ldb];                                               \
                c[i + j * *ldc] = *alpha * sum;                                                             \
            }                                                                                               \
        int line = AT < 0 ? *m - 1 : AT;                                                                    \
        if (ERROR != 0 && line < *m && line < *n)                                                           \
            c[line + line * *ldc] += (type)ERROR;                                                           \
    }
GEMM(sgemm_, float)
GEMM(dgemm_, double)
GEMM(cgemm_, float complex)
GEMM(zgemm_, double complex)
END
compile() {
    "${OZG_CC:-cc}" -O2 -w -shared -fPIC -DAT="$2" -DERROR="$3" "$folder/blas.c" -o "$folder/$1.so"
}
compile right 0 0
compile last -1 1e-3
compile unseen 1 1e6
PYTHONDONTWRITEBYTECODE=1 python3 "$here/speed.py" "$OZG_TOOL" "$folder"
