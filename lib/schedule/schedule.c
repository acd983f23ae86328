/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads from a config image which pass counts what, or puts parts into passes. */
#include "schedule/schedule.h"

#include <string.h>

#include "adapters/nv/nv.h"

static int make(struct opk_schedule *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                size_t passes)
{
	*out = (struct opk_schedule){ .passes = passes };
	out->pass_of = opk_alloc_array(counters->names.count + 1, sizeof *out->pass_of);
	if (!out->pass_of)
		return opk_nomem(ctx, "a plan");
	memset(out->pass_of, 0xff, counters->names.count * sizeof *out->pass_of);
	return OPK_OK;
}

int opk_schedule_read(struct opk_schedule *out, struct opk_ctx *ctx,
                      const struct opk_counters *counters, const struct opk_schedule_result *plan)
{
	opk_autoschedule struct opk_schedule read = { 0 };

	TRY(make(&read, ctx, counters, plan->passes));
	for (size_t pass = plan->passes; pass-- > 0;) {
		opk_autostrlist struct opk_strlist here = { 0 };

		TRY(opk_nv_config_counters(&here, ctx, plan->config, plan->size, pass));
		for (size_t i = 0; i < here.count; i++) {
			size_t at = opk_counters_find(counters, here.items[i]);

			if (at < counters->names.count)
				read.pass_of[at] = pass;
		}
	}
	*out = (struct opk_schedule){ read.passes, opk_take(read.pass_of) };
	return OPK_OK;
}

void opk_schedule_clear(struct opk_schedule *schedule)
{
	free(opk_take(schedule->pass_of));
	schedule->passes = 0;
}

bool opk_schedule_splits(const struct opk_schedule *schedule, const struct opk_counters *counters,
                         size_t metric)
{
	size_t pass = SIZE_MAX;

	for (size_t i = counters->first[metric]; i < counters->first[metric + 1]; i++) {
		size_t counter = counters->needs[i], here = schedule->pass_of[counter];

		if (opk_is_trace(counters->names.items[counter]))
			continue;
		if (pass != SIZE_MAX && here != pass)
			return true;
		pass = here;
	}
	return false;
}

/* ---- parts side by side */

struct composing {
	struct opk_schedule *out;
	const struct opk_counters *counters;
	const bool *ratios;
	size_t *bin_of; /* one per counter of the part; SIZE_MAX: in another part */
	size_t *shared; /* [bin * passes + pass]: number of ratios with a counter in both */
	bool *bin_placed, *pass_taken;
	size_t from, to; /* the range of passes that the part may use */
};

static void find_bins(struct composing *c, const struct opk_part *part)
{
	memset(c->bin_of, 0xff, c->counters->names.count * sizeof *c->bin_of);
	for (size_t i = 0; i < part->count; i++)
		c->bin_of[part->members[i]] = part->bins.bin_of[i];
}

/* Counts each pair of the ratio's counters in this part and its counters that have passes. */
static void count_ratio(struct composing *c, size_t metric)
{
	const size_t *needs = c->counters->needs;

	for (size_t i = c->counters->first[metric]; i < c->counters->first[metric + 1]; i++)
		for (size_t j = c->counters->first[metric]; j < c->counters->first[metric + 1]; j++)
			if (c->bin_of[needs[i]] != SIZE_MAX && c->bin_of[needs[j]] == SIZE_MAX
			    && c->out->pass_of[needs[j]] != SIZE_MAX)
				c->shared[c->bin_of[needs[i]] * c->out->passes
				          + c->out->pass_of[needs[j]]]++;
}

/* The remaining bin and pass that share the most ratios; else the first ones. */
static void best_match(const struct composing *c, size_t bins, size_t *bin, size_t *pass)
{
	size_t best = 0;
	bool found = false;

	for (size_t b = 0; b < bins; b++)
		for (size_t p = c->from; p < c->to; p++) {
			if (c->bin_placed[b] || c->pass_taken[p]
			    || (found && c->shared[b * c->out->passes + p] <= best))
				continue;
			found = true;
			best = c->shared[b * c->out->passes + p];
			*bin = b;
			*pass = p;
		}
}

static void place_part(struct composing *c, const struct opk_part *part)
{
	size_t passes = c->out->passes;

	find_bins(c, part);
	memset(c->shared, 0, passes * passes * sizeof *c->shared);
	memset(c->bin_placed, 0, passes * sizeof *c->bin_placed);
	memset(c->pass_taken, 0, passes * sizeof *c->pass_taken);
	for (size_t i = 0; i < c->counters->metric_count; i++)
		if (c->ratios[i])
			count_ratio(c, i);
	for (size_t n = 0; n < part->bins.count; n++) {
		size_t bin = 0, pass = 0;

		best_match(c, part->bins.count, &bin, &pass);
		c->bin_placed[bin] = c->pass_taken[pass] = true;
		for (size_t i = 0; i < c->counters->names.count; i++)
			if (c->bin_of[i] == bin)
				c->out->pass_of[i] = pass;
	}
}

/* The parts with the most bins come first: they have no choice. */
static void place_parts(struct composing *c, const struct opk_parts *parts, size_t software)
{
	for (size_t bins = c->out->passes; bins > 0; bins--)
		for (size_t i = 0; i < parts->count; i++) {
			const struct opk_part *part = &parts->all[i];

			if (part->bins.count != bins)
				continue;
			c->from = part->software ? software : 0;
			c->to = part->software || !software ? c->out->passes : software;
			place_part(c, part);
		}
}

static size_t count_passes(size_t *software, const struct opk_parts *parts, size_t *counts)
{
	for (size_t i = 0; i < parts->count; i++)
		counts[i] = parts->all[i].bins.count;
	return opk_parts_passes(software, parts, counts);
}

int opk_schedule_compose(struct opk_schedule *out, struct opk_ctx *ctx,
                         const struct opk_counters *counters, const struct opk_parts *parts,
                         const bool *ratios)
{
	opk_autofree size_t *counts = opk_alloc_array(parts->count + 1, sizeof *counts);
	size_t software = 0, passes = counts ? count_passes(&software, parts, counts) : 0;
	opk_autofree size_t *bin_of = opk_alloc_array(counters->names.count + 1, sizeof *bin_of);
	opk_autofree size_t *shared = opk_alloc_array(passes * passes + 1, sizeof *shared);
	opk_autofree bool *flags = opk_alloc_array(2 * passes + 1, sizeof *flags);
	struct composing c = {
		.out = out,
		.counters = counters,
		.ratios = ratios,
		.bin_of = bin_of,
		.shared = shared,
		.bin_placed = flags,
		.pass_taken = flags + passes,
	};

	if (!counts || !bin_of || !shared || !flags)
		return opk_nomem(ctx, "a plan");
	TRY(make(out, ctx, counters, passes));
	place_parts(&c, parts, software);
	return OPK_OK;
}
