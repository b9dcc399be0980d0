/*
 * product_amxint8.c - 32 x 32 micro-kernel: 2 x 2 tiles of 16 x 16 sums, 64 elements of k at once by tdpbssd.
 *
 * The first operand of tdpbssd is B, stored by lines of 64 elements (kr = 64), the second A, stored by fours
 * (kr = 4): a row of a tile is then 16 sums of one column of C, as acc wants them.
 * The tiles are configured before a run of products and released after it, so that no state of the thread
 * outlives the stage.
 *
 * SPDX-License-Identifier: MIT
 */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

/* Palette 1: 8 tiles, all of 16 rows of 64 bytes. */
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

static const tile_config config __attribute__((aligned(64))) = {
    1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

__attribute__((target("amx-tile"))) void ozg_state_amxint8(int on)
{
    if (on)
        _tile_loadconfig(&config);
    else
        _tile_release();
}

__attribute__((target("amx-tile,amx-int8"))) void ozg_product_32x32x64_amxint8(const ozg_rns *rns, int l,
                                                                               int64_t steps, const void *a,
                                                                               const void *b, int add,
                                                                               int32_t *acc)
{
    const int8_t *x = a, *y = b;

    (void)rns, (void)l;
    if (add) {
        _tile_loadd(0, acc, 128);
        _tile_loadd(1, acc + 16, 128);
        _tile_loadd(2, acc + 512, 128);
        _tile_loadd(3, acc + 528, 128);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t p = 0; p < steps; p++, x += 2048, y += 2048) {
        _tile_loadd(4, y, 64);
        _tile_loadd(6, x, 128);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, x + 64, 128);
        _tile_dpbssd(1, 4, 7);
        _tile_loadd(5, y + 1024, 64);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, acc, 128);
    _tile_stored(1, acc + 16, 128);
    _tile_stored(2, acc + 512, 128);
    _tile_stored(3, acc + 528, 128);
}
#else
typedef int ozg_no_amxint8; /* an empty translation unit is not C */
#endif
