/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake driver and the fake CUPTI each have a copy of this: a log of the calls, and calls that
 * fail when a test wants them to. README.md lists the environment variables.
 */
#ifndef FAKE_COMMON_H
#define FAKE_COMMON_H

#include <stdbool.h>
#include <stdint.h>

/* Whether FAKE_GPU_FAIL names this call, and the status to return. May not return at all. */
bool fake_fails(const char *function, int *status);
/* NVIDIA's libraries register such a handler in their first calls; calls after it ran crash. */
void fake_clean_up_at_exit(void);
/* Whether a call of CUPTI is under way, as far as FAKE_GPU_FAIL lets it sleep. */
bool fake_in_cupti(void);
/* Writes one line at once, when the call returns: "function detail -> status". */
__attribute__((format(printf, 3, 4))) void fake_log(const char *function, int status,
                                                    const char *format, ...);
/* A whole number from the environment. */
uint64_t fake_number(const char *variable, uint64_t otherwise);
/* The chip of a device. FAKE_GPU_CHIP may list chips by device; the last one serves the rest. */
const char *fake_chip(unsigned device);
/* Host time in ns. */
uint64_t fake_now(void);

/* Evaluates `work`, an int expression, unless the call is made to fail. */
#define FAKE_CALL(type, work, ...)                                                                 \
	__extension__({                                                                            \
		int status_;                                                                       \
		if (!fake_fails(__func__, &status_))                                               \
			status_ = (int)(work);                                                     \
		fake_log(__func__, status_, __VA_ARGS__);                                          \
		(type) status_;                                                                    \
	})

#endif
