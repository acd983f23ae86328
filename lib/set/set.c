/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets as objects; set_yaml.c reads them, set_find.c finds them. */
#include "set/set.h"

struct opk_set *opk_set_create(const char *name, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = opk_alloc(sizeof *set);

	if (!set)
		return NULL;
	set->users = 1;
	set->version = 1;
	set->name = opk_strdup(name);
	set->description = opk_strdup("");
	set->path = opk_strdup(path);
	return set->name && set->description && set->path ? opk_take(set) : NULL;
}

struct opk_set *opk_set_use(struct opk_set *set)
{
	if (set)
		set->users++;
	return set;
}

/* "memory+roofline" for what a recording of both is called. */
static char *joined_name(const struct opk_set *const *sets, size_t count)
{
	char *name = opk_strdup(sets[0]->name);

	for (size_t i = 1; name && i < count; i++) {
		char *longer = opk_printf("%s+%s", name, sets[i]->name);

		free(name);
		name = longer;
	}
	return name;
}

/* The joined set includes the others. */
static int join(struct opk_set *to, struct opk_ctx *ctx, struct opk_set *from)
{
	struct opk_set **slot;

	if (from->told.count)
		return opk_fail(ctx, OPK_EINPUT, "set %s was read with errors", from->name);
	if (from->has_profiler && to->has_profiler && from->profiler != to->profiler)
		return opk_fail(
			ctx, OPK_EUSAGE,
			"set %s is for profiler %s, a set before it for %s: build them apart",
			from->name, opk_profiler_name(from->profiler),
			opk_profiler_name(to->profiler));
	if (from->has_profiler) {
		to->has_profiler = true;
		to->profiler = from->profiler;
	}
	slot = opk_append(&to->includes, &to->include_capacity, &to->include_count, sizeof *slot);
	if (!slot)
		return opk_nomem(ctx, "a metric set");
	*slot = opk_set_use(from);
	return OPK_OK;
}

/* What holds of one set alone, not of several together. */
static bool copy_claims(struct opk_set *to, const struct opk_set *from)
{
	free(to->description);
	to->description = opk_strdup(from->description);
	to->version = from->version;
	to->joined = from->joined;
	for (size_t i = 0; i < from->chips.count; i++)
		if (!opk_words_add(&to->chips, from->chips.items[i].text,
		                   &from->chips.items[i].place))
			return false;
	return to->description != NULL;
}

int opk_set_join(struct opk_set **out, struct opk_ctx *ctx, const struct opk_set *const *sets,
                 size_t count)
{
	opk_autofree char *name = count ? joined_name(sets, count) : NULL;
	opk_auto(opk_set) struct opk_set *set = NULL;
	int code = OPK_OK;

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "no metric set was named");
	set = name ? opk_set_create(name, count == 1 ? sets[0]->path : "") : NULL;
	if (!set)
		return opk_nomem(ctx, "a metric set");
	set->joined = true;
	/* They are shared, not changed. */
	for (size_t i = 0; !code && i < count; i++)
		code = join(set, ctx, (struct opk_set *)(uintptr_t)sets[i]);
	if (code)
		return code;
	if ((count == 1 && !copy_claims(set, sets[0])) || !opk_set_complete(set))
		return opk_nomem(ctx, "a metric set");
	*out = opk_take(set);
	return OPK_OK;
}

const char *opk_set_name(const struct opk_set *set)
{
	return set->name;
}

const char *opk_set_description(const struct opk_set *set)
{
	return set->description;
}

uint32_t opk_set_version(const struct opk_set *set)
{
	return set->version;
}

const char *opk_set_path(const struct opk_set *set)
{
	return set->path;
}

bool opk_set_has_profiler(const struct opk_set *set)
{
	return set->has_profiler;
}

enum opk_profiler opk_set_profiler(const struct opk_set *set)
{
	return set->profiler;
}

size_t opk_set_metric_count(const struct opk_set *set)
{
	return set->metrics.count;
}

const char *opk_set_metric(const struct opk_set *set, size_t i)
{
	return set->metrics.items[i];
}

const char *opk_set_metric_place(const struct opk_set *set, size_t i)
{
	return set->places.items[i];
}

size_t opk_set_chip_count(const struct opk_set *set)
{
	return set->chips.count;
}

const char *opk_set_chip(const struct opk_set *set, size_t i)
{
	return set->chips.items[i].text;
}
