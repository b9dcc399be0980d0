/*
 * x86.c - the tiles of AMX: palette 1, eight tiles of up to 16 rows of 64 bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "models/x86.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, ROWS = 16, BYTES = 64 };

typedef struct tile {
    int rows, bytes; /* of a row; 0: not configured */
    uint8_t at[ROWS][BYTES];
} tile;

static _Thread_local int configured;
static _Thread_local tile tiles[TILES];

static void check(int right, const char *otherwise)
{
    if (right)
        return;
    fprintf(stderr, "model of AMX: %s\n", otherwise);
    abort();
}

/* A tile that may be used. */
static tile *use(int number)
{
    check(configured, "an instruction without a configuration");
    check(number >= 0 && number < TILES, "no such tile");
    check(tiles[number].rows > 0, "a tile that the configuration leaves out");
    return &tiles[number];
}

int model_tiles_configured(void)
{
    return configured;
}

void model_tilerelease(void)
{
    configured = 0;
    memset(tiles, 0, sizeof tiles);
}

/* Byte 0: palette; 1: start row; 2 to 15: 0; 16-bit numbers from 16 on: bytes a row; bytes from 48 on: rows. */
void model_ldtilecfg(const void *config)
{
    uint8_t byte[64];

    memcpy(byte, config, sizeof byte);
    model_tilerelease();
    if (byte[0] == 0)
        return;
    check(byte[0] == 1, "palette 1 is the only one");
    check(byte[1] == 0, "a start row goes with an interrupted load only");
    for (int i = 2; i < 16; i++)
        check(byte[i] == 0, "reserved bytes are not 0");
    for (int t = 0; t < 16; t++) {
        const int rows = byte[48 + t], bytes = byte[16 + 2 * t] | byte[17 + 2 * t] << 8;

        check(rows <= ROWS && bytes <= BYTES, "a tile is too large");
        check(t < TILES || (rows == 0 && bytes == 0), "there are eight tiles");
        check((rows == 0) == (bytes == 0), "rows without bytes, or bytes without rows");
        if (t < TILES) {
            tiles[t].rows = rows;
            tiles[t].bytes = bytes;
        }
    }
    configured = 1;
}

void model_tilezero(int number)
{
    tile *t = use(number);

    memset(t->at, 0, sizeof t->at);
}

void model_tileloadd(int number, const void *base, size_t stride)
{
    tile *t = use(number);

    memset(t->at, 0, sizeof t->at);
    for (int i = 0; i < t->rows; i++)
        memcpy(t->at[i], (const uint8_t *)base + (size_t)i * stride, (size_t)t->bytes);
}

void model_tilestored(int number, void *base, size_t stride)
{
    const tile *t = use(number);

    for (int i = 0; i < t->rows; i++)
        memcpy((uint8_t *)base + (size_t)i * stride, t->at[i], (size_t)t->bytes);
}

static uint32_t sum_at(const uint8_t *x)
{
    return x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24;
}

/* Row c of sums += row a times tile b. */
static void multiply_row(tile *c, const tile *a, const tile *b, int i, int a_signed)
{
    uint32_t sum[BYTES / 4];

    for (int j = 0; j < c->bytes / 4; j++)
        sum[j] = sum_at(c->at[i] + 4 * j);
    for (int q = 0; q < a->bytes / 4; q++)
        for (int e = 0; e < 4; e++) {
            const uint8_t byte = a->at[i][4 * q + e];
            const int x = a_signed ? (int8_t)byte : byte;

            for (int j = 0; j < c->bytes / 4; j++)
                sum[j] += (uint32_t)(x * (int8_t)b->at[q][4 * j + e]);
        }
    for (int j = 0; j < c->bytes / 4; j++)
        for (int e = 0; e < 4; e++)
            c->at[i][4 * j + e] = (uint8_t)(sum[j] >> 8 * e);
}

static void multiply(int c_number, int a_number, int b_number, int a_signed)
{
    tile *c = use(c_number);
    const tile *a = use(a_number), *b = use(b_number);

    check(c != a && c != b && a != b, "three tiles, two of which are the same");
    check(a->bytes % 4 == 0 && b->bytes % 4 == 0 && c->bytes % 4 == 0, "rows are not whole fours of bytes");
    check(c->rows == a->rows && c->bytes == b->bytes && a->bytes == 4 * b->rows, "shapes that do not match");
    for (int i = 0; i < c->rows; i++)
        multiply_row(c, a, b, i, a_signed);
}

void model_tdpbssd(int c, int a, int b)
{
    multiply(c, a, b, 1);
}

void model_tdpbusd(int c, int a, int b)
{
    multiply(c, a, b, 0);
}
