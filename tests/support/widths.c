/*
 * widths.c - the largest product of s pairwise coprime numbers by dynamic programming over mpz.
 *
 * A number up to 256 has at most one prime factor above 13, since 17 x 17 > 256. Numbers with the same large
 * factor exclude each other, so each large prime is one decision; the state is the set of small primes in
 * use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "widths.h"

enum { LIMIT = 256, SMALL = 6, SETS = 1 << SMALL };

static const int small_prime[SMALL] = {2, 3, 5, 7, 11, 13};
static mpz_t best[WIDTHS_MAX_MODULI + 1][SETS]; /* largest product of s numbers that use these small primes */
static int ready;

/* Split n into the set of its small primes (returned) and what is left of it. */
static int small_primes_of(int n, int *rest)
{
    int set = 0;

    for (int i = 0; i < SMALL; i++) {
        for (; n % small_prime[i] == 0; n /= small_prime[i])
            set |= 1 << i;
    }
    *rest = n;
    return set;
}

/* Offer one decision: choice[set] (0: none) is the number to take, at most one of them. */
static void decide(const int choice[SETS])
{
    mpz_t product;

    mpz_init(product);
    for (int s = WIDTHS_MAX_MODULI; s >= 1;
         s--) { /* downwards, so that best[s - 1] is without this decision */
        for (int used = 0; used < SETS; used++) {
            for (int set = 0; set < SETS; set++) {
                if (choice[set] == 0 || (set & ~used) != 0)
                    continue;
                mpz_mul_ui(product, best[s - 1][used & ~set], (unsigned long)choice[set]);
                if (mpz_cmp(product, best[s][used]) > 0)
                    mpz_set(best[s][used], product);
            }
        }
    }
    mpz_clear(product);
}

static void make_table(void)
{
    int rest;

    for (int s = 0; s <= WIDTHS_MAX_MODULI; s++) {
        for (int used = 0; used < SETS; used++)
            mpz_init_set_ui(best[s][used], 0);
    }
    mpz_set_ui(best[0][0], 1);
    for (int large = 17; large <= LIMIT; large++) { /* numbers large x (small primes); large must be prime */
        int choice[SETS] = {0}, any = 0;

        for (int n = large; n <= LIMIT; n += large) {
            int set = small_primes_of(n, &rest);

            if (rest == large) {
                choice[set] = n;
                any = 1;
            }
        }
        if (any)
            decide(choice);
    }
    for (int set = 1; set < SETS; set++) { /* numbers of small primes only: the largest of each set */
        int choice[SETS] = {0};

        for (int n = 2; n <= LIMIT; n++) {
            if (small_primes_of(n, &rest) == set && rest == 1)
                choice[set] = n;
        }
        if (choice[set] != 0)
            decide(choice);
    }
    for (int s = 0; s <= WIDTHS_MAX_MODULI; s++) { /* the best over all sets, in best[s][0] */
        for (int used = 1; used < SETS; used++) {
            if (mpz_cmp(best[s][used], best[s][0]) > 0)
                mpz_set(best[s][0], best[s][used]);
        }
    }
    ready = 1;
}

mpz_srcptr widths_product(int s)
{
    if (!ready)
        make_table();
    return best[s][0];
}

int widths_width(char type, int64_t k, int s)
{
    int t = -40, complex_type = type == 'c' || type == 'z' || type == 'C' || type == 'Z';
    mpz_t need, limit;

    if (k == 0)
        k = 1;
    mpz_init_set_ui(need, (unsigned long)k);
    mpz_mul_2exp(need, need, complex_type ? 3 : 2); /* 4 k' */
    mpz_init(limit);
    mpz_mul_2exp(limit, widths_product(s), 80); /* 2^80 M against 4 k' 2^(2t + 80), t from -40 */
    while (mpz_cmp(need, limit) <= 0) {
        mpz_mul_2exp(need, need, 2);
        t++;
    }
    mpz_clears(need, limit, NULL);
    return t - 1;
}

int widths_moduli_for_bits(char type, int64_t k, int bits)
{
    for (int s = 2; s <= WIDTHS_MAX_MODULI; s++) {
        if (widths_width(type, k, s) >= bits)
            return s;
    }
    return 0;
}
