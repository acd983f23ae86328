/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads STAT sections: what the collector counted, and what it left out. */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/sum.h"
#include "container/container.h"

enum { MOST_FACTS = 1000 };

struct opk_stats_storage {
	struct opk_stats stats;
	bool found;
	struct opk_drop *drops;
	size_t capacity;
	OPK_LIST(struct opk_property) run;
};

#define NUMBER(type, member) OPK_MEMBER(type, member, #member, .form = OPK_MEMBER_NUMBER)

static const struct opk_member drop_members[] = {
	OPK_MEMBER(opk_drop, reason, "reason"),
	NUMBER(opk_drop, count),
};
static const struct opk_members drop_table = OPK_MEMBERS(drop_members, opk_drop);

static const struct opk_member members[] = {
	NUMBER(opk_stats, launches),
	NUMBER(opk_stats, ranges),
	NUMBER(opk_stats, depth),
	NUMBER(opk_stats, activities),
	OPK_MEMBER(opk_stats, drops, "drops", .form = OPK_MEMBER_OBJECTS, .elements = &drop_table,
	           .count = offsetof(struct opk_stats, drop_count)),
	OPK_MEMBER(opk_stats, run, "run", .form = OPK_MEMBER_PAIRS, .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_stats, run_count)),
};
static const struct opk_members stats_table = OPK_MEMBERS(members, opk_stats);
/* Drops are read one by one. */
static const struct opk_members number_table = { members, 4, sizeof(struct opk_stats) };
static const struct opk_members fact_table = { members + 5, 1, sizeof(struct opk_stats) };

void opk_stats_to_json(struct opk_buf *out, const struct opk_stats *stats)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_members_write(&json, &stats_table, stats);
	opk_json_end_object(&json);
}

