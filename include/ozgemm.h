/*
 * ozgemm.h - high-precision matrix products on low-precision matrix engines (Ozaki scheme II).
 *
 * Every product computes  C := alpha op(A) op(B) + beta C  with ONE rounding of the whole expression.
 * The bits depend on the inputs and on the scaling width only: not on the machine, instruction set,
 * threads, tiles or memory limit. The contract of results is doc/numerics.md.
 *
 * Conventions of all calls
 *   Storage    column-major; sizes and leading dimensions are int64_t, counted in elements.
 *              Complex data are pairs (re, im) of double (z) or float (c).
 *   op(X)      'N' X, 'T' transpose, 'C' conjugate transpose (for real types the same as 'T'); either case.
 *   Aliasing   C must not share an element with A or B (OZG_E_ARG); A and B may be the same matrix.
 *   Reads      alpha = 0 or k = 0: A and B are not read. beta = 0: C is not read.
 *   Errors     every call returns an ozg_status; ozg_last_error() has one sentence that says what to
 *              change. On any error but OZG_E_DEVICE C is as it was before the call.
 *   Threads    a context, with its plans and operands, serves one thread at a time; different threads use
 *              different contexts. Functions without a context may be called by several threads at once.
 *   Stack      a call needs about 40 KB of the caller's stack.
 *   fork       a child may go on using the library, its parent's contexts included. Where the parent had
 *              several threads, the child computes with one (same bits).
 *              CUDA does not work in the child of a process that used it: OZG_E_DEVICE.
 *   CUDA       needs NVIDIA's driver at run time and no other library (OZG_AUTOMATIC: cuBLAS), and a device
 *              of compute capability 8.0 or later. Matrices of the host (device_pointers = 0): as on the CPU,
 *              calls return when C is there. Matrices on the device (1): calls check their arguments,
 *              enqueue their work on the context's stream and return; the matrices must stay until it is
 *              done, and reports are filled by ozg_report_wait(). Scalars, reports and everything else are
 *              the host's. Calls of one context follow one another on its stream; different contexts, on any
 *              streams and devices, may work at the same time. The caller's current CUDA context is not
 *              changed. The library uses the primary context of the device, as the CUDA runtime does, and
 *              keeps it until the process ends: cudaDeviceReset() ends the use of the library in this
 *              process. The stream must outlive the context. A captured graph uses the context's memory
 *              (with ozg_plan_run(): the caller's `work`, and the context's for a report) and that of its
 *              prepared operands: as long as it lives, these stay, and no product or batch on the context
 *              needs more workspace (bounds, the monitor and new operands may). The bits are those of the
 *              CPU.
 *   Floating-point environment  the caller's rounding mode and flush-to-zero setting have no influence and
 *              are not changed.
 *
 * Sources: [Xe2] the Xe2 paper (arXiv 2610.26945), [EA] the error analysis; full keys in doc/algorithm.md.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZGEMM_H
#define OZGEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OZG_VERSION_MAJOR 0
#define OZG_VERSION_MINOR 1
#define OZG_VERSION_PATCH 0

#if defined(__GNUC__)
#define OZG_API __attribute__((visibility("default")))
#else
#define OZG_API
#endif

/* Values never change. */
typedef enum ozg_status {
    OZG_OK = 0,
    OZG_E_ARG = 1,         /* an argument is wrong; ozg_last_error() names it by its number, counted from 1 */
    OZG_E_NOMEM = 2,       /* the system has no memory for the workspace */
    OZG_E_WORKSPACE = 3,   /* memory_limit is too small for even the smallest tile */
    OZG_E_UNSUPPORTED = 4, /* a valid request that this build or this range of data cannot serve */
    OZG_E_NODEVICE = 5,    /* the backend or device asked for is not present */
    OZG_E_DEVICE = 6,      /* the device failed */
    OZG_E_INTERNAL = 7     /* a bug in the library */
} ozg_status;

typedef enum ozg_backend_kind {
    OZG_BACKEND_BEST = 0, /* CUDA with device_pointers or a stream; for matrices of the host the CPU */
    OZG_BACKEND_CPU = 1,
    OZG_BACKEND_CUDA = 2,
    OZG_BACKEND_OPENCL = 3
} ozg_backend_kind;

