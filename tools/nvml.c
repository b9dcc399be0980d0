/*
 * nvml.c - what NVIDIA's management library knows of a GPU. Declarations are those of the NVML reference, of
 * what is used.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

enum { CLOCK_SM = 1 }; /* nvmlClockType_t */

struct nvml {
    void *device;
    int (*shutdown)(void);
    int (*energy)(void *device, unsigned long long *millijoules);
    int (*limit)(void *device, unsigned *milliwatts);
    int (*clock)(void *device, int type, unsigned *mhz);
};

/* attach() - NULL, or why the GPU is not known. */
static const char *attach(struct nvml *n, void *library, const char *bus)
{
    static char text[160];
    int (*init)(void), (*find)(const char *bus, void **device);
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&n->shutdown = dlsym(library, "nvmlShutdown");
    *(void **)&n->energy = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
    *(void **)&n->limit = dlsym(library, "nvmlDeviceGetEnforcedPowerLimit");
    *(void **)&n->clock = dlsym(library, "nvmlDeviceGetClockInfo");
    if (init == NULL || find == NULL || n->shutdown == NULL)
        return "libnvidia-ml.so.1 lacks functions: no energy";
    int result = init();
    if (result == 0 && (result = find(bus, &n->device)) != 0)
        n->shutdown();
    if (result == 0)
        return NULL;
    snprintf(text, sizeof text, "NVML does not open the GPU at %.32s (error %d): no energy", bus, result);
    return text;
}

struct nvml *nvml_open(const char *bus, const char **missing)
{
    *missing = NULL;
    if (bus[0] == '\0') {
        *missing = "the driver does not tell where on the bus the GPU is: no energy";
        return NULL;
    }
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *missing = "there is no libnvidia-ml.so.1 (NVML, a part of NVIDIA's driver): no energy";
        return NULL;
    }
    struct nvml *n = xmalloc(sizeof *n);
    *n = (struct nvml){0};
    *missing = attach(n, library, bus);
    if (*missing == NULL && isnan(nvml_energy(n)))
        *missing = "NVML does not count the energy of this GPU";
    if (n->device)
        return n;
    dlclose(library);
    free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (n == NULL)
        return;
    n->shutdown();
    free(n);
}

double nvml_energy(const struct nvml *n)
{
    unsigned long long millijoules;
    return n && n->energy && n->energy(n->device, &millijoules) == 0 ? 1e-3 * (double)millijoules : NAN;
}

double nvml_power_limit(const struct nvml *n)
{
    unsigned milliwatts;
    return n && n->limit && n->limit(n->device, &milliwatts) == 0 ? 1e-3 * milliwatts : NAN;
}

double nvml_clock(const struct nvml *n)
{
    unsigned mhz;
    return n && n->clock && n->clock(n->device, CLOCK_SM, &mhz) == 0 ? (double)mhz : NAN;
}
