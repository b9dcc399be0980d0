/*
 * vec_neon.h - the vectors of stages_tmpl.h in NEON: 8 numbers of 32 bits, 4 of 64, in two registers. With
 * one, bytes would come and go by fours, and each multiplication by pairs would take as many instructions.
 *
 * Only what every AArch64 processor has. Memory is little-endian, and is read as bytes, of any alignment.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arm_neon.h>

#define TARGET
#define VEC       static inline __attribute__((always_inline))
#define VEC_LANES 8

typedef struct vec {
    uint32x4_t lo, hi; /* lanes 0-3 and 4-7, or as 64-bit lanes 0-1 and 2-3 */
} vec;
typedef vec vec64;

/* The two registers as other lanes, and back. */
#define S32(x)    vreinterpretq_s32_u32(x)
#define S16(x)    vreinterpretq_s16_u32(x)
#define U16(x)    vreinterpretq_u16_u32(x)
#define U64(x)    vreinterpretq_u64_u32(x)
#define S64(x)    vreinterpretq_s64_u32(x)
#define OF_U64(x) vreinterpretq_u32_u64(x)
#define OF_S64(x) vreinterpretq_u32_s64(x)
#define OF_S32(x) vreinterpretq_u32_s32(x)
#define VEC32(f)                                                                                             \
    (vec)                                                                                                    \
    {                                                                                                        \
        f(x.lo, y.lo), f(x.hi, y.hi)                                                                         \
    }
#define VEC_U64(f)                                                                                           \
    (vec64)                                                                                                  \
    {                                                                                                        \
        OF_U64(f(U64(x.lo), U64(y.lo))), OF_U64(f(U64(x.hi), U64(y.hi)))                                     \
    }

/* ---- memory ------------------------------------------------------------------------------------- */

VEC vec vec_load(const void *x)
{
    const uint8_t *byte = x;

    return (vec){vreinterpretq_u32_u8(vld1q_u8(byte)), vreinterpretq_u32_u8(vld1q_u8(byte + 16))};
}

VEC void vec_store(void *x, vec v)
{
    vst1q_u8(x, vreinterpretq_u8_u32(v.lo));
    vst1q_u8((uint8_t *)x + 16, vreinterpretq_u8_u32(v.hi));
}

/* The first n of the numbers at x, n <= VEC_LANES, else zeros; nothing beyond them is read. */
VEC vec vec_load_some(const void *x, int n)
{
    uint32_t some[VEC_LANES] = {0};

    memcpy(some, x, (size_t)n * sizeof *some);
    return vec_load(some);
}

VEC vec vec_load_u8(const uint8_t *x)
{
    const uint16x8_t wide = vmovl_u8(vld1_u8(x));

    return (vec){vmovl_u16(vget_low_u16(wide)), vmovl_high_u16(wide)};
}

/* The low byte of each lane. */
VEC void vec_store_low8(void *x, vec v)
{
    vst1_u8(x, vmovn_u16(vuzp1q_u16(U16(v.lo), U16(v.hi))));
}

/* The low half of each lane. */
VEC void vec_store_low16(void *x, vec v)
{
    vst1q_u8(x, vreinterpretq_u8_u16(vuzp1q_u16(U16(v.lo), U16(v.hi))));
}

/* Numbers lo + 2^32 hi, in order, to 2 vectors' worth of memory. */
VEC void vec_store_wide(void *x, vec lo, vec hi)
{
    vec_store(x, (vec){vzip1q_u32(lo.lo, hi.lo), vzip2q_u32(lo.lo, hi.lo)});
    vec_store((uint8_t *)x + 32, (vec){vzip1q_u32(lo.hi, hi.hi), vzip2q_u32(lo.hi, hi.hi)});
}

VEC vec64 vec64_load_i32(const int32_t *x)
{
    const int32x4_t v = vld1q_s32(x);

    return (vec64){OF_S64(vmovl_s32(vget_low_s32(v))), OF_S64(vmovl_high_s32(v))};
}

