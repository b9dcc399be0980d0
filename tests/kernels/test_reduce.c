/*
 * test_reduce.c - the reduction of 32-bit sums to residues, by every kernel, against ref and 64-bit
 * arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels.h"

enum { LD = 3 * OZG_STRIP, COLUMNS = OZG_NR_MAX + 1, PLANE = LD * COLUMNS };

/* Bytes 0, 127, 128 and 255: what engines that work on bytes add up may be as large as it can. */
static int32_t extreme_bytes(struct rng *r)
{
    static const uint32_t byte[] = {0, 127, 128, 255};
    uint32_t sum = 0;

    for (int i = 0; i < 4; i++)
        sum = sum << 8 | byte[rng_below(r, 4)];
    return (int32_t)sum;
}

/* Of sum + 2^31 in bytes u_i, each 0 or 255, the one with the largest or smallest sum of u_i (2^(8 i) mod m),
 * symmetric residues: where engines that multiply bytes have the largest numbers. */
static int32_t extreme_of_bytes(uint32_t m, int largest)
{
    uint32_t sum = 0;

    for (int i = 0; i < 4; i++)
        if (((UINT32_C(1) << 8 * i) % m <= m / 2) == largest)
            sum |= UINT32_C(255) << 8 * i;
    return (int32_t)(sum ^ UINT32_C(0x80000000));
}

/* 16-bit moduli but 2^16: up to 2^30 in size */
static int32_t random_sum(struct rng *r, int word, int m)
{
    static const int32_t edge[] = {
        INT32_MIN, INT32_MIN + 1, -65537, -65536, -257,  -256,          -1,       0,
        1,         255,           256,    65535,  65536, INT32_MAX - 1, INT32_MAX};

    const uint64_t kind = rng_below(r, 8);
    const int32_t sum = kind < 2   ? edge[rng_below(r, sizeof edge / sizeof *edge)]
                        : kind < 4 ? extreme_bytes(r)
                                   : (int32_t)(rng_next(r) >> 32);

    return word == 1 || m == 65536 ? sum : sum == INT32_MAX ? 1 << 30 : sum / 2;
}

static int residue(int64_t x, int64_t m)
{
    return (int)((x % m + m) % m);
}

/* Re, Im of one entry from the old ones and the three sums. */
static void by_hand(int m, int complex_, int first, const int64_t sum[3], int *re, int *im)
{
    const int64_t old_re = first ? 0 : *re, old_im = first ? 0 : *im;

    *re = residue(complex_ ? old_re + sum[0] - sum[1] : old_re + sum[0], m);
    *im = complex_ ? residue(old_im + sum[2] - sum[0] - sum[1], m) : *im;
}

static void check(const ozg_kernel *kernel, struct rng *r, const ozg_rns *rns, int l, int complex_, int first,
                  int columns)
{
    static int32_t sum[3][OZG_MR_MAX * OZG_NR_MAX];
    static unsigned char old[2][2 * PLANE], actual[2][2 * PLANE], ref[2][2 * PLANE];
    const int32_t *const sums[3] = {sum[0], complex_ ? sum[1] : NULL, complex_ ? sum[2] : NULL};
    const int mr = kernel->a.lines, m = (int)rns->m[l], word = rns->word;
    const int row = mr * (int)rng_below(r, (uint64_t)(LD / mr)); /* first row of the micro-tile */

    for (int i = 0; i < 3 * OZG_MR_MAX * OZG_NR_MAX; i++)
        sum[i / (OZG_MR_MAX * OZG_NR_MAX)][i % (OZG_MR_MAX * OZG_NR_MAX)] = random_sum(r, word, m);
    for (int q = 0; q < 3 && word == 1; q++) /* the first two are subtracted where the last is added */
        for (int i = 0; i < OZG_MR_MAX; i++)
            sum[q][i] = extreme_of_bytes(rns->m[l], (q == 2) == i % 2);
    for (int i = 0; i < 2 * PLANE; i++)
        set_word(old[i / PLANE], word, i % PLANE,
                 (unsigned)(rng_below(r, 8) ? rng_below(r, (uint64_t)m) : (uint64_t)(m - 1)));
    memcpy(actual, old, sizeof old);
    memcpy(ref, old, sizeof old);
    kernel->reduce(rns, l, complex_, mr, columns, first, sums, actual[0] + row * word,
                   actual[complex_] + row * word, LD);
    kernel_ref()->reduce(rns, l, complex_, mr, columns, first, sums, ref[0] + row * word,
                         ref[complex_] + row * word, LD);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < LD; i++) {
            const int at = i + j * LD, inside = j < columns && i >= row && i < row + mr;
            const int is_re = (int)word_at(actual[0], word, at), is_im = (int)word_at(actual[1], word, at);
            const int ref_re = (int)word_at(ref[0], word, at), ref_im = (int)word_at(ref[1], word, at);
            int re = (int)word_at(old[0], word, at), im = (int)word_at(old[1], word, at);

            if (inside) {
                const int entry = i - row + j * mr;
                const int64_t s[3] = {sum[0][entry], sum[1][entry], sum[2][entry]};

                by_hand(m, complex_, first, s, &re, &im);
            }
            if (is_re != re || is_im != im || ref_re != re || ref_im != im)
                fail_msg("%s: mod %d, complex %d, first %d, %d columns, entry (%d, %d): %d %d (ref %d %d), "
                         "expected %d %d",
                         kernel->name, m, complex_, first, columns, i - row, j, is_re, is_im, ref_re, ref_im,
                         re, im);
        }
}

static void test_reduce(void **state)
{
    struct rng r = {1};

    (void)state;
    for (int i = 0; kernel_at(i); i++)
        for (int form = 0; form < 8; form++) {
            const int word = 1 + form / 4, complex_ = form % 2, first = form / 2 % 2;

            if (!takes_word(kernel_at(i), word))
                continue;
            for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s += word == 1 ? OZG_NMOD_MAX - OZG_NMOD_MIN : 1)
                for (int l = 0; l < rns_of(word, s)->nmod; l++)
                    check(kernel_at(i), &r, rns_of(word, s), l, complex_, first,
                          (int)rng_between(&r, 1, kernel_at(i)->b.lines));
            for (int columns = 1; columns <= kernel_at(i)->b.lines; columns++)
                check(kernel_at(i), &r, rns_of(word, 16), (int)rng_below(&r, 9), complex_, first, columns);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce)};

    return cmocka_run_group_tests(tests, kernels_announce, NULL);
}
