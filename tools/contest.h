/*
 * contest.h - one contest of "ozgemm speed": the matrices, the check of results, what a row says. The same on
 * the CPU (speed.c) and on a GPU (speed_cuda.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_CONTEST_H
#define OZG_TOOL_CONTEST_H

#include "bench_check.h"
#include "matrix.h"
#include "speed.h"

/* The matrices of one type and shape. */
struct contest {
    struct speed *q;
    char type;
    int64_t m, n, k;
    int threads;              /* of the CPU; 0: a GPU computes */
    struct matrix a, b, c, d; /* d: the product of the native BLAS */
    struct probe *probe;
    int compare; /* d is there and right */
};

/* way_of_type() - the way with the bits of the type where it leaves them open. */
struct way way_of_type(const struct way *way, char type);

/* way_accuracy() - the request to the library; 0 if there is none for this k. */
int way_accuracy(const struct way *way, char type, int64_t k, ozg_accuracy *accuracy);

/* contest_begin() - the matrices and the probe; d only with a native product. contest_end() frees them. */
void contest_begin(struct contest *t, int native);
void contest_end(struct contest *t);

/* contest_poison() - NaN everywhere: what is not written must not look right. */
void contest_poison(struct matrix *c);

/* contest_bits() - a number that changes if a bit of C changes (FNV-1a by words of 32 bits). */
uint64_t contest_bits(const struct matrix *c);

/* contest_flops() - operations of the product: 2 m n k, complex 8 m n k. */
double contest_flops(const struct contest *t);

/* contest_progress() - this part of a row of this contest is done, and NAME is next. */
void contest_progress(struct contest *t, double part, const char *name);

/* contest_row() - append a row that says what is multiplied, and how. */
json_t *contest_row(const struct contest *t, const char *method);

/* contest_refuse() - the row has no result, for this reason. */
void contest_refuse(struct contest *t, json_t *row, const char *reason);

/* contest_report() - the facts of a report but its times. contest_shares() - the shares of the stages. */
void contest_report(const struct contest *t, json_t *row, const ozg_report *r);
void contest_shares(json_t *row, const ozg_report *r);

/* contest_wrong() - the row's result is wrong, for this reason: counted. */
void contest_wrong(struct contest *t, json_t *row, const char *sentence);

/* contest_check() - is C right, by the sample and against the native product? Puts what the sample shows. */
int contest_check(struct contest *t, const struct probe *s, json_t *row, const struct matrix *c,
                  struct promise promise);

/*
 * contest_defined() - has C, in the rows and columns of the sample, the bits that moduli or width define? For
 * other ways 1. Puts how many entries it has compared.
 */
int contest_defined(struct contest *t, const struct way *way, json_t *row, const struct matrix *c);

/*
 * contest_promise() - what the library promises: the bound of its report; correct rounding where it says so
 * or was asked for it; for the accuracy native (sqrt k + 1) u abs(A) abs(B) whatever the report says.
 */
struct promise contest_promise(const struct contest *t, const struct way *way, const ozg_report *r);

/* speed_note() - a sentence for all rows; the same one once. */
void speed_note(struct speed *q, const char *sentence);

#endif
