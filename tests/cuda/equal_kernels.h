/*
 * equal_kernels.h - every kernel, in few products: for tools under which a device takes a hundred times as long. A
 * part of prog_equal.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EQUAL_KERNELS_H
#define OZG_TEST_CUDA_EQUAL_KERNELS_H

/* On the device only. */
static void check_once(product g)
{
    ozg_report report;
    void *c;

    product_make(&g, seed * 1000003 + (uint64_t)cases);
    c = copy_c(&g);
    must(call(cpu, &g, g.a, g.b, c, &report), "the CPU's product");
    compare(on_device, &g, c, &report, "device");
    free(c);
    product_free(&g);
}

static product with_scalars(product g, double alpha, double beta)
{
    g.alpha[0] = alpha;
    g.beta[0] = beta;
    return g;
}

/* Every type: c^ of few and many words, every way of reconstruct, N, T and C. */
static void kernels_of_types(void)
{
    static const double scalar[][2] = {{1, 0}, {1, 1}, {1.7, -0.3}};
    static const char trans[] = "NTC";

    for (int t = 0; t < 4; t++) {
        for (int q = 0; q < 6; q++) {
            product g =
                make(types[t], 70 - q, 45 + q, 50 + q, ozg_moduli(q % 2 ? 20 : 4), q % 4 ? UNIFORM : WIDE);

            g.transa = trans[(q + t) % 3];
            g.transb = trans[(q / 3 + t) % 3];
            g.pad = q % 3;
            check_once(with_scalars(g, scalar[q / 2][0], scalar[q / 2][1]));
        }
        check_once(make(types[t], 40, 44, 52, ozg_native(), UNIFORM));
        check_once(make(types[t], 40, 44, 52, ozg_rounded(), t % 2 ? WIDE : CANCEL));
        check_once(make(types[t], 33, 40, 37, ozg_accurate(9), UNIFORM));
    }
    check_once(
        make('d', 140, 270, 600, ozg_moduli(4), UNIFORM)); /* more k than the product kernels have stages */
    check_once(with_scalars(make('z', 20, 20, 20, ozg_native(), UNIFORM), 0, 2));
}

static void kernels_of_families(void)
{
    for (int f = 0; f < FAMILIES; f++)
        check_once(make(f % 2 ? 's' : 'd', 40, 44, 52, ozg_native(), (enum family)f));
    check_once(make('z', 40, 44, 52, ozg_native(), SPECIAL));
    check_once(make('d', 150, 91, 80, ozg_native(), EVIL));
    check_once(make('d', 120, 141, 64, ozg_native(), FAR));
    check_once(make('c', 150, 90, 80, ozg_native(), FAR));
    check_prepared(make('d', 40, 30, 50, ozg_native(), UNIFORM), PREPARED_A | PREPARED_B, 0);
    check_prepared(make('z', 30, 40, 50, ozg_moduli(9), UNIFORM), PREPARED_B, 0);
}

static void kernels_of_batches(void)
{
    static const struct {
        int moduli; /* 0: native, 1: rounded, 2: accurate */
        double alpha, beta;
    } way[] = {{4, 1, 0},       {4, 1, 1}, {4, 1.7, -0.3}, {20, 1, 0}, {20, 1, 1},
               {20, 1.7, -0.3}, {0, 1, 0}, {1, 1, 0},      {2, 1, 0}};

    for (int q = 0; q < (int)(sizeof way / sizeof *way); q++) {
        const int s = way[q].moduli;
        const product g = make('d', 33 + q, 40 - q, 24 + q,
                               s == 0   ? ozg_native()
                               : s == 1 ? ozg_rounded()
                               : s == 2 ? ozg_accurate(9)
                                        : ozg_moduli(s),
                               s == 0 ? SPECIAL : UNIFORM);

        check_batch(with_scalars(g, way[q].alpha, way[q].beta), 2, q % 2, 0, 0);
    }
}

/* Of the emulated kernels: all were launched, of the product's those of the device. */
static void all_were_launched(void)
{
    const char *(*name_of)(int number), *name;

    *(void **)(void *)&name_of = dlsym(dlopen(NULL, RTLD_NOW), "ozg_emulated_name");
    for (int i = 0; (name = name_of(i)); i++) {
        const int other = strstr(name, on_device->cuda->wgmma ? "_product_mma" : "_product_wgmma") != NULL;

        if (strncmp(name, "ozg_cuda_", 9) != 0 || other || knows_kernel(on_device, name))
            continue;
        printf("    no product of group kernels launches %s\n", name);
        differences++;
    }
}

static void group_kernels(void)
{
    kernels_of_types();
    kernels_of_families();
    kernels_of_batches();
    if (stand_in_device)
        all_were_launched();
}

#endif