/*
 * What happens to a product. The library has no native BLAS of its own: on the CPU it knows OZG_EMULATE only,
 * and ozg_create() answers OZG_E_UNSUPPORTED to the others, which belong to the drop-in layers.
 *
 * OZG_AUTOMATIC on CUDA, with device_pointers, opens cuBLAS at run time (libcublas.so.13, .12 or .11; without
 * it ozg_create() answers OZG_E_UNSUPPORTED). Products of accuracy ozg_native() go to cuBLAS, on the same
 * stream, where an estimate from type, shape and device says that it is faster: nothing of the promise of
 * ozg_native() holds for them, and their bits may change with the version of cuBLAS and the device. The same
 * shape and kernel are always treated alike on one device (but leading dimensions of 2^31 and more are
 * emulated). Variables by which cuBLAS is told to emulate count for it, and its workspace is its own. Their
 * reports say emulated = 0, a reason, kernel "cublas", bound = infinity, and no times. All other accuracies,
 * a number of moduli (ozg_with_moduli()) and prepared operands are emulated as under OZG_EMULATE.
 */
typedef enum ozg_policy {
    OZG_EMULATE = 0,   /* emulate or fail */
    OZG_AUTOMATIC = 1, /* native where that is faster and nobody asked for bits or proofs */
    OZG_OFF = 2        /* native always */
} ozg_policy;

typedef struct ozg_context ozg_context; /* an open backend on one device */
typedef struct ozg_plan ozg_plan;       /* every decision for one shape, type and accuracy */
typedef struct ozg_operand ozg_operand; /* a matrix that is already scaled and split */

/*
 * ozg_config - what a caller may choose. Fill it with ozg_config_init() first, then change members.
 * The reserved tail keeps the layout stable within one soname; ozg_config_init() clears it.
 */
typedef struct ozg_config {
    ozg_backend_kind backend; /* default OZG_BACKEND_BEST */
    int device;               /* number of the device (ozg_device_name()), default 0 */
    int threads;              /* CPU threads; 0 (default): as OpenMP says (OMP_NUM_THREADS) */
    size_t memory_limit; /* bytes of workspace at most; 0 (default): a quarter of the device's free memory */
    uint64_t repair_limit; /* entries that native and rounded may repair, by estimate; default UINT64_MAX */
    ozg_policy policy;     /* default OZG_EMULATE */
    void *stream; /* cudaStream_t or CUstream of the device; NULL: the default stream, and on the CPU */
    int device_pointers; /* 1: matrices live on the device; must be 0 on the CPU */
    /*
     * NULL (default): the fastest for the shape. A CPU micro-kernel (ozg_kernel_name()); CUDA: the kernel of
     * the product stage, "cuda-wgmma" (capability 9.0 only) or "cuda-mma".
     */
    const char *kernel;
    /*
     * NULL, or called by the thread that makes a product, from time to time, with the share of it that is
     * done, above 0 and at most 1. It must not use the context.
     */
    void (*progress)(void *arg, double done);
    void *progress_arg;
    uint64_t reserved[6];
} ozg_config;

/* ozg_accuracy - a request, made by the functions below and passed by value. */
typedef struct ozg_accuracy {
    int kind;
    int value;
} ozg_accuracy;

/*
 * ozg_report - what one call did. Strings are static. Times are wall-clock seconds.
 * All members are written by a call that returns OZG_OK, and zeroed by one that fails.
 */
typedef struct ozg_report {
    int emulated;        /* 1: computed by residues; 0: nothing to multiply, or native (see reason) */
    const char *reason;  /* why emulated is 0 ("k = 0", "alpha = 0", "native cuBLAS is ..."), else "" */
    const char *backend; /* "cpu" or "cuda" */
    const char *kernel;  /* micro-kernel of the product stage; "cublas": native */
    const char *scheme;  /* "crt" (Ozaki scheme II); native: "" */
    int moduli;          /* s, the number of moduli; native: of the rows or columns that need most */
    int width;           /* t, bits kept of each scaled row and column; native, rounded: of the widest */
    /*
     * Low-precision products of the size of the problem: s, or fewer of 16 bits; native: 1 more; complex: 3
     * times, on CUDA fewer (2M). Rows and columns far out, with moduli of their own, count by their share;
     * rounded up.
     */
    int products;
    double bound;          /* proven: no entry (component) of C is further than this from the exact value */
    double bound_relative; /* the same against |alpha||A||B| + |beta C|; 0: not computed */
    int exact;             /* 1: no bit of A and B was rounded away, so C is RN of the exact expression */
    uint64_t tested;       /* entries with an error bound above 0 that were tested (native, rounded) */
    uint64_t repaired;     /* entries recomputed exactly (native, rounded) */
    uint64_t special_rows; /* rows of op(A) with Inf or NaN */
    uint64_t special_cols; /* columns of op(B) with Inf or NaN */
    int64_t tiles;         /* tiles of C */
    int64_t k_chunks;      /* pieces of k */
    size_t workspace_bytes;
    double seconds_scale, seconds_split, seconds_product, seconds_reconstruct;
    double seconds_repair, seconds_transfer, seconds_total;
    uint64_t reserved[8];
} ozg_report;

