/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions about a part's counters: how few passes they take, and which ratios stay whole. */
#include "schedule/schedule.h"

#include <string.h>

#include "adapters/nv/nv.h"

/* The scheduler to ask about counters that share a pass; the cheap one only if none is dear. */
static int scheduler_of(struct opk_nv_scheduler **out, struct opk_ctx *ctx, struct opk_part *part,
                        const size_t *counters, size_t count)
{
	if (!part->cheap && !part->own)
		TRY(opk_nv_scheduler_like(&part->own, ctx, part->scheduler, &part->domains));
	*out = part->cheap ? part->cheap : part->own;
	for (size_t i = 0; part->cheap && i < count; i++)
		if (part->dear[counters[i]])
			*out = part->scheduler;
	return OPK_OK;
}

/* ---- bounds */

static int fits(bool *out, struct opk_ctx *ctx, void *data, const size_t *items, size_t count)
{
	struct opk_part *part = data;
	opk_autofree size_t *asked = opk_alloc_array(count + 1, sizeof *asked);
	struct opk_question question = { &part->counters->names, NULL, asked, count };

	if (!asked)
		return opk_nomem(ctx, "raw counters");
	/* Start with the counters added last: there a clash is found soonest. */
	for (size_t i = 0; i < count; i++)
		asked[i] = part->members[items[count - 1 - i]];
	TRY(scheduler_of(&question.scheduler, ctx, part, asked, count));
	return opk_answers_ask(out, ctx, &part->answers, &question);
}

/* Raises the bound, to the number of bins at most. */
static void raise(struct opk_part *part, size_t bound)
{
	bound = bound < part->bins.count ? bound : part->bins.count;
	part->bound = bound > part->bound ? bound : part->bound;
}

/* Keeps answers about pairs, since no question is asked twice. */
static int begin_packing(struct opk_packing *out, struct opk_ctx *ctx, struct opk_part *part,
                         struct opk_patience *patience)
{
	*out = (struct opk_packing){ .count = part->count,
		                     .fits = fits,
		                     .data = part,
		                     .hardness = part->clashes ? part->clashes : part->late,
		                     .patience = patience };
	return opk_packing_init(out, ctx);
}

int opk_part_count(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience)
{
	opk_autofree double *clashes = opk_alloc_array(part->count + 1, sizeof *clashes);
	opk_autopacking struct opk_packing packing = { 0 };

	if (!clashes)
		return opk_nomem(ctx, "raw counters");
	TRY(begin_packing(&packing, ctx, part, patience));
	TRY(opk_packing_clashes(clashes, ctx, &packing));
	free(part->clashes);
	part->clashes = opk_take(clashes);
	part->counted = part->tries;
	return OPK_OK;
}

int opk_part_clique(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience)
{
	opk_autopacking struct opk_packing packing = { 0 };
	size_t clique;

	TRY(begin_packing(&packing, ctx, part, patience));
	TRY(opk_packing_clique(&clique, ctx, &packing));
	raise(part, clique);
	return OPK_OK;
}

static int bound_by_size(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience)
{
	opk_autopacking struct opk_packing packing = { 0 };
	size_t by_size;

	TRY(begin_packing(&packing, ctx, part, patience));
	TRY(opk_packing_bound(&by_size, ctx, &packing, &part->tried));
	raise(part, by_size);
	return OPK_OK;
}

int opk_part_bound(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience)
{
	if (!part->tries)
		TRY(opk_part_try(part, ctx));
	/* The clique is larger if counters that clash with the most others come first. */
	if (!part->clashes)
		TRY(opk_part_count(part, ctx, patience));
	TRY(opk_part_clique(part, ctx, patience));
	if (part->bound < part->bins.count)
		TRY(bound_by_size(part, ctx, patience));
	/* Most parts need no further answers. */
	opk_answers_clear(&part->answers);
	opk_nv_scheduler_free(opk_take(part->own));
	return OPK_OK;
}

/* ---- ratios */

struct gathering {
	struct opk_part *part;
	struct opk_ctx *ctx;
	size_t most;        /* limit of bins */
	size_t *group_of;   /* borrowed from the part */
	bool *chosen;       /* one per member */
	const char **names; /* room for all names */
};

/* Lists the members that a metric needs, except the trace. */
static size_t needed(size_t *out, const struct opk_part *part, size_t metric)
{
	const struct opk_counters *counters = part->counters;
	size_t count = 0;

	for (size_t i = counters->first[metric]; i < counters->first[metric + 1]; i++)
		for (size_t j = 0; j < part->count; j++)
			if (part->members[j] == counters->needs[i]
			    && !opk_is_trace(counters->names.items[counters->needs[i]]))
				out[count++] = j;
	return count;
}