static int add_drop(struct opk_stats_storage *storage, struct opk_ctx *ctx, const char *reason,
                    uint64_t count)
{
	struct opk_stats *stats = &storage->stats;
	opk_autofree char *copy = NULL;

	if (strlen(reason) > OPK_MAX_REASON)
		return opk_fail(ctx, OPK_EINPUT, "a reason of more than %d bytes", OPK_MAX_REASON);
	for (size_t i = 0; i < stats->drop_count; i++)
		if (!strcmp(storage->drops[i].reason, reason)) {
			opk_sum_add(&storage->drops[i].count, count);
			return OPK_OK;
		}
	if (stats->drop_count == OPK_MAX_DROPS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d reasons", OPK_MAX_DROPS);
	copy = opk_strdup(reason);
	if (!copy
	    || !opk_grow(&storage->drops, &storage->capacity, stats->drop_count,
	                 sizeof *storage->drops))
		return opk_nomem(ctx, "counts");
	storage->drops[stats->drop_count++] = (struct opk_drop){ opk_take(copy), count };
	stats->drops = storage->drops;
	return OPK_OK;
}

static void free_fact(const struct opk_property *fact)
{
	free((char *)fact->name);
	free((char *)fact->value);
}

static const char *value_of(const struct opk_stats *stats, const char *name)
{
	const char *value = opk_property_find(stats->run, stats->run_count, name);

	return value ? value : "";
}

enum { SLOWDOWNS = 8 };

struct slowdown {
	char text[64]; /* "heat in " */
	unsigned long long slow, all;
};

/* Adds "heat in 1 of 40, the power limit in 12 of 40 readings". False: it is something else. */
static bool add_slowdowns(struct slowdown *sums, const char *text)
{
	struct slowdown one;
	int length = 0;

	while (sscanf(text, "%63[^0-9]%9llu of %9llu%n", one.text, &one.slow, &one.all, &length)
	       == 3) {
		size_t i = 0;

		while (i < SLOWDOWNS && *sums[i].text && strcmp(sums[i].text, one.text) != 0)
			i++;
		if (i == SLOWDOWNS)
			return false;
		memcpy(sums[i].text, one.text, sizeof one.text);
		sums[i].slow += one.slow;
		sums[i].all += one.all;
		text += length;
		text += strspn(text, ", ");
		length = 0;
	}
	return !strcmp(text, "readings");
}

static char *sum_slowdowns(const char *one, const char *other)
{
	struct slowdown sums[SLOWDOWNS] = { 0 };
	struct opk_buf text = { 0 };

	if (!add_slowdowns(sums, one) || !add_slowdowns(sums, other))
		return opk_strdup(one);
	for (size_t i = 0; i < SLOWDOWNS && *sums[i].text; i++)
		opk_buf_add_printf(&text, "%s%s%llu of %llu", i ? ", " : "", sums[i].text,
		                   sums[i].slow, sums[i].all);
	opk_buf_add_text(&text, " readings");
	return opk_buf_take_text(&text);
}

/* What two files of a watch say of a device: bounds, a mean, or what slowed it; NULL: nothing. */
static char *join_values(const char *name, const char *one, const char *other, double other_share)
{
	double a, b;

	if (strncmp(name, "device.", 7) != 0)
		return NULL;
	if (opk_ends(name, ".slowed_by"))
		return *other ? sum_slowdowns(one, other) : opk_strdup(one);
	if (sscanf(one, "%lf", &a) != 1 || sscanf(other, "%lf", &b) != 1)
		return NULL;
	if (opk_ends(name, "_min"))
		return opk_strdup(a < b ? one : other);
	if (opk_ends(name, "_max"))
		return opk_strdup(a > b ? one : other);
	return opk_ends(name, "_mean") ? opk_printf("%.6g", a + (b - a) * other_share) : NULL;
}

/* Other processes, or other files, wrote the other sections: keeps the facts that all have. */
static void keep_facts(struct opk_stats_storage *storage, const struct opk_stats *one, double share)
{
	size_t kept = 0;

	for (size_t i = 0; i < storage->run.count; i++) {
		struct opk_property fact = storage->run.items[i];
		const char *other = value_of(one, fact.name);
		char *value;

		if (strcmp(other, fact.value) != 0 || opk_ends(fact.name, ".slowed_by")) {
			value = join_values(fact.name, fact.value, other, share);
			free((char *)fact.value);
			fact.value = value;
		}
		if (fact.value)
			storage->run.items[kept++] = fact;
		else
			free_fact(&fact);
	}
	storage->run.count = kept;
}

static int add_fact(struct opk_stats_storage *storage, const struct opk_property *one)
{
	struct opk_property *fact = opk_list_add(&storage->run);

	return fact && (fact->name = opk_strdup(one->name))
	                       && (fact->value = opk_strdup(one->value))
	               ? OPK_OK
	               : OPK_ENOMEM;
}

/* `all`: of the first section; else what slowed a device later than in the sections before. */
static int add_facts(struct opk_stats_storage *storage, const struct opk_stats *one, bool all)
{
	for (size_t i = 0; i < one->run_count; i++) {
		const struct opk_property *fact = &one->run[i];
		bool slowed = opk_ends(fact->name, ".slowed_by");

		if (all || (slowed && !*value_of(&storage->stats, fact->name)))
			TRY(add_fact(storage, fact));
	}
	return OPK_OK;
}

/* `share`: of the samples or ranges so far, which are this section's. */
static int take_facts(struct opk_stats_storage *storage, struct opk_ctx *ctx,
                      const struct opk_json *root, double share)
{
	struct opk_arrays arrays = { 0 };
	const struct opk_members_reader reader = { ctx, &arrays, "counts", 0 };
	struct opk_stats one = { 0 };
	int code = opk_members_read(&one, &fact_table, &reader, root);

	if (!code && one.run_count > MOST_FACTS)
		code = opk_fail(ctx, OPK_EINPUT, "more than %d facts", MOST_FACTS);
	if (!code && storage->found)
		keep_facts(storage, &one, share);
	storage->stats.run = storage->run.items;
	storage->stats.run_count = storage->run.count;
	if (!code && add_facts(storage, &one, !storage->found))
		code = opk_nomem(ctx, "counts");
	opk_arrays_clear(&arrays);
	storage->stats.run = storage->run.items;
	storage->stats.run_count = storage->run.count;
	return code;
}

static int add_counts(struct opk_stats_storage *storage, struct opk_ctx *ctx,
                      const struct opk_json *root)
{
	const struct opk_json *drops = opk_json_get(root, "drops", OPK_JSON_ARRAY);
	const struct opk_members_reader reader = { ctx, NULL, "counts", 0 };
	struct opk_stats one = { 0 }, *all = &storage->stats;

	if (root->type != OPK_JSON_OBJECT)
		return opk_fail(ctx, OPK_EINPUT, "the counts are not an object");
	if (drops && drops->count > OPK_MAX_DROPS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d reasons", OPK_MAX_DROPS);
	TRY(opk_members_read(&one, &number_table, &reader, root));
	opk_sum_add(&all->activities, one.activities);
	opk_sum_add(&all->launches, one.launches);
	opk_sum_add(&all->ranges, one.ranges);
	all->depth = one.depth > all->depth ? one.depth : all->depth;
	TRY(take_facts(storage, ctx, root,
	               all->ranges ? (double)one.ranges / (double)all->ranges : 0));
	storage->found = true;
	for (size_t i = 0; drops && i < drops->count; i++) {
		const struct opk_json *drop = &drops->children[i];
		uint64_t count = 0;

		opk_json_u64(&count, drop, "count");
		TRY(add_drop(storage, ctx, opk_json_string(drop, "reason"), count));
	}
	return OPK_OK;
}

static int add_section(struct opk_stats_storage *storage, struct opk_ctx *ctx,
                       const struct opk_file *file, size_t section)
{
	opk_auto(opk_json) struct opk_json *root = NULL;
	int code;

	TRY(opk_file_read_json(&root, ctx, file, section));
	code = add_counts(storage, ctx, root);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section)
{
	opk_auto(opk_stats_storage) struct opk_stats_storage *storage = opk_alloc(sizeof *storage);

	return storage ? add_section(storage, ctx, file, section) : opk_nomem(ctx, "counts");
}

int opk_file_stats(const struct opk_stats **stats, struct opk_ctx *ctx, struct opk_file *file)
{
	if (!file->stats) {
		opk_auto(opk_stats_storage) struct opk_stats_storage *storage = opk_alloc(
			sizeof *storage);

		if (!storage)
			return opk_nomem(ctx, "counts");
		for (size_t i = 0; i < file->section_count; i++)
			if (file->sections[i].type == OPK_SECTION_STATS)
				TRY(add_section(storage, ctx, file, i));
		file->stats = opk_take(storage);
	}
	*stats = file->stats->found ? &file->stats->stats : NULL;
	return OPK_OK;
}

void opk_stats_storage_free(struct opk_stats_storage *storage)
{
	if (!storage)
		return;
	for (size_t i = 0; i < storage->stats.drop_count; i++)
		free((char *)storage->drops[i].reason);
	for (size_t i = 0; i < storage->run.count; i++)
		free_fact(&storage->run.items[i]);
	free(storage->run.items);
	free(storage->drops);
	free(storage);
}
