/*
 * fake_nvml.c - an NVML without a device, for the tests of "ozgemm speed --backend cuda": a board that
 * takes 6 J from one question for its energy to the next. Compiled with -D:
 *     NO_ENERGY    it does not count energy
 *     NO_FIND      it lacks the function that finds a GPU
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <string.h>

static int started;

int nvmlInit_v2(void)
{
    started = 1;
    return 0;
}

int nvmlShutdown(void)
{
    started = 0;
    return 0;
}

#ifndef NO_FIND
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    static int board;

    *device = &board;
    return started && strcmp(bus, "0000:0b:00.0") == 0 ? 0 : 6;
}
#endif

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    static unsigned long long sum = 1000;

    *millijoules = sum += 6000;
#ifdef NO_ENERGY
    return 3;
#endif
    return started && device ? 0 : 1;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    *milliwatts = 700000;
    return started && device ? 0 : 1;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    *mhz = 1500;
    return started && device && type == 1 ? 0 : 2;
}
