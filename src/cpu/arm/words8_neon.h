/*
 * words8_neon.h - 8-bit residues in NEON, for winograd_tmpl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define WORDS 32

#define U8(x)    vreinterpretq_u8_u32(x)
#define OF_U8(x) vreinterpretq_u32_u8(x)

VEC vec words_set1(uint32_t x)
{
    const uint32x4_t all = OF_U8(vdupq_n_u8((uint8_t)x));

    return (vec){all, all};
}

VEC vec words_add(vec x, vec y)
{
    return (vec){OF_U8(vaddq_u8(U8(x.lo), U8(y.lo))), OF_U8(vaddq_u8(U8(x.hi), U8(y.hi)))};
}

VEC vec words_sub(vec x, vec y)
{
    return (vec){OF_U8(vsubq_u8(U8(x.lo), U8(y.lo))), OF_U8(vsubq_u8(U8(x.hi), U8(y.hi)))};
}

/* For m = 256 the m of the lanes is 0, and the difference wraps. */
VEC uint32x4_t half_mod_sub(uint32x4_t m, uint32x4_t x, uint32x4_t y)
{
    const uint8x16_t less = vcltq_u8(U8(x), U8(y));

    return OF_U8(vaddq_u8(vsubq_u8(U8(x), U8(y)), vandq_u8(less, U8(m))));
}

VEC vec words_mod_sub(vec m, vec x, vec y)
{
    return (vec){half_mod_sub(m.lo, x.lo, y.lo), half_mod_sub(m.hi, x.hi, y.hi)};
}
