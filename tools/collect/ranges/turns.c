/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns of launches and of repeated ranges. */
#include "collect/ranges/ranges.h"

enum { GROWTH = 8, SKIPS = 8, MAX_NAMES = 4096 };

struct repetition {
	char *name;
	size_t seen;
};

size_t rotation_pass(const struct rotation *rotation)
{
	return (rotation->first + rotation->turn) % rotation->passes;
}

bool rotation_is_round(const struct rotation *rotation)
{
	return rotation->turn >= rotation->passes;
}

/* A number without a pattern that a program could share. */
static uint32_t scatter(size_t turn)
{
	uint32_t hash = (uint32_t)turn * 0x9e3779b1U;

	hash = (hash ^ hash >> 15) * 0x85ebca77U;
	return hash ^ hash >> 13;
}

/* The number of its kind; FIRST_ROOM: it is of none that is known. */
static size_t find_kind(const struct rotation *rotation, const struct opk_range *row)
{
	size_t i = 0;

	for (; i < rotation->kinds; i++) {
		const struct launch_kind *kind = &rotation->kind[i];

		if (kind->kernel == row->kernel && !memcmp(kind->grid, row->grid, sizeof kind->grid)
		    && !memcmp(kind->block, row->block, sizeof kind->block))
			return i;
	}
	return FIRST_ROOM;
}

void rotation_saw(struct rotation *rotation, const struct opk_range *row)
{
	struct launch_kind *added = &rotation->kind[rotation->kinds];
	size_t found;

	if (rotation_is_round(rotation) || rotation->many)
		return;
	found = find_kind(rotation, row);
	/* Ranges and graphs can be anything. */
	rotation->many = !row->kernel || !row->grid[0]
	                 || (found == FIRST_ROOM && rotation->kinds == FIRST_ROOM);
	if (rotation->many)
		return;
	if (found == FIRST_ROOM) {
		added->kernel = row->kernel;
		memcpy(added->grid, row->grid, sizeof added->grid);
		memcpy(added->block, row->block, sizeof added->block);
		found = rotation->kinds++;
	}
	rotation->present |= 1u << found;
}

/* Rounds of small images: where each image of the first has had everything, there is no second. */
static size_t small_rounds(const struct rotation *rotation)
{
	return rotation->kinds && !rotation->many && !rotation->missed ? 1 : 2;
}

uint32_t rotation_room(const struct rotation *rotation, uint32_t most)
{
	size_t round = rotation->turn / rotation->passes;
	uint32_t room = round ? FIRST_ROOM * GROWTH : FIRST_ROOM;

	return round < small_rounds(rotation) && room < most ? room : most;
}

void rotation_note(struct rotation *rotation, double launch_us)
{
	double *known = rotation->launch_us ? &rotation->launch_us[rotation_pass(rotation)] : NULL;

	if (known && launch_us > 0 && (!*known || launch_us < *known))
		*known = launch_us;
}

/* How fast launches are in the present pass: 1 up to twice the time of the fastest, then less. */
static double speed(const struct rotation *rotation)
{
	double own, least = 0;

	if (!rotation->launch_us)
		return 1;
	own = rotation->launch_us[rotation_pass(rotation)];
	for (size_t i = 0; i < rotation->passes; i++)
		if (rotation->launch_us[i] > 0 && (!least || rotation->launch_us[i] < least))
			least = rotation->launch_us[i];
	return own > 2 * least ? 2 * least / own : 1;
}

/* Slow passes get fewer launches: at least a quarter of a large image at first, then an eighth. */
static uint32_t share(const struct rotation *rotation, uint32_t room)
{
	size_t round = rotation->turn / rotation->passes;
	uint32_t least = room / (round <= small_rounds(rotation) ? 4 : 8);
	double share = room * speed(rotation);

	least = least ? least : 1;
	return share > least ? (uint32_t)share : least;
}

uint32_t rotation_batch(const struct rotation *rotation, uint32_t most)
{
	uint32_t room = rotation_room(rotation, most);

	if (room < most || !rotation_is_round(rotation))
		return room;
	room = share(rotation, room);
	return room - scatter(rotation->turn) % (room / 4 + 1);
}

void rotation_next(struct rotation *rotation, bool cut)
{
	bool skip = cut && rotation_is_round(rotation) && scatter(rotation->turn) % SKIPS == 0;
	unsigned known = (1u << rotation->kinds) - 1;

	/* A kind that is new in a later image has no bit in those before. */
	if (!rotation_is_round(rotation))
		rotation->missed |= rotation->present != known
		                    || (rotation->turn && known != rotation->all);
	rotation->all = known;
	rotation->present = 0;
	rotation->turn += skip ? 2 : 1;
}

static struct repetition *find(struct repetitions *repetitions, const char *name)
{
	struct repetition *added;
	char *copy;

	for (size_t i = 0; i < repetitions->count; i++)
		if (!strcmp(repetitions->items[i].name, name))
			return &repetitions->items[i];
	copy = repetitions->count < MAX_NAMES ? strdup(name) : NULL;
	added = copy ? opk_list_add(repetitions) : NULL;
	if (added)
		added->name = copy;
	else
		free(copy);
	return added;
}

struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t passes,
                             size_t levels)
{
	struct repetition *repetition = find(repetitions, name);
	size_t turn = repetition ? repetition->seen++ : 0;

	return (struct turn){ .pass = turn % passes, .level = turn / passes % levels + 1 };
}
