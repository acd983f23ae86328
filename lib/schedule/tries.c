/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs a part by tries. PerfWorks takes its counters in an order, each into the first pass with
 * room, in a single call; the counters that found room late come earlier in the next try.
 */
#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

#include "adapters/nv/nv.h"

/* Each further try gives earlier ones less weight, by this factor. */
#define FADING 0.9
/* A counter's hardness is less than this times the number of counters. */
#define HARDEST 20

/* ---- bins */

bool opk_packed_renumber(struct opk_packed *bins, size_t items)
{
	size_t most = 0, used = 0;
	opk_autofree size_t *number = NULL;

	for (size_t i = 0; i < items; i++) {
		bins->bin_of[i] = bins->bin_of[i] == SIZE_MAX ? 0 : bins->bin_of[i];
		most = bins->bin_of[i] > most ? bins->bin_of[i] : most;
	}
	number = opk_alloc_array(most + 1, sizeof *number);
	if (!number)
		return false;
	for (size_t i = 0; i < items; i++)
		number[bins->bin_of[i]] = 1;
	for (size_t bin = 0; bin <= most; bin++)
		number[bin] = number[bin] ? used++ : 0;
	for (size_t i = 0; i < items; i++)
		bins->bin_of[i] = number[bins->bin_of[i]];
	bins->count = used;
	return true;
}

/* The most items of any bin, without the items that always found room in the first bin. */
static size_t fullest(const struct opk_part *part, const struct opk_packed *bins, size_t *sizes)
{
	size_t most = 0;

	memset(sizes, 0, bins->count * sizeof *sizes);
	for (size_t i = 0; i < part->count; i++)
		if (!part->easy[i] && ++sizes[bins->bin_of[i]] > most)
			most = sizes[bins->bin_of[i]];
	return most;
}

/* Expects each bin to be as full as the fullest one. */
static bool expect(struct opk_part *part)
{
	opk_autofree size_t *sizes = opk_alloc_array(part->count + 1, sizeof *sizes);
	size_t wanting = 0, most, best;

	if (!sizes)
		return false;
	for (size_t i = 0; i < part->count; i++)
		wanting += !part->easy[i];
	most = fullest(part, &part->tried, sizes);
	best = fullest(part, &part->bins, sizes);
	most = best > most ? best : most;
	part->enough = most ? (wanting + most - 1) / most : 1;
	return true;
}

/* ---- beginning */

static void remember(struct opk_part *part, const struct opk_packed *bins)
{
	for (size_t i = 0; i < part->count; i++) {
		double behind = (double)bins->bin_of[i] / (double)bins->count;

		part->late[i] = part->late[i] * FADING + behind;
		part->easy[i] = part->easy[i] && !bins->bin_of[i];
	}
}

int opk_part_begin(struct opk_part *part, struct opk_ctx *ctx, const struct opk_schedule *plan)
{
	part->bound = part->enough = 1;
	part->order = opk_alloc_array(part->count + 1, sizeof *part->order);
	part->group_of = opk_alloc_array(part->count + 1, sizeof *part->group_of);
	part->sizes = opk_alloc_array(part->count + 1, sizeof *part->sizes);
	part->late = opk_alloc_array(part->count + 1, sizeof *part->late);
	part->easy = opk_alloc_array(part->count + 1, sizeof *part->easy);
	part->bins.bin_of = opk_alloc_array(part->count + 1, sizeof *part->bins.bin_of);
	if (!part->order || !part->group_of || !part->sizes || !part->late || !part->easy
	    || !part->bins.bin_of)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++) {
		part->order[i] = part->group_of[i] = i;
		part->sizes[i] = 1;
		part->easy[i] = true;
		part->bins.bin_of[i] = plan->pass_of[part->members[i]];
	}
	if (!opk_packed_renumber(&part->bins, part->count))
		return opk_nomem(ctx, "raw counters");
	remember(part, &part->bins);
	/* In a cheap plan, CUPTI's passes count as dear bins. */
	if (part->cheap)
		opk_packed_clear(&part->bins);
	return OPK_OK;
}

/* ---- a try */

/* Packs the members in this order; pass_of has one entry per counter. */
static int pack(struct opk_schedule *out, struct opk_ctx *ctx, const struct opk_part *part,
                const struct opk_nv_scheduler *like, const struct opk_ranked *order, size_t count)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	opk_autoresult struct opk_schedule_result made = { 0 };
	opk_autofree const char **names = opk_alloc_array(count + 1, sizeof *names);

	TRY(names ? opk_nv_scheduler_like(&scheduler, ctx, like, &part->domains)
	          : opk_nomem(ctx, "raw counters"));
	for (size_t i = 0; i < count; i++)
		names[i] = part->counters->names.items[part->members[order[i].item]];
	TRY(opk_nv_scheduler_hold(ctx, scheduler, names, count));
	TRY(opk_nv_scheduler_image(&made.config, &made.size, &made.passes, ctx, scheduler));
	return opk_schedule_read(out, ctx, part->counters, &made);
}

