/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides counters by the domains that they share, and makes items of them. */
#include "schedule/schedule.h"

#include <string.h>

#include "adapters/nv/nv.h"

/* ---- which counters share domains */

/* Sets of domains that grow together: each knows one nearer to its set's first. */
struct forest {
	struct opk_strlist names;
	size_t *parent;
	size_t capacity;
};

static size_t root_of(const struct forest *forest, size_t i)
{
	while (forest->parent[i] != i)
		i = forest->parent[i];
	return i;
}

static bool find_domain(size_t *out, struct forest *forest, const char *name)
{
	for (*out = 0; *out < forest->names.count; ++*out)
		if (!strcmp(forest->names.items[*out], name))
			return true;
	if (!opk_grow(&forest->parent, &forest->capacity, *out, sizeof *forest->parent)
	    || !opk_strlist_add(&forest->names, name))
		return false;
	forest->parent[*out] = *out;
	return true;
}

/* The set of the counter's domains, which are one from now on. */
static int join_domains(size_t *out, struct forest *forest, struct opk_ctx *ctx,
                        const struct opk_strlist *domains)
{
	for (size_t i = 0; i < domains->count; i++) {
		size_t domain;

		if (!find_domain(&domain, forest, domains->items[i]))
			return opk_nomem(ctx, "counter domains");
		domain = root_of(forest, domain);
		if (i)
			forest->parent[domain] = *out;
		else
			*out = domain;
	}
	return OPK_OK;
}

static struct opk_part *part_of(struct opk_parts *parts, size_t *part_of_root, size_t root)
{
	if (part_of_root[root] == SIZE_MAX)
		part_of_root[root] = parts->count++;
	return &parts->all[part_of_root[root]];
}

static int fill_parts(struct opk_parts *parts, struct opk_ctx *ctx, const struct forest *forest,
                      const size_t *domain_of, const struct opk_counters *counters,
                      struct opk_nv_scheduler *scheduler)
{
	opk_autofree size_t *part_of_root = opk_alloc_array(forest->names.count + 1,
	                                                    sizeof *part_of_root);

	parts->all = opk_alloc_array(forest->names.count + 1, sizeof *parts->all);
	if (!parts->all || !part_of_root)
		return opk_nomem(ctx, "counter domains");
	memset(part_of_root, 0xff, forest->names.count * sizeof *part_of_root);
	for (size_t i = 0; i < counters->names.count; i++) {
		struct opk_part *part = part_of(parts, part_of_root, root_of(forest, domain_of[i]));

		if (!part->members)
			part->members = opk_alloc_array(counters->names.count,
			                                sizeof *part->members);
		if (!part->members)
			return opk_nomem(ctx, "counter domains");
		part->counters = counters;
		part->scheduler = scheduler;
		part->members[part->count++] = i;
	}
	for (size_t i = 0; i < forest->names.count; i++) {
		struct opk_part *part = part_of(parts, part_of_root, root_of(forest, i));

		if (!opk_strlist_add(&part->domains, forest->names.items[i]))
			return opk_nomem(ctx, "counter domains");
		part->software |= !strcmp(forest->names.items[i], "gpu_sass");
		part->has_trace_only |= !strcmp(forest->names.items[i], "trace");
	}
	return OPK_OK;
}

size_t opk_parts_passes(size_t *first, const struct opk_parts *parts, const size_t *counts)
{
	size_t hardware = 0, software = 0, trace = 0;

	for (size_t i = 0; i < parts->count; i++) {
		size_t *most = parts->all[i].software         ? &software
		               : parts->all[i].has_trace_only ? &trace
		                                              : &hardware;

		*most = counts[i] > *most ? counts[i] : *most;
	}
	/* The trace goes with either. */
	if (hardware && trace > hardware)
		hardware = trace;
	*first = hardware;
	return hardware + software > trace ? hardware + software : trace;
}