/* The low half of each lane: numbers of elements e.., in order. */
VEC void vec64_store_pairs(uint32_t *x, int e, vec64 v)
{
    vst1q_u32(x + e, vuzp1q_u32(v.lo, v.hi));
}

/* The low and the high halves of 16 lanes. */
VEC void vec64_store_both_pairs(uint32_t *low, uint32_t *high, const vec64 *v)
{
    for (int i = 0; i < 4; i++) {
        vst1q_u32(low + 4 * i, vuzp1q_u32(v[i].lo, v[i].hi));
        vst1q_u32(high + 4 * i, vuzp2q_u32(v[i].lo, v[i].hi));
    }
}

/* The lanes of x and y in turn, x first, to 2 vectors' worth of memory. */
VEC void vec64_store_in_turn(void *to, vec64 x, vec64 y)
{
    vec_store(to, (vec){OF_U64(vzip1q_u64(U64(x.lo), U64(y.lo))), OF_U64(vzip2q_u64(U64(x.lo), U64(y.lo)))});
    vec_store((uint8_t *)to + 32,
              (vec){OF_U64(vzip1q_u64(U64(x.hi), U64(y.hi))), OF_U64(vzip2q_u64(U64(x.hi), U64(y.hi)))});
}

/* ---- 32-bit lanes ------------------------------------------------------------------------------- */

VEC vec vec_set1(uint32_t x)
{
    return (vec){vdupq_n_u32(x), vdupq_n_u32(x)};
}

VEC vec vec_add(vec x, vec y)
{
    return VEC32(vaddq_u32);
}

VEC vec vec_sub(vec x, vec y)
{
    return VEC32(vsubq_u32);
}

VEC vec vec_and(vec x, vec y)
{
    return VEC32(vandq_u32);
}

VEC vec vec_or(vec x, vec y)
{
    return VEC32(vorrq_u32);
}

VEC vec vec_xor(vec x, vec y)
{
    return VEC32(veorq_u32);
}

/* unsigned minimum */
VEC vec vec_min(vec x, vec y)
{
    return VEC32(vminq_u32);
}

/* signed maximum */
VEC vec vec_max(vec x, vec y)
{
    return (vec){OF_S32(vmaxq_s32(S32(x.lo), S32(y.lo))), OF_S32(vmaxq_s32(S32(x.hi), S32(y.hi)))};
}

VEC vec vec_mul(vec x, vec y)
{
    return VEC32(vmulq_u32);
}

VEC uint32x4_t mul_high(uint32x4_t x, uint32x4_t y)
{
    const uint64x2_t lo = vmull_u32(vget_low_u32(x), vget_low_u32(y)), hi = vmull_high_u32(x, y);

    return vuzp2q_u32(OF_U64(lo), OF_U64(hi));
}

/* floor(x y / 2^32) */
VEC vec vec_mul_high(vec x, vec y)
{
    return VEC32(mul_high);
}

/* acc + the products of the signed 16-bit halves of x and y */
VEC vec vec_madd(vec acc, vec x, vec y)
{
    const int16x8_t x0 = vuzp1q_s16(S16(x.lo), S16(x.hi)), x1 = vuzp2q_s16(S16(x.lo), S16(x.hi));
    const int16x8_t y0 = vuzp1q_s16(S16(y.lo), S16(y.hi)), y1 = vuzp2q_s16(S16(y.lo), S16(y.hi));
    const int32x4_t lo = vmlal_s16(S32(acc.lo), vget_low_s16(x0), vget_low_s16(y0));
    const int32x4_t hi = vmlal_high_s16(S32(acc.hi), x0, y0);

    return (vec){OF_S32(vmlal_s16(lo, vget_low_s16(x1), vget_low_s16(y1))),
                 OF_S32(vmlal_high_s16(hi, x1, y1))};
}

