/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings' numbers about launches and devices, with Nsight Compute's names. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/mem.h"
#include "container/container.h"
#include "occupancy/occupancy.h"

static double product(const uint32_t shape[3])
{
	return (double)shape[0] * shape[1] * shape[2];
}

static bool is_launch(const struct opk_range *range)
{
	return *range->kernel && range->count < 2;
}

/*
 * How the member at `offset` becomes a number: of a range, or, from the first COMPUTED on, of its
 * occupancy.
 */
enum source {
	WORD,
	LONG_WORD,
	PLUS_1,
	DEVICE,
	SHAPE,
	THREADS,
	COMPUTED,
	COMPUTED_LONG,
	COMPUTED_SHARE,
	WAVES,
};

static const struct launch_attribute {
	const char *name, *unit, *text;
	enum source source;
	size_t offset;
	bool zero; /* 0 is a value of a launch; elsewhere it is not known */
	bool adds; /* over launches */
} launch_attributes[] = {
#define OF(form, member) .source = form, .offset = offsetof(struct opk_range, member)
#define ZERO_OF(form, member) OF(form, member), .zero = true
#define SUM_OF(form, member) OF(form, member), .adds = true
#define IN(form, member) .source = form, .offset = offsetof(struct opk_occupancy, member)
#define LIMIT(name, text, limit)                                                                   \
	{                                                                                          \
		"launch__occupancy_limit_" name, "block",                                          \
			"Blocks that can be resident on an SM, limited by " text " alone.",        \
			IN(COMPUTED, limits[limit])                                                \
	}
	{ "launch__block_dim_x", "", "Threads of a block in x.", OF(WORD, block[0]) },
	{ "launch__block_dim_y", "", "Threads of a block in y.", OF(WORD, block[1]) },
	{ "launch__block_dim_z", "", "Threads of a block in z.", OF(WORD, block[2]) },
	{ "launch__block_size", "", "Threads of a block.", OF(SHAPE, block) },
	{ "launch__cluster_dim_x", "", "Blocks of a cluster in x.", OF(WORD, cluster[0]) },
	{ "launch__cluster_dim_y", "", "Blocks of a cluster in y.", OF(WORD, cluster[1]) },
	{ "launch__cluster_dim_z", "", "Blocks of a cluster in z.", OF(WORD, cluster[2]) },
	{ "launch__cluster_size", "", "Blocks of a cluster; 1 without clusters.",
	  OF(SHAPE, cluster) },
	{ "launch__context_id", "", "Number of the context in its process.", OF(WORD, context) },
	{ "launch__device_id", "", "Index of the device.", ZERO_OF(DEVICE, device) },
	{ "launch__grid_dim_x", "", "Blocks of the grid in x.", OF(WORD, grid[0]) },
	{ "launch__grid_dim_y", "", "Blocks of the grid in y.", OF(WORD, grid[1]) },
	{ "launch__grid_dim_z", "", "Blocks of the grid in z.", OF(WORD, grid[2]) },
	{ "launch__grid_size", "", "Blocks of the grid.", SUM_OF(SHAPE, grid) },
	LIMIT("blocks", "the SM's number of blocks", OPK_LIMIT_BLOCKS),
	LIMIT("registers", "registers", OPK_LIMIT_REGISTERS),
	LIMIT("shared_mem", "shared memory", OPK_LIMIT_SHARED),
	LIMIT("warps", "warps", OPK_LIMIT_WARPS),
	{ "launch__registers_per_thread", "register/thread", "Registers of a thread.",
	  OF(WORD, registers) },
	{ "launch__registers_per_thread_allocated", "register/thread",
	  "Registers of a thread, rounded up to what is allocated.",
	  IN(COMPUTED, thread_registers) },
	{ "launch__shared_mem_per_block_allocated", "byte",
	  "Shared memory of a block with the driver's, rounded up to what is allocated.",
	  IN(COMPUTED_LONG, block_bytes) },
	{ "launch__shared_mem_per_block_driver", "byte",
	  "Shared memory of a block that the driver takes.", IN(COMPUTED, driver_bytes) },
	{ "launch__shared_mem_per_block_dynamic", "byte",
	  "Shared memory of a block that the launch asks for.", ZERO_OF(WORD, shared_bytes) },
	{ "launch__shared_mem_per_block_static", "byte",
	  "Shared memory of a block that the kernel declares.", OF(PLUS_1, static_shared_plus_1) },
	{ "launch__stream_id", "", "The driver's number of the stream.",
	  ZERO_OF(LONG_WORD, stream) },
	{ "launch__thread_count", "thread", "Threads of the launch.", SUM_OF(THREADS, grid) },
	{ "launch__waves_per_multiprocessor", "",
	  "How often the grid fills the GPU with resident blocks.", IN(WAVES, blocks) },
	{ "sm__maximum_warps_avg_per_active_cycle", "warp",
	  "Theoretical occupancy: warps that can be resident on an SM.", IN(COMPUTED, warps) },
	{ "sm__maximum_warps_per_active_cycle_pct", "percent",
	  "Theoretical occupancy: warps that can be resident on an SM, of the most it can hold.",
	  IN(COMPUTED_SHARE, percent) },
#undef LIMIT
#undef IN
#undef SUM_OF
#undef ZERO_OF
#undef OF
};
enum { LAUNCH_ATTRIBUTES = sizeof launch_attributes / sizeof *launch_attributes };

