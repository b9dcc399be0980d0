/*
 * test_reconstruct.c - the Chinese remainder theorem of every kernel against ref, at guard pages. Its
 * integers are compared with GMP in tests/unit/test_crt.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels.h"

/* The fractional part of Z / M for the residues at r: |c^| = M times its distance to an integer. */
static double distance_to_integer(const ozg_rns *rns, const uint8_t *r, size_t plane)
{
    double z = 0;

    for (int l = 0; l < rns->nmod; l++)
        z += r[(size_t)l * plane] * ldexp(rns->quotient[l], -rns->quotient_shift);
    return fabs(z - rint(z));
}

static void check(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns, const struct guard *memory)
{
    const size_t plane = OZG_STRIP * (1 + rng_below(r, 3));
    const size_t bytes = (size_t)(rns->nmod - 1) * plane + OZG_STRIP;
    uint8_t *residues = guard_tail(memory, bytes);
    static uint64_t actual[OZG_CRT_WORDS][OZG_STRIP], ref[OZG_CRT_WORDS][OZG_STRIP];

    memset(residues, 0xff, bytes);
    for (int e = 0; e < OZG_STRIP; e++)
        do
            for (int l = 0; l < rns->nmod; l++)
                residues[(size_t)l * plane + (size_t)e] = (uint8_t)rng_below(r, rns->m[l]);
        while (distance_to_integer(rns, residues + e, plane) > 0.48);
    memset(actual, 0x5a, sizeof actual);
    memset(ref, 0x5a, sizeof ref);
    kernel->crt(rns, residues, plane, actual);
    kernel_ref()->crt(rns, residues, plane, ref);
    for (int w = 0; w < OZG_CRT_WORDS; w++)
        for (int e = 0; e < OZG_STRIP; e++)
            if (actual[w][e] != ref[w][e])
                fail_msg("%s, s = %d: word %d of row %d is %llx, expected %llx", kernel->name, rns->nmod, w,
                         e, (unsigned long long)actual[w][e], (unsigned long long)ref[w][e]);
}

static void test_reconstruct(void **state)
{
    struct rng r = {1};
    struct guard memory;

    (void)state;
    guard_open(&memory, OZG_NMOD_MAX * 3 * OZG_STRIP);
    for (int i = 0; kernel_at(i); i++)
        for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
            for (int again = 0; again < 20; again++)
                check(kernel_at(i), &r, rns_of(s), &memory);
    guard_close(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reconstruct)};

    return cmocka_run_group_tests(tests, kernels_announce, NULL);
}