VEC vec vec_shift_left(vec x, int n)
{
    const int32x4_t by = vdupq_n_s32(n);

    return (vec){vshlq_u32(x.lo, by), vshlq_u32(x.hi, by)};
}

VEC vec vec_shift_right(vec x, int n)
{
    return vec_shift_left(x, -n); /* vshlq_ takes negative numbers for shifts to the right */
}

VEC vec vec_shift_right_signed(vec x, int n)
{
    const int32x4_t by = vdupq_n_s32(-n);

    return (vec){OF_S32(vshlq_s32(S32(x.lo), by)), OF_S32(vshlq_s32(S32(x.hi), by))};
}

/* Shifts by n a lane; 0 for n >= 32, n unsigned. vshlq_ takes the last byte of a lane for a signed number. */
VEC vec vec_shift_left_by(vec x, vec n)
{
    const vec by = vec_min(n, vec_set1(32));

    return (vec){vshlq_u32(x.lo, S32(by.lo)), vshlq_u32(x.hi, S32(by.hi))};
}

VEC vec vec_shift_right_by(vec x, vec n)
{
    const vec by = vec_min(n, vec_set1(32));

    return (vec){vshlq_u32(x.lo, vnegq_s32(S32(by.lo))), vshlq_u32(x.hi, vnegq_s32(S32(by.hi)))};
}

/* a > b ? x : y, signed */
VEC vec vec_if_greater(vec a, vec b, vec x, vec y)
{
    return (vec){vbslq_u32(vcgtq_s32(S32(a.lo), S32(b.lo)), x.lo, y.lo),
                 vbslq_u32(vcgtq_s32(S32(a.hi), S32(b.hi)), x.hi, y.hi)};
}

/* Bit i is set where lane i is negative. */
VEC uint64_t vec_signs(vec x)
{
    static const uint16_t bits[VEC_LANES] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint16x8_t upper = vuzp2q_u16(U16(x.lo), U16(x.hi));
    const uint16x8_t negative = vcltzq_s16(vreinterpretq_s16_u16(upper));

    return vaddvq_u16(vandq_u16(negative, vld1q_u16(bits)));
}

/* ---- 64-bit lanes ------------------------------------------------------------------------------- */

VEC vec64 vec64_set1(uint64_t x)
{
    return (vec64){OF_U64(vdupq_n_u64(x)), OF_U64(vdupq_n_u64(x))};
}

VEC vec64 vec64_add(vec64 x, vec64 y)
{
    return VEC_U64(vaddq_u64);
}

VEC vec64 vec64_sub(vec64 x, vec64 y)
{
    return VEC_U64(vsubq_u64);
}

VEC vec64 vec64_and(vec64 x, vec64 y)
{
    return VEC32(vandq_u32);
}

VEC vec64 vec64_or(vec64 x, vec64 y)
{
    return VEC32(vorrq_u32);
}

VEC vec64 vec64_xor(vec64 x, vec64 y)
{
    return VEC32(veorq_u32);
}

/* where the mask is all ones 0, where it is 0 x */
VEC vec64 vec64_clear(vec64 mask, vec64 x)
{
    return (vec64){vbicq_u32(x.lo, mask.lo), vbicq_u32(x.hi, mask.hi)};
}

/* where the mask is all ones x, where it is 0 y */
VEC vec64 vec64_select(vec64 mask, vec64 x, vec64 y)
{
    return (vec64){vbslq_u32(mask.lo, x.lo, y.lo), vbslq_u32(mask.hi, x.hi, y.hi)};
}

VEC vec64 vec64_shift_left(vec64 x, int n)
{
    const int64x2_t by = vdupq_n_s64(n);

    return (vec64){OF_U64(vshlq_u64(U64(x.lo), by)), OF_U64(vshlq_u64(U64(x.hi), by))};
}

