/*
 * product_vnni_tmpl.h - the micro-kernel by vpdpbusd: unsigned A in two vectors, signed B broadcast, fours along k.
 *
 * A holds residues in [0, m), B symmetric ones: |sum| <= 255 * 128 k, exact in 32 bits up to k = 65793; a chunk
 * has at most 65536 (plan.c).
 *
 * Before it is included: PRODUCT, the function; TARGET, its instruction set; COLUMNS, at most 12; and the vectors, vec
 * with vec_load, vec_store, vec_set1 and vec_dot, under which names the intrinsics of one width go.
 *
 * SPDX-License-Identifier: MIT
 */

TARGET void PRODUCT(const ozg_rns *rns, int l, int64_t steps, const void *a, const void *b, int add,
                    int32_t *acc)
{
    const vec *x = a;
    const int8_t *y = b;
    vec *sums = (vec *)acc, lo[COLUMNS], hi[COLUMNS];

    (void)rns, (void)l;
#pragma GCC unroll 12
    for (int j = 0; j < COLUMNS; j++) {
        lo[j] = add ? vec_load(sums + 2 * j) : vec_set1(0);
        hi[j] = add ? vec_load(sums + 2 * j + 1) : vec_set1(0);
    }
    for (int64_t p = 0; p < steps; p++, x += 2, y += 4 * COLUMNS) {
        const vec a0 = vec_load(x), a1 = vec_load(x + 1);

#pragma GCC unroll 12
        for (int j = 0; j < COLUMNS; j++) {
            const vec four = vec_set1(ozg_four_bytes(y + 4 * j));

            lo[j] = vec_dot(lo[j], a0, four);
            hi[j] = vec_dot(hi[j], a1, four);
        }
    }
#pragma GCC unroll 12
    for (int j = 0; j < COLUMNS; j++) {
        vec_store(sums + 2 * j, lo[j]);
        vec_store(sums + 2 * j + 1, hi[j]);
    }
}
