/*
 * reconstruct.h - launches of the reconstruct kernels (kernels.h). For C11 and CUDA C.
 *
 * There is a kernel for each type of C, whose scalars are those of most calls: alpha = +-2^q and beta = 0 or
 * +-2^r, both real; and one for any scalars and all types. Each comes twice, for c^ of at most two words and
 * for more. The latter can do both where C is real and beta = 0 (args.all).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_RECONSTRUCT_H
#define OZG_CUDA_RECONSTRUCT_H

#include "cuda/kernels.h"

/*
 * Blocks that a multiprocessor holds at least (__launch_bounds__): of small ones with beta = 0, of small
 * ones where C joins c^, of small ones for complex types, of others.
 */
#define OZG_CUDA_RECONSTRUCT_SMALL   4
#define OZG_CUDA_RECONSTRUCT_JOINED  8
#define OZG_CUDA_RECONSTRUCT_COMPLEX 6
#define OZG_CUDA_RECONSTRUCT_LARGE   4

/* Complex: c^ of at most so many digits (ozg_cuda_weights.nlimb) comes from so many groups of four moduli. */
#define OZG_CUDA_COMPLEX_GROUPS(digits)                                                                      \
    ((digits) <= 4    ? 3                                                                                    \
     : (digits) <= 7  ? 4                                                                                    \
     : (digits) <= 8  ? 5                                                                                    \
     : (digits) <= 10 ? 6                                                                                    \
     : (digits) <= 12 ? 7                                                                                    \
     : (digits) <= 16 ? 9                                                                                    \
     : (digits) <= 20 ? 12                                                                                   \
                      : 13)

/* +-2^q, or 0 if that is allowed */
OZG_INLINE int ozg_cuda_reconstruct_power(const ozg_scalar *s, int or_zero)
{
    return s->kind == OZG_FINITE && (s->fp.mant == 1 || (or_zero && s->fp.mant == 0));
}

OZG_INLINE int ozg_cuda_reconstruct_plain(const ozg_scalars *s)
{
    return ozg_cuda_reconstruct_power(&s->alpha[0], 0) && ozg_cuda_reconstruct_power(&s->beta[0], 1) &&
           (!s->complex_ || (ozg_scalar_is_zero(s->alpha[1]) && ozg_scalar_is_zero(s->beta[1])));
}

/* Real, and C joins c^. */
OZG_INLINE int ozg_cuda_reconstruct_joined(const ozg_scalars *s)
{
    return !s->complex_ && !ozg_scalar_is_zero(s->beta[0]);
}

/* ozg_cuda_reconstruct_may_all() - the kernel for large c^ obeys args.all. */
OZG_INLINE int ozg_cuda_reconstruct_may_all(const ozg_scalars *s)
{
    return ozg_cuda_reconstruct_plain(s) && !s->complex_ && !ozg_cuda_reconstruct_joined(s);
}

/* ozg_cuda_reconstruct_name() - what to launch; large: c^ of more than two words. */
static inline const char *ozg_cuda_reconstruct_name(const ozg_scalars *s, int large)
{
    static const char *const name[2][7] = {
        {"ozg_cuda_reconstruct_small_d", "ozg_cuda_reconstruct_small_s", "ozg_cuda_reconstruct_small_z",
         "ozg_cuda_reconstruct_small_c", "ozg_cuda_reconstruct_small_d_joined",
         "ozg_cuda_reconstruct_small_s_joined", "ozg_cuda_reconstruct_small_any"},
        {"ozg_cuda_reconstruct_large_d", "ozg_cuda_reconstruct_large_s", "ozg_cuda_reconstruct_large_z",
         "ozg_cuda_reconstruct_large_c", "ozg_cuda_reconstruct_large_d_joined",
         "ozg_cuda_reconstruct_large_s_joined", "ozg_cuda_reconstruct_large_any"}};

    if (!ozg_cuda_reconstruct_plain(s))
        return name[large != 0][6];
    return name[large != 0][ozg_cuda_reconstruct_joined(s) ? 4 + s->single : 2 * s->complex_ + s->single];
}

/* ozg_cuda_reconstruct_batch_name() - the same for a batch, of type 'd'. */
static inline const char *ozg_cuda_reconstruct_batch_name(const ozg_scalars *s, int large)
{
    static const char *const name[2][3] = {
        {"ozg_cuda_reconstruct_small_d_batch", "ozg_cuda_reconstruct_small_d_joined_batch",
         "ozg_cuda_reconstruct_small_any_batch"},
        {"ozg_cuda_reconstruct_large_d_batch", "ozg_cuda_reconstruct_large_d_joined_batch",
         "ozg_cuda_reconstruct_large_any_batch"}};

    return name[large != 0][!ozg_cuda_reconstruct_plain(s) ? 2 : ozg_cuda_reconstruct_joined(s)];
}

/*
 * ozg_cuda_reconstruct_blocks() - one wave of blocks of ozg_cuda_reconstruct_name(), fewer for a small tile.
 * Any number is right.
 */
OZG_INLINE int ozg_cuda_reconstruct_blocks(const ozg_scalars *s, int large, int64_t rows, int64_t columns,
                                           int multiprocessors)
{
    const int64_t each = large || !ozg_cuda_reconstruct_plain(s) ? OZG_CUDA_RECONSTRUCT_LARGE
                         : s->complex_                           ? OZG_CUDA_RECONSTRUCT_COMPLEX
                         : ozg_cuda_reconstruct_joined(s)        ? OZG_CUDA_RECONSTRUCT_JOINED
                                                                 : OZG_CUDA_RECONSTRUCT_SMALL;
    const int64_t threads = (rows + 3) / 4 * columns, wave = multiprocessors * each;
    const int64_t work = (threads + OZG_CUDA_RECONSTRUCT_THREADS - 1) / OZG_CUDA_RECONSTRUCT_THREADS;

    return (int)(work < wave ? work : wave);
}

#endif
