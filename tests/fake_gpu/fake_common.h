/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fake driver and the fake CUPTI share, each with a copy of its own: a log of the calls,
 * and calls that fail when a test wants them to. README.md has the environment variables.
 */
#ifndef FAKE_COMMON_H
#define FAKE_COMMON_H

#include <stdbool.h>
#include <stdint.h>

/* True, with the status to return, where FAKE_GPU_FAIL names this call. May not return at all. */
bool fake_fails(const char *function, int *status);
/* As NVIDIA's libraries do with their first calls: what is called after that handler crashes. */
void fake_clean_up_at_exit(void);
/* One line, written at once, when the call returns: "function detail -> status". */
__attribute__((format(printf, 3, 4))) void fake_log(const char *function, int status,
                                                    const char *format, ...);
/* A whole number from the environment. */
uint64_t fake_number(const char *variable, uint64_t otherwise);
/* The chip of a device: FAKE_GPU_CHIP may list one a device, and the last goes on. */
const char *fake_chip(unsigned device);
/* Host time in ns. */
uint64_t fake_now(void);

/* `work` is an int expression, left alone where the call is made to fail. */
#define FAKE_CALL(type, work, ...)                                                                 \
	__extension__({                                                                            \
		int status_;                                                                       \
		if (!fake_fails(__func__, &status_))                                               \
			status_ = (int)(work);                                                     \
		fake_log(__func__, status_, __VA_ARGS__);                                          \
		(type) status_;                                                                    \
	})

#endif
