/*
 * test_split_table.c - the constants by which the split kernel makes residues, of every modulus by enumeration.
 *
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cuda/kernels.h"
#include "cuda/table.h"
#include "moduli.h"
#include "root.h"

/* The residue of u - h that the constants make of u = v + c. */
static int residue_of(const ozg_cuda_split_modulus *t, uint32_t f)
{
    return (int)(((f >> 16) * (t->times >> 8) + t->add) >> 16 & 0xff);
}

/* x^n mod m */
static uint32_t power_of(uint32_t x, int n, uint32_t m)
{
    uint32_t y = 1;

    while (n-- > 0)
        y = x * y % m;
    return y;
}

static void check_modulus(uint32_t m)
{
    const int h = m == 256 ? 0 : (int)(m - 1) / 2;
    const uint32_t half = m == 256 ? 0 : (uint32_t)((UINT64_C(1) << 31) / m);
    ozg_cuda_split_modulus t;

    ozg_cuda_split_modulus_build(&t, m, 0);
    for (int32_t u = -(1 << 22), r = (int32_t)((m - (1u << 22) % m) % m); u <= 1 << 22;
         u++) { /* u = r (mod m) */
        if (residue_of(&t, (uint32_t)u * t.ratio + half) != ((r - h) & 0xff))
            fail_msg("modulus %u: u = %d", m, u);
        r = r + 1 == (int32_t)m ? 0 : r + 1;
    }
    assert_int_equal(t.both, (uint32_t)h * t.ratio + half);
    for (int form = 0; form < OZG_CUDA_SPLIT_FORMS; form++) { /* offset = c R + half, c = h - X of x^ = 0 */
        const int words[] = {1, 2, 3, 6, 2, 3}, limbs = form >= OZG_CUDA_SPLIT_2_LIMBS;
        uint32_t bias = 0, c;

        for (int i = limbs ? 0 : words[form] - 1; i < words[form]; i++)
            bias += power_of(2, (limbs ? OZG_CUDA_SPLIT_LIMB_BITS : 32) * i + 31, m);
        c = ((uint32_t)h + m - bias % m) % m;
        assert_int_equal(t.offset[form], m == 256 ? 0 : c * t.ratio + half);
    }
    for (int b = 0; b < 4 * OZG_CUDA_SPLIT_WORDS; b++) /* P = 256^b */
        assert_int_equal(((int8_t)(t.power[b / 4] >> 8 * (b % 4)) + (int)m) % (int)m,
                         (int)power_of(256, b, m));
    for (int b = 0; b < 4 * OZG_CUDA_SPLIT_LIMBS; b++) /* 2^(26 i) 256^b */
        assert_int_equal(((int8_t)(t.limb[b / 4] >> 8 * (b % 4)) + (int)m) % (int)m,
                         (int)(power_of(2, OZG_CUDA_SPLIT_LIMB_BITS * (b / 4) + 8 * (b % 4), m)));
}

/* The number of class r mod m nearest to x, on the side of 0. */
static int32_t nearest(int32_t x, int32_t r, int32_t m)
{
    const int32_t up = ((r - x) % m + m) % m;

    return x < 0 ? x + up : x - (m - up) % m;
}

/*
 * Re + j Im and Re - j Im by 2M. f is linear in u and w as long as their classes stay, so that all is right
 * if it is in the corners of each pair of classes: |u|, |w| < 2^20 + 2^8.
 */
static void check_root(uint32_t modulus)
{
    const int32_t m = (int32_t)modulus, j = root_of(m), h = (m - 1) / 2, most = (1 << 20) + (1 << 8);
    const uint32_t half = (uint32_t)((UINT64_C(1) << 31) / modulus);
    ozg_cuda_split_modulus t;

    ozg_cuda_split_modulus_build(&t, modulus, (uint32_t)j);
    for (int32_t a = 0; a < m; a++)
        for (int32_t b = 0; b < m; b++)
            for (int corner = 0; corner < 8; corner++) {
                const int32_t u = nearest(corner & 1 ? most : -most, a, m),
                              w = nearest(corner & 2 ? most : -most, b, m), sign = corner & 4 ? -1 : 1;
                const uint32_t f = (uint32_t)u * t.ratio + half + (uint32_t)(sign * w) * t.root;

                if (residue_of(&t, f) != ((((a + sign * j * b) % m + m) % m - h) & 0xff))
                    fail_msg("modulus %d, root %d: u = %d, w = %d, sign %d", m, j, u, w, sign);
            }
    for (int form = 0; form < OZG_CUDA_SPLIT_FORMS; form++) /* c' = c - h */
        assert_int_equal(t.offset[form], ((uint32_t)t.start[form] + (uint32_t)h) % modulus * t.ratio + half);
}

static void test_constants(void **state)
{
    uint8_t known[257] = {0}, known_root[257] = {0};

    (void)state;
    for (int s = OZG_NMOD_MIN; s <= OZG_NMOD_MAX; s++) {
        const ozg_moduli_set *set = ozg_moduli_complex(s);

        for (int l = 0; l < s; l++)
            if (!known[ozg_moduli_get(s)->m[l]]++)
                check_modulus(ozg_moduli_get(s)->m[l]);
        for (int l = 0; l < set->nmod; l++)
            if (!known[set->m[l]]++)
                check_modulus(set->m[l]);
        for (int l = set->three; l < set->nmod; l++)
            if (!known_root[set->m[l]]++)
                check_root(set->m[l]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
