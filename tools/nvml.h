/*
 * nvml.h - what NVIDIA's management library knows of a GPU: energy, limit of power, clock. Opened at run
 * time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TOOL_NVML_H
#define OZG_TOOL_NVML_H

struct nvml;

/*
 * nvml_open() - the GPU at this place of the PCI bus; NULL if it is not found. *missing is a sentence that
 * says why there is no energy, or NULL.
 */
struct nvml *nvml_open(const char *bus, const char **missing);
void nvml_close(struct nvml *n);

/* nvml_energy() - joules since the driver was loaded, of the whole board; NaN: it does not tell. */
double nvml_energy(const struct nvml *n);

/*
 * nvml_power_limit() - watts that are enforced. nvml_clock() - of the multiprocessors now, in MHz. NaN:
 * unknown.
 */
double nvml_power_limit(const struct nvml *n);
double nvml_clock(const struct nvml *n);

#endif
