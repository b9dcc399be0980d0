/*
 * integers.c - case C09: LP64 dgemm_ (emulated) and ILP64 dgemm_64_ (another library's) in one program.
 * The 32-bit integers stand next to non-zero words, so that reading them as 64-bit ones would be noticed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <string.h>

#include "calls.h"

enum { N = 37 };

void dgemm_(const char *, const char *, const int *, const int *, const int *, const void *, const void *,
            const int *, const void *, const int *, const void *, void *, const int *);
void dgemm_64_(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const double *,
               const double *, const int64_t *, const double *, const int64_t *, const double *, double *,
               const int64_t *);

extern int provider_calls;

static double a[N * N], b[N * N], c32[N * N], c64[N * N];

int main(void)
{
    static const int n32[2] = {N, -1};
    static const int64_t n64 = N;
    const double one = 1, zero = 0;

    for (int round = 0; round < 100; round++) {
        for (int x = 0; x < N * N; x++) {
            a[x] = (x * 7 + round) % 19 - 9;
            b[x] = (x * 5 + round) % 23 - 11;
        }
        memset(c32, 0xff, sizeof c32);
        memset(c64, 0, sizeof c64);
        dgemm_("N", "N", n32, n32, n32, &one, a, n32, b, n32, &zero, c32, n32);
        dgemm_64_("N", "N", &n64, &n64, &n64, &one, a, &n64, b, &n64, &zero, c64, &n64);
        CHECK(memcmp(c32, c64, sizeof c32) == 0, "round %d: the two products differ", round);
    }
    CHECK(provider_calls == 100, "the ILP64 library was called %d times, not 100", provider_calls);
    return check_status();
}
