/*
 * test_reconstruct.c - the Chinese remainder theorem of every kernel against ref, at guard pages. Its
 * integers are compared with GMP in tests/unit/test_crt.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels.h"

/* The fractional part of Z / M for the residues at r: |c^| = M times its distance to an integer. */
static double distance_to_integer(const ozg_rns *rns, const unsigned char *r, size_t plane)
{
    double z = 0;

    for (int l = 0; l < rns->nmod; l++)
        z += word_at(r + (size_t)l * plane, rns->word, 0) * ldexp(rns->quotient[l], -rns->quotient_shift);
    return fabs(z - rint(z));
}

static void check(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns, const struct guard *memory)
{
    const size_t word = (size_t)rns->word, plane = word * (OZG_STRIP * (1 + rng_below(r, 3)));
    const size_t bytes = (size_t)(rns->nmod - 1) * plane + word * OZG_STRIP;
    unsigned char *residues = guard_tail(memory, bytes);
    static uint64_t actual[OZG_CRT_WORDS][OZG_STRIP], ref[OZG_CRT_WORDS][OZG_STRIP];

    memset(residues, 0xff, bytes);
    for (int e = 0; e < OZG_STRIP; e++)
        do
            for (int l = 0; l < rns->nmod; l++)
                set_word(residues + (size_t)l * plane, rns->word, e, (unsigned)rng_below(r, rns->m[l]));
        while (distance_to_integer(rns, residues + (size_t)e * word, plane) > 0.48);
    memset(actual, 0x5a, sizeof actual);
    memset(ref, 0x5a, sizeof ref);
    kernel->crt(rns, residues, plane, actual);
    kernel_ref()->crt(rns, residues, plane, ref);
    for (int w = 0; w < OZG_CRT_WORDS; w++)
        for (int e = 0; e < OZG_STRIP; e++)
            if (actual[w][e] != ref[w][e])
                fail_msg("%s, %d moduli: word %d of row %d is %llx, expected %llx", kernel->name, rns->nmod,
                         w, e, (unsigned long long)actual[w][e], (unsigned long long)ref[w][e]);
}

static void test_reconstruct(void **state)
{
    struct rng r = {1};
    struct guard memory;

    (void)state;
    guard_open(&memory, 2 * OZG_NMOD_MAX * 3 * OZG_STRIP);
    for (int i = 0; kernel_at(i); i++)
        for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++)
            for (int again = 0; again < 40; again++)
                if (takes_word(kernel_at(i), 1 + again % 2))
                    check(kernel_at(i), &r, rns_of(1 + again % 2, s), &memory);
    guard_close(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reconstruct)};

    return cmocka_run_group_tests(tests, kernels_announce, NULL);
}
