/*
 * test_emulate.c - the emulation of CUDA itself: what kernels see (emulate_kernels.cpp) against plain loops.
 * with: ozg_cuda_emulated
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulate.h"
#include "emulate_kernels.h"
#include "rng.h"

enum { WORDS = 256, WARPS = 4, ORDERS = 4 };

static uint32_t in[WORDS], counter;
static uint64_t out[WARPS * EMULATE_OPERATIONS * 32 + WORDS * EMULATE_OPERATIONS];
static emulate_args args = {in, out, &counter, 0, 0};

static int fill(void **state)
{
    struct rng r;

    (void)state;
    r.state = 77;
    for (int i = 0; i < WORDS; i++)
        in[i] = (uint32_t)rng_next(&r);
    in[9] = 0;
    counter = 0;
    args.rounds = args.garbage = 0;
    memset(out, 0, sizeof out);
    ozg_emulated_order(0);
    return 0;
}

static void test_lanes(void **state)
{
    (void)state;
    for (uint32_t o = 0; o < ORDERS; o++) {
        ozg_emulated_order(o);
        assert_int_equal(ozg_emulated_launch("emulate_lanes", 1, 32 * WARPS, 0, &args), OZG_EMULATED_OK);
        for (int i = 0; i < 32 * WARPS; i++) {
            const int lane = i & 31;
            const uint32_t *x = in + (i - lane);
            const uint64_t *y = out + EMULATE_OPERATIONS * (size_t)(i - lane) + lane;
            uint32_t sum = 0, largest = 0, bits = 0, odd = 0, twos = 0;
            int32_t least = INT32_MAX, any = 0;

            for (int k = 0; k < 32; k++) {
                sum += x[k];
                largest = x[k] > largest ? x[k] : largest;
                least = (int32_t)x[k] < least ? (int32_t)x[k] : least;
                bits |= x[k] & 0xF0F0;
                odd |= (x[k] & 1) << k;
                twos |= (x[k] >> 1 & 1) << k;
                any |= x[k] == in[3];
            }
            assert_int_equal(y[0], x[(lane * 7 + 3) & 31]);
            assert_int_equal(y[32], (uint64_t)x[lane ^ 5] << 20 | (uint64_t)(lane ^ 5));
            assert_int_equal(y[64], x[lane < 29 ? lane + 3 : lane]);
            assert_int_equal(y[96], x[lane >= 9 ? lane - 9 : lane]);
            assert_int_equal(y[128], x[(lane & ~7) + 5]);
            assert_int_equal(y[160], odd);
            assert_int_equal(y[192], any);
            assert_int_equal(y[224], odd == 0xFFFFFFFFu);
            assert_int_equal(y[256], sum);
            assert_int_equal(y[288], (uint32_t)least);
            assert_int_equal(y[320], largest);
            assert_int_equal(y[352], bits);
            assert_int_equal(y[384], lane < 16 ? x[lane ^ 3] : twos & 0xFFFF0000u);
            assert_int_equal(y[416], lane < 20 ? 20 : 0);
        }
    }
}

static uint32_t product(uint32_t a, uint32_t b, uint32_t c, int bytes_a, int signed_a, int signed_b,
                        int from_b)
{
    for (int i = 0; i < 4 / bytes_a; i++) {
        const uint32_t x = a >> (8 * bytes_a * i) & (bytes_a == 1 ? 255 : 65535),
                       y = b >> (8 * (i + from_b)) & 255;

        c += (signed_a && x >= 128 ? x - 256 : x) * (signed_b && y >= 128 ? y - 256 : y);
    }
    return c;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void look_at_bits(uint32_t x, uint32_t y, uint32_t z, const uint64_t *w)
{
    const uint64_t yx = (uint64_t)y << 32 | x;
    const int by = (int)(z & 31);
    uint32_t lead = 0, low = 0, ones = 0, mirror = 0, low64 = 0, ones64 = 0;
    uint64_t high, mid;

    for (int i = 31; i >= 0 && !(x >> i & 1); i--)
        lead++;
    for (uint32_t i = 32; i > 0; i--)
        low = x >> (i - 1) & 1 ? i : low;
    for (int i = 0; i < 32; i++) {
        ones += x >> i & 1;
        mirror |= (x >> i & 1) << (31 - i);
    }
    assert_int_equal(w[0], (uint64_t)lead << 32 | low);
    assert_int_equal(w[1], (uint64_t)ones << 32 | mirror);
    assert_int_equal(w[2], (uint64_t)x * y >> 32);
    /* (x 2^32 + y)(y 2^32 + z) by halves */
    mid = (uint64_t)x * z;
    high = (uint64_t)x * y + (mid >> 32);
    mid = (mid & 0xFFFFFFFFu) + ((uint64_t)y * z >> 32);
    high += mid >> 32;
    mid = (mid & 0xFFFFFFFFu) + (uint64_t)y * y % ((uint64_t)1 << 32);
    high += ((uint64_t)y * y >> 32) + (mid >> 32);
    assert_int_equal(w[3], high);
    assert_int_equal(w[4],
                     (x & 255) | (yx >> 40 & 255) << 8 | (x >> 16 & 255) << 16 | (uint64_t)(y >> 24) << 24);
    assert_int_equal(w[5], ((yx << by) & 0xFFFFFFFF00000000u) | ((yx >> by) & 0xFFFFFFFFu));
    assert_int_equal(w[6], product(x, y, z, 1, 0, 1, 0));
    assert_int_equal(w[7], product(x, y, z, 1, 1, 1, 0));
    assert_int_equal(w[8], product(x, y, z, 2, 0, 0, 0));
    assert_int_equal(w[9], product(x, y, z, 2, 0, 1, 0));
    assert_int_equal(w[10], product(x, y, z, 2, 0, 1, 2));
    assert_int_equal(w[11], (uint64_t)(uint32_t)(int32_t)lrint((double)(float)(int32_t)x / 65536) << 32 |
                                bits_of((float)(int32_t)y));
    assert_int_equal(w[12], (uint64_t)(x < 77 ? x : 77) << 32 | (y > 77 ? y : 77));
    for (int i = 63; i >= 0 && !((uint64_t)x << by >> i & 1); i--)
        low64++;
    for (int i = 0; i < 64; i++)
        ones64 += (uint64_t)y << 3 >> i & 1;
    assert_int_equal(w[13], (uint64_t)low64 << 32 | ones64);
}

