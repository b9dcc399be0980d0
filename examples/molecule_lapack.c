/*
 * molecule_lapack.c - real matrices to multiply: water molecules in a Gaussian basis.
 *
 *   molecule_lapack FILE.h5 [NX NY NZ]      a block of NX x NY x NZ molecules, default 4 x 4 x 3
 *
 * Writes   S   overlap matrix
 *          H   Fock-like matrix: kinetic energy and a Gaussian well at each nucleus
 *          X   canonical orthogonalisation U s^(-1/2), from LAPACK's S = U s U^T; X^T S X = I up to rounding
 *
 * The basis is even-tempered with s and p functions. All integrals are closed formulas: a Gaussian integral
 * of three dimensions is a product of three integrals of one, and these follow from the two-term recursion of
 * S. Obara and A. Saika, J. Chem. Phys. 84, 3963 (1986). Lengths are in bohr, energies in hartree.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "matrix_h5.h"

void dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info);

struct vec {
    double x[3];
};

struct atom {
    struct vec at;
    int charge; /* 8: oxygen, 1: hydrogen */
};

/* One basis function: norm x^l[0] y^l[1] z^l[2] exp(-a r^2) around its atom, l[0] + l[1] + l[2] <= 1. */
struct gaussian {
    struct vec at;
    double a, norm;
    int l[3];
};

/* ---- the molecules ------------------------------------------------------------------------------------ */

/* angle() - a fixed sequence of angles: the golden ratio's multiples, evenly spread. */
static double angle(int i)
{
    double turn = i * 0.6180339887498949;
    return 2 * 3.141592653589793 * (turn - floor(turn));
}

/* rotate() - by Euler angles that depend on the number of the molecule only. */
static struct vec rotate(struct vec v, int molecule)
{
    for (int axis = 0; axis < 3; axis++) {
        int p = axis, q = (axis + 1) % 3;
        double c = cos(angle(3 * molecule + axis + 1)), s = sin(angle(3 * molecule + axis + 1)), x = v.x[p];
        v.x[p] = c * x - s * v.x[q];
        v.x[q] = s * x + c * v.x[q];
    }
    return v;
}

/* place_water() - three atoms of molecule m: bond 0.9572 Angstrom, angle 104.52 degrees. */
static void place_water(struct atom *atoms, int m, const int cell[3])
{
    const double spacing = 5.87; /* bohr: the density of liquid water */
    const struct vec shape[3] = {{{0, 0, 0}}, {{1.4304, 1.1071, 0}}, {{-1.4304, 1.1071, 0}}};
    for (int i = 0; i < 3; i++) {
        atoms[i].at = rotate(shape[i], m);
        atoms[i].charge = i == 0 ? 8 : 1;
        for (int d = 0; d < 3; d++)
            atoms[i].at.x[d] += spacing * cell[d];
    }
}

/* ---- the basis ---------------------------------------------------------------------------------------- */

enum { OXYGEN_S = 7, OXYGEN_P = 3, HYDROGEN_S = 3, FUNCTIONS = OXYGEN_S + 3 * OXYGEN_P + 2 * HYDROGEN_S };

static double overlap(const struct gaussian *f, const struct gaussian *g);

static struct gaussian *add_function(struct gaussian *f, struct vec at, double a, int axis)
{
    *f = (struct gaussian){.at = at, .a = a, .norm = 1};
    if (axis >= 0)
        f->l[axis] = 1;
    f->norm = 1 / sqrt(overlap(f, f));
    return f + 1;
}

/* add_basis() - even-tempered exponents a0 2.3^i. Diffuse ones make S nearly singular, as they do in
 * practice. */
static struct gaussian *add_basis(struct gaussian *f, const struct atom *atom)
{
    int oxygen = atom->charge == 8;
    for (int i = 0; i < (oxygen ? OXYGEN_S : HYDROGEN_S); i++)
        f = add_function(f, atom->at, 0.025 * pow(2.3, i), -1);
    for (int i = 0; oxygen && i < OXYGEN_P; i++)
        for (int axis = 0; axis < 3; axis++)
            f = add_function(f, atom->at, 0.04 * pow(2.3, i), axis);
    return f;
}

/* ---- integrals ---------------------------------------------------------------------------------------- */

/*
 * line() - the integral over one dimension of (x-A)^i (x-B)^j exp(-a (x-A)^2 - b (x-B)^2 - c (x-C)^2) for
 * i <= 1, j <= 3. The product of the three is one Gaussian around P.
 */
static double line(int i, int j, double a, double A, double b, double B, double c, double C)
{
    double p = a + b + c, P = (a * A + b * B + c * C) / p, v[2][4];
    double spread = a * b * (A - B) * (A - B) + a * c * (A - C) * (A - C) + b * c * (B - C) * (B - C);
    v[0][0] = sqrt(3.141592653589793 / p) * exp(-spread / p);
    for (int q = 0; q <= j; q++) {
        if (q > 0)
            v[0][q] = (P - B) * v[0][q - 1] + (q > 1 ? (q - 1) * v[0][q - 2] / (2 * p) : 0);
        v[1][q] = (P - A) * v[0][q] + (q > 0 ? q * v[0][q - 1] / (2 * p) : 0);
    }
    return v[i][j];
}

/* with_well() - <f| exp(-c (r-C)^2) |g>; c = 0: the overlap. */
static double with_well(const struct gaussian *f, const struct gaussian *g, double c, const struct vec *C)
{
    double v = f->norm * g->norm;
    for (int d = 0; d < 3; d++)
        v *= line(f->l[d], g->l[d], f->a, f->at.x[d], g->a, g->at.x[d], c, C->x[d]);
    return v;
}

