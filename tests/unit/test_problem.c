/*
 * test_problem.c - the overlap of C with A and B against sets of bytes, and the number of each wrong
 * argument.
 *
 * SPDX-License-Identifier: MIT
 */
#include "problem.h"
#include "unit.h"

enum { BYTES = 2048 };

/* Numbers that differ from each other and from those of the public calls. */
static const ozg_argument_numbers numbers = {.type = 21,
                                             .transa = 22,
                                             .transb = 23,
                                             .m = 24,
                                             .n = 25,
                                             .k = 26,
                                             .alpha = 27,
                                             .pa = 28,
                                             .a = 29,
                                             .lda = 30,
                                             .pb = 31,
                                             .b = 32,
                                             .ldb = 33,
                                             .beta = 34,
                                             .c = 35,
                                             .ldc = 36,
                                             .acc = 37};
static char memory[BYTES];
static char error[256];

static void expect_argument(ozg_status status, int number)
{
    char begin[32];

    snprintf(begin, sizeof begin, "argument %d", number);
    assert_int_equal(status, OZG_E_ARG);
    if (strncmp(error, begin, strlen(begin)) != 0 ||
        (error[strlen(begin)] != ' ' && error[strlen(begin)] != ':'))
        fail_msg("\"%s\" does not begin with \"%s\"", error, begin);
}

/* ---- overlap ------------------------------------------------------------------------------------ */

static void mark(unsigned char *set, const void *x, int64_t rows, int64_t columns, int64_t ld, int64_t size)
{
    memset(set, 0, BYTES);
    for (int64_t j = 0; j < columns; j++)
        memset(set + ((const char *)x - memory) + j * ld * size, 1, (size_t)(rows * size));
}

static int meet(const unsigned char *x, const unsigned char *y)
{
    for (int i = 0; i < BYTES; i++)
        if (x[i] && y[i])
            return 1;
    return 0;
}

/* A place for rows x columns with this ld; one in four is misaligned. */
static char *place(struct rng *r, int64_t rows, int64_t columns, int64_t ld, int64_t size)
{
    const int64_t room = BYTES - ((columns - 1) * ld + rows) * size;
    const int64_t at = rng_between(r, 0, room < 40 * size ? room : 40 * size);

    return memory + (rng_below(r, 4) ? at / size * size : at);
}

static void test_overlap(void **state)
{
    static const char types[] = {'s', 'd', 'c', 'z'}, trans[] = {'N', 'T', 'C'};
    static unsigned char set[3][BYTES];
    int with_a = 0, with_b = 0, apart = 0;
    struct rng r = {1};

    (void)state;
    for (int i = 0; i < 60000; i++) {
        const int64_t common = rng_between(&r, 4, 8); /* one leading dimension for all: interleaved blocks */
        ozg_shape s = {types[rng_below(&r, 4)],
                       trans[rng_below(&r, 3)],
                       trans[rng_below(&r, 3)],
                       rng_between(&r, 1, 4),
                       rng_between(&r, 1, 4),
                       rng_between(&r, 1, 4),
                       ozg_moduli(8)};
        const int64_t size = ozg_type_size(s.type), ra = s.transa == 'N' ? s.m : s.k,
                      ca = s.transa == 'N' ? s.k : s.m, rb = s.transb == 'N' ? s.k : s.n,
                      cb = s.transb == 'N' ? s.n : s.k;
        ozg_data d = {.alpha = {1, 0}, .beta = {1, 0}};
        ozg_status status;

        d.lda = rng_below(&r, 2) ? common : rng_between(&r, ra, 8);
        d.ldb = rng_below(&r, 2) ? common : rng_between(&r, rb, 8);
        d.ldc = rng_below(&r, 2) ? common : rng_between(&r, s.m, 8);
        d.a = place(&r, ra, ca, d.lda, size);
        d.b = place(&r, rb, cb, d.ldb, size);
        d.c = place(&r, s.m, s.n, d.ldc, size);
        mark(set[0], d.a, ra, ca, d.lda, size);
        mark(set[1], d.b, rb, cb, d.ldb, size);
        mark(set[2], d.c, s.m, s.n, d.ldc, size);
        status = ozg_problem_check_data(&s, &d, &numbers, error, sizeof error);
        if (meet(set[0], set[2]) || meet(set[1], set[2])) {
            expect_argument(status, numbers.c);
            assert_non_null(strstr(error, meet(set[0], set[2]) ? "argument 29 (a)" : "argument 32 (b)"));
            with_a += meet(set[0], set[2]);
            with_b += !meet(set[0], set[2]);
        } else {
            assert_int_equal(status, OZG_OK);
            apart++;
        }
    }
    assert_true(with_a > 5000 && with_b > 5000 && apart > 5000);
}