int opk_parts_split(struct opk_parts *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                    struct opk_nv_scheduler *scheduler)
{
	opk_autofree size_t *domain_of = opk_alloc_array(counters->names.count + 1,
	                                                 sizeof *domain_of);
	struct forest forest = { 0 };
	int code = domain_of ? OPK_OK : opk_nomem(ctx, "counter domains");

	*out = (struct opk_parts){ 0 };
	for (size_t i = 0; !code && i < counters->names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };

		code = opk_nv_counter_places(&domains, ctx, scheduler, counters->names.items[i]);
		if (!code)
			code = join_domains(&domain_of[i], &forest, ctx, &domains);
	}
	if (!code)
		code = fill_parts(out, ctx, &forest, domain_of, counters, scheduler);
	opk_strlist_clear(&forest.names);
	free(forest.parent);
	if (code)
		opk_parts_clear(out);
	return code;
}

/* ---- items */

/* Who answers for counters that share a pass. */
static struct opk_nv_scheduler *scheduler_of(const struct opk_part *part, const size_t *counters,
                                             size_t count)
{
	if (!part->cheap)
		return part->own;
	for (size_t i = 0; i < count; i++)
		if (part->dear[counters[i]])
			return part->scheduler;
	return part->cheap;
}

static int ask(bool *out, struct opk_ctx *ctx, struct opk_part *part, const struct opk_items *items,
               const size_t *chosen, size_t count)
{
	opk_autofree size_t *asked = opk_alloc_array(part->count + 1, sizeof *asked);
	size_t used = 0;

	if (!asked)
		return opk_nomem(ctx, "raw counters");
	/* What was added last goes first: where it does not fit, that is found soonest. */
	for (size_t i = count; i-- > 0;)
		for (size_t j = items->first[chosen[i]]; j < items->first[chosen[i] + 1]; j++)
			asked[used++] = items->members[j];
	return opk_answers_ask(out, ctx, &part->answers, &part->counters->names,
	                       scheduler_of(part, asked, used), asked, used);
}

static int fits_loose(bool *out, struct opk_ctx *ctx, void *data, const size_t *items, size_t count)
{
	struct opk_part *part = data;

	return ask(out, ctx, part, &part->loose, items, count);
}

static int fits_whole(bool *out, struct opk_ctx *ctx, void *data, const size_t *items, size_t count)
{
	struct opk_part *part = data;

	return ask(out, ctx, part, &part->whole, items, count);
}

/* Items of counters that have the same number in item_of, one a member. */
static bool make_items(struct opk_items *items, const struct opk_part *part, const size_t *item_of)
{
	items->first = opk_alloc_array(part->count + 1, sizeof *items->first);
	items->members = opk_alloc_array(part->count + 1, sizeof *items->members);
	if (!items->first || !items->members)
		return false;
	for (size_t i = 0; i < part->count; i++) {
		size_t used = items->first[items->count];

		if (item_of[i] != i)
			continue;
		for (size_t j = i; j < part->count; j++)
			if (item_of[j] == i)
				items->members[used++] = part->members[j];
		items->first[++items->count] = used;
	}
	return true;
}

/* The members of the part that a metric needs, by their places in it; the trace is no matter. */
static size_t needed(size_t *places, const struct opk_part *part, size_t metric)
{
	const struct opk_counters *counters = part->counters;
	size_t count = 0;

	for (size_t i = counters->first[metric]; i < counters->first[metric + 1]; i++)
		for (size_t j = 0; j < part->count; j++)
			if (part->members[j] == counters->needs[i]
			    && !opk_is_trace(counters->names.items[counters->needs[i]]))
				places[count++] = j;
	return count;
}

/* Joins a ratio's counters, and what goes with them, in one item where a pass has room for it. */
static int join_ratio(size_t *item_of, struct opk_ctx *ctx, struct opk_part *part,
                      const size_t *places, size_t count)
{
	opk_autofree size_t *joined = opk_alloc_array(part->count + 1, sizeof *joined);
	opk_autofree bool *joins = opk_alloc_array(part->count + 1, sizeof *joins);
	size_t used = 0, first = SIZE_MAX;
	bool fits;
	int code;

	if (!joined || !joins)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < count; i++)
		joins[item_of[places[i]]] = true;
	for (size_t i = 0; i < part->count; i++) {
		if (!joins[item_of[i]])
			continue;
		first = i < first ? i : first;
		joined[used++] = part->members[i];
	}
	code = opk_answers_ask(&fits, ctx, &part->answers, &part->counters->names,
	                       scheduler_of(part, joined, used), joined, used);
	/* An item's number is its first member's place, so `first` is among those that join. */
	for (size_t i = 0; !code && fits && i < part->count; i++)
		if (joins[item_of[i]])
			item_of[i] = first;
	return code;
}