/* ---- contexts ----------------------------------------------------------------------------------- */

/* ozg_config_init() - the defaults. Errors: OZG_E_ARG (cfg NULL). */
OZG_API ozg_status ozg_config_init(ozg_config *cfg);

/*
 * ozg_create() - open a backend. cfg NULL: the defaults on the CPU. Errors: OZG_E_ARG, OZG_E_NOMEM,
 * OZG_E_NODEVICE, OZG_E_UNSUPPORTED; *ctx is then NULL and ozg_last_error(NULL) tells this thread why.
 */
OZG_API ozg_status ozg_create(ozg_context **ctx, const ozg_config *cfg);

/* ozg_destroy() - close it and give its memory back. ctx may be NULL. */
OZG_API void ozg_destroy(ozg_context *ctx);

/*
 * ozg_memory_limit() - bytes of workspace that a call on ctx may take, as configured or by default; 0 for
 * NULL.
 */
OZG_API size_t ozg_memory_limit(const ozg_context *ctx);

/* ozg_status_name() - "OZG_OK", "OZG_E_ARG", ...; "OZG_E_?" for a number that is no status. Never NULL. */
OZG_API const char *ozg_status_name(ozg_status status);

/*
 * ozg_last_error() - the sentence for the last failed call on ctx; "" if none failed yet. ctx NULL: for the
 * last failed call of this thread that had no context. Valid until the next call on the same context (or
 * thread).
 */
OZG_API const char *ozg_last_error(const ozg_context *ctx);

/* ozg_version() - "0.1.0": the version of the library that is running. */
OZG_API const char *ozg_version(void);

/*
 * ozg_kernel_name() - the CPU micro-kernels that this machine can run, the fastest for large products
 * first; NULL past the last. The last one is "ref", the plain C stages that define the result.
 */
OZG_API const char *ozg_kernel_name(int index);

/*
 * ozg_device_name() - the name of a device of this backend, numbers from 0 on; NULL past the last, and where
 * this build or machine has none. On the CPU (and OZG_BACKEND_BEST) device 0 is "CPU". Valid until the
 * process ends.
 */
OZG_API const char *ozg_device_name(ozg_backend_kind backend, int device);

/* ---- accuracy ----------------------------------------------------------------------------------- */

/* ozg_moduli() - s moduli, 2..49: the paper's knob. The width is the largest t with k' 2^(2t+2) <= M, where
 * k' = k for real and 2k for complex products [Xe2] sec. 4.1. Checked by the call that uses it. */
OZG_API ozg_accuracy ozg_moduli(int s);

/* ozg_width() - exactly t bits a scaled row and column, t >= 1, by the fewest moduli. Checked by the call
 * that uses it. */
OZG_API ozg_accuracy ozg_width(int t);

/*
 * ozg_accurate() - s moduli, 2..49, with scaling exponents from a product of 6-bit magnitudes ([EA] Algorithm
 * 2): the widths of rows and columns grow as far as |A||B| allows, by 1 bit for uniform data and more for
 * others, for the price of one more product. Not for prepared operands, since the exponents depend on both
 * (OZG_E_UNSUPPORTED); needs 4096 k' below about M / 2. doc/numerics.md sec. 3. Checked by the call that
 * uses it.
 */
OZG_API ozg_accuracy ozg_accurate(int s);

