/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --watch: the program that is recorded is this one. It does nothing on the GPUs; the library in it
 * samples what all processes do there.
 */
#include "base/try.h"
#include "collect/launcher/launcher.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/mem.h"

enum { LOOK_NS = 250000000, SECOND_NS = 1000000000 };

static char self[] = "/proc/self/exe", word[] = WATCH_WORD;
char *watch_program[] = { self, word, NULL };

/* Loads the driver, which loads the library. */
static int begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*cuInit)(unsigned flags);
	int status;

	*(void **)&cuInit = driver ? dlsym(driver, "cuInit") : NULL;
	if (!cuInit)
		return say(OPK_ENVIDIA, "there is no NVIDIA driver here: %s", dlerror());
	status = cuInit(0);
	return !status ? OPK_OK
	               : say(OPK_EFAILED, "cuInit fails with error %d: is there a GPU?", status);
}

/* The library's count of GPUs that it samples; NULL with a message. */
static int (*find_count(void))(void)
{
	opk_autofree char *path = launcher_library();
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
	int (*count)(void);

	*(void **)&count = library ? dlsym(library, "offpeak_watched") : NULL;
	if (!count)
		say(0, "the driver did not load %s", path ? path : "the library");
	return count;
}

/* Whether the time is not over; 0 ns: it never is. */
static bool is_left(const struct timespec *begun, uint64_t duration_ns)
{
	return !duration_ns || clock_seconds_since(begun) * SECOND_NS < (double)duration_ns;
}

int watch_gpus(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct timespec look = { .tv_nsec = LOOK_NS };
	struct timespec begun = clock_now();
	struct settings settings = { 0 };
	int (*count)(void);
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&signals, ending[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* By this name others learn who has the counters: the file is called "exe" here. */
	prctl(PR_SET_NAME, "offpeak-collect");
	if (settings_read(&settings))
		return OPK_EUSAGE;
	TRY(begin());
	count = find_count();
	if (!count)
		return OPK_EFAILED;
	while (count() && is_left(&begun, settings.duration_ns)
	       && sigtimedwait(&signals, NULL, &look) < 0)
		;
	return count() ? OPK_OK : OPK_EFAILED;
}
