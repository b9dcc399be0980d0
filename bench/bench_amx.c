/*
 * bench_amx.c - how fast the AMX unit of this core works at the moment: loops of about a millisecond by turns.
 *
 *     bench_amx [ROUNDS]
 *
 * products: tdpbssd alone, on four sums; loads: tile loads alone, from the first-level cache; kernel: the
 * micro-kernel, a load for each tdpbssd; vectors: the same bytes by AVX-512 loads and vpdpbusd. Nanoseconds for a
 * tdpbssd or a tile load; of vectors, for the 32 loads and 16 vpdpbusd of as many bytes. Median and least of
 * ROUNDS (200), apart for rounds in which the kernel took more than 12.5 ns and others: processors hold the unit
 * back at times, and then its instructions take two to three times as long while vectors do not
 * (doc/performance.md). Exit status 77 where there is no AMX. To load several cores, start it on each (taskset).
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cpu/kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "cpu/stages.h"

/* BLOCKS of 64 elements of k: both panels are in the first-level cache. */
enum { BLOCKS = 8, CALLS = 2000, ROUNDS_MOST = 10000, SLOW = 125 /* tenths of a nanosecond */ };
enum { PRODUCTS, LOADS, KERNEL, VECTORS, LOOPS };

struct bench {
    _Alignas(64) int8_t a[2048 * BLOCKS], b[2048 * BLOCKS];
    _Alignas(64) int32_t sums[32 * 32];
    double time[2][LOOPS][ROUNDS_MOST]; /* of rounds that are not slow, and that are */
    int rounds[2];
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((target("amx-tile,amx-int8"))) static void products(void)
{
    for (int p = 0; p < BLOCKS; p++) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
}

__attribute__((target("amx-tile"))) static void loads(const struct bench *z)
{
    for (int p = 0; p < BLOCKS; p++) {
        _tile_loadd(4, z->b + 2048 * p, 64);
        _tile_loadd(6, z->a + 2048 * p, 128);
        _tile_loadd(5, z->b + 2048 * p + 1024, 64);
        _tile_loadd(7, z->a + 2048 * p + 64, 128);
    }
}

__attribute__((target("avx512f,avx512vnni"))) static void vectors(struct bench *z)
{
    __m512i sum = _mm512_setzero_si512();

    for (int i = 0; i < 4 * BLOCKS; i++)
        for (int row = 0; row < 16; row++)
            sum = _mm512_dpbusd_epi32(sum, _mm512_load_si512(z->a + 1024 * (i / 2) + 64 * row),
                                      _mm512_load_si512(z->b + 1024 * (i / 2) + 64 * row));
    _mm512_store_si512(z->sums, sum);
}

/* Nanoseconds for each of the 4 BLOCKS instructions of a call. */
static double time_loop(struct bench *z, int loop)
{
    const double start = now();

    for (int call = 0; call < CALLS; call++)
        if (loop == PRODUCTS)
            products();
        else if (loop == LOADS)
            loads(z);
        else if (loop == KERNEL)
            ozg_product_32x32x64_amxint8(NULL, 0, BLOCKS, z->a, z->b, 0, z->sums);
        else
            vectors(z);
    return (now() - start) * 1e9 / (4.0 * BLOCKS * CALLS);
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static void show(struct bench *z, int slow)
{
    const int rounds = z->rounds[slow];

    printf("%5d rounds, %-10s", rounds, slow ? "held back:" : "free:");
    for (int loop = 0; rounds && loop < LOOPS; loop++) {
        double *t = z->time[slow][loop];

        qsort(t, (size_t)rounds, sizeof *t, compare);
        printf("%10.1f %6.1f", t[rounds / 2], t[0]);
    }
    puts("");
}

int main(int argc, char **argv)
{
    static struct bench z;
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;

    if (!(ozg_cpu_isa() & OZG_ISA_AMXINT8)) {
        puts("this processor, or its system, has no AMX-INT8");
        return 77;
    }
    if (rounds < 1 || rounds > ROUNDS_MOST) {
        fprintf(stderr, "bench_amx: ROUNDS is from 1 to %d\n", ROUNDS_MOST);
        return 2;
    }
    for (int i = 0; i < 2048 * BLOCKS; i++) {
        z.a[i] = (int8_t)(i * 37 % 255 - 127);
        z.b[i] = (int8_t)(i * 101 % 255 - 127);
    }
    ozg_state_amxint8(1);
    for (int round = 0; round < rounds; round++) {
        double time[LOOPS];
        int slow;

        for (int loop = 0; loop < LOOPS; loop++)
            time[loop] = time_loop(&z, loop);
        slow = time[KERNEL] * 10 > SLOW;
        for (int loop = 0; loop < LOOPS; loop++)
            z.time[slow][loop][z.rounds[slow]] = time[loop];
        z.rounds[slow]++;
    }
    ozg_state_amxint8(0);
    printf("%24s%17s%17s%17s%17s\n", "ns: median, least", "products", "loads", "kernel", "vectors");
    show(&z, 0);
    show(&z, 1);
    return 0;
}
#else
int main(void)
{
    puts("this processor has no AMX-INT8");
    return 77;
}
#endif
