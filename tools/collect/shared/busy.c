/* SPDX-License-Identifier: BSD-2-Clause */
/* Another process uses the GPU's counters: finds out which, and waits. */
#include "collect/shared/target.h"

#include <ctype.h>
#include <signal.h>

#include "collect/shared/shared.h"

/* Libraries in the memory of a process that uses counters; the most specific one first. */
static const struct {
	const char *file, *what;
} signs[] = {
	{ COLLECTOR_LIBRARY, "offpeak-collect" },
	{ "/libcuda-injection.so", "Nsight Compute" },
	{ "/libTreeLauncherTargetInjection.so", "an Nsight tool" },
	{ "/libToolsInjection64.so", "Nsight Systems" },
	{ "/libdcgm", "DCGM" },
	{ "/libnvperf_target.so", "a program that profiles itself" },
};
enum { SIGNS = sizeof signs / sizeof *signs };

static const char *sign_of(const char *process)
{
	const char *files[SIGNS];
	size_t best;

	for (size_t i = 0; i < SIGNS; i++)
		files[i] = signs[i].file;
	return mapped_find(&best, process, files, SIGNS) && best < SIGNS ? signs[best].what : NULL;
}

void busy_describe(char *out, size_t size)
{
	opk_autoclosedir DIR *folder = opendir("/proc");
	struct dirent *entry;
	size_t used = 0;

	*out = '\0';
	while (folder && (entry = readdir(folder)) && used + 1 < size) {
		const char *what = isdigit(*entry->d_name) && atoi(entry->d_name) != getpid()
		                           ? sign_of(entry->d_name)
		                           : NULL;
		char name[32];

		if (!what)
			continue;
		process_name(name, entry->d_name);
		used += (size_t)snprintf(out + used, size - used, "%sprocess %.20s, %s (%s)",
		                         used ? ", or " : "", entry->d_name, name, what);
	}
	if (!*out)
		snprintf(out, size, "none that can be seen from here; DCGM may be, or Nsight");
}

static __thread bool tolerated, met;
static bool over; /* the program ends */

void patience_stop(void)
{
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
}

void patience_begin(struct patience *patience, uint64_t seconds)
{
	*patience = (struct patience){ .seconds = (double)seconds, .begun = clock_now() };
	tolerated = seconds > 0;
	met = false;
}

bool busy_tolerate(CUptiResult status)
{
	met |= status == CUPTI_ERROR_HARDWARE_BUSY;
	return tolerated && status == CUPTI_ERROR_HARDWARE_BUSY;
}

static void tell(const struct patience *patience)
{
	char who[512];

	busy_describe(who, sizeof who);
	say(0, "another profiler has the GPU's counters (%s): waiting for up to %.0f s", who,
	    patience->seconds);
}

/* Whether a signal waits that ends a watch. */
static bool is_stopped(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending;
	bool stopped = false;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		stopped |= sigismember(&pending, ends[i]) == 1;
	return stopped;
}

bool patience_left(struct patience *patience)
{
	enum { RETRY_US = 200000 };

	if (!tolerated || !met || (patience->signals && is_stopped())
	    || __atomic_load_n(&over, __ATOMIC_RELAXED))
		return false;
	met = false;
	if (!patience->told)
		tell(patience);
	patience->told = true;
	/* Let the last attempt report the error. */
	if (clock_seconds_since(&patience->begun) >= patience->seconds)
		tolerated = false;
	else
		usleep(RETRY_US);
	return true;
}

bool patience_met(void)
{
	return met;
}

void patience_end(const struct patience *patience, bool good)
{
	tolerated = false;
	if (patience->told && good)
		say(0, "recording after %.1f s", clock_seconds_since(&patience->begun));
	else if (patience->told && __atomic_load_n(&over, __ATOMIC_RELAXED))
		say(0, "the program ended after %.1f s, and the counters were not free until then",
		    clock_seconds_since(&patience->begun));
}
