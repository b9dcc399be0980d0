/*
 * fake_driver.h - a CUDA driver without a device: the driver API (src/cuda/api.h) on the memory of the
 * process, kernels by emulation. Tests say what the device is like and what fails.
 *
 * A test links it ("with: ozg_fake_cuda"), sets ozg_cuda_driver_name = OZG_FAKE_CUDA (its path) and
 * ozg_cuda_images = fake_images before the first context, and calls the functions below.
 *
 * Checked, with a message on stderr and an error: the context is current; copies lie in live allocations; red
 * zones around these are whole; launches have a legal shape and no pointer to host memory; memory, kernels and
 * streams are those of the device that is used; an image has the kernel that is asked for (it has those of the .cu file
 * of its name). Device memory cannot be touched by the host (it dies
 * by SIGSEGV) but through the driver, except allocations above 1 MiB.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_FAKE_DRIVER_H
#define OZG_TEST_CUDA_FAKE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the device is like; for calls from now on. */
typedef struct fake_device {
    int devices;         /* 1, at most 8; 0: cuInit() says CUDA_ERROR_NO_DEVICE */
    int version;         /* of the driver: 12040 */
    int major, minor;    /* compute capability: 8, 0 */
    int ptx;             /* what the kernels were compiled for: 80; 0: the capability itself */
    int multiprocessors; /* 4 */
    int resident;        /* blocks a multiprocessor, at most: 2 */
    int shared_most;     /* dynamic shared memory of a block, at most: 166912 */
    size_t memory;       /* 1 GiB; an allocation beyond is CUDA_ERROR_OUT_OF_MEMORY */
    int queued;          /* 0; 1: work of a stream is done when somebody waits for it, not before */
    int fresh;           /* 0xCD: what device memory begins with, in every byte */
    int host_pointers;   /* 0; 1: pointers to host memory in arguments of kernels are allowed */
    int far_pointers; /* 0; 1: they may lead anywhere, as that of a block that is addressed as the matrix is */
} fake_device;

extern fake_device fake;

/* fake_reset() - the device as at first, no faults, the sticky error forgotten. Allocations stay. */
void fake_reset(void);

/*
 * fake_fail() - the call number `nth` (1: the next) of this driver function ("cuMemAlloc_v2"; NULL: of any
 * function) answers `result` and does nothing. Errors of kernels (700 .. 719, but not 701) stay, as on a
 * device. nth 0: no fault.
 */
void fake_fail(const char *function, int nth, int result);

/* fake_calls() - calls of a driver function, NULL: of any, so far. */
uint64_t fake_calls(const char *function);

/* What lives and what was done. */
typedef struct fake_counts {
    int allocations, pinned, events, contexts; /* live; contexts: retained */
    size_t bytes, most_bytes;                  /* of allocations: live, and the most so far */
    uint64_t launches, copies;
    uint64_t dependent;  /* programmatic dependent launches: only right after a kernel */
    uint64_t complaints; /* what was checked and found wrong */
} fake_counts;

fake_counts fake_count(void);

/*
 * Graphs: between begin and end cuStreamIsCapturing() says yes, work is kept instead of done, and waiting and
 * allocating are errors. fake_capture_run() does the kept work, as often as it is called. begin forgets what
 * was kept.
 */
void fake_capture_begin(void);
void fake_capture_end(void);
void fake_capture_run(void);

/*
 * Device memory for the test itself: the caller's matrices. fake_read() and fake_write() do all queued work
 * first.
 */
void *fake_allocate(size_t bytes);
void fake_free(void *memory);
void fake_write(void *device, const void *from, size_t bytes);
void fake_read(void *to, const void *device, size_t bytes);

#ifdef __cplusplus
}
#endif

/* The list of images, for a test that includes cuda/device.h first. */
#ifdef OZG_CUDA_DEVICE_H
static const ozg_cuda_image fake_images[] = {{"choose", "choose"},
                                             {"fixup", "fixup"},
                                             {"gather", "gather"},
                                             {"product_mma", "product_mma"},
                                             {"product_sm90", "product_sm90"},
                                             {"reconstruct", "reconstruct"},
                                             {"reconstruct_any", "reconstruct_any"},
                                             {"reconstruct_complex", "reconstruct_complex"},
                                             {"repair", "repair"},
                                             {"scale", "scale"},
                                             {"split", "split"},
                                             {NULL, NULL}};
#endif
#endif
