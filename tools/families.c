/*
 * families.c - the test matrices of "ozgemm accuracy".
 *
 * The families of [Xe2] secs. 7 and 8.3, and some that are harder for shared exponents or that tell one kind
 * of algorithm from another (grade.c).
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The place of an entry: line i or j of its matrix, inner index p. */
struct place {
    uint64_t stream;    /* random numbers of this matrix and this part (real or imaginary) */
    uint64_t vectors;   /* random numbers that A and B share */
    uint64_t element;   /* number of the entry, counted from 0 */
    int64_t line, p, k; /* A: line = i; B: line = j */
    int64_t lines, m;   /* rows of A or columns of B; rows of A */
    int side;           /* 0: A, 1: B */
    int part;           /* 0: real, 1: imaginary */
    int digits;         /* 53 or 24 */
    double phi;
};

struct family {
    const char *name;
    const char *text;
    double (*entry)(const struct place *);
    int even_k;
};

uint64_t random_bits(uint64_t stream, uint64_t index)
{
    uint64_t z = stream + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* bits() - the random numbers of this entry: up to four. */
static uint64_t bits(const struct place *x, int draw)
{
    return random_bits(x->stream, 4 * x->element + (uint64_t)draw);
}

/* uniform() - U(0, 1) on the grid of 2^-53, never 0. */
static double uniform(uint64_t b)
{
    return ((double)(b >> 12) + 0.5) * 0x1p-52;
}

/* full_uniform() - U(-1, 1) with 53 random bits at every magnitude: the exponent is geometric. */
static double full_uniform(uint64_t b, uint64_t c)
{
    int e = c ? __builtin_clzll(c) : 63;
    double x = ldexp(1 + (double)(b >> 12) * 0x1p-52, -1 - e);
    return b & 1 ? -x : x;
}

static double uni(const struct place *x)
{
    return full_uniform(bits(x, 0), bits(x, 1));
}

/* grid() - U[-1, 1) as multiples of 2^-digits, as most generators make them. */
static double grid(const struct place *x, int draw)
{
    int64_t v = (int64_t)(bits(x, draw) >> (63 - x->digits)) - (INT64_C(1) << x->digits);
    return ldexp((double)v, -x->digits);
}

static double unigrid(const struct place *x)
{
    return grid(x, 0);
}

static double pos(const struct place *x)
{
    return fabs(full_uniform(bits(x, 0), bits(x, 1)));
}

/* normal() - Box-Muller from draws 2 and 3. */
static double normal(const struct place *x)
{
    return sqrt(-2 * log(uniform(bits(x, 2)))) * cos(2 * M_PI * uniform(bits(x, 3)));
}

/* phi() - cut off at 2^500 (float: 2^50), so that no sum overflows. */
static double phi(const struct place *x)
{
    double most = x->digits == 53 ? 0x1p500 : 0x1p50;
    double v = (uniform(bits(x, 0)) - 0.5) * exp(x->phi * normal(x));
    return fabs(v) > most ? copysign(most, v) : v;
}

static double sincos_entry(const struct place *x)
{
    double angle = (double)(x->line + 1) * (double)(x->p + 1);
    return (x->side ^ x->part) ? cos(angle) : sin(angle);
}

/* spike() - unigrid, but one entry of each row of A is 2^40 times larger. */
static double spike(const struct place *x)
{
    int64_t at = (int64_t)(random_bits(x->vectors, (uint64_t)x->line) % (uint64_t)x->k);
    return ldexp(unigrid(x), x->side == 0 && x->p == at ? 40 : 0);
}

/* cancel() - A = [X X], B = [Y; -Y + 2^-30 Z]: the halves use the entry of the first half. */
static double cancel(const struct place *x)
{
    struct place first = *x;
    int64_t half = x->k / 2;
    int second = x->p >= half;
    first.element = (uint64_t)(x->line * half + (second ? x->p - half : x->p));
    double y = grid(&first, 0);
    return x->side && second ? -y + 0x1p-30 * grid(&first, 1) : y;
}

static double edge(const struct place *x)
{
    return 1 - ldexp(1, -x->digits);
}

static double int20(const struct place *x)
{
    return (double)((int64_t)(bits(x, 0) >> 43) - (INT64_C(1) << 20));
}

static double f32(const struct place *x)
{
    return (double)(float)normal(x);
}

static double sparse(const struct place *x)
{
    return bits(x, 0) % 20 == 0 ? normal(x) : 0;
}

static double hilbert(const struct place *x)
{
    return 1.0 / (double)(x->line + x->p + 1);
}

/* power() - a random exponent in -range..range of number index. */
static int power(uint64_t stream, int64_t index, int range)
{
    return (int)(random_bits(stream, (uint64_t)index) % (uint64_t)(2 * range + 1)) - range;
}

static double gradrow(const struct place *x)
{
    int range = x->digits == 53 ? 200 : 25;
    return ldexp(normal(x), power(x->vectors + 1 + (uint64_t)x->side, x->line, range));
}

static double gradk(const struct place *x)
{
    return ldexp(normal(x), (int)(-40 * x->p / x->k));
}

static double inside(const struct place *x)
{
    int d = power(x->vectors + 3, x->p, 30);
    return ldexp(normal(x), x->side ? -d : d);
}

static double subnormal(const struct place *x)
{
    return ldexp(uni(x), x->side ? 0 : (x->digits == 53 ? -1040 : -135));
}

/*
 * evil() - a spike of 2^40 in A at p = i and row p of B smaller by 2^40: every product has the size of the
 * others, but no row of A and no column of B has entries of one size.
 */
static double evil(const struct place *x)
{
    if (x->side)
        return ldexp(uni(x), x->p < x->m ? -40 : 0);
    return ldexp(uni(x), x->p == x->line % x->k ? 40 : 0);
}

/* evil2() - a spike of 2^40 in each row of A, and half the entries of B smaller by 2^40: no pattern helps. */
static double evil2(const struct place *x)
{
    int64_t at = (int64_t)(random_bits(x->vectors, (uint64_t)x->line) % (uint64_t)x->k);
    if (x->side)
        return ldexp(uni(x), bits(x, 2) & 1 ? -40 : 0);
    return ldexp(uni(x), x->p == at ? 40 : 0);
}

/* vandermonde() - node^p with the nodes of Chebyshev's polynomial; A and B^T are alike. */
static double vandermonde(const struct place *x)
{
    return pow(cos(M_PI * ((double)x->line + 0.5) / (double)x->lines), (double)x->p);
}

/* kahan() - Kahan's matrix diag(1, s, s^2, ...) (I - c U), s = sin 1.2, U ones above the diagonal. */
static double kahan(const struct place *x)
{
    int64_t row = x->side ? x->p : x->line, column = x->side ? x->line : x->p;
    double scale = pow(sin(1.2), (double)row);
    return row == column ? scale : row < column ? -cos(1.2) * scale : 0;
}

/* range() - A D and D^-1 B over the whole range of the type. */
static double range(const struct place *x)
{
    int most = x->digits == 53 ? 1000 : 100, d = power(x->vectors + 3, x->p, most);
    return ldexp(uni(x), x->side ? -d : d);
}

/*
 * wide() - the first quarter of A is larger by 2^60, where every other column of B is zero: there the large
 * entries of A set its scale and contribute nothing.
 */
static double wide(const struct place *x)
{
    int first = x->p < x->k / 4;
    if (x->side)
        return first && x->line % 2 == 0 ? 0 : uni(x);
    return ldexp(uni(x), first ? 60 : 0);
}

/*
 * zeros() - where even rows of A are zero, at random inner indices, even columns of B are not, and the other
 * way round: their products are exactly 0, which an algorithm that mixes entries (Strassen) does not find.
 */
static double zeros(const struct place *x)
{
    int side = (int)(random_bits(x->vectors + 4, (uint64_t)x->p) & 1);
    return x->line % 2 == 0 && side == x->side ? 0 : uni(x);
}

/*
 * underflow() - odd rows of A are subnormal, odd columns of B large: a flush to zero, or a scale that is no
 * number of the type, loses results that are normal numbers.
 */
static double underflow(const struct place *x)
{
    int twice = x->digits == 53, odd = x->line % 2 != 0;
    return ldexp(uni(x), !odd ? 0 : x->side ? (twice ? 500 : 60) : (twice ? -1030 : -135));
}

static const struct family families[] = {
    {"uni", "U(-1,1) with full mantissas at every magnitude", uni, 0},
    {"unigrid", "U[-1,1) as multiples of 2^-53 (float: 2^-24), the paper's data", unigrid, 0},
    {"normal", "N(0,1)", normal, 0},
    {"phi", "(U(0,1) - 1/2) exp(X N(0,1)); write phi0.5, phi2, ...", phi, 0},
    {"gradrow", "N(0,1), rows of A and columns of B times 2^-200..2^200 (float: 2^-25..2^25)", gradrow, 0},
    {"gradk", "N(0,1), both decay by 2^-40 along k", gradk, 0},
    {"hilbert", "1/(i + p + 1)", hilbert, 0},
    {"vandermonde", "A = x_i^p, B = y_j^p, Chebyshev nodes", vandermonde, 0},
    {"kahan", "A and B: diag(1, s, s^2, ...) (I - c U), s = sin 1.2, c = cos 1.2, U upper ones", kahan, 0},
    {"inside", "A D and D^-1 B, A and B N(0,1), D = diag(2^-30..2^30)", inside, 0},
    {"spike", "unigrid, one entry of each row of A times 2^40", spike, 0},
    {"evil", "uni, entry p = i of A times 2^40 and row p of B times 2^-40", evil, 0},
    {"evil2", "uni, one entry of each row of A times 2^40, half the entries of B times 2^-40", evil2, 0},
    {"cancel", "A = [X X], B = [Y; -Y + 2^-30 Z], X Y Z unigrid; |C| is about 2^-30 |A||B|", cancel, 1},
    {"sparse", "N(0,1), 5 % of the entries are not zero", sparse, 0},
    {"subnormal", "uni, A near and below the smallest normal number", subnormal, 0},
    {"f32", "N(0,1) rounded to float", f32, 0},
    {"int20", "integers to 2^20", int20, 0},
    {"pos", "U(0,1) with full mantissas", pos, 0},
    {"sincos", "A = sin((i+1)(p+1)), B = cos((p+1)(j+1)); complex: sin + i cos, cos + i sin", sincos_entry,
     0},
    {"edge", "all entries 1 - 2^-53 (float: 2^-24): the limit of the Chinese-remainder range", edge, 0},
    {"range", "A D and D^-1 B, A and B uni, D = diag(2^-1000..2^1000) (float: 2^-100..2^100)", range, 0},
    {"wide", "uni, the first quarter of A times 2^60, where every other column of B is zero", wide, 0},
    {"zeros", "uni, even rows of A are zero at random inner indices, even columns of B at the others", zeros,
     0},
    {"underflow", "uni, every other row of A subnormal, every other column of B times 2^500 (float: 2^60)",
     underflow, 0},
    {"subn", "the same as subnormal", subnormal, 0},
};

const char families_all[] = "uni,unigrid,normal,phi0.5,phi1,phi2,phi4,phi10,phi20,gradrow,gradk,hilbert,"
                            "vandermonde,kahan,inside,spike,evil,evil2,cancel,sparse,subnormal,f32,int20,"
                            "pos,sincos,edge,range,wide,zeros,underflow";

enum { NFAMILIES = sizeof families / sizeof families[0] };

const struct family *family_find(const char *name, double *phi_value)
{
    *phi_value = 0;
    for (int i = 0; i < NFAMILIES; i++) {
        size_t length = strlen(families[i].name);
        if (strncmp(families[i].name, name, length) != 0)
            continue;
        const char *number = name + length + (name[length] == '=');
        char *end;
        if (families[i].entry != phi && name[length] == '\0')
            return &families[i];
        if (families[i].entry != phi)
            continue;
        *phi_value = strtod(number, &end);
        if (end != number && *end == '\0' && *phi_value >= 0 && *phi_value <= 100)
            return &families[i];
    }
    return NULL;
}

/* fill() - one part of one matrix. */
static void fill(const struct family *f, struct place x, struct matrix *y)
{
    size_t step = type_complex(y->type) ? 2 : 1;
    x.lines = x.side ? y->cols : y->rows;
    for (int64_t j = 0; j < y->cols; j++)
        for (int64_t i = 0; i < y->rows; i++) {
            x.line = x.side ? j : i;
            x.p = x.side ? i : j;
            x.element = (uint64_t)(i + j * y->rows);
            double v = f->entry(&x);
            size_t at = x.element * step + (size_t)x.part;
            if (type_double(y->type))
                ((double *)y->data)[at] = v;
            else
                ((float *)y->data)[at] = (float)v;
        }
}

void family_fill(const struct family *f, double phi_value, uint64_t seed, struct matrix *a, struct matrix *b)
{
    struct place x = {.k = a->cols, .m = a->rows, .digits = type_double(a->type) ? 53 : 24, .phi = phi_value};
    x.vectors = random_bits(seed, 0);
    for (x.side = 0; x.side < 2; x.side++)
        for (x.part = 0; x.part < (type_complex(a->type) ? 2 : 1); x.part++) {
            x.stream = random_bits(seed, (uint64_t)(1 + x.side + 2 * x.part));
            fill(f, x, x.side ? b : a);
        }
}

const char *family_text(const struct family *f)
{
    return f->text;
}

int family_even_k(const struct family *f)
{
    return f->even_k;
}

const char *family_name(int index)
{
    return index < NFAMILIES ? families[index].name : NULL;
}
