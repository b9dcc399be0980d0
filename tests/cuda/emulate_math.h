/*
 * emulate_math.h - arithmetic intrinsics of CUDA C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_MATH_H
#define OZG_TEST_CUDA_EMULATE_MATH_H

/* ---- min and max -------------------------------------------------------------------------------- */

template <typename A, typename B> static inline auto min(A a, B b) -> decltype(a + b)
{
    typedef decltype(a + b) type;

    return (type)b < (type)a ? (type)b : (type)a;
}

template <typename A, typename B> static inline auto max(A a, B b) -> decltype(a + b)
{
    typedef decltype(a + b) type;

    return (type)a < (type)b ? (type)b : (type)a;
}

static inline float min(float a, float b)
{
    return fminf(a, b);
}

static inline float max(float a, float b)
{
    return fmaxf(a, b);
}

static inline double min(double a, double b)
{
    return fmin(a, b);
}

static inline double max(double a, double b)
{
    return fmax(a, b);
}

/* ---- bits --------------------------------------------------------------------------------------- */

static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

static inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline unsigned __brev(unsigned x)
{
    unsigned y = 0;

    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}

static inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* The high bit of a selector, which PTX defines and CUDA C does not, is refused. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors)
{
    const uint64_t both = (uint64_t)y << 32 | x;
    unsigned z = 0;

    if (selectors & 0x8888)
        ozg_emulated_error("__byte_perm() with a selector above 7");
    for (int i = 0; i < 4; i++)
        z |= (unsigned)(both >> (8 * (selectors >> (4 * i) & 7)) & 255) << (8 * i);
    return z;
}

static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)((((uint64_t)high << 32 | low) << (by & 31)) >> 32);
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}

static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}

static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by)
{
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

/* ---- products ----------------------------------------------------------------------------------- */

static inline int __mulhi(int a, int b)
{
    return (int)((int64_t)a * b >> 32);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

static inline long long __mul64hi(long long a, long long b)
{
    return (long long)((__int128)a * b >> 64);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

/* ---- numbers as bits ---------------------------------------------------------------------------- */

#define OZG_EMULATED_AS(name, from, to)                                                                      \
    static inline to name(from x)                                                                            \
    {                                                                                                        \
        to y;                                                                                                \
                                                                                                             \
        static_assert(sizeof x == sizeof y, "the same bits");                                                \
        memcpy(&y, &x, sizeof y);                                                                            \
        return y;                                                                                            \
    }

OZG_EMULATED_AS(__double_as_longlong, double, long long)
OZG_EMULATED_AS(__float_as_int, float, int)
OZG_EMULATED_AS(__float_as_uint, float, unsigned)
OZG_EMULATED_AS(__int_as_float, int, float)
OZG_EMULATED_AS(__longlong_as_double, long long, double)
OZG_EMULATED_AS(__uint_as_float, unsigned, float)

static inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((uint64_t)(unsigned)high << 32 | (unsigned)low));
}

static inline int __double2hiint(double x)
{
    return (int)((uint64_t)__double_as_longlong(x) >> 32);
}

static inline int __double2loint(double x)
{
    return (int)(unsigned)(uint64_t)__double_as_longlong(x);
}

/* ---- floating point: the rounding mode is to the nearest, always, but for two --------------------- */

static inline float __fadd_rn(float a, float b)
{
    return a + b;
}

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline double __dadd_rn(double a, double b)
{
    return a + b;
}

static inline double __dsub_rn(double a, double b)
{
    return a - b;
}

static inline double __dmul_rn(double a, double b)
{
    return a * b;
}

static inline double __ddiv_rn(double a, double b)
{
    return a / b;
}

static inline double __dsqrt_rn(double a)
{
    return sqrt(a);
}

static inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}

/* Compilers do not know the mode: operands and result go through memory. */
static inline double ozg_emulated_fma(int mode, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, result;
    const int before = fegetround();

    fesetround(mode);
    result = fma(x, y, z);
    fesetround(before);
    return result;
}