static void test_bits(void **state)
{
    (void)state;
    assert_int_equal(ozg_emulated_launch("emulate_bits", 1, WORDS, 0, &args), OZG_EMULATED_OK);
    for (int i = 0; i < WORDS; i++)
        look_at_bits(in[i], in[i ^ 1], in[i ^ 2], out + EMULATE_OPERATIONS * i);
}

static void test_mma(void **state)
{
    const int8_t *a = (const int8_t *)in, *b = a + 16 * 32;

    (void)state;
    memset(in, 0x80, 64); /* -128 in two rows and two columns */
    memset(in + 128, 0x80, 64);
    assert_int_equal(ozg_emulated_launch("emulate_mma", 1, 32, 0, &args), OZG_EMULATED_OK);
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 8; j++) {
            int32_t sum = 1;

            for (int k = 0; k < 32; k++)
                sum += a[32 * i + k] * b[32 * j + k];
            assert_int_equal(out[8 * i + j], (uint32_t)sum);
        }
    }
}

/* ldmatrix gives the fragments of mma; copies that are waited for have come, others have not, or by chance. */
static void test_fragments(void **state)
{
    uint32_t early = 0;

    (void)state;
    for (uint32_t o = 0; o < ORDERS; o++) {
        ozg_emulated_order(o);
        counter = 0;
        assert_int_equal(ozg_emulated_launch("emulate_fragments", 1, 32, 1024, &args), OZG_EMULATED_OK);
        assert_int_equal(counter & 0xffff, 0);
        if (o < 2)
            assert_int_equal(counter, 0);
        early += counter >> 16;
    }
    assert_in_range(early, 1, 32 * ORDERS - 1);
}

static void test_blocks(void **state)
{
    const int grid[3] = {3, 2, 2};
    int caught = 0;

    (void)state;
    args.garbage = 1;
    for (uint32_t o = 0; o < ORDERS; o++) {
        uint32_t sum = 0;

        ozg_emulated_order(o);
        for (int i = 0; i < WORDS; i++)
            sum += in[i];
        assert_int_equal(ozg_emulated_launch_grid("emulate_sums", grid, WORDS, 1024, 0, &args),
                         OZG_EMULATED_OK);
        for (uint32_t b = 0; b < 12; b++)
            assert_int_equal(out[b], sum + WORDS * b);
        assert_int_equal(counter, 0);
        assert_int_equal(ozg_emulated_launch("emulate_sums_faulty", 1, WORDS, 1024, &args), OZG_EMULATED_OK);
        caught += out[0] != sum;
    }
    assert_true(caught > 0); /* a missing barrier shows */
}