/* Whether the chosen members fit a pass, in the order in which they would be put there. */
static int ask_chosen(bool *out, const struct gathering *g)
{
	struct opk_part *part = g->part;
	opk_autofree size_t *counters = opk_alloc_array(part->count + 1, sizeof *counters);
	struct opk_nv_scheduler *scheduler;
	size_t count = 0;

	if (!counters)
		return opk_nomem(g->ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++) {
		size_t member = part->order[i];

		if (!g->chosen[member])
			continue;
		g->names[count] = part->counters->names.items[part->members[member]];
		counters[count++] = part->members[member];
	}
	TRY(scheduler_of(&scheduler, g->ctx, part, counters, count));
	return opk_nv_scheduler_fits(out, g->ctx, scheduler, g->names, count);
}

static bool in_one_bin(const struct gathering *g)
{
	const struct opk_packed *bins = &g->part->bins;
	size_t bin = SIZE_MAX;

	for (size_t i = 0; bins->count && i < g->part->count; i++) {
		if (g->chosen[i] && bin != SIZE_MAX && bins->bin_of[i] != bin)
			return false;
		bin = g->chosen[i] ? bins->bin_of[i] : bin;
	}
	return bins->count;
}

/* Joins the groups of a ratio's members if a pass has room for all of them. */
static int join(struct gathering *g, const size_t *members, size_t count)
{
	size_t first = SIZE_MAX;
	bool fit;

	memset(g->chosen, 0, g->part->count * sizeof *g->chosen);
	for (size_t i = 0; i < g->part->count; i++)
		for (size_t j = 0; !g->chosen[i] && j < count; j++)
			g->chosen[i] = g->group_of[i] == g->group_of[members[j]];
	fit = in_one_bin(g);
	if (!fit)
		TRY(ask_chosen(&fit, g));
	/* A group's number is its first member, which is among the members to join. */
	for (size_t i = 0; fit && i < g->part->count; i++) {
		if (g->chosen[i]) {
			first = first == SIZE_MAX ? i : first;
			g->group_of[i] = first;
		}
	}
	return OPK_OK;
}

static int join_ratios(struct gathering *g, const bool *ratios)
{
	opk_autofree size_t *members = opk_alloc_array(g->part->count + 1, sizeof *members);

	if (!members)
		return opk_nomem(g->ctx, "raw counters");
	for (size_t i = 0; i < g->part->counters->metric_count; i++) {
		size_t count = ratios[i] ? needed(members, g->part, i) : 0;

		if (count > 1)
			TRY(join(g, members, count));
	}
	return OPK_OK;
}

/* Whether the bin may take the group: dear counters must not make another bin dear. */
static bool may_take(const struct gathering *g, size_t group, size_t bin)
{
	bool wants = false, is = false;

	for (size_t i = 0; g->part->cheap && i < g->part->count; i++) {
		bool dear = g->part->dear[g->part->members[i]];

		wants |= dear && g->group_of[i] == group;
		is |= dear && g->part->bins.bin_of[i] == bin;
	}
	return is || !wants;
}

/* Whether a group fits a bin beside what the bin has now. */
static int has_room(bool *out, const struct gathering *g, size_t group, size_t bin)
{
	*out = may_take(g, group, bin);
	if (!*out)
		return OPK_OK;
	for (size_t i = 0; i < g->part->count; i++)
		g->chosen[i] = g->group_of[i] == group || g->part->bins.bin_of[i] == bin;
	return ask_chosen(out, g);
}

static bool is_split(const struct gathering *g, size_t group)
{
	const size_t *bin_of = g->part->bins.bin_of;

	for (size_t i = group; i < g->part->count; i++)
		if (g->group_of[i] == group && bin_of[i] != bin_of[group])
			return true;
	return false;
}

static bool has_some(const struct gathering *g, size_t group, size_t bin)
{
	for (size_t i = group; i < g->part->count; i++)
		if (g->group_of[i] == group && g->part->bins.bin_of[i] == bin)
			return true;
	return false;
}

static int try_bin(bool *moved, const struct gathering *g, size_t group, size_t bin)
{
	struct opk_packed *bins = &g->part->bins;
	int code = has_room(moved, g, group, bin);

	if (code || !*moved)
		return code;
	for (size_t i = group; i < g->part->count; i++)
		if (g->group_of[i] == group)
			bins->bin_of[i] = bin;
	if (bin == bins->count)
		bins->count++;
	return OPK_OK;
}