/*
 * ozg_native() - as good as a native product, proven, for any finite input (grade A):
 *
 *     |error| <= f(k) u (|alpha| |A| |B| + |beta| |C|) + 2^-1075,   f(k) = sqrt(k) + 1,   u = 2^-53
 *
 * for every component where the exact result does not overflow (single: u = 2^-24, 2^-150). The number of
 * moduli follows from a sample of the data, the same on every machine; entries for which the bound is not
 * proven are computed exactly, in part or in whole. Up to a quarter of the rows and of the columns that need
 * more moduli than the others are computed apart, with as many as they need. doc/bounds.md.
 */
OZG_API ozg_accuracy ozg_native(void);

/*
 * ozg_rounded() - every component is RN(alpha op(A) op(B) + beta C), for any finite input. The number of
 * moduli is chosen for speed; entries whose rounding is in doubt are computed exactly. doc/bounds.md.
 */
OZG_API ozg_accuracy ozg_rounded(void);

/*
 * ozg_with_moduli() - acc, native or rounded, with s moduli instead of a number chosen from the data: what a
 * second prepared operand needs to fit the first. The promise stays; s = 0 undoes it. Checked by the call
 * that uses it. Other accuracies stay as they are.
 */
OZG_API ozg_accuracy ozg_with_moduli(ozg_accuracy acc, int s);

/*
 * ozg_moduli_for_bits() - the fewest moduli whose width is at least bits; type is 's', 'd', 'c' or 'z' [Xe2]
 * sec. 9.1. Returns 0 if type, k < 0 or bits < 1 make no sense or if 49 moduli are not enough. k = 0 counts
 * as 1.
 */
OZG_API int ozg_moduli_for_bits(char type, int64_t k, int bits);

/* ozg_width_of_moduli() - the width t of s moduli at inner dimension k; 0 if s is not in 2..49 or t would be
 * < 1. */
OZG_API int ozg_width_of_moduli(char type, int64_t k, int s);

/* ---- products ----------------------------------------------------------------------------------- */

/*
 * ozg_dgemm() - C := RN(alpha op(A) op(B) + beta C), one rounding.
 *
 * Shapes    op(A) m x k, op(B) k x n, C m x n; m, n, k >= 0.
 *           lda >= max(1, m) if transa is 'N', else max(1, k); ldb >= max(1, k) if transb is 'N', else
 *           max(1, n); ldc >= max(1, m).
 * Exact     a^ = RN_int(a 2^D_i), b^ = RN_int(b 2^E_j), with D_i and E_j from the largest entry of the row
 *           or column and the width t; then no further error but the one rounding (doc/numerics.md sec. 2).
 * Special   NaN and Inf reach exactly the entries whose sum contains them, as in IEEE arithmetic; a NaN
 *           written is the default quiet NaN. A row with Inf or NaN leaves all other rows as they would be
 *           without it. An exact zero is +0; a nonzero value that rounds to zero keeps its sign. alpha = 0
 *           or k = 0: RN(beta C) with its IEEE sign, and beta = 1 leaves C untouched.
 * report    may be NULL; costs one more pass over A, B and C (norms for the bound).
 * Errors    OZG_E_ARG (argument numbers count this call's own arguments, ctx being 1), OZG_E_NOMEM,
 *           OZG_E_WORKSPACE, OZG_E_UNSUPPORTED (a width below 1 or too large for k; native or rounded would
 *           repair more entries than repair_limit, by the estimate from the sample).
 * Threads   one call a context at a time.
 * Source    [Xe2] secs. 4 and 5.
 */
OZG_API ozg_status ozg_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                             double beta, double *c, int64_t ldc, ozg_accuracy acc, ozg_report *report);

/* ozg_sgemm() - the same for float; the one rounding is to binary32, never by way of double. */
OZG_API ozg_status ozg_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                             float beta, float *c, int64_t ldc, ozg_accuracy acc, ozg_report *report);

/*
 * ozg_zgemm() - the same for complex double; the real and the imaginary part of an entry are each rounded
 * once. A component of alpha or beta that is 0 contributes nothing (not 0 x Inf).
 */
OZG_API ozg_status ozg_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const double alpha[2], const double *a, int64_t lda, const double *b,
                             int64_t ldb, const double beta[2], double *c, int64_t ldc, ozg_accuracy acc,
                             ozg_report *report);

/* ozg_cgemm() - the same for complex float. */
OZG_API ozg_status ozg_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k,
                             const float alpha[2], const float *a, int64_t lda, const float *b, int64_t ldb,
                             const float beta[2], float *c, int64_t ldc, ozg_accuracy acc,
                             ozg_report *report);