/* Shapes are known where any kernel was launched; of summed ranges, what they have in common. */
static double value_of(const struct launch_attribute *attribute, const struct opk_range *range)
{
	const void *member = (const char *)range + attribute->offset;
	double value = 0;

	switch (attribute->source) {
	case WORD:
		value = *(const uint32_t *)member;
		break;
	case LONG_WORD:
		value = (double)*(const uint64_t *)member;
		break;
	case DEVICE:
		return range->device >= 0 ? range->device : (double)NAN;
	case SHAPE:
		value = product(member);
		break;
	case THREADS:
		value = product(range->grid) * product(range->block);
		break;
	case PLUS_1:
		return *(const uint32_t *)member ? *(const uint32_t *)member - 1.0 : (double)NAN;
	default:
		return (double)NAN;
	}
	return value != 0 || (attribute->zero && is_launch(range)) ? value : (double)NAN;
}

/* Facts about a device for which the collector and the driver use different names. */
static const struct {
	const char *attribute, *fact;
} device_facts[] = {
	{ "clock_rate", "max_sm_clock_khz" },
	{ "memory_clock_rate", "max_memory_clock_khz" },
	{ "multiprocessor_count", "multiprocessors" },
};

static const char launch_prefix[] = "launch__", device_prefix[] = "device__attribute_";

static const struct launch_attribute *find_launch(const char *name)
{
	for (size_t i = 0; i < LAUNCH_ATTRIBUTES; i++)
		if (!strcmp(launch_attributes[i].name, name))
			return &launch_attributes[i];
	return NULL;
}

static bool begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

bool opk_attribute_is_name(const char *name)
{
	return begins(name, device_prefix) || find_launch(name);
}

bool opk_attribute_is_like(const char *name)
{
	return begins(name, launch_prefix) || opk_attribute_is_name(name);
}

bool opk_attribute_is_of_device(const char *name)
{
	return begins(name, device_prefix);
}

const char *opk_attribute_device_fact(const char *name)
{
	const char *attribute = name + sizeof device_prefix - 1;

	if (!begins(name, device_prefix))
		return NULL;
	for (size_t i = 0; i < sizeof device_facts / sizeof *device_facts; i++)
		if (!strcmp(device_facts[i].attribute, attribute))
			return device_facts[i].fact;
	return attribute;
}

/* "device.3.multiprocessors": the number of the device, or -1 where it is another fact. */
static int32_t device_of(const struct opk_property *fact, const char *wanted)
{
	static const char start[] = "device.";
	char *end;
	long number;

	if (!begins(fact->name, start) || !isdigit((unsigned char)fact->name[sizeof start - 1]))
		return -1;
	number = strtol(fact->name + sizeof start - 1, &end, 10);
	return *end == '.' && !strcmp(end + 1, wanted) && number <= INT32_MAX ? (int32_t)number
	                                                                      : -1;
}

static double number_of(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	return end != text && !*end ? number : (double)NAN;
}

/* A range without a device has what all devices have in common. */
static double get_of_device(const struct opk_meta *meta, const char *fact, int32_t device)
{
	double found = (double)NAN;
	bool first = true;

	for (size_t i = 0; i < meta->run_count; i++) {
		int32_t of = device_of(&meta->run[i], fact);

		if (of < 0 || (device >= 0 && of != device))
			continue;
		if (!first && found != number_of(meta->run[i].value))
			return (double)NAN;
		found = number_of(meta->run[i].value);
		first = false;
	}
	return found;
}

/* ---- occupancy ------------------------------------------------------------------------------ */

