/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded, it sends offpeak-collect a SIGTERM as soon as that has called the function that
 * SIGNAL_AT names: at a moment that no other process could hit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void called(const char *function)
{
	const char *wanted = getenv("SIGNAL_AT");

	if (wanted && !strcmp(wanted, function)
	    && !strcmp(program_invocation_short_name, "offpeak-collect"))
		raise(SIGTERM);
}

pid_t fork(void)
{
	pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	pid_t child = next();

	if (child)
		called("fork");
	return child;
}

mode_t umask(mode_t mask)
{
	mode_t (*next)(mode_t mask) = (mode_t(*)(mode_t))dlsym(RTLD_NEXT, "umask");

	mask = next(mask);
	called("umask");
	return mask;
}
