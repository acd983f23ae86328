/* SPDX-License-Identifier: BSD-2-Clause */
/* On which host and GPU ranges and samples were recorded. */
#include <string.h>

#include "container/container.h"

static const char *find_fact(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->run_count; i++)
		if (!strcmp(meta->run[i].name, name))
			return meta->run[i].value;
	return "";
}

const char *opk_meta_host(const struct opk_meta *meta)
{
	return find_fact(meta, "hostname");
}

const char *opk_meta_gpu(const struct opk_meta *meta, int32_t device)
{
	static const char *const facts[] = { "uuid", "pci" };
	const char *found = "";
	char name[40];

	for (size_t i = 0; device >= 0 && !*found && i < sizeof facts / sizeof *facts; i++) {
		snprintf(name, sizeof name, "device.%d.%s", device, facts[i]);
		found = find_fact(meta, name);
	}
	return found;
}

bool opk_fact_is_origin(const char *name)
{
	size_t length = strlen(name);

	return !strcmp(name, "hostname")
	       || (!strncmp(name, "device.", 7) && length > 11
	           && (!strcmp(name + length - 5, ".uuid") || !strcmp(name + length - 4, ".pci")));
}

void opk_ranges_place(struct opk_range *ranges, size_t count, const struct opk_meta *meta)
{
	const char *host = opk_meta_host(meta), *gpu = "";
	int32_t device = -1;

	for (size_t i = 0; i < count; i++) {
		struct opk_range *range = &ranges[i];

		if (range->device != device)
			gpu = opk_meta_gpu(meta, range->device);
		device = range->device;
		/* A row that says where it is from is of another host than the facts. */
		if (*range->host || *range->gpu)
			continue;
		range->host = host;
		range->gpu = gpu;
	}
}
