/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides counters by the domains that they share. */
#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

#include "adapters/nv/nv.h"

/* ---- which counters share domains */

/* Growing sets of domains: each domain refers to one nearer to the first of its set. */
struct forest {
	struct opk_strlist names;
	size_t *parent;
	size_t capacity;
};

/* Where a counter can be counted. */
struct places {
	size_t domain; /* one of them */
	size_t ways;   /* domains and pairs of domains that can count it */
};

static void clear_forest(struct forest *forest)
{
	opk_strlist_clear(&forest->names);
	free(forest->parent);
}

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

/* Joins the domains of the counter into one set. */
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
                      const struct places *places, const struct opk_counters *counters,
                      struct opk_nv_scheduler *scheduler)
{
	opk_autofree size_t *part_of_root = opk_alloc_array(forest->names.count + 1,
	                                                    sizeof *part_of_root);

	parts->all = opk_alloc_array(forest->names.count + 1, sizeof *parts->all);
	if (!parts->all || !part_of_root)
		return opk_nomem(ctx, "counter domains");
	memset(part_of_root, 0xff, forest->names.count * sizeof *part_of_root);
	for (size_t i = 0; i < counters->names.count; i++) {
		struct opk_part *part = part_of(parts, part_of_root,
		                                root_of(forest, places[i].domain));

		if (!part->members) {
			part->members = opk_alloc_array(counters->names.count,
			                                sizeof *part->members);
			part->ways = opk_alloc_array(counters->names.count, sizeof *part->ways);
		}
		if (!part->members || !part->ways)
			return opk_nomem(ctx, "counter domains");
		part->ways[part->count] = places[i].ways;
		part->varied |= places[i].ways != part->ways[0];
		part->choices += places[i].ways ? log2((double)places[i].ways) : 0;
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
	/* Counters of the trace share passes with hardware or with software counters. */
	if (hardware && trace > hardware)
		hardware = trace;
	*first = hardware;
	return hardware + software > trace ? hardware + software : trace;
}

int opk_parts_split(struct opk_parts *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                    struct opk_nv_scheduler *scheduler)
{
	opk_autofree struct places *places = opk_alloc_array(counters->names.count + 1,
	                                                     sizeof *places);
	__attribute__((cleanup(clear_forest))) struct forest forest = { 0 };
	opk_autoparts struct opk_parts parts = { 0 };

	*out = parts;
	if (!places)
		return opk_nomem(ctx, "counter domains");
	for (size_t i = 0; i < counters->names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };

		TRY(opk_nv_counter_places(&domains, &places[i].ways, ctx, scheduler,
		                          counters->names.items[i]));
		TRY(join_domains(&places[i].domain, &forest, ctx, &domains));
	}
	TRY(fill_parts(&parts, ctx, &forest, places, counters, scheduler));
	*out = parts;
	parts = (struct opk_parts){ 0 };
	return OPK_OK;
}

void opk_parts_clear(struct opk_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		opk_strlist_clear(&parts->all[i].domains);
		free(parts->all[i].members);
		free(parts->all[i].ways);
		opk_packed_clear(&parts->all[i].bins);
		opk_packed_clear(&parts->all[i].tried);
		free(parts->all[i].order);
		free(parts->all[i].group_of);
		free(parts->all[i].sizes);
		free(parts->all[i].clashes);
		free(parts->all[i].late);
		free(parts->all[i].easy);
		opk_answers_clear(&parts->all[i].answers);
		opk_nv_scheduler_free(parts->all[i].own);
	}
	free(opk_take(parts->all));
	parts->count = 0;
}