VEC vec64 vec64_shift_right(vec64 x, int n)
{
    return vec64_shift_left(x, -n);
}

/* x where n < 64, unsigned, else 0 */
VEC uint64x2_t if_below_64(uint64x2_t x, uint32x4_t n)
{
    return vandq_u64(x, vcltq_u64(U64(n), vdupq_n_u64(64)));
}

/* Shifts by n a lane; 0 for n >= 64, n unsigned. */
VEC vec64 vec64_shift_left_by(vec64 x, vec64 n)
{
    return (vec64){OF_U64(if_below_64(vshlq_u64(U64(x.lo), S64(n.lo)), n.lo)),
                   OF_U64(if_below_64(vshlq_u64(U64(x.hi), S64(n.hi)), n.hi))};
}

VEC vec64 vec64_shift_right_by(vec64 x, vec64 n)
{
    return (vec64){OF_U64(if_below_64(vshlq_u64(U64(x.lo), vnegq_s64(S64(n.lo))), n.lo)),
                   OF_U64(if_below_64(vshlq_u64(U64(x.hi), vnegq_s64(S64(n.hi))), n.hi))};
}

/* all ones where x < 0 */
VEC vec64 vec64_negative(vec64 x)
{
    return (vec64){OF_U64(vcltzq_s64(S64(x.lo))), OF_U64(vcltzq_s64(S64(x.hi)))};
}

/* all ones where x = 0 */
VEC vec64 vec64_is_zero(vec64 x)
{
    return (vec64){OF_U64(vceqzq_u64(U64(x.lo))), OF_U64(vceqzq_u64(U64(x.hi)))};
}

VEC uint32x4_t greater(uint32x4_t x, uint32x4_t y)
{
    return OF_U64(vcgtq_s64(S64(x), S64(y)));
}

/* signed maximum */
VEC vec64 vec64_max(vec64 x, vec64 y)
{
    return vec64_select(VEC32(greater), x, y);
}

/* signed minimum */
VEC vec64 vec64_min(vec64 x, vec64 y)
{
    return vec64_select(VEC32(greater), y, x);
}

/* Of the halves' leading zeros: those of the upper half, and if it is 0 those of the lower one. */
VEC uint32x4_t leading_zeros(uint32x4_t x)
{
    const uint64x2_t zeros = U64(vclzq_u32(x)), upper = vshrq_n_u64(zeros, 32);
    const uint64x2_t lower = vandq_u64(zeros, vdupq_n_u64(63)), empty = vceqq_u64(upper, vdupq_n_u64(32));

    return OF_U64(vaddq_u64(upper, vandq_u64(lower, empty)));
}

/* Leading zeros; 64 for 0. */
VEC vec64 vec64_leading_zeros(vec64 x)
{
    return (vec64){leading_zeros(x.lo), leading_zeros(x.hi)};
}

/* The low halves of the lanes of x and then of y; the high halves. */
VEC vec vec64_low_halves(vec64 x, vec64 y)
{
    return (vec){vuzp1q_u32(x.lo, x.hi), vuzp1q_u32(y.lo, y.hi)};
}

VEC vec vec64_high_halves(vec64 x, vec64 y)
{
    return (vec){vuzp2q_u32(x.lo, x.hi), vuzp2q_u32(y.lo, y.hi)};
}

/* The products of the low halves of each lane. */
VEC vec64 vec64_mul_low(vec64 x, vec64 y)
{
    const uint32x4_t a = vuzp1q_u32(x.lo, x.hi), b = vuzp1q_u32(y.lo, y.hi);

    return (vec64){OF_U64(vmull_u32(vget_low_u32(a), vget_low_u32(b))), OF_U64(vmull_high_u32(a, b))};
}

#undef S32
#undef S16
#undef U16
#undef U64
#undef S64
#undef OF_U64
#undef OF_S64
#undef OF_S32
#undef VEC32
#undef VEC_U64