static int join_ratios(size_t *item_of, struct opk_ctx *ctx, struct opk_part *part,
                       const bool *ratios)
{
	opk_autofree size_t *places = opk_alloc_array(part->counters->names.count + 1,
	                                              sizeof *places);
	int code = places ? OPK_OK : opk_nomem(ctx, "raw counters");

	for (size_t i = 0; !code && i < part->counters->metric_count; i++) {
		size_t count = ratios[i] ? needed(places, part, i) : 0;

		if (count > 1)
			code = join_ratio(item_of, ctx, part, places, count);
	}
	return code;
}

/* Dear items go first: into few bins. */
static bool find_dear(struct opk_items *items, const struct opk_part *part)
{
	if (!part->cheap)
		return true;
	items->dear = opk_alloc_array(items->count + 1, sizeof *items->dear);
	for (size_t i = 0; items->dear && i < items->count; i++)
		for (size_t j = items->first[i]; j < items->first[i + 1]; j++)
			items->dear[i] |= part->dear[items->members[j]];
	return items->dear != NULL;
}

static int pack_items(struct opk_items *items, struct opk_part *part, struct opk_ctx *ctx,
                      opk_packing_fits *fits, struct opk_patience *patience)
{
	int code = opk_packing_init(&items->packing, ctx, items->count, fits, part, patience);

	if (!code && !find_dear(items, part))
		code = opk_nomem(ctx, "raw counters");
	items->packing.first = items->dear;
	if (!code && items == &part->loose)
		code = opk_packing_clique(&part->bound, ctx, &items->packing);
	return code ? code : opk_packing_try(&items->bins, ctx, &items->packing, 0);
}

/* ---- ratios whole in the bins that there are */

/* Whether these members' whole item fits a bin as it is now; `bin_of` has one a member. */
static int fits_beside(bool *out, struct opk_ctx *ctx, struct opk_part *part,
                       const size_t *whole_of, size_t whole, const size_t *bin_of, size_t bin)
{
	opk_autofree size_t *chosen = opk_alloc_array(part->count + 1, sizeof *chosen);
	size_t used = 0;

	if (!chosen)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++)
		if (whole_of[i] != whole && bin_of[i] == bin)
			chosen[used++] = i;
	for (size_t i = 0; i < part->count; i++)
		if (whole_of[i] == whole)
			chosen[used++] = i;
	return fits_loose(out, ctx, part, chosen, used);
}

/* Moves a whole item into one of the bins that have some of it; *whole_now: it is in one. */
static int gather(bool *whole_now, struct opk_ctx *ctx, struct opk_part *part,
                  const size_t *whole_of, size_t whole, size_t *bin_of)
{
	size_t first = SIZE_MAX;
	int code = OPK_OK;

	*whole_now = true;
	for (size_t i = 0; i < part->count; i++) {
		if (whole_of[i] != whole)
			continue;
		*whole_now &= first == SIZE_MAX || bin_of[i] == first;
		first = first == SIZE_MAX ? bin_of[i] : first;
	}
	for (size_t i = 0; !code && !*whole_now && i < part->count; i++) {
		size_t bin = bin_of[i];

		if (whole_of[i] != whole)
			continue;
		code = fits_beside(whole_now, ctx, part, whole_of, whole, bin_of, bin);
		for (size_t j = 0; !code && *whole_now && j < part->count; j++)
			if (whole_of[j] == whole)
				bin_of[j] = bin;
	}
	return code;
}

/* Bins of nothing are no more. */
static bool drop_empty(struct opk_bins *bins, size_t items, size_t count)
{
	opk_autofree size_t *number = opk_alloc_array(count + 1, sizeof *number);

	if (!number)
		return false;
	for (size_t i = 0; i < items; i++)
		number[bins->bin_of[i]] = 1;
	bins->count = 0;
	for (size_t bin = 0; bin < count; bin++)
		number[bin] = number[bin] ? bins->count++ : 0;
	for (size_t i = 0; i < items; i++)
		bins->bin_of[i] = number[bins->bin_of[i]];
	return true;
}