/* ---- arguments ---------------------------------------------------------------------------------- */

static const ozg_shape good_shape = {'d', 'N', 'N', 5, 6, 7, {0, 0}};

static ozg_shape shape(void)
{
    ozg_shape s = good_shape;

    s.acc = ozg_moduli(16);
    return s;
}

static ozg_data data(void)
{
    ozg_data d = {.alpha = {1, 0},
                  .beta = {1, 0},
                  .a = memory,
                  .lda = 5,
                  .b = memory + 400,
                  .ldb = 7,
                  .c = memory + 800,
                  .ldc = 5};

    return d;
}

static void expect_shape(const ozg_shape *s, int number)
{
    ozg_shape copy = *s;

    expect_argument(ozg_problem_check_shape(&copy, &numbers, error, sizeof error), number);
}

static void test_wrong_shapes(void **state)
{
    static const char wrong_trans[] = {'\0', ' ', 'X', 'H', 'm', '0', (char)0xce};
    ozg_shape s = shape();

    (void)state;
    assert_int_equal(ozg_problem_check_shape(&s, &numbers, error, sizeof error), OZG_OK);
    for (size_t i = 0; i < sizeof wrong_trans; i++) {
        s = shape(), s.transa = wrong_trans[i], expect_shape(&s, numbers.transa);
        s = shape(), s.transb = wrong_trans[i], expect_shape(&s, numbers.transb);
    }
    s = shape(), s.type = 'D', expect_shape(&s, numbers.type);
    s = shape(), s.m = -1, expect_shape(&s, numbers.m);
    s = shape(), s.n = INT64_MIN, expect_shape(&s, numbers.n);
    s = shape(), s.k = -1, expect_shape(&s, numbers.k);
    s.m = s.n = -1, expect_shape(&s, numbers.m); /* the first wrong one is named */
    s.transb = '?', expect_shape(&s, numbers.transb);
    s = shape(), s.acc = ozg_moduli(1), expect_shape(&s, numbers.acc);
    s = shape(), s.acc = ozg_moduli(50), expect_shape(&s, numbers.acc);
    s = shape(), s.acc = ozg_moduli(-8), expect_shape(&s, numbers.acc);
    s = shape(), s.acc = ozg_width(0), expect_shape(&s, numbers.acc);
    s = shape(), s.acc.kind = 0, expect_shape(&s, numbers.acc);
    s = shape(), s.acc.kind = 99, expect_shape(&s, numbers.acc);
    s = shape(), s.acc = ozg_with_moduli(ozg_native(), 1), expect_shape(&s, numbers.acc);
    s = shape(), s.acc = ozg_with_moduli(ozg_rounded(), 50), expect_shape(&s, numbers.acc);
    s.acc = ozg_with_moduli(ozg_moduli(8), 9); /* for native and rounded only */
    assert_true(s.acc.kind == ozg_moduli(8).kind && s.acc.value == 8);
    s = shape(), s.acc = ozg_rounded();
    assert_int_equal(ozg_problem_check_shape(&s, &numbers, error, sizeof error), OZG_OK);
}

static void test_letters_become_upper_case(void **state)
{
    static const char in[] = "nNtTcC", out[] = "NNTTCC";

    (void)state;
    for (int i = 0; i < 6; i++) {
        ozg_shape s = shape();

        s.transa = in[i];
        s.transb = in[5 - i];
        assert_int_equal(ozg_problem_check_shape(&s, &numbers, error, sizeof error), OZG_OK);
        assert_int_equal(s.transa, out[i]);
        assert_int_equal(s.transb, out[5 - i]);
    }
}

static ozg_status check(const ozg_shape *s, const ozg_data *d)
{
    return ozg_problem_check_data(s, d, &numbers, error, sizeof error);
}

