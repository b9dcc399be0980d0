/*
 * test_x86.c - the models of x86 instructions against examples by hand, and against the instructions themselves
 * where the machine has them: random and extreme operands, sums that wrap.
 * with: ozg_models
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernels/kernels.h"
#include "fill.h"
#include "models/x86.h"

enum { ROUNDS = 20000, TILE_ROUNDS = 2000, LANES = 16, ROOM = 80 };

static void test_by_hand(void **state)
{
    (void)state;
    assert_int_equal(model_vpdpbusd(0, 0x01020304, 0x01010101), 10);
    assert_int_equal(model_vpdpbusd(5, -1, 0x7f7f7f7f), 5 + 4 * 255 * 127); /* u is unsigned, no saturation */
    assert_int_equal(model_vpdpbusd(0, -1, (int32_t)UINT32_C(0x80808080)),
                     4 * 255 * -128); /* s = 0x80808080 is signed */
    assert_int_equal(model_vpdpbusd(0, 2 << 24, -3 * (1 << 24)), -6);
    assert_int_equal(model_vpdpbusd(INT32_MAX, 1, 1), INT32_MIN); /* wraps */
    assert_int_equal(model_vpdpbusd(INT32_MIN, 1, 255), INT32_MAX);
    assert_int_equal(model_vpmaddwd(0x00030002, 0x00050007), 3 * 5 + 2 * 7);
    assert_int_equal(model_vpmaddwd(-1, 0x00010002), -3);
    assert_int_equal(model_vpmaddwd((int32_t)UINT32_C(0x80008000), (int32_t)UINT32_C(0x80008000)),
                     INT32_MIN); /* 2 (-2^15)^2 */
}

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

/* c (m x n) += a (m x q fours) b (q x n fours), on tiles 0, 1 and 2 */
static tile_config config_of(int m, int n, int q)
{
    tile_config config = {.palette = 1};

    config.rows[0] = config.rows[1] = (uint8_t)m;
    config.rows[2] = (uint8_t)q;
    config.bytes[0] = config.bytes[2] = (uint16_t)(4 * n);
    config.bytes[1] = (uint16_t)(4 * q);
    return config;
}

static void test_tiles_by_hand(void **state)
{
    const tile_config config = config_of(2, 1, 1);
    const int8_t a[2][4] = {{1, 2, 3, 4}, {-128, -1, 127, 0}}, b[4] = {1, -1, 2, -128};
    int32_t c[2] = {10, INT32_MIN};

    (void)state;
    model_ldtilecfg(&config);
    model_tileloadd(0, c, 4);
    model_tileloadd(1, a, 4);
    model_tileloadd(2, b, 4);
    model_tdpbssd(0, 1, 2);
    model_tilestored(0, c, 4);
    assert_int_equal(c[0], 10 + 1 - 2 + 6 - 512);
    assert_int_equal(c[1], INT32_MIN + (-128 + 1 + 254));
    model_tilezero(0);
    model_tdpbusd(0, 1, 2);
    model_tilestored(0, c, 4);
    assert_int_equal(c[0], 1 - 2 + 6 - 512);
    assert_int_equal(c[1], 128 - 255 + 254);
    model_tilerelease();
}

/* What would fault on a processor ends the program. */
static void use_unconfigured(void)
{
    model_tilezero(0);
}

static void use_released(void)
{
    const tile_config config = config_of(16, 16, 16);

    model_ldtilecfg(&config);
    model_tilezero(0);
    model_tilerelease();
    model_tilezero(0);
}

static void use_left_out(void)
{
    const tile_config config = config_of(16, 16, 16);

    model_ldtilecfg(&config);
    model_tilezero(3);
}

static void use_shapes(void)
{
    tile_config config = config_of(16, 16, 16);

    config.rows[2] = 15;
    model_ldtilecfg(&config);
    model_tdpbssd(0, 1, 2);
}

static void use_one_tile_twice(void)
{
    const tile_config config = config_of(16, 16, 16);

    model_ldtilecfg(&config);
    model_tdpbssd(0, 0, 2);
}

static void use_reserved(void)
{
    tile_config config = config_of(16, 16, 16);

    config.reserved[3] = 1;
    model_ldtilecfg(&config);
}

static void use_too_many_rows(void)
{
    tile_config config = config_of(16, 16, 16);

    config.rows[1] = 17;
    model_ldtilecfg(&config);
}

static void test_faults(void **state)
{
    static void (*const wrong[])(void) = {use_unconfigured, use_released,       use_left_out,     use_shapes,
                                          use_reserved,     use_one_tile_twice, use_too_many_rows};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int status = 0;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0) {
            fclose(stderr); /* the sentence is not news */
            signal(SIGABRT, SIG_DFL);
            wrong[i]();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
            fail_msg("misuse %d of tiles was not noticed", (int)i);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Lanes of vectors of 256 or 512 bits by the instruction. */
typedef void lanes_fn(const int32_t *acc, const int32_t *x, const int32_t *y, int32_t *out);

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void
dpbusd_512(const int32_t *acc, const int32_t *x, const int32_t *y, int32_t *out)
{
    _mm512_storeu_si512(
        out, _mm512_dpbusd_epi32(_mm512_loadu_si512(acc), _mm512_loadu_si512(x), _mm512_loadu_si512(y)));
}

__attribute__((target("avx2,avxvnni"))) static void dpbusd_256(const int32_t *acc, const int32_t *x,
                                                               const int32_t *y, int32_t *out)
{
    for (int i = 0; i < LANES; i += 8)
        _mm256_storeu_si256((__m256i *)(out + i),
                            _mm256_dpbusd_avx_epi32(_mm256_loadu_si256((const __m256i *)(acc + i)),
                                                    _mm256_loadu_si256((const __m256i *)(x + i)),
                                                    _mm256_loadu_si256((const __m256i *)(y + i))));
}

__attribute__((target("avx2"))) static void maddwd_256(const int32_t *acc, const int32_t *x, const int32_t *y,
                                                       int32_t *out)
{
    (void)acc;
    for (int i = 0; i < LANES; i += 8)
        _mm256_storeu_si256((__m256i *)(out + i),
                            _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)(x + i)),
                                              _mm256_loadu_si256((const __m256i *)(y + i))));
}

