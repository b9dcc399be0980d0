/*
 * monitor_copy.h - copies of lines for the monitor.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OZG_MONITOR_COPY_H
#define OZG_MONITOR_COPY_H

#include "lines.h"

/* As they are; as doubles; leading bits of magnitudes as doubles; so, but Re and Im exchanged. */
typedef enum ozg_copy_how {
    OZG_COPY_GIVEN,
    OZG_COPY_DOUBLES,
    OZG_COPY_MAGNITUDES,
    OZG_COPY_EXCHANGED
} ozg_copy_how;

/*
 * ozg_monitor_copy() - lines index[0 .. count) of the view (index NULL: 0 .. count), k elements each, one after
 * the other; conj is carried out. threads: as configured.
 */
void ozg_monitor_copy(const ozg_view *view, const int64_t *index, int64_t count, int64_t k, ozg_copy_how how,
                      int threads, void *out);

#endif