static void test_wrong_matrices(void **state)
{
    const int64_t huge[] = {INT64_MAX, INT64_MAX / 8, INT64_MAX / 8 + 1, INT64_MAX / 40, INT64_C(1) << 60};
    ozg_shape s = shape();
    ozg_data d = data();

    (void)state;
    assert_int_equal(check(&s, &d), OZG_OK);
    d = data(), d.lda = 4, expect_argument(check(&s, &d), numbers.lda);
    d = data(), d.ldb = 6, expect_argument(check(&s, &d), numbers.ldb);
    d = data(), d.ldc = 4, expect_argument(check(&s, &d), numbers.ldc);
    d = data(), d.lda = INT64_MIN, d.ldb = 0, expect_argument(check(&s, &d), numbers.lda);
    d = data(), d.a = NULL, expect_argument(check(&s, &d), numbers.a);
    d = data(), d.b = NULL, expect_argument(check(&s, &d), numbers.b);
    d = data(), d.c = NULL, expect_argument(check(&s, &d), numbers.c);
    s.transa = 'T'; /* A is stored k x m, B n x k */
    d = data(), d.lda = 6, expect_argument(check(&s, &d), numbers.lda);
    d.lda = 7, s.transb = 'C';
    d.ldb = 5, expect_argument(check(&s, &d), numbers.ldb);
    d.ldb = 6, assert_int_equal(check(&s, &d), OZG_OK);
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) { /* addresses beyond the address space */
        s = shape();
        d = data(), d.lda = huge[i], expect_argument(check(&s, &d), numbers.lda);
        d = data(), d.ldb = huge[i], expect_argument(check(&s, &d), numbers.ldb);
        d = data(), d.ldc = huge[i], expect_argument(check(&s, &d), numbers.ldc);
    }
}

/* What is not read is not looked at, but leading dimensions always are. */
static void test_unused_matrices(void **state)
{
    ozg_shape s = shape();
    ozg_data d = data();

    (void)state;
    d.a = d.b = NULL;
    d.alpha[0] = -0.0;
    assert_int_equal(check(&s, &d), OZG_OK);
    d.a = d.b = d.c; /* no overlap with what is not read */
    assert_int_equal(check(&s, &d), OZG_OK);
    d.lda = 1;
    expect_argument(check(&s, &d), numbers.lda);
    d = data();
    d.a = NULL;
    d.alpha[0] = 0;
    d.alpha[1] = 1;
    expect_argument(check(&s, &d), numbers.a);
    d = data();
    d.a = d.b = NULL;
    s.k = 0;
    d.ldb = 0;
    expect_argument(check(&s, &d), numbers.ldb);
    d.ldb = 1;
    assert_int_equal(check(&s, &d), OZG_OK);
    d.c = NULL;
    expect_argument(check(&s, &d), numbers.c);
    for (int zero = 0; zero < 2; zero++) {
        s = shape();
        *(zero ? &s.m : &s.n) = 0;
        d = data();
        d.a = d.b = d.c = NULL;
        assert_int_equal(check(&s, &d), OZG_OK);
        d.ldc = 0;
        expect_argument(check(&s, &d), numbers.ldc);
    }
}

static void test_operand_alone(void **state)
{
    ozg_shape s = shape();

    (void)state;
    for (int is_a = 0; is_a < 2; is_a++) {
        const int x = is_a ? numbers.a : numbers.b, ld = is_a ? numbers.lda : numbers.ldb;
        const int64_t rows = is_a ? s.m : s.k;

        assert_int_equal(ozg_problem_check_operand(&s, is_a, memory, rows, &numbers, error, sizeof error),
                         OZG_OK);
        expect_argument(ozg_problem_check_operand(&s, is_a, memory, rows - 1, &numbers, error, sizeof error),
                        ld);
        expect_argument(ozg_problem_check_operand(&s, is_a, NULL, rows, &numbers, error, sizeof error), x);
        expect_argument(ozg_problem_check_operand(&s, is_a, memory, INT64_MAX, &numbers, error, sizeof error),
                        ld);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),         cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_wrong_matrices),  cmocka_unit_test(test_letters_become_upper_case),
        cmocka_unit_test(test_unused_matrices), cmocka_unit_test(test_operand_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
