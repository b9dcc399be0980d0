/*
 * errors.c - wrong arguments through the drop-in, as the program's own handlers see them: case C07, and
 * netlib's order.
 *
 *   default                own xerbla_ and cblas_xerbla, plain ones
 *   -DNETLIB_HANDLER       a cblas_xerbla that knows RowMajorStrg, as netlib's testers have
 *   -DNO_CBLAS_HANDLER     xerbla_ only
 *   -DNO_HANDLER           none: the calls must return all the same
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "calls.h"

static char seen_routine[32];
static int seen_number, seen_calls;

#ifndef NO_HANDLER
void xerbla_(const char *routine, const int *number, size_t length);
void xerbla_(const char *routine, const int *number, size_t length)
{
    snprintf(seen_routine, sizeof seen_routine, "%.*s", (int)length, routine);
    seen_number = *number;
    seen_calls++;
}
#endif

#if !defined NO_HANDLER && !defined NO_CBLAS_HANDLER
#ifdef NETLIB_HANDLER
int RowMajorStrg;

/* Netlib hands out the position in the Fortran call; in a row-major product these are exchanged there. */
static int position_in_c_call(int number)
{
    if (RowMajorStrg == 0)
        return number;
    return number == 4 ? 5 : number == 5 ? 4 : number == 9 ? 11 : number == 11 ? 9 : number;
}
#else
static int position_in_c_call(int number)
{
    return number;
}
#endif

void cblas_xerbla(int number, const char *routine, const char *form, ...);
void cblas_xerbla(int number, const char *routine, const char *form, ...)
{
    (void)form;
    snprintf(seen_routine, sizeof seen_routine, "%s", routine);
    seen_number = position_in_c_call(number);
    seen_calls++;
}
#endif

static unsigned char matrix[1024], c_before[1024];

/* The handler must have seen the number once (not at all without one), and C must be as before. */
static void expect(const gemm_call *g, const char *routine, int number)
{
#ifdef NO_HANDLER
    CHECK(seen_calls == 0 && seen_number == 0 && seen_routine[0] == 0, "%s: a handler was called", routine);
#else
    CHECK(seen_calls == 1 && seen_number == number && strcmp(seen_routine, routine) == 0,
          "%s %d expected, %d calls, last %s %d", routine, number, seen_calls, seen_routine, seen_number);
#endif
    CHECK(memcmp(g->c, c_before, sizeof c_before) == 0, "%s %d: C was changed", routine, number);
}

static void wrong(interface face, gemm_call g, int number)
{
    char routine[16];

    for (int t = 0; t < 4; t++) {
        unsigned char c[sizeof c_before];
        g.type = "sdcz"[t];
        memcpy(c, c_before, sizeof c);
        g.c = c;
        seen_calls = 0;
        if (face == FORTRAN)
            snprintf(routine, sizeof routine, "%cGEMM ", "SDCZ"[t]);
        else
            snprintf(routine, sizeof routine, "cblas_%cgemm", g.type);
        call_gemm(face, &g);
        expect(&g, routine, number);
    }
}

/* Each wrong argument alone, then with all later ones wrong as well: the first one counts. */
static void fortran_order(const gemm_call *right)
{
    static const int numbers[] = {1, 2, 3, 4, 5, 8, 10, 13};

    for (int i = 0; i < 8; i++) {
        gemm_call alone = *right, later = *right;
        int number = numbers[i];
        alone.transa = number == 1 ? 'X' : 'N';
        alone.transb = number == 2 ? '/' : 'N';
        alone.m = number == 3 ? -1 : 2;
        alone.n = number == 4 ? -1 : 3;
        alone.k = number == 5 ? -1 : 4;
        alone.lda = number == 8 ? 1 : 2;
        alone.ldb = number == 10 ? 3 : 4;
        alone.ldc = number == 13 ? 1 : 2;
        wrong(FORTRAN, alone, number);
        later.transa = number == 1 ? 'X' : 'N';
        later.transb = number <= 2 ? 'X' : 'N';
        later.m = number <= 3 ? -1 : 2;
        later.n = number <= 4 ? -1 : 3;
        later.k = number <= 5 ? -1 : 4;
        later.lda = number <= 8 ? 0 : 2;
        later.ldb = number <= 10 ? 0 : 4;
        later.ldc = 0;
        wrong(FORTRAN, later, number);
    }
}

void cblas_dgemm(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *,
                 int);

/* Options that calls.h cannot spell: wrong layout and transposes. */
static void wrong_option(int layout, int transa, int transb, int position)
{
    unsigned char c[sizeof c_before];
    gemm_call g = {.c = c};

    memcpy(c, c_before, sizeof c);
    seen_calls = 0;
    cblas_dgemm(layout, transa, transb, 0, 0, 0, 1, matrix, 1, matrix, 1, 0, c, 1);
    expect(&g, "cblas_dgemm", position);
}

static void case_c07(void)
{
    gemm_call g = {
        .transa = 'N', .transb = 'N', .m = 2, .n = 3, .k = 4, .alpha = {1, 0}, .a = matrix, .b = matrix};

    for (int i = 0; i < 6; i++) {
        static const int positions[] = {4, 5, 6, 9, 11, 14};
        gemm_call rows = g, columns = g;
        rows.lda = 4, rows.ldb = 3, rows.ldc = 3;
        columns.lda = 2, columns.ldb = 4, columns.ldc = 2;
        int *in_rows[] = {&rows.m, &rows.n, &rows.k, &rows.lda, &rows.ldb, &rows.ldc};
        int *in_columns[] = {&columns.m, &columns.n, &columns.k, &columns.lda, &columns.ldb, &columns.ldc};
        *in_rows[i] -= i < 3 ? 10 : 1;
        *in_columns[i] -= i < 3 ? 10 : 1;
        wrong(CBLAS_ROWS, rows, positions[i]);
        wrong(CBLAS_COLUMNS, columns, positions[i]);
    }
    wrong_option(ROW_MAJOR, NO_TRANS, 999, 3);
    wrong_option(COL_MAJOR, NO_TRANS, 0, 3);
    wrong_option(ROW_MAJOR, 110, TRANS, 2);
    wrong_option(COL_MAJOR, -1, TRANS, 2);
    wrong_option(100, NO_TRANS, NO_TRANS, 1);
    wrong_option(103, 0, 0, 1);
}

int main(void)
{
    gemm_call right = {.transa = 'N',
                       .transb = 'N',
                       .m = 2,
                       .n = 3,
                       .k = 4,
                       .alpha = {1, 0},
                       .a = matrix,
                       .b = matrix,
                       .lda = 2,
                       .ldb = 4,
                       .ldc = 2};

    memset(c_before, 0x5a, sizeof c_before);
#ifdef NETLIB_HANDLER
    RowMajorStrg = 1; /* as the testers leave it before a row-major call */
#endif
    fortran_order(&right);
    case_c07();
    return check_status();
}