static inline double __fma_ru(double a, double b, double c)
{
    return ozg_emulated_fma(FE_UPWARD, a, b, c);
}

static inline double __fma_rd(double a, double b, double c)
{
    return ozg_emulated_fma(FE_DOWNWARD, a, b, c);
}

/* Conversions to integers saturate; NaN: 0 (32 bits) or 2^63 (64 bits). */
static inline int ozg_emulated_to_int(double x)
{
    return x != x ? 0 : x >= 0x1p31 ? INT_MAX : x <= -0x1p31 ? INT_MIN : (int)x;
}

static inline unsigned ozg_emulated_to_uint(double x)
{
    return !(x > 0) ? 0 : x >= 0x1p32 ? UINT_MAX : (unsigned)x;
}

static inline long long ozg_emulated_to_longlong(double x)
{
    return x != x ? LLONG_MIN : x >= 0x1p63 ? LLONG_MAX : x <= -0x1p63 ? LLONG_MIN : (long long)x;
}

static inline unsigned long long ozg_emulated_to_ulonglong(double x)
{
    return x != x ? 1ull << 63 : !(x > 0) ? 0 : x >= 0x1p64 ? ULLONG_MAX : (unsigned long long)x;
}

#define OZG_EMULATED_TO(name, type)                                                                          \
    static inline type __float2##name##_rn(float x)                                                          \
    {                                                                                                        \
        return ozg_emulated_to_##name(rint((double)x));                                                      \
    }                                                                                                        \
    static inline type __float2##name##_rz(float x)                                                          \
    {                                                                                                        \
        return ozg_emulated_to_##name((double)x);                                                            \
    }                                                                                                        \
    static inline type __float2##name##_rd(float x)                                                          \
    {                                                                                                        \
        return ozg_emulated_to_##name(floor((double)x));                                                     \
    }                                                                                                        \
    static inline type __float2##name##_ru(float x)                                                          \
    {                                                                                                        \
        return ozg_emulated_to_##name(ceil((double)x));                                                      \
    }

OZG_EMULATED_TO(int, int)
OZG_EMULATED_TO(uint, unsigned)

#define OZG_EMULATED_TO_DOUBLE(name, word, type)                                                             \
    static inline type __double2##word##_rn(double x)                                                        \
    {                                                                                                        \
        return ozg_emulated_to_##name(rint(x));                                                              \
    }                                                                                                        \
    static inline type __double2##word##_rz(double x)                                                        \
    {                                                                                                        \
        return ozg_emulated_to_##name(x);                                                                    \
    }                                                                                                        \
    static inline type __double2##word##_rd(double x)                                                        \
    {                                                                                                        \
        return ozg_emulated_to_##name(floor(x));                                                             \
    }                                                                                                        \
    static inline type __double2##word##_ru(double x)                                                        \
    {                                                                                                        \
        return ozg_emulated_to_##name(ceil(x));                                                              \
    }

OZG_EMULATED_TO_DOUBLE(int, int, int)
OZG_EMULATED_TO_DOUBLE(uint, uint, unsigned)
OZG_EMULATED_TO_DOUBLE(longlong, ll, long long)
OZG_EMULATED_TO_DOUBLE(ulonglong, ull, unsigned long long)

#define OZG_EMULATED_FROM(name, from, to)                                                                    \
    static inline to name(from x)                                                                            \
    {                                                                                                        \
        return (to)x;                                                                                        \
    }

OZG_EMULATED_FROM(__double2float_rn, double, float)
OZG_EMULATED_FROM(__int2double_rn, int, double)
OZG_EMULATED_FROM(__int2float_rn, int, float)
OZG_EMULATED_FROM(__ll2double_rn, long long, double)
OZG_EMULATED_FROM(__ll2float_rn, long long, float)
OZG_EMULATED_FROM(__uint2double_rn, unsigned, double)
OZG_EMULATED_FROM(__uint2float_rn, unsigned, float)
OZG_EMULATED_FROM(__ull2double_rn, unsigned long long, double)
OZG_EMULATED_FROM(__ull2float_rn, unsigned long long, float)

#endif