/* A group without a bin returns to this bin, or goes to another one. */
static int settle(bool *settled, const struct gathering *g, size_t group, size_t bin)
{
	TRY(try_bin(settled, g, group, bin));
	for (size_t other = 0; !*settled && other < g->part->bins.count; other++) {
		if (other != bin)
			TRY(try_bin(settled, g, group, other));
	}
	return OPK_OK;
}

/* Places the groups that left the bin; `whole`: groups of several counters, else single ones. */
static int settle_all(bool *settled, const struct gathering *g, const size_t *before, size_t bin,
                      bool whole)
{
	size_t *bin_of = g->part->bins.bin_of;

	for (size_t i = 0; *settled && i < g->part->count; i++) {
		if (before[i] == bin && bin_of[i] == SIZE_MAX && g->group_of[i] == i
		    && (g->part->sizes[i] > 1) == whole)
			TRY(settle(settled, g, i, bin));
	}
	return OPK_OK;
}

/* Puts the group first in the bin; what does not fit beside it goes elsewhere. */
static int displace(bool *moved, const struct gathering *g, size_t group, size_t bin)
{
	size_t *bin_of = g->part->bins.bin_of, count = g->part->count;
	opk_autofree size_t *before = opk_alloc_array(count + 1, sizeof *before);

	if (!before)
		return opk_nomem(g->ctx, "raw counters");
	for (size_t i = 0; i < count; i++) {
		before[i] = bin_of[i];
		if (g->group_of[i] == group)
			bin_of[i] = bin;
		else if (bin_of[i] == bin)
			bin_of[i] = SIZE_MAX;
	}
	*moved = true;
	for (int round = 0; *moved && round < 2; round++)
		TRY(settle_all(moved, g, before, bin, !round));
	for (size_t i = 0; i < count; i++)
		*moved = *moved && bin_of[i] != SIZE_MAX;
	for (size_t i = 0; !*moved && i < count; i++)
		bin_of[i] = before[i];
	return OPK_OK;
}

/*
 * Moves the group to a bin that has some of it, else to another or a new bin, else to a bin whose
 * counters can be moved.
 */
static int move(const struct gathering *g, size_t group)
{
	const struct opk_packed *bins = &g->part->bins;
	bool moved = false;

	for (size_t bin = 0; !moved && bin < bins->count; bin++) {
		if (has_some(g, group, bin))
			TRY(try_bin(&moved, g, group, bin));
	}
	for (size_t bin = 0, end = bins->count + (bins->count < g->most); !moved && bin < end;
	     bin++) {
		if (!has_some(g, group, bin))
			TRY(try_bin(&moved, g, group, bin));
	}
	for (size_t bin = 0; !moved && bin < bins->count; bin++) {
		if (has_some(g, group, bin) && may_take(g, group, bin))
			TRY(displace(&moved, g, group, bin));
	}
	return OPK_OK;
}

static int begin(struct gathering *out, struct opk_ctx *ctx, struct opk_part *part, size_t most)
{
	*out = (struct gathering){
		.part = part, .ctx = ctx, .most = most, .group_of = part->group_of
	};
	out->chosen = opk_alloc_array(part->count + 1, sizeof *out->chosen);
	out->names = opk_alloc_array(part->count + 1, sizeof *out->names);
	return out->chosen && out->names ? OPK_OK : opk_nomem(ctx, "raw counters");
}

static void end(struct gathering *g)
{
	free(g->chosen);
	free(g->names);
}

int opk_part_join(struct opk_part *part, struct opk_ctx *ctx, const bool *ratios)
{
	__attribute__((cleanup(end))) struct gathering g = { 0 };

	TRY(begin(&g, ctx, part, 0));
	TRY(join_ratios(&g, ratios));
	memset(part->sizes, 0, part->count * sizeof *part->sizes);
	for (size_t i = 0; i < part->count; i++)
		part->sizes[part->group_of[i]]++;
	return OPK_OK;
}

int opk_part_gather(struct opk_part *part, struct opk_ctx *ctx, size_t most,
                    struct opk_patience *patience)
{
	__attribute__((cleanup(end))) struct gathering g = { 0 };

	TRY(begin(&g, ctx, part, most));
	for (size_t i = 0; i < part->count && !opk_patience_over(patience); i++)
		if (part->group_of[i] == i && is_split(&g, i))
			TRY(move(&g, i));
	return opk_packed_renumber(&part->bins, part->count) ? OPK_OK
	                                                     : opk_nomem(ctx, "raw counters");
}
