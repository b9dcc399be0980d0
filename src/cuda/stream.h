/*
 * stream.h - products of matrices of the host that do not fit the workspace: blocks of A and B come when a tile
 * needs them, and the tiles of C go.
 *
 * A is on the device for a row of tiles, B for one or two tiles, C for two. Where all of A and B decide something
 * (every accuracy but moduli and width, ozg_cuda_whole()), both are there as wholes, and C alone comes and goes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_CUDA_STREAM_H
#define OZG_CUDA_STREAM_H

#include "cuda/pipeline.h"

/*
 * ozg_cuda_stream_run() - the product of a plan that is streamed, in the workspace at `work`. Errors: as
 * ozg_cuda_run(); OZG_E_WORKSPACE: the data ask for parts (native), for which C has to be there as a whole. C is as
 * it was then.
 */
ozg_status ozg_cuda_stream_run(const ozg_plan *plan, const ozg_data *data, void *work, ozg_report *report);

/* ozg_cuda_stream_predict() - its report without the product. */
ozg_status ozg_cuda_stream_predict(const ozg_plan *plan, const ozg_data *data, void *work,
                                   ozg_report *report);

#endif
