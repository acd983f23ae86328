/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the host and the GPU of ranges and samples. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/ascii.h"
#include "container/container.h"

const char *opk_property_find(const struct opk_property *items, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(items[i].name, name))
			return items[i].value;
	return NULL;
}

const char *opk_meta_fact(const struct opk_meta *meta, const char *name)
{
	const char *value = opk_property_find(meta->run, meta->run_count, name);

	return value ? value : "";
}

const char *opk_meta_host(const struct opk_meta *meta)
{
	return opk_meta_fact(meta, "hostname");
}

const char *opk_meta_gpu(const struct opk_meta *meta, int32_t device)
{
	static const char *const facts[] = { "uuid", "pci" };
	const char *found = "";
	char name[40];

	for (size_t i = 0; device >= 0 && !*found && i < sizeof facts / sizeof *facts; i++) {
		snprintf(name, sizeof name, "device.%d.%s", device, facts[i]);
		found = opk_meta_fact(meta, name);
	}
	return found;
}

const char *opk_rank_variable(size_t i)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
		                             "PMI_RANK", "SLURM_PROCID" };

	return i < sizeof names / sizeof *names ? names[i] : NULL;
}

int opk_rank_read(const char *text)
{
	long number;

	errno = 0;
	number = strtol(text, NULL, 10);
	return !*text || text[strspn(text, "0123456789")] || errno || number > INT_MAX
	               ? -1
	               : (int)number;
}

int32_t opk_meta_rank(const struct opk_meta *meta)
{
	for (size_t i = 0; opk_rank_variable(i); i++) {
		char fact[40];
		int rank;

		snprintf(fact, sizeof fact, "env.%s", opk_rank_variable(i));
		rank = opk_rank_read(opk_meta_fact(meta, fact));
		if (rank >= 0)
			return rank;
	}
	return -1;
}

bool opk_fact_is_origin(const char *name)
{
	return !strcmp(name, "hostname")
	       || (!strncmp(name, "device.", 7)
	           && (opk_ends(name + 7, ".uuid") || opk_ends(name + 7, ".pci")));
}

/* Facts for one range after the other; `gpu` is the GPU of `device`. */
struct place {
	const struct opk_meta *meta;
	const char *host, *gpu;
	int32_t device;
};

static struct place begin(const struct opk_meta *meta)
{
	return (struct place){ meta, opk_meta_host(meta), "", -1 };
}

static void go_to(struct place *place, int32_t device)
{
	if (device != place->device)
		place->gpu = opk_meta_gpu(place->meta, device);
	place->device = device;
}

void opk_ranges_place(struct opk_range *ranges, size_t count, const struct opk_meta *meta)
{
	struct place place = begin(meta);

	for (size_t i = 0; i < count; i++) {
		struct opk_range *range = &ranges[i];

		go_to(&place, range->device);
		/* A row with its own host or GPU is from another host than the facts. */
		if (*range->host || *range->gpu)
			continue;
		range->host = place.host;
		range->gpu = place.gpu;
	}
}

void opk_activities_place(struct opk_activity *activities, size_t count,
                          const struct opk_meta *meta)
{
	struct place place = begin(meta);

	for (size_t i = 0; i < count; i++) {
		go_to(&place, activities[i].device);
		if (*activities[i].host || *activities[i].gpu)
			continue;
		activities[i].host = place.host;
		activities[i].gpu = place.gpu;
	}
}

void opk_instructions_place(struct opk_instruction *rows, size_t count, const struct opk_meta *meta)
{
	uint32_t process = (uint32_t)strtoul(opk_meta_fact(meta, "process"), NULL, 10);
	int32_t rank = opk_meta_rank(meta);
	struct place place = begin(meta);

	for (size_t i = 0; i < count; i++) {
		go_to(&place, rows[i].device);
		if (*rows[i].host || *rows[i].gpu)
			continue;
		rows[i].host = place.host;
		rows[i].gpu = place.gpu;
		if (!rows[i].process)
			rows[i].process = process;
		if (rows[i].rank < 0)
			rows[i].rank = rank;
	}
}

static bool is_same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b);
}

void opk_ranges_unplace(struct opk_range *ranges, size_t count, const struct opk_meta *meta)
{
	struct place place = begin(meta);

	for (size_t i = 0; i < count; i++) {
		go_to(&place, ranges[i].device);
		if (is_same(ranges[i].host, place.host) && is_same(ranges[i].gpu, place.gpu))
			ranges[i].host = ranges[i].gpu = "";
	}
}
