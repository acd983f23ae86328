/* SPDX-License-Identifier: BSD-2-Clause */
/* Moments, and the host's time. */
#include "collect/shared/clocks.h"

struct timespec clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now;
}

double clock_seconds_since(const struct timespec *then)
{
	struct timespec now = clock_now();

	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) * 1e-9;
}

uint64_t clock_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