/*
 * ozg_bound_dgemm() - what ozg_dgemm() with these arguments and beta = 0 would do, without the product:
 * reads A and B, and fills moduli, width, products, bound, bound_relative, exact, repaired (an estimate from
 * a sample), tiles, k_chunks and workspace_bytes of the report; emulated = 0 and a reason if nothing is to
 * be multiplied. Rows and columns with Inf or NaN are left out of the bound. Costs passes over A and B and
 * needs the workspace of the product. Arguments and errors as ozg_dgemm(); report must not be NULL.
 */
OZG_API ozg_status ozg_bound_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                                   int64_t ldb, ozg_accuracy acc, ozg_report *report);
OZG_API ozg_status ozg_bound_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                                   int64_t ldb, ozg_accuracy acc, ozg_report *report);
OZG_API ozg_status ozg_bound_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, const double alpha[2], const double *a, int64_t lda,
                                   const double *b, int64_t ldb, ozg_accuracy acc, ozg_report *report);
OZG_API ozg_status ozg_bound_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, const float alpha[2], const float *a, int64_t lda,
                                   const float *b, int64_t ldb, ozg_accuracy acc, ozg_report *report);

/*
 * ozg_report_wait() - returns when all work of ctx is done; at once on the CPU and for matrices of the host.
 * With matrices on the device it fills the report, which must be that of the latest call on ctx that was
 * given one: until then that has its strings and little else. report may be NULL. Errors: OZG_E_DEVICE, for
 * whatever failed on the device; OZG_E_ARG: ctx is NULL, or the report is that of an earlier call, which is
 * lost; OZG_E_UNSUPPORTED: the stream is being captured, ask again afterwards.
 */
OZG_API ozg_status ozg_report_wait(ozg_context *ctx, ozg_report *report);

/* ---- plans: decide once, run often -------------------------------------------------------------- */

/*
 * ozg_plan_create() - every decision for one shape: moduli, width, k-chunks, tiles, workspace. type is 's',
 * 'd', 'c' or 'z'. The plan belongs to ctx and must be destroyed before it. Errors as ozg_dgemm(); *plan is
 * then NULL.
 */
OZG_API ozg_status ozg_plan_create(ozg_plan **plan, ozg_context *ctx, char type, char transa, char transb,
                                   int64_t m, int64_t n, int64_t k, ozg_accuracy acc);
OZG_API void ozg_plan_destroy(ozg_plan *plan);

/* ozg_plan_workspace() - bytes that ozg_plan_run() needs. */
OZG_API size_t ozg_plan_workspace(const ozg_plan *plan);

/*
 * ozg_plan_run() - the product of the plan. alpha, beta, a, b and c point to data of the plan's type (alpha
 * and beta to one number, complex ones to a pair). work: ozg_plan_workspace() bytes of the caller's, any
 * alignment, where the matrices are (CUDA with matrices of the host: not looked at); NULL: the context's own
 * memory. Otherwise as ozg_dgemm().
 */
OZG_API ozg_status ozg_plan_run(const ozg_plan *plan, const void *alpha, const void *a, int64_t lda,
                                const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc,
                                void *work, ozg_report *report);

/* ---- monitor: how good is a product from anywhere ----------------------------------------------- */

/*
 * ozg_monitor - what ozg_monitor_dgemm() found. A component is a real number, or the real or imaginary part
 * of a complex one; X = alpha op(A) op(B) + beta C0, exactly; u = 2^-53, single 2^-24.
 */
typedef struct ozg_monitor {
    int64_t rows, columns; /* how many were checked */
    uint64_t compared;     /* components in them, each counted once */
    uint64_t rounded;      /* of these, those that have the bits of RN(X); a NaN is as good as any other */
    double max_error;      /* largest |C - X| */
    double max_ulp;        /* largest |C - X| in units in the last place of RN(X); may be infinite */
    double worst_grade;    /* largest |C - X| / (u (|alpha| |A||B| + |beta| |C0|)), never less */
    uint64_t special;      /* components that are or should be Inf or NaN, and that are not the same */
    uint64_t reserved[8];
} ozg_monitor;

