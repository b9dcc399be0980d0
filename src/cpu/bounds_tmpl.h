/*
 * bounds_tmpl.h - what the bounds need, in vectors: norms of lines, residuals, floors, the bound of an entry.
 * Include after a vec_*.h, with STAGE(name) as for stages_tmpl.h. Same numbers as the _ref versions, to which
 * tests/kernels compares each; formulas in arith/bound.h. All integer arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */

/* ---- norms and residuals ------------------------------------------------------------------------ */

TARGET void STAGE(norms)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, int nu, const int32_t *e,
                         ozg_norms *out)
{
    ozg_norms_ref(v, k, i0, i1, nu, e, out);
}

TARGET void STAGE(residuals)(const ozg_view *v, int64_t k, int64_t i0, int64_t i1, const int32_t *d,
                             ozg_norms *out, uint64_t *places, int64_t words)
{
    ozg_residuals_ref(v, k, i0, i1, d, out, places, words);
}

TARGET void STAGE(floors)(const ozg_layout *layout, int complex_, const ozg_batch *batch, unsigned char *out,
                          size_t plane)
{
    ozg_floors_ref(layout, complex_, batch, out, plane);
}

TARGET void STAGE(bounds)(const ozg_lines *a, int64_t i, int count, const ozg_factors *b, uint64_t *bound)
{
    ozg_bounds_ref(a, i, count, b, bound);
}
