/*
 * emulate_poison.h - memory that must not be touched, for AddressSanitizer if it is there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_TEST_CUDA_EMULATE_POISON_H
#define OZG_TEST_CUDA_EMULATE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define OZG_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OZG_ASAN 1
#endif
#endif

#ifdef OZG_ASAN
#include <sanitizer/asan_interface.h>
#define OZG_POISON(p, bytes)   __asan_poison_memory_region(p, bytes)
#define OZG_UNPOISON(p, bytes) __asan_unpoison_memory_region(p, bytes)
#else
#define OZG_POISON(p, bytes)   ((void)(p), (void)(bytes))
#define OZG_UNPOISON(p, bytes) ((void)(p), (void)(bytes))
#endif

#endif