static double overlap(const struct gaussian *f, const struct gaussian *g)
{
    return with_well(f, g, 0, &f->at);
}

/* kinetic() - <f| -1/2 d^2/dr^2 |g>, by letting the derivatives act on g. */
static double kinetic(const struct gaussian *f, const struct gaussian *g)
{
    double b = g->a, s[3], t[3];
    for (int d = 0; d < 3; d++) {
        int i = f->l[d], j = g->l[d];
        double A = f->at.x[d], B = g->at.x[d];
        s[d] = line(i, j, f->a, A, b, B, 0, 0);
        t[d] = b * (2 * j + 1) * s[d] - 2 * b * b * line(i, j + 2, f->a, A, b, B, 0, 0);
    }
    return f->norm * g->norm * (t[0] * s[1] * s[2] + s[0] * t[1] * s[2] + s[0] * s[1] * t[2]);
}

static double distance2(const struct vec *u, const struct vec *v)
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += (u->x[d] - v->x[d]) * (u->x[d] - v->x[d]);
    return sum;
}

/*
 * wells() - <f| V |g> for one well at each nucleus. The product of f and g sits around P; wells that are out
 * of its reach (a factor below exp(-46) = 1e-20) are left out.
 */
static double wells(const struct gaussian *f, const struct gaussian *g, const struct atom *atoms,
                    size_t natoms)
{
    double p = f->a + g->a, v = 0;
    struct vec P;
    for (int d = 0; d < 3; d++)
        P.x[d] = (f->a * f->at.x[d] + g->a * g->at.x[d]) / p;
    for (size_t q = 0; q < natoms; q++) {
        double c = atoms[q].charge == 8 ? 1.2 : 0.8;
        if (p * c / (p + c) * distance2(&P, &atoms[q].at) < 46)
            v -= atoms[q].charge * with_well(f, g, c, &atoms[q].at);
    }
    return v;
}

/* fill() - S and H. Pairs whose Gaussians do not meet are exact zeros. */
static void fill(double *S, double *H, size_t n, const struct gaussian *basis, const struct atom *atoms,
                 size_t natoms)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            const struct gaussian *f = &basis[i], *g = &basis[j];
            double s = i == j ? 1 : overlap(f, g), h = 0;
            if (f->a * g->a / (f->a + g->a) * distance2(&f->at, &g->at) < 46)
                h = kinetic(f, g) + wells(f, g, atoms, natoms);
            S[i + j * n] = S[j + i * n] = fabs(s) < 1e-20 ? 0 : s;
            H[i + j * n] = H[j + i * n] = fabs(h) < 1e-20 ? 0 : h;
        }
}

/* ---- X ------------------------------------------------------------------------------------------------ */

/* orthogonalise() - X := U s^(-1/2); returns the condition number of S. */
static double orthogonalise(double *X, const double *S, size_t n)
{
    int order = (int)n, lwork = 1 + 6 * order + 2 * order * order, liwork = 3 + 5 * order, info;
    double *s = malloc(n * sizeof *s), *work = malloc((size_t)lwork * sizeof *work);
    int *iwork = malloc((size_t)liwork * sizeof *iwork);
    for (size_t i = 0; i < n * n; i++)
        X[i] = S[i];
    if (s && work && iwork)
        dsyevd_("V", "U", &order, X, &order, s, work, &lwork, iwork, &liwork, &info);
    if (!s || !work || !iwork || info != 0 || s[0] <= 0) {
        fprintf(stderr, "S has no inverse square root in double precision: take fewer molecules\n");
        exit(2);
    }
    double condition = s[n - 1] / s[0];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            X[i + j * n] /= sqrt(s[j]);
    free(iwork);
    free(work);
    free(s);
    return condition;
}

int main(int argc, char **argv)
{
    int size[3] = {4, 4, 3}, cell[3];
    if (argc != 2 && argc != 5) {
        fprintf(stderr, "usage: molecule_lapack FILE.h5 [NX NY NZ]\n");
        return 2;
    }
    for (int d = 0; d < 3 && argc == 5; d++)
        size[d] = atoi(argv[2 + d]);
    if (size[0] < 1 || size[1] < 1 || size[2] < 1 || (long)size[0] * size[1] * size[2] > 500) {
        fprintf(stderr, "the block needs 1 to 500 molecules\n");
        return 2;
    }
    int molecules = size[0] * size[1] * size[2];
    size_t n = (size_t)(FUNCTIONS * molecules), natoms = (size_t)(3 * molecules);
    struct atom *atoms = malloc(natoms * sizeof *atoms);
    struct gaussian *basis = malloc(n * sizeof *basis), *end = basis;
    double *S = new_matrix(n, n), *H = new_matrix(n, n), *X = new_matrix(n, n);
    for (int m = 0; m < molecules; m++) {
        cell[0] = m % size[0], cell[1] = m / size[0] % size[1], cell[2] = m / size[0] / size[1];
        place_water(&atoms[3 * m], m, cell);
    }
    for (size_t q = 0; q < natoms; q++)
        end = add_basis(end, &atoms[q]);
    fill(S, H, n, basis, atoms, natoms);
    double condition = orthogonalise(X, S, n);

    create_file(argv[1]);
    write_matrix(argv[1], "S", n, S);
    write_matrix(argv[1], "H", n, H);
    write_matrix(argv[1], "X", n, X);
    printf("%d water molecules, %zu Gaussian functions (s and p), condition number of S %.1e\n", molecules, n,
           condition);
    free(X);
    free(H);
    free(S);
    free(basis);
    free(atoms);
    return 0;
}
