/*
 * accuracy.h - the exact product with its magnitude, and what ozg_rounded(), ozg_native() and the bounds of a
 * report promise, component by component.
 *
 * For a component of alpha op(A) op(B) + beta C, E is the distance of the computed one from the exact one and
 *
 *     S = |alpha||A||B| + |beta C|,  complex: the sum of the moduli of all its real products.
 *
 * Nothing here compares rounded quantities: E, S and the limits are exact numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_ACCURACY_H
#define TEST_ACCURACY_H

#include "check.h"

struct exact {
    struct oracle product; /* op(A) op(B) without rounding: for oracle_value() and oracle_result() */
    struct ext *magnitude; /* |A||B| in the layout of product.ab; 0 where a row or column has Inf or NaN */
    int64_t special_rows;  /* rows of op(A) with Inf or NaN */
    int64_t special_cols;  /* columns of op(B) with Inf or NaN */
    int empty;             /* alpha = 0 or k = 0: A and B are not read */
};

/* exact_open() - multiply exactly, by additions of GMP. g and its A and B must stay. */
void exact_open(struct exact *x, const struct gemm *g);
void exact_close(struct exact *x);

/* exact_image() - C with its padding after the correctly rounded product, to be freed. */
void *exact_image(const struct exact *x);

/* One component of C. */
struct component {
    int64_t i, j;
    int part;
};

/* component_count(), component_at() - all components of C, numbered from 0. */
int64_t component_count(const struct gemm *g);
struct component component_at(const struct gemm *g, int64_t q);

/* component_get() - its value in an image of C. */
double component_get(const struct gemm *g, const void *image, struct component at);

/*
 * exact_error() - error := E for the image `after`, where C was `before`. Returns 0, and error is 0, where E
 * means nothing: the exact value is no number, or it overflows when it is rounded. E is infinite where
 * `after` is no number and should be one.
 */
int exact_error(const struct exact *x, const void *before, const void *after, struct component at,
                struct ext *error);

/* exact_size() - size := S. */
void exact_size(const struct exact *x, const void *before, struct component at, struct ext *size);

/* How far the components are from a limit. */
struct excess {
    int64_t compared;        /* components where E means something */
    int64_t beyond;          /* of these, above the limit */
    struct component first;  /* the first of those */
    double error, limit;     /* there, rounded */
    double largest_error;    /* of all, rounded */
    double largest_size;     /* the largest S, rounded */
    double largest_ratio;    /* of E / limit, rounded; 0 where E = 0 */
    double largest_in_units; /* of E / (u S), rounded */
};

/* native_excess() - E against f u S + eta, f = sqrt(k) + 1, eta half of the smallest number. */
void native_excess(const struct exact *x, const void *before, const void *after, struct excess *out);

/* bound_excess() - E against one number for all. */
void bound_excess(const struct exact *x, const void *before, const void *after, double bound,
                  struct excess *out);

/* relative_excess() - E against relative S + eta. */
void relative_excess(const struct exact *x, const void *before, const void *after, double relative,
                     struct excess *out);

/*
 * native_holds() - native_excess() finds nothing, components of rows and columns with Inf or NaN are those of
 * IEEE arithmetic bit for bit, and padding is untouched. Returns 0 with a message otherwise.
 */
int native_holds(const struct exact *x, const void *before, const void *after, const char *label);

/*
 * report_holds() - the bounds of the report hold for every component, it counts the special rows and columns,
 * and its numbers fit each other. Returns 0 with a message otherwise.
 */
int report_holds(const struct exact *x, const void *before, const void *after, const ozg_report *report,
                 const char *label);

/*
 * accuracy_run() - run g with C given back afterwards: the image of the result, to be freed; NULL with a
 * message if the status is not OZG_OK. report may be NULL.
 */
void *accuracy_run(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, ozg_report *report,
                   const char *label);

/* accuracy_same() - accuracy_run() gives these bits. Returns 0 with a message otherwise. */
int accuracy_same(ozg_context *ctx, const struct gemm *g, ozg_accuracy acc, const void *expected,
                  ozg_report *report, const char *label);

/*
 * accuracy_scalars() - alpha and beta number q (any) of the ordinary ones: 1 and 0, powers of two, general
 * ones.
 */
void accuracy_scalars(struct gemm *g, int q);

#endif
