/*
 * isa.c - what this machine and its operating system can run.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall() */
#endif
#include "cpu/kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <pthread.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static unsigned isa;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* AMX tiles: the processor has them, the system saves them, and this process has been given leave to use
 * them. */
static int amx_int8_usable(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    const unsigned tile = 1u << 24, int8 = 1u << 25;
    const long request_permission = 0x1023, tile_data = 18;
    unsigned a, b, c, d, xcr0, high;

    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & (tile | int8)) != (tile | int8))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
    if ((xcr0 >> 17 & 3) != 3)
        return 0;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return 0;
#endif
}

/* AVX-VNNI, by the processor's own word: compilers know the name for __builtin_cpu_supports() only lately. */
static int has_avxvnni(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a >> 4 & 1);
}

static void detect(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        isa |= OZG_ISA_AVX2;
    if ((isa & OZG_ISA_AVX2) && has_avxvnni())
        isa |= OZG_ISA_AVXVNNI;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vnni"))
        isa |= OZG_ISA_AVX512VNNI;
    if ((isa & OZG_ISA_AVX512VNNI) && amx_int8_usable())
        isa |= OZG_ISA_AMXINT8;
}

unsigned ozg_cpu_isa(void)
{
    pthread_once(&once, detect);
    return isa;
}
#elif OZG_ARM_KERNELS && defined(__linux__)
#include <sys/auxv.h>

/* The bits of the kernel's words AT_HWCAP and AT_HWCAP2, which old headers lack. */
#define HAS_SDOT  (1ul << 20) /* HWCAP_ASIMDDP */
#define HAS_SMMLA (1ul << 13) /* HWCAP2_I8MM */

unsigned ozg_cpu_isa(void)
{
    return (getauxval(AT_HWCAP) & HAS_SDOT ? OZG_ISA_NEONDOT : 0u) |
           (getauxval(AT_HWCAP2) & HAS_SMMLA ? OZG_ISA_NEONI8MM : 0u);
}
#else
/* Elsewhere, what the compiler was told that every machine has. */
unsigned ozg_cpu_isa(void)
{
    unsigned isa = 0;

#ifdef __ARM_FEATURE_DOTPROD
    isa |= OZG_ISA_NEONDOT;
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
    isa |= OZG_ISA_NEONI8MM;
#endif
    return isa;
}
#endif
