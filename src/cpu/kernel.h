/*
 * kernel.h - CPU micro-kernels as data. doc/kernels.md explains the contract; kernels.inc is the list.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CPU_KERNEL_H
#define OZG_CPU_KERNEL_H

#include "backend.h"

/* Instruction sets, as a mask. */
enum {
    OZG_ISA_AVX2 = 1,
    OZG_ISA_AVX512VNNI = 2,
    OZG_ISA_AMXINT8 = 4,
    OZG_ISA_NEONDOT = 8,
    OZG_ISA_NEONI8MM = 16,
    OZG_ISA_AVXVNNI = 32
};

/*
 * The kernels in arm/ are for little-endian AArch64, and for compilers that take their instructions in
 * functions with a target attribute.
 */
#if defined(__AARCH64EL__) && defined(__ARM_NEON) &&                                                         \
    (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 11)
#define OZG_ARM_KERNELS 1
#else
#define OZG_ARM_KERNELS 0
#endif

/*
 * ozg_product_fn - acc[j * mr + i] (+)= sum_p a(i, p) b(j, p) over steps * step elements of one micro-panel
 * of A (mr lines) and one of B (nr lines), residues mod m_l. add: to what acc holds, else acc is overwritten.
 * 8-bit residues: exact in 32 bits; a modulus of 256 may wrap. 16-bit residues, at most OZG_K_BLOCK elements:
 * some number of the class of the sum mod m_l, in size at most 2^15 (|c| + 1), c = ozg_fold_factor(m_l), if
 * what is added to is of that size; any 32-bit number for m_l = 2^16. l = rns->nmod: the sum
 * itself, which fits 32 bits (floors, ceilings). acc and both panels are 64-byte aligned
 * where steps begin at a multiple of 64 elements.
 */
typedef void ozg_product_fn(const ozg_rns *rns, int l, int64_t steps, const void *a, const void *b, int add,
                            int32_t *acc);

/*
 * ozg_state_fn - on = 1 before, on = 0 after any number of products on one thread: sets up and gives back
 * registers that a kernel needs (AMX tiles). NULL where there is nothing to do.
 */
typedef void ozg_state_fn(int on);

/*
 * ozg_scale_fn - largest[i - i0] = the largest |component| of line i over its k elements, as the bits of a
 * double; for a line with Inf or NaN that of Inf or of some NaN. Lines [i0, i1), at most OZG_SCALE_LINES. Of
 * a view, line_stride or step is 1.
 */
#define OZG_SCALE_LINES 64
typedef void ozg_scale_fn(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, uint64_t *largest);

/*
 * ozg_norms_fn - for lines [i0, i1) of exponent e[i - i0] the norms of y_p = ceil(|x_p| 2^(nu - e)), over
 * both components of complex elements, nu as ozg_norm_bits() gives it. Lines with e = OZG_E_NONE: zeros.
 */
typedef void ozg_norms_fn(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int nu, const int32_t *e,
                          ozg_norms *out);

/*
 * ozg_residuals_fn - the same of y_p = ceil(|x_p 2^d - RN_int(x_p 2^d)| 2^16) <= 2^15, d = d[i - i0]. places:
 * NULL, or bit p of word p / 64 of places + (i - i0) words is set where y_p is not 0 (in either component),
 * else cleared; words >= k / 64. Lines with d = OZG_D_NONE: zeros. Views with shifts are left to the _ref
 * versions of both.
 */
typedef void ozg_residuals_fn(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, const int32_t *d,
                              ozg_norms *out, uint64_t *places, int64_t words);

/*
 * A batch of elements in the order of the layout; im counts for complex operands only. Beyond count, up to
 * a multiple of 16, re and im are 0 and d is OZG_D_NONE: vectors take whole sixteens.
 */
#define OZG_SPLIT_BATCH 256
typedef struct ozg_batch {
    int count;
    uint64_t re[OZG_SPLIT_BATCH], im[OZG_SPLIT_BATCH]; /* bits of doubles */
    int32_t d[OZG_SPLIT_BATCH];                        /* D of the element's line, plus its shift */
    int32_t s[OZG_SPLIT_BATCH];                        /* b - e likewise (arith/bound.h), for floors */
} ozg_batch;

/*
 * ozg_split_fn - residues of x^ = RN_int(x 2^d) for a batch: those of plane q go to out + q plane, count
 * words of the layout. Planes are those of ozg_planes: nmod, or 3 nmod for complex_.
 */
typedef void ozg_split_fn(const ozg_rns *rns, int width, const ozg_layout *layout, int complex_,
                          const ozg_batch *batch, unsigned char *out, size_t plane);

/*
 * ozg_floors_fn - the floors of arith/bound.h for a batch, those of component q to out + q plane: of the real
 * or of Re, Im and their sum.
 */
typedef void ozg_floors_fn(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                           size_t plane);

