/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading NVIDIA's libraries takes 0.1 s and 105 MB, and shell tests start offpeak 1,000 times. In
 * a warm test one offpeak has loaded them and forks for each command. tests/warm/client.c replaces
 * offpeak and sends what a process inherits; tests/warm/server.c is preloaded into offpeak and
 * calls its main() in the child. Tests of process start are cold: tap.sh.
 */
#ifndef WARM_H
#define WARM_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For the server: its listening socket, and the paths of the libraries to load, joined by ':'. */
#define WARM_LISTENER "OFFPEAK_WARM_LISTENER"
#define WARM_LIBRARIES "OFFPEAK_WARM_LIBRARIES"
/* The test's shell; the server exits with it. */
#define WARM_OWNER "OFFPEAK_WARM_OWNER"

enum { WARM_STREAMS = 3, WARM_SIGNALS = 32 };

/* One command. Its descriptors are sent with it: the folder, then each open stream. */
struct warm_request {
	uint32_t streams; /* bit i: descriptor i is open */
	uint32_t ignored; /* bit i: signal i is ignored */
	uint32_t mask;    /* umask */
	uint32_t argument_count;
	uint32_t text_count; /* strings: arguments and environment */
	uint32_t text_size;  /* with the NUL of each; the strings follow */
	struct rlimit limits[RLIM_NLIMITS];
};

/* From the first descriptor on. The glibc of Debian 11 has neither close_range() nor its number. */
static inline void warm_close_from(int first)
{
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
	syscall(SYS_close_range, first, ~0U, 0);
}

/* The server answers with a status as of wait(); the client sends the number of each signal. */

#endif