/*
 * ozg_monitor_dgemm() - compares C, a product from anywhere (another BLAS, a GPU, this library), with the
 * exact result, on `lines` rows and `lines` columns that are chosen at random.
 *
 * c0       C before the product. With beta = 0 it is not read, may be NULL, and ldc0 may be anything. It may
 *          share elements with the others.
 * c        the result that is to be judged; only read.
 * lines    at least 1; all rows (columns) if there are not more.
 * seed     the same seed, m, n and lines: the same rows and columns, on every machine.
 * Grade    worst_grade <= f(k) = sqrt(k) + 1: as good as ozg_native() promises. Half the smallest subnormal
 *          number is allowed beside it, and taken off before. For complex types |alpha| |A||B| + |beta| |C0|
 *          is, for each component, the sum of the magnitudes of all real products in it. The figure is never
 *          too small, and at most 0.1 % too large, but where that sum overflows. Correctly rounded components
 *          have at most 1, and at most 0.5 in max_ulp. A finite entry whose exact value overflows counts as
 *          special: native grade allows it.
 * Exact    X - C is found to a relative 2^-50 (or half the smallest subnormal double). With beta not 0, up to
 *          2^-50 units in the last place of C and of the terms of beta C0 come on top, but never more than
 *          one of RN(X). Components that are or should be Inf or NaN are left out of the three maxima.
 * Memory   beside the workspace of products: copies of lines, up to 64 MiB, or of 16 lines of k doubles if
 *          these take more (complex: 2 k); 8 (m + n) bytes; up to 1.5 MiB. Not counted against memory_limit.
 *          Matrices on the device: twice as much, but for the 8 (m + n), and workspace of up to 16 MiB there.
 * Time     proportional to lines x (m + n) x k, of many moduli, and to (m + n) x k for scaling and splitting
 *          all of A and B: with few lines about that of one product at m = n = k = 2000, and a smaller part
 *          of larger ones. repair_limit and progress do not apply.
 * Device   matrices on the device: the lines are copied to the host, and the products are made there, by as
 *          many threads as the context has. Waits for the stream; while it is being captured:
 *          OZG_E_UNSUPPORTED.
 * Errors   as ozg_dgemm(), argument numbers counting this call's own arguments. *result is then zeroed.
 */
OZG_API ozg_status ozg_monitor_dgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                     int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                                     int64_t ldb, double beta, const double *c0, int64_t ldc0,
                                     const double *c, int64_t ldc, int64_t lines, uint64_t seed,
                                     ozg_monitor *result);
OZG_API ozg_status ozg_monitor_sgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                     int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                                     int64_t ldb, float beta, const float *c0, int64_t ldc0, const float *c,
                                     int64_t ldc, int64_t lines, uint64_t seed, ozg_monitor *result);
OZG_API ozg_status ozg_monitor_zgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                     int64_t k, const double alpha[2], const double *a, int64_t lda,
                                     const double *b, int64_t ldb, const double beta[2], const double *c0,
                                     int64_t ldc0, const double *c, int64_t ldc, int64_t lines, uint64_t seed,
                                     ozg_monitor *result);
OZG_API ozg_status ozg_monitor_cgemm(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                     int64_t k, const float alpha[2], const float *a, int64_t lda,
                                     const float *b, int64_t ldb, const float beta[2], const float *c0,
                                     int64_t ldc0, const float *c, int64_t ldc, int64_t lines, uint64_t seed,
                                     ozg_monitor *result);

/* ---- prepared operands: scale and split once, multiply often ------------------------------------ */

/*
 * ozg_operand_create() - scale and split op(X) now. side is 'A' (op(X) is rows x cols = m x k) or 'B' (k x
 * n). The operand is a copy: later changes of x do not reach it. It keeps the accuracy acc at this k, and
 * belongs to ctx: destroy it first. An element takes its own size and 1 or 2 bytes a modulus (complex: 3 or
 * 6), which count neither against memory_limit nor as workspace. Errors as ozg_dgemm(); *operand is then
 * NULL.
 *
 * CUDA   x is where the context's matrices are, the operand on the device: an element takes its own size and
 *        1 byte a modulus (complex: about 2.1, by 2M), for native one more (complex: 3), lines of k bytes
 *        being padded to a multiple of 128 and their number to one of 256. Matrices on the device: all is
 *        enqueued on the stream, and later work there may change x; but native and rounded without
 *        ozg_with_moduli() wait for the stream, since the size follows from the number of moduli. Native and
 *        rounded need workspace: 0.7 MiB, 8 k bytes and 2 a line. At most 2^31 lines, and k at most 2^30;
 *        not while the stream is being captured (OZG_E_UNSUPPORTED). Calls with the operand can be captured.
 *
 * ozg_operand_destroy() - CUDA: may be called while work with it waits on the stream, for which it then
 * waits. While the stream is being captured it does not; the memory is freed later, at the latest with the
 * context. Graphs that were captured with an operand must not be launched afterwards.
 */
