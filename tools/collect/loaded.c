/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the libcupti that the program has loaded. */
#include "collect/subscriber.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char cupti[] = "libcupti.so";

static bool has(const char *path, const char *symbol)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	bool found = library && dlsym(library, symbol);

	if (library)
		dlclose(library);
	return found;
}

const char *cupti_choose(const struct settings *settings)
{
	const char *needed = settings->mode == MODE_SAMPLING ? "cuptiPmSamplingEnable"
	                                                     : "cuptiProfilerInitialize";
	char *loaded = settings->given[SETTING_CUPTI] ? NULL : library_loaded(cupti, NULL);

	/* It is named in the recording, so it stays. */
	if (loaded && has(loaded, needed))
		return loaded;
	free(loaded);
	return settings->cupti_path;
}

void cupti_report_other(const struct target *target)
{
	char *other = target->cupti_path ? library_loaded(cupti, target->cupti_path) : NULL;

	if (other)
		say(0,
		    "note: the program has loaded %s, and this recording uses %s: of several files "
		    "of CUPTI in a process the first one works, so the program's own tracing may "
		    "be empty; with --cupti %s both use the same",
		    other, target->cupti_path, other);
	free(other);
}
