/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the libcupti that the program has loaded. */
#include "collect/subscriber.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Searches for the first loaded libcupti other than `except`. */
struct search {
	const char *except;
	char *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char name[] = "libcupti.so";
	struct search *search = data;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!slash || strncmp(slash + 1, name, strlen(name))
	    || (search->except && !strcmp(info->dlpi_name, search->except)))
		return 0;
	search->found = strdup(info->dlpi_name);
	return 1;
}

/* The path of its file; free(). NULL: none. */
static char *find_loaded(const char *except)
{
	struct search search = { .except = except };

	dl_iterate_phdr(look, &search);
	return search.found;
}

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
	                     : settings->mode == MODE_SASS   ? "cuptiSassMetricsEnable"
	                     : settings->mode == MODE_PC     ? "cuptiPCSamplingEnable"
	                                                     : "cuptiProfilerInitialize";
	char *loaded = settings->given[SETTING_CUPTI] ? NULL : find_loaded(NULL);

	/* The recording names it, so it is not freed. */
	if (loaded && has(loaded, needed))
		return loaded;
	free(loaded);
	return settings->cupti_path;
}

void cupti_report_other(void)
{
	char *other = target.cupti_path ? find_loaded(target.cupti_path) : NULL;

	if (other)
		say(0,
		    "note: the program has loaded %s, and this recording uses %s: of several files "
		    "of CUPTI in a process the first one works, so the program's own tracing may "
		    "be empty; with --cupti %s both use the same",
		    other, target.cupti_path, other);
	free(other);
}