/* The loose items' bins, where that does with a few moves; else there are none. */
static int mend(struct opk_part *part, struct opk_ctx *ctx, const size_t *whole_of)
{
	opk_autofree size_t *bin_of = opk_alloc_array(part->count + 1, sizeof *bin_of);
	opk_autofree size_t *whole_bins = opk_alloc_array(part->count + 1, sizeof *whole_bins);
	struct opk_bins *bins = &part->whole.bins;
	bool fits = true;
	int code = bin_of && whole_bins ? OPK_OK : opk_nomem(ctx, "raw counters");

	for (size_t i = 0; !code && i < part->count; i++)
		bin_of[i] = part->loose.bins.bin_of[i];
	for (size_t i = 0; !code && fits && i < part->whole.count; i++)
		code = gather(&fits, ctx, part, whole_of, i, bin_of);
	if (code || !fits)
		return code;
	for (size_t i = 0; i < part->count; i++)
		whole_bins[whole_of[i]] = bin_of[i];
	bins->bin_of = opk_take(whole_bins);
	return drop_empty(bins, part->whole.count, part->loose.bins.count)
	               ? OPK_OK
	               : opk_nomem(ctx, "raw counters");
}

/* `first_of` has, one a member, the place of its item's first one. */
static int pack_whole(struct opk_part *part, struct opk_ctx *ctx, const size_t *first_of,
                      struct opk_patience *patience)
{
	opk_autofree size_t *whole_of = opk_alloc_array(part->count + 1, sizeof *whole_of);
	size_t used = 0;
	int code = OPK_OK;

	if (!whole_of || !make_items(&part->whole, part, first_of))
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < part->count; i++)
		whole_of[i] = first_of[i] == i ? used++ : whole_of[first_of[i]];
	/* Another may have fewer bins, unless none can; a move may make a cheap bin dear. */
	if (part->loose.bins.count <= part->bound && !part->cheap)
		code = mend(part, ctx, whole_of);
	if (code || part->whole.bins.count)
		return code;
	return pack_items(&part->whole, part, ctx, fits_whole, patience);
}

static int raise_bound(struct opk_part *part, struct opk_ctx *ctx)
{
	size_t by_size = 1;
	int code;

	/* It can't be raised above what is enough. */
	if (part->bound >= part->loose.bins.count)
		return OPK_OK;
	code = opk_packing_bound(&by_size, ctx, &part->loose.packing, &part->loose.bins);

	part->bound = by_size > part->bound ? by_size : part->bound;
	return code;
}

int opk_part_pack(struct opk_part *part, struct opk_ctx *ctx, const bool *ratios,
                  struct opk_patience *patience)
{
	opk_autofree size_t *item_of = opk_alloc_array(part->count + 1, sizeof *item_of);
	int code;

	part->bound = 1;
	for (size_t i = 0; item_of && i < part->count; i++)
		item_of[i] = i;
	if (!item_of || !make_items(&part->loose, part, item_of))
		return opk_nomem(ctx, "raw counters");
	code = opk_nv_scheduler_like(&part->own, ctx, part->scheduler, &part->domains);
	if (code)
		return code;
	code = pack_items(&part->loose, part, ctx, fits_loose, patience);
	if (code || !part->loose.bins.count)
		return code;
	code = raise_bound(part, ctx);
	if (!code)
		code = join_ratios(item_of, ctx, part, ratios);
	return code ? code : pack_whole(part, ctx, item_of, patience);
}

static void clear_items(struct opk_items *items)
{
	free(items->first);
	free(items->members);
	free(items->dear);
	opk_packing_clear(&items->packing);
	opk_bins_clear(&items->bins);
}

void opk_parts_clear(struct opk_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		opk_strlist_clear(&parts->all[i].domains);
		free(parts->all[i].members);
		clear_items(&parts->all[i].loose);
		clear_items(&parts->all[i].whole);
		opk_answers_clear(&parts->all[i].answers);
		opk_nv_scheduler_free(parts->all[i].own);
	}
	free(opk_take(parts->all));
	parts->count = 0;
}
