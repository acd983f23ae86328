/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the libcupti that the program has loaded, and functions of what is loaded. */
#include "collect/shared/program_cupti.h"

#include <dlfcn.h>
#include <link.h>
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

char *cupti_loaded(const char *except)
{
	struct search search = { .except = except };

	dl_iterate_phdr(look, &search);
	return search.found;
}

void *loaded_function(const char *path, const char *symbol)
{
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
	void *function = library ? dlsym(library, symbol) : NULL;

	if (library)
		dlclose(library);
	return function;
}