static int32_t dpbusd(int32_t acc, int32_t x, int32_t y)
{
    return model_vpdpbusd(acc, x, y);
}

static int32_t maddwd(int32_t acc, int32_t x, int32_t y)
{
    (void)acc;
    return model_vpmaddwd(x, y);
}

static void check_lanes(const char *name, unsigned isa, lanes_fn *instruction,
                        int32_t (*model)(int32_t, int32_t, int32_t))
{
    struct rng r = {1};

    if ((ozg_cpu_isa() & isa) != isa) {
        print_message("SKIPPED: this machine has no %s to compare with\n", name);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int32_t acc[LANES], x[LANES], y[LANES], out[LANES];

        fill(&r, acc, sizeof acc);
        fill(&r, x, sizeof x);
        fill(&r, y, sizeof y);
        instruction(acc, x, y, out);
        for (int i = 0; i < LANES; i++)
            if (out[i] != model(acc[i], x[i], y[i]))
                fail_msg("%s of %d, %#x and %#x: %d, model %d", name, (int)acc[i], (unsigned)x[i],
                         (unsigned)y[i], (int)out[i], (int)model(acc[i], x[i], y[i]));
    }
    print_message("%s compared\n", name);
}

static void test_lanes(void **state)
{
    (void)state;
    check_lanes("vpdpbusd (512 bits)", OZG_ISA_AVX512VNNI, dpbusd_512, dpbusd);
    check_lanes("vpdpbusd (256 bits)", OZG_ISA_AVXVNNI, dpbusd_256, dpbusd);
    check_lanes("vpmaddwd", OZG_ISA_AVX2, maddwd_256, maddwd);
}

/* Tiles in memory: rows of ROOM bytes, of which an instruction may write those of its configuration. */
typedef struct memory {
    uint8_t a[LANES][ROOM], b[LANES][ROOM], c[LANES][ROOM];
} memory;

__attribute__((target("amx-tile,amx-int8"))) static void by_tiles(const tile_config *config, int a_signed,
                                                                  int zero, memory *x)
{
    _tile_loadconfig(config);
    _tile_loadd(0, x->c, ROOM);
    _tile_loadd(1, x->a, ROOM);
    _tile_loadd(2, x->b, ROOM);
    if (zero)
        _tile_zero(0);
    if (a_signed)
        _tile_dpbssd(0, 1, 2);
    else
        _tile_dpbusd(0, 1, 2);
    _tile_stored(0, x->c, ROOM);
    _tile_release();
}

static void by_model(const tile_config *config, int a_signed, int zero, memory *x)
{
    model_ldtilecfg(config);
    model_tileloadd(0, x->c, ROOM);
    model_tileloadd(1, x->a, ROOM);
    model_tileloadd(2, x->b, ROOM);
    if (zero)
        model_tilezero(0);
    if (a_signed)
        model_tdpbssd(0, 1, 2);
    else
        model_tdpbusd(0, 1, 2);
    model_tilestored(0, x->c, ROOM);
    model_tilerelease();
}

static void test_tiles(void **state)
{
    static memory real, model;
    struct rng r = {2};

    (void)state;
    if (!(ozg_cpu_isa() & OZG_ISA_AMXINT8)) {
        print_message("SKIPPED: this machine has no AMX to compare with\n");
        return;
    }
    for (int round = 0; round < TILE_ROUNDS; round++) {
        const int m = (int)rng_between(&r, 1, 16), n = (int)rng_between(&r, 1, 16),
                  q = (int)rng_between(&r, 1, 16);
        const tile_config config = round % 4 ? config_of(m, n, q) : config_of(16, 16, 16);
        const int a_signed = round % 2, zero = round % 7 == 0;

        fill(&r, real.a, sizeof real.a);
        fill(&r, real.b, sizeof real.b);
        fill(&r, real.c, sizeof real.c);
        model = real;
        by_tiles(&config, a_signed, zero, &real);
        by_model(&config, a_signed, zero, &model);
        if (memcmp(&real, &model, sizeof real) != 0)
            fail_msg("%s of %d x %d x %d: the model differs", a_signed ? "tdpbssd" : "tdpbusd", m, n, q);
    }
    print_message("tdpbssd and tdpbusd compared\n");
}
#define WITH_INSTRUCTIONS cmocka_unit_test(test_lanes), cmocka_unit_test(test_tiles),
#else
#define WITH_INSTRUCTIONS
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand), cmocka_unit_test(test_tiles_by_hand),
                                       WITH_INSTRUCTIONS cmocka_unit_test(test_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