OZG_API ozg_status ozg_operand_create(ozg_operand **operand, ozg_context *ctx, char type, char side,
                                      char trans, int64_t rows, int64_t cols, const void *x, int64_t ldx,
                                      ozg_accuracy acc);
OZG_API void ozg_operand_destroy(ozg_operand *operand);

/* ozg_operand_moduli() - its number of moduli; native and rounded ones choose it as if the other operand were
 * like this one. 0 for NULL and for an empty operand. */
OZG_API int ozg_operand_moduli(const ozg_operand *operand);

/*
 * ozg_dgemm_prepared() - ozg_dgemm() where either operand, or both, may be prepared: with pa not NULL, op(A)
 * is pa and transa, a and lda are not looked at (likewise pb). The bits are those of ozg_dgemm() with the
 * operand's accuracy. The shape and the accuracy of a prepared operand must be those of the call (OZG_E_ARG).
 */
OZG_API ozg_status ozg_dgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                      int64_t k, double alpha, const ozg_operand *pa, const double *a,
                                      int64_t lda, const ozg_operand *pb, const double *b, int64_t ldb,
                                      double beta, double *c, int64_t ldc, ozg_accuracy acc,
                                      ozg_report *report);
OZG_API ozg_status ozg_sgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                      int64_t k, float alpha, const ozg_operand *pa, const float *a,
                                      int64_t lda, const ozg_operand *pb, const float *b, int64_t ldb,
                                      float beta, float *c, int64_t ldc, ozg_accuracy acc,
                                      ozg_report *report);
OZG_API ozg_status ozg_zgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                      int64_t k, const double alpha[2], const ozg_operand *pa,
                                      const double *a, int64_t lda, const ozg_operand *pb, const double *b,
                                      int64_t ldb, const double beta[2], double *c, int64_t ldc,
                                      ozg_accuracy acc, ozg_report *report);
OZG_API ozg_status ozg_cgemm_prepared(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                      int64_t k, const float alpha[2], const ozg_operand *pa, const float *a,
                                      int64_t lda, const ozg_operand *pb, const float *b, int64_t ldb,
                                      const float beta[2], float *c, int64_t ldc, ozg_accuracy acc,
                                      ozg_report *report);

/* ---- batches ------------------------------------------------------------------------------------ */

/*
 * ozg_dgemm_batch_strided() - count products of one shape; product q works on a + q stride_a, b + q stride_b,
 * c + q stride_c (elements). stride_a or stride_b 0: the same matrix for all. The bits are those of count
 * single calls. All arguments are checked before the first product; no C may share an element with any A or B
 * or with another C (OZG_E_ARG). report: sums of times and counts, the largest bound, number of moduli and
 * width of the whole batch; it is complete when the call returns, which then waits for matrices on the
 * device (OZG_E_UNSUPPORTED while the stream is captured). Small products on the device go through together,
 * as many as memory_limit allows. Errors as ozg_dgemm(); OZG_E_NOMEM leaves every C untouched.
 */
OZG_API ozg_status ozg_dgemm_batch_strided(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                           int64_t k, double alpha, const double *a, int64_t lda,
                                           int64_t stride_a, const double *b, int64_t ldb, int64_t stride_b,
                                           double beta, double *c, int64_t ldc, int64_t stride_c,
                                           int64_t count, ozg_accuracy acc, ozg_report *report);

/* ozg_dgemm_batch() - the same with an array of count pointers for each matrix. */
OZG_API ozg_status ozg_dgemm_batch(ozg_context *ctx, char transa, char transb, int64_t m, int64_t n,
                                   int64_t k, double alpha, const double *const *a, int64_t lda,
                                   const double *const *b, int64_t ldb, double beta, double *const *c,
                                   int64_t ldc, int64_t count, ozg_accuracy acc, ozg_report *report);

#ifdef __cplusplus
}
#endif
#endif
