/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts in which instructions are counted or sampled. */
#include "collect/collector.h"

static struct sass *open_sass(const struct collector_context *entry)
{
	if (!collector_is_right_chip(entry->device) || !collector_initialize())
		return NULL;
	if (!collector.profiling.segments)
		collector.profiling.segments = recording_begin(&collector.settings, &collector.set,
		                                               "sass-metrics", NULL, 0);
	return collector.profiling.segments
	               ? sass_new(&collector.profiling, entry->context, entry->device)
	               : NULL;
}

/* Without a set the metadata have the chip, and the reasons that CUPTI names. */
static const struct opk_meta *meta_of_samples(const struct pc_sampler *sampler, int device)
{
	static struct opk_meta meta = { .profiler = OPK_PROFILER_PC, .passes = 1 };

	meta.chip = collector_chip(device);
	meta.metrics = pc_sampler_metrics(&meta.metric_count, sampler);
	if (!meta.chip)
		say(0, "CUPTI does not know the chip of device %d", device);
	return meta.chip ? &meta : NULL;
}

static struct collector_context *sampled_on(int device)
{
	for (size_t i = 0; i < collector.context_count; i++)
		if (collector.contexts[i].pc && collector.contexts[i].device == device)
			return &collector.contexts[i];
	return NULL;
}

static struct pc_sampler *open_samples(const struct collector_context *entry)
{
	struct pc_sampler *sampler;

	if (entry->device >= MAX_DEVICES
	    || (collector.set.meta && !collector_is_right_chip(entry->device)))
		return NULL;
	/* With two contexts of a GPU CUPTI's calls for both fail, or crash (13.0 and 13.5). */
	if (sampled_on(entry->device))
		return NULL;
	sampler = pc_sampler_new(&collector.profiling, entry->context, entry->device);
	if (!sampler)
		return NULL;
	if (!collector.set.meta)
		collector.set.meta = meta_of_samples(sampler, entry->device);
	if (!collector.profiling.segments && collector.set.meta)
		collector.profiling.segments = recording_begin(&collector.settings, &collector.set,
		                                               "pc-sampling", NULL, 0);
	if (pc_sampler_start(sampler, collector.profiling.segments))
		return sampler;
	pc_sampler_close(sampler, &collector.counts);
	return NULL;
}

void collector_open_code(struct collector_context *entry)
{
	collector_end_before_nvidia();
	if (collector.settings.mode == MODE_SASS)
		entry->sass = open_sass(entry);
	else
		entry->pc = open_samples(entry);
	entry->refused = !entry->sass && !entry->pc;
	entry->waits = !entry->sass && !entry->pc && sampled_on(entry->device);
}

void collector_close_code(struct collector_context *entry)
{
	if (collector.counted == entry->sass)
		collector.counted = NULL;
	if (entry->sass)
		sass_close(entry->sass, &collector.counts);
	if (entry->pc)
		pc_sampler_close(entry->pc, &collector.counts);
	entry->sass = NULL;
	entry->pc = NULL;
}

struct sass *collector_sass(CUcontext context)
{
	const struct collector_context *entry = collector_find_or_open(context);

	return entry ? entry->sass : NULL;
}

/* The first context of a GPU that launches a kernel is sampled, also if it is not the oldest. */
static void sample_instead(struct collector_context *entry)
{
	struct collector_context *sampled = sampled_on(entry->device);
	static bool told;

	if (sampled ? pc_sampler_is_idle(sampled->pc) : entry->waits) {
		if (sampled) {
			collector_close(sampled);
			sampled->refused = sampled->waits = true;
		}
		collector_open(entry);
	} else if (sampled && !told) {
		told = true;
		say(0,
		    "kernels of another CUDA context of device %d are not sampled: CUPTI "
		    "samples one context of a GPU",
		    entry->device);
	}
}

struct pc_sampler *collector_pc(CUcontext context)
{
	struct collector_context *entry = collector_find_or_open(context);

	if (entry && entry->refused)
		sample_instead(entry);
	return entry ? entry->pc : NULL;
}