static void test_barriers(void **state)
{
    uint64_t odd = 0;

    (void)state;
    for (int i = 0; i < 200; i++)
        odd += in[i] & 1;
    for (uint32_t o = 0; o < ORDERS; o++) {
        ozg_emulated_order(o);
        memset(out, 0, sizeof out);
        assert_int_equal(ozg_emulated_launch("emulate_barriers", 1, WORDS, 0, &args), OZG_EMULATED_OK);
        for (int i = 0; i < WORDS; i++)
            assert_int_equal(out[i], i < 200 ? odd << 1 | 1 : 0);
    }
}

static void test_cooperative(void **state)
{
    enum { BLOCKS = 7 };

    (void)state;
    args.rounds = 6;
    for (uint32_t o = 0; o < ORDERS; o++) {
        uint64_t x[BLOCKS];

        ozg_emulated_order(o);
        counter = 0;
        assert_int_equal(ozg_emulated_launch_cooperative("emulate_rounds", BLOCKS, 128, 16, &args),
                         OZG_EMULATED_OK);
        for (int i = 0; i < BLOCKS; i++)
            x[i] = 1;
        for (int r = 0; r < args.rounds; r++) {
            const uint64_t first = x[0];

            for (uint64_t i = 0; i < BLOCKS; i++)
                x[i] += (i + 1 < BLOCKS ? x[i + 1] : first) + 3 * i;
        }
        assert_memory_equal(out, x, sizeof x);
        assert_int_equal(counter, BLOCKS * args.rounds);
    }
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(ozg_emulated_launch("emulate_nothing", 1, 32, 0, &args), OZG_EMULATED_NOT_FOUND);
    assert_int_equal(ozg_emulated_launch("emulate_mma", 1, 33, 0, &args), OZG_EMULATED_BAD_LAUNCH);
    assert_int_equal(ozg_emulated_launch("emulate_mma", 0, 32, 0, &args), OZG_EMULATED_BAD_LAUNCH);
    assert_int_equal(ozg_emulated_launch("emulate_mma", 1, 32, 1 << 20, &args), OZG_EMULATED_BAD_LAUNCH);
    assert_int_equal(ozg_emulated_launch("emulate_mma", 1, 32, 0, (const char *)&args + 4),
                     OZG_EMULATED_MISALIGNED);
    assert_int_equal(ozg_emulated_args_bytes("emulate_mma"), sizeof args);
    assert_int_equal(ozg_emulated_args_bytes("emulate_nothing"), 0);
}

/* A launch in a process of its own must end it; text: what it must say, with the name of the kernel. */
static void dies(const char *kernel, size_t shared, const char *text)
{
    char said[4096];
    size_t bytes = 0;
    ssize_t more;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        alarm(60);
        ozg_emulated_launch(kernel, 1, 64, shared, &args);
        _exit(0);
    }
    close(ends[1]);
    while (bytes < sizeof said - 1 && (more = read(ends[0], said + bytes, sizeof said - 1 - bytes)) > 0)
        bytes += (size_t)more;
    close(ends[0]);
    said[bytes] = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (!strstr(said, "AddressSanitizer")) {
        assert_non_null(strstr(said, kernel));
        assert_non_null(strstr(said, text));
    }
}

static void test_errors(void **state)
{
    (void)state;
    dies("emulate_deadlock", 0, "deadlock");
    args.rounds = 100; /* the byte that is written */
    dies("emulate_overrun", 100, "wrote byte 100 of its 100 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_lanes, fill),       cmocka_unit_test_setup(test_bits, fill),
        cmocka_unit_test_setup(test_mma, fill),         cmocka_unit_test_setup(test_fragments, fill),
        cmocka_unit_test_setup(test_blocks, fill),      cmocka_unit_test_setup(test_barriers, fill),
        cmocka_unit_test_setup(test_cooperative, fill), cmocka_unit_test_setup(test_refused, fill),
        cmocka_unit_test_setup(test_errors, fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