static uint32_t whole(double number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* NULL: the recording does not say what the device is, or this version does not know it. */
static const struct opk_sm *sm_of(const struct opk_meta *meta, int32_t device)
{
	double major = get_of_device(meta, "compute_capability_major", device);
	double minor = get_of_device(meta, "compute_capability_minor", device);

	return major >= 0 && minor >= 0 ? opk_sm_find(whole(major), whole(minor)) : NULL;
}

static bool get_occupancy(struct opk_occupancy *out, const struct opk_meta *meta,
                          const struct opk_range *range)
{
	const struct opk_launch_needs needs = {
		.threads = whole(product(range->block)),
		.registers = range->registers,
		.shared_bytes = (uint64_t)range->static_shared_plus_1 - 1 + range->shared_bytes,
		.cluster = whole(product(range->cluster)),
		.carveout = (int32_t)(range->carveout_plus_1 - 1),
	};
	bool known = needs.threads && needs.registers && range->static_shared_plus_1;
	const struct opk_sm *sm = known ? sm_of(meta, range->device) : NULL;

	if (sm)
		*out = opk_occupancy_of(sm, &needs);
	return sm;
}

/* How often the GPU is filled with resident blocks. */
static double waves(const struct opk_occupancy *occupancy, const struct opk_meta *meta,
                    const struct opk_range *range)
{
	double blocks = occupancy->blocks * get_of_device(meta, "multiprocessors", range->device);
	double grid = product(range->grid);

	return blocks > 0 && grid > 0 ? grid / blocks : (double)NAN;
}

static double computed_value(const struct launch_attribute *attribute, const struct opk_meta *meta,
                             const struct opk_range *range)
{
	struct opk_occupancy occupancy;
	const void *member = (const char *)&occupancy + attribute->offset;

	if (!meta || !get_occupancy(&occupancy, meta, range))
		return (double)NAN;
	switch (attribute->source) {
	case COMPUTED:
		return *(const uint32_t *)member;
	case COMPUTED_LONG:
		return (double)*(const uint64_t *)member;
	case COMPUTED_SHARE:
		return *(const double *)member;
	default:
		return waves(&occupancy, meta, range);
	}
}

double opk_attribute_value(const char *name, const struct opk_meta *meta,
                           const struct opk_range *range)
{
	const struct launch_attribute *launch = find_launch(name);
	const char *fact = opk_attribute_device_fact(name);

	if (fact)
		return meta ? get_of_device(meta, fact, range ? range->device : -1) : (double)NAN;
	if (!launch || !range)
		return (double)NAN;
	return launch->source < COMPUTED ? value_of(launch, range)
	                                 : computed_value(launch, meta, range);
}

bool opk_attributes_are_equal(const struct opk_range *a, const struct opk_range *b)
{
	if (!a || !b)
		return a == b;
	return is_launch(a) == is_launch(b) && !memcmp(a->grid, b->grid, sizeof a->grid)
	       && !memcmp(a->block, b->block, sizeof a->block)
	       && !memcmp(a->cluster, b->cluster, sizeof a->cluster) && a->device == b->device
	       && a->registers == b->registers && a->shared_bytes == b->shared_bytes
	       && a->static_shared_plus_1 == b->static_shared_plus_1
	       && a->carveout_plus_1 == b->carveout_plus_1 && a->stream == b->stream
	       && a->context == b->context;
}

const char *opk_attribute_unit(const char *name)
{
	const struct launch_attribute *launch = find_launch(name);

	return launch ? launch->unit : "";
}

const char *opk_attribute_text(const char *name)
{
	const struct launch_attribute *launch = find_launch(name);

	return launch ? launch->text : "A number of the device: what info lists as device.N.NAME.";
}

bool opk_attribute_adds(const char *name)
{
	const struct launch_attribute *launch = find_launch(name);

	return launch && launch->adds;
}

static bool has_fact(const struct opk_meta *meta, const char *fact)
{
	for (size_t i = 0; meta && i < meta->run_count; i++)
		if (device_of(&meta->run[i], fact) >= 0)
			return true;
	return false;
}

int opk_attribute_check(struct opk_ctx *ctx, const char *name, const struct opk_meta *meta)
{
	struct opk_nearest nearest = { .name = name };

	if (find_launch(name)
	    || (opk_attribute_device_fact(name) && has_fact(meta, opk_attribute_device_fact(name))))
		return OPK_OK;
	/* Recordings of other tools have facts about launches as metrics. */
	if (!opk_attribute_is_like(name) || (meta && opk_meta_has_metric(meta, name)))
		return OPK_OK;
	for (size_t i = 0; i < LAUNCH_ATTRIBUTES; i++)
		opk_nearest_try(&nearest, launch_attributes[i].name);
	if (nearest.best)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: the recording does not say this, did you mean %s?", name,
		                nearest.best);
	return opk_fail(ctx, OPK_EUSAGE, "%s: the recording does not say this; %s", name,
	                opk_attribute_is_of_device(name) ? "it has other facts of its devices"
	                                                 : "launches have no such fact");
}
