/* SPDX-License-Identifier: BSD-2-Clause */
/* Moments and how long they are ago; the host's time in the recording's form. */
#ifndef OPK_CLOCKS_H
#define OPK_CLOCKS_H

#include <stdint.h>
#include <time.h>

struct timespec clock_now(void);
/* Seconds since clock_now() gave that moment. */
double clock_seconds_since(const struct timespec *then);
/* Nanoseconds since 1970, as start_ns and end_ns have them. */
uint64_t clock_host_ns(void);

#endif
