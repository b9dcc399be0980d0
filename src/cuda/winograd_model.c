/*
 * winograd_model.c - does Winograd's algorithm pay? An estimate from a tile and the device alone.
 *
 * Times are cycles, summed over all multiprocessors, for one plane of residues; the number of planes does not
 * matter but for the start. An eighth of the products is saved, and paid for by a pass over A and one over B for
 * each row of tiles, which read and write them, and by more stores of sums:
 *
 *     saved = 2 m n k / 8 / (rate of int8 * its share)
 *     paid  = 2 (m + rows n) k / BYTES + ENTRY m n + START M
 *
 * The rates are those of native_model.c. BYTES a cycle of a multiprocessor are those of the device's memory. It
 * must be a clear win, by MARGIN, since what the caches make of it is not in the estimate. For m = n = k that is
 * from about 11000 on for an H200. All of it is an assumption; time alone depends on it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "cuda/plan.h"

typedef struct rates {
    int capability;
    double int8, bytes;
} rates;

static const rates known[] = {{80, 4096, 9},  {86, 2048, 4},   {87, 4096, 4}, {89, 2048, 3},
                              {90, 8192, 14}, {100, 4096, 20}, {120, 2048, 4}};

#define SHARE       0.655 /* native_model.c: WGMMA, MMA */
#define SHARE_MMA   0.5
#define MMA_ON_SM90 0.25
#define ENTRY       0.06 /* cycles an entry of C: three quarters of a store more, reading back */
#define START       1e3  /* of one more kernel, divided among 15 planes */
#define MARGIN      1.5
#define TILE        1024 /* halves of smaller ones are cut into too few tiles of the product kernel */

/* That of the capability, or of the last one before it. */
static const rates *rates_of(int capability)
{
    const rates *r = known;

    while (r + 1 < known + sizeof known / sizeof *known && r[1].capability <= capability)
        r++;
    return r;
}

int ozg_cuda_winograd_pays(int capability, int wgmma, int multiprocessors, const ozg_shape *s, int64_t mt,
                           int64_t nt)
{
    const rates *r = rates_of(capability);
    const double share = wgmma ? SHARE : r->capability == 90 ? MMA_ON_SM90 : SHARE_MMA;
    const double m = (double)s->m, n = (double)s->n, k = (double)s->k, rows = ceil(m / (double)mt);
    const double saved = 2 * m * n * k / 8 / (r->int8 * share);
    const double paid = 2 * (m + rows * n) * k / r->bytes + ENTRY * m * n + START * multiprocessors;

    return mt >= TILE && nt >= TILE && saved > MARGIN * paid;
}