/*
 * ozg_reduce_fn - the residues mod m_l of a micro-tile, words of rns->word bytes: residue (+)= sum mod m_l
 * for mr rows of `columns` columns, ld words apart; sums are those of ozg_product_fn. Real: re from
 * sums[0]. Complex, from the products P0 = Re Re, P1 = Im Im, P2 = (Re + Im)(Re + Im):  re = P0 - P1, im =
 * P2 - P0 - P1. [Xe2] sec. 5. first: overwrite. With 8-bit residues, and for m_l = 2^16, sums are any
 * numbers; else |sum| <= 2^30, which is far above the 2^15 (|c| + 1) of ozg_product_fn.
 */
typedef void ozg_reduce_fn(const ozg_rns *rns, int l, int complex_, int mr, int columns, int first,
                           const int32_t *const sums[3], void *re, void *im, int64_t ld);

/*
 * ozg_quarters_fn - the sums of the quarters w, x, y, z of an operand from which Winograd's products are made
 * (winograd.c), residues mod m_l of this layout, count words of each:
 *     out[0] = z + s y,  out[1] = z + s y - s w,  out[2] = s (w - y),  out[3] = x - out[1],    s = +-1,
 * negative: s = -1. No out overlaps a quarter.
 */
typedef void ozg_quarters_fn(const ozg_rns *rns, int l, const ozg_layout *layout, int negative, int64_t count,
                             const void *const quarter[4], void *const out[4]);

/* ozg_combine_fn - out = x + y, count 32-bit sums modulo 2^32; count is a multiple of mr nr. */
typedef void ozg_combine_fn(int count, const int32_t *x, const int32_t *y, int32_t *out);

/*
 * ozg_crt_fn - c^ of OZG_STRIP rows of a column: residues mod m_l, words of rns->word bytes, at residues + l
 * plane (bytes); c^ in two's complement, 64-bit word w of row e in out[w][e], rns->nword words. Needs |c^| <=
 * floor(M/2) - floor(M/64), M of the canonical moduli: a little more than 0.48 M. [Xe2] sec. 4.4.
 */
typedef void ozg_crt_fn(const ozg_rns *rns, const void *residues, size_t plane, uint64_t (*out)[OZG_STRIP]);

/*
 * ozg_round_fn - the usual rounding, alpha = +-2^q and beta = 0: out[e] = bits of RN((-1)^negate c^
 * 2^(exponent - d[e])) for OZG_STRIP rows, to binary32 (single) or binary64; c^ as ozg_crt_fn gives it in n
 * words. Rows with c^ = 0 may have any d.
 */
typedef void ozg_round_fn(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                          int negate, uint64_t *out);

/*
 * ozg_doubt_fn - doubt[e] = 0 only if ozg_round_fn gives the same bits for every number within
 * bound[e] 2^shift[e] of row e, bound[e] < 2^51: a quick test, which may call a row doubtful that is not.
 */
typedef void ozg_doubt_fn(int single, int n, uint64_t (*words)[OZG_STRIP], const int32_t *d, int32_t exponent,
                          const uint64_t *bound, const int32_t *shift, uint8_t *doubt);

/*
 * ozg_bounds_fn - bound[e] = ozg_bound() of row i + e of A and of a column b, most[e] and least[e] the
 * larger and the smaller of their widths, for e < count <= OZG_STRIP.
 */
typedef void ozg_bounds_fn(const ozg_lines *a, int64_t i, int count, const ozg_factors *b, uint64_t *bound,
                           int32_t *most, int32_t *least);

/*
 * ozg_passes_fn - pass[e] = bound[e] 2^shift[e] <= f (floors[e] >> c) for OZG_STRIP rows (ozg_bound_fits),
 * with bound[e] < 2^51, f <= 2^17 and floors[e] >> c below 2^31.
 */
typedef void ozg_passes_fn(const uint64_t *bound, const int32_t *shift, uint32_t f, const uint64_t *floors,
                           int c, uint8_t *pass);

/* A micro-kernel with the stages that go with it: split, reduce and crt take systems of its word, a.word. */
typedef struct ozg_kernel {
    const char *name;
    unsigned isa; /* all of these must be present */
    /* Rough speed of one thread, from which plan.c chooses a kernel and the number of threads. */
    double rate;       /* products per nanosecond */
    double element_ns; /* of an element and modulus in the split stage */
    ozg_layout a, b;
    ozg_product_fn *product;
    ozg_state_fn *state;
    ozg_scale_fn *scale;
    ozg_norms_fn *norms;
    ozg_residuals_fn *residuals;
    ozg_split_fn *split;
    ozg_floors_fn *floors;
    ozg_reduce_fn *reduce;
    ozg_quarters_fn *quarters;
    ozg_combine_fn *combine;
    ozg_crt_fn *crt;
    ozg_round_fn *round;
    ozg_bounds_fn *bounds;
    ozg_doubt_fn *doubt;
    ozg_passes_fn *passes;
} ozg_kernel;

/* mr divides OZG_STRIP: a micro-tile never leaves the padded rows of the residues. */
#define OZG_MR_MAX OZG_STRIP
#define OZG_NR_MAX 32

/* ozg_cpu_isa() - what this machine and its operating system can run. */
unsigned ozg_cpu_isa(void);

/* ozg_kernel_at() - the index-th kernel, fastest first, that runs on a machine with these ISA bits; NULL past
 * the last. */
const ozg_kernel *ozg_kernel_at(unsigned isa, int index);

#endif