/* Puts members without a bin into bins from `first` on. */
static int fill(struct opk_packed *bins, struct opk_ctx *ctx, const struct opk_part *part,
                const struct opk_nv_scheduler *like, const struct opk_ranked *order, size_t first)
{
	opk_autofree struct opk_ranked *left = opk_alloc_array(part->count + 1, sizeof *left);
	opk_autoschedule struct opk_schedule schedule = { 0 };
	size_t count = 0;

	if (!left)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++)
		if (bins->bin_of[order[i].item] == SIZE_MAX)
			left[count++] = order[i];
	if (!count)
		return OPK_OK;
	TRY(pack(&schedule, ctx, part, like, left, count));
	for (size_t i = 0; i < count; i++) {
		size_t pass = schedule.pass_of[part->members[left[i].item]];

		bins->bin_of[left[i].item] = first + (pass == SIZE_MAX ? 0 : pass);
	}
	return OPK_OK;
}

/* Dear counters come first: a counter in a later pass did not fit beside them. */
static size_t keep_dear(struct opk_packed *bins, const struct opk_part *part)
{
	size_t count = 0;

	for (size_t i = 0; i < part->count; i++)
		if (part->dear[part->members[i]] && bins->bin_of[i] >= count)
			count = bins->bin_of[i] + 1;
	for (size_t i = 0; i < part->count; i++)
		if (bins->bin_of[i] >= count)
			bins->bin_of[i] = SIZE_MAX;
	return count;
}

static int pack_all(struct opk_packed *bins, struct opk_ctx *ctx, const struct opk_part *part,
                    const struct opk_ranked *order)
{
	bins->bin_of = opk_alloc_array(part->count + 1, sizeof *bins->bin_of);
	if (!bins->bin_of)
		return opk_nomem(ctx, "raw counters");
	memset(bins->bin_of, 0xff, part->count * sizeof *bins->bin_of);
	TRY(fill(bins, ctx, part, part->scheduler, order, 0));
	if (part->cheap)
		TRY(fill(bins, ctx, part, part->cheap, order, keep_dear(bins, part)));
	return opk_packed_renumber(bins, part->count) ? OPK_OK : opk_nomem(ctx, "raw counters");
}

/* SplitMix64: the same numbers on every machine. */
static double next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15U;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Gives each counter the hardness of its group's hardest, plus `sooner`; groups stay together. */
static void group_up(double *hardness, const struct opk_part *part, double sooner)
{
	for (size_t i = 0; i < part->count; i++)
		hardness[part->group_of[i]] = fmax(hardness[part->group_of[i]], hardness[i]);
	for (size_t i = part->count; i-- > 0;) {
		size_t group = part->group_of[i];

		if (part->sizes[group] > 1 && i != group)
			hardness[i] = hardness[group] + sooner + 1e-7 * (double)group;
		else if (part->sizes[group] > 1)
			hardness[i] += sooner + 1e-7 * (double)group;
	}
}

/*
 * Counters with the fewest ways come first: PerfWorks tries the ways of all counters of a pass
 * before it gives up, so passes full of such counters are soon found to be full. Among equals, the
 * first try reverses CUPTI's order, and the second the order of its passes.
 */
static double soonest(const struct opk_part *part, size_t i)
{
	double fewer = -HARDEST * (double)part->ways[i];

	if (!part->varied)
		return part->late[i];
	if (part->tries == 0)
		return fewer + (double)i / (double)part->count;
	return part->tries == 1 ? fewer - part->late[i] : fewer + part->late[i];
}

/* Ranks by clashes if they are counted, else by lateness. After two tries adds random numbers. */
static void rank(double *hardness, const struct opk_part *part)
{
	size_t since = part->clashes ? part->tries - part->counted : 0;
	uint64_t state = since;

	for (size_t i = 0; i < part->count; i++) {
		hardness[i] = part->clashes ? part->clashes[i] : soonest(part, i);
		if (since > 1)
			hardness[i] = hardness[i] * (0.6 + 0.8 * next_random(&state))
			              + next_random(&state);
	}
	/* Bins may be fewer without groups. */
	if (!part->clashes)
		group_up(hardness, part, 2);
	else if (since % 2)
		group_up(hardness, part, 0);
}

/* Dear counters come first. */
static struct opk_ranked *make_order(const struct opk_part *part)
{
	opk_autofree double *hardness = opk_alloc_array(part->count + 1, sizeof *hardness);

	if (!hardness)
		return NULL;
	rank(hardness, part);
	for (size_t i = 0; part->cheap && i < part->count; i++)
		if (part->dear[part->members[i]])
			hardness[i] += HARDEST * (double)part->count;
	return opk_hardest_first(hardness, part->count);
}

static int keep_better(struct opk_part *part, struct opk_ctx *ctx, const struct opk_ranked *order)
{
	size_t *bin_of;

	if (part->bins.count && part->bins.count <= part->tried.count)
		return OPK_OK;
	bin_of = opk_alloc_array(part->count + 1, sizeof *bin_of);
	if (!bin_of)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++) {
		bin_of[i] = part->tried.bin_of[i];
		part->order[i] = order[i].item;
	}
	opk_packed_clear(&part->bins);
	part->bins = (struct opk_packed){ part->tried.count, bin_of };
	part->gained = part->tries;
	return OPK_OK;
}

int opk_part_try(struct opk_part *part, struct opk_ctx *ctx)
{
	opk_autofree struct opk_ranked *order = make_order(part);
	opk_autopacked struct opk_packed bins = { 0 };

	TRY(order ? pack_all(&bins, ctx, part, order) : opk_nomem(ctx, "raw counters"));
	opk_packed_clear(&part->tried);
	part->tried = bins;
	bins.bin_of = NULL;
	part->tries++;
	remember(part, &part->tried);
	TRY(keep_better(part, ctx, order));
	return expect(part) ? OPK_OK : opk_nomem(ctx, "raw counters");
}
