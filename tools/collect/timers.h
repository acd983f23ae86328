/* SPDX-License-Identifier: BSD-2-Clause */
/* GPU time of launches: an event before and one behind each. About 2 us a launch on an H100. */
#ifndef OPK_TIMERS_H
#define OPK_TIMERS_H

#include "collect/target.h"

struct timers;

/* In the current context; NULL where the driver has no such events. */
struct timers *timers_new(const struct target *target, uint32_t count);
void timers_free(struct timers *timers);
void timers_start(struct timers *timers, uint32_t index, CUstream stream);
void timers_stop(struct timers *timers, uint32_t index, CUstream stream);
/* Nanoseconds between the two, when both have passed; 0 where that can't be told. */
uint64_t timers_read(struct timers *timers, uint32_t index);

#endif
