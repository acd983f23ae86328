/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/turns.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BATCH = 8, UNEVEN = 7, MAX_NAMES = 4096 };

struct repetition {
	char *name;
	size_t seen;
};

size_t rotation_group(const struct rotation *rotation)
{
	return rotation->turn % rotation->groups;
}

uint32_t rotation_batch(const struct rotation *rotation, uint32_t room)
{
	if (rotation->turn < rotation->groups)
		return room < FIRST_BATCH ? room : FIRST_BATCH;
	return room - (uint32_t)(rotation->turn % (room < UNEVEN ? room : UNEVEN));
}

void rotation_next(struct rotation *rotation)
{
	rotation->turn++;
}

static struct repetition *find(struct repetitions *repetitions, const char *name)
{
	struct repetition *grown;
	char *copy;

	for (size_t i = 0; i < repetitions->count; i++)
		if (!strcmp(repetitions->names[i].name, name))
			return &repetitions->names[i];
	if (repetitions->count == MAX_NAMES)
		return NULL;
	grown = realloc(repetitions->names, (repetitions->count + 1) * sizeof *grown);
	copy = grown ? strdup(name) : NULL;
	if (grown)
		repetitions->names = grown;
	if (!copy)
		return NULL;
	grown[repetitions->count] = (struct repetition){ .name = copy };
	return &grown[repetitions->count++];
}

struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t groups,
                             size_t levels)
{
	struct repetition *repetition = find(repetitions, name);
	size_t turn = repetition ? repetition->seen++ : 0;

	return (struct turn){ .group = turn % groups, .level = turn / groups % levels + 1 };
}

void repetitions_clear(struct repetitions *repetitions)
{
	for (size_t i = 0; i < repetitions->count; i++)
		free(repetitions->names[i].name);
	free(repetitions->names);
	*repetitions = (struct repetitions){ 0 };
}
