/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds libraries in the memory of a process. */
#include "collect/shared/shared.h"

bool mapped_find(size_t *first, const char *process, const char *const *files, size_t count)
{
	opk_autofree char *line = NULL;
	opk_autofclose FILE *maps = NULL;
	char path[64];
	size_t size = 0;

	*first = count;
	snprintf(path, sizeof path, "/proc/%.20s/maps", process);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	while (*first && getline(&line, &size, maps) > 0)
		for (size_t i = 0; i < *first; i++)
			if (strstr(line, files[i]))
				*first = i;
	return true;
}

void process_name(char name[32], const char *process)
{
	char path[64];
	opk_autofclose FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%.20s/comm", process);
	file = fopen(path, "r");
	if (!file || !fgets(name, 32, file))
		strcpy(name, "?");
	name[strcspn(name, "\n")] = '\0';
}
