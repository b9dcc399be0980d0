/*
 * winograd_tmpl.h - the sums of quarters and of products for Winograd, in vectors. Include after a vec_*.h,
 * with STAGE as in stages_tmpl.h, and with what residues are in vectors of words:
 *     WORDS                       how many there are in a vector
 *     words_set1(x)               x in all of them
 *     words_add(x, y), words_sub(x, y)  as if modulo 2^8 or 2^16
 *     words_mod_sub(m, x, y)      x - y mod m, for x and y in [0, m)
 *
 * Stored residues are c less than numbers of [0, m), c = floor((m - 1) / 2), or with nonneg c = 0. Everything
 * is computed in these numbers: the residue of x is x' - c, and
 *     (x - y)' = x' - y = x' - (y' - c)  (mod m).
 *
 * SPDX-License-Identifier: MIT
 */

/* The sums of one vector of each quarter. negative is a constant where this is inlined. */
VEC void sum_quarters(vec m, vec c, int negative, const unsigned char *const quarter[4],
                      unsigned char *const out[4], int64_t byte)
{
    const vec w = words_add(vec_load(quarter[0] + byte), c), x = words_add(vec_load(quarter[1] + byte), c);
    const vec y = words_add(vec_load(quarter[2] + byte), c), z = words_add(vec_load(quarter[3] + byte), c);
    const vec minus_sy = negative ? words_mod_sub(m, y, c) : words_mod_sub(m, c, y);
    const vec sw = negative ? words_mod_sub(m, c, w) : words_mod_sub(m, w, c);
    const vec first = words_mod_sub(m, z, minus_sy), second = words_mod_sub(m, first, sw);
    const vec third =
        negative ? words_mod_sub(m, y, words_mod_sub(m, w, c)) : words_mod_sub(m, w, words_mod_sub(m, y, c));
    const vec fourth = words_mod_sub(m, x, words_mod_sub(m, second, c));

    vec_store(out[0] + byte, words_sub(first, c));
    vec_store(out[1] + byte, words_sub(second, c));
    vec_store(out[2] + byte, words_sub(third, c));
    vec_store(out[3] + byte, words_sub(fourth, c));
}

TARGET void STAGE(quarters)(const ozg_rns *rns, int l, const ozg_layout *layout, int negative, int64_t count,
                            const void *const quarter[4], void *const out[4])
{
    const vec m = words_set1(rns->m[l]), c = words_set1(layout->nonneg ? 0 : (rns->m[l] - 1) / 2);
    const unsigned char *from[4] = {quarter[0], quarter[1], quarter[2], quarter[3]};
    unsigned char *to[4] = {out[0], out[1], out[2], out[3]};
    const int64_t whole = count / WORDS * WORDS, bytes = whole * layout->word;

    if (negative)
        for (int64_t byte = 0; byte < bytes; byte += (int64_t)sizeof(vec))
            sum_quarters(m, c, 1, from, to, byte);
    else
        for (int64_t byte = 0; byte < bytes; byte += (int64_t)sizeof(vec))
            sum_quarters(m, c, 0, from, to, byte);
    if (whole < count) {
        const void *const rest[4] = {from[0] + bytes, from[1] + bytes, from[2] + bytes, from[3] + bytes};
        void *const rest_out[4] = {to[0] + bytes, to[1] + bytes, to[2] + bytes, to[3] + bytes};

        ozg_quarters_ref(rns, l, layout, negative, count - whole, rest, rest_out);
    }
}

TARGET void STAGE(combine)(int count, const int32_t *x, const int32_t *y, int32_t *out)
{
    for (int e = 0; e < count; e += VEC_LANES)
        vec_store(out + e, vec_add(vec_load(x + e), vec_load(y + e)));
}

#undef WORDS
