/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that the program has loaded. */
#include "collect/shared/shared.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const char *name, *except;
	char *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!slash || strncmp(slash + 1, search->name, strlen(search->name))
	    || (search->except && !strcmp(info->dlpi_name, search->except)))
		return 0;
	search->found = strdup(info->dlpi_name);
	return 1;
}

char *library_loaded(const char *name, const char *except)
{
	struct search search = { .name = name, .except = except };

	dl_iterate_phdr(look, &search);
	return search.found;
}
