/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets as objects: their contents, joining them, the chips they are made for. */
#include "set/set.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/index.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "chip/chip.h"
#include "set/door.h"

bool opk_set_add_name(struct opk_set *set, const char *name)
{
	struct opk_set_item *item = opk_list_add(&set->items);

	return item && (item->what.text = opk_strdup(name)) != NULL;
}

static void clear_items(struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		struct opk_set_item *item = &items->items[i];

		free(item->what.text);
		free(item->as.text);
		free(item->prose.text);
		free(item->draw.text);
		opk_words_clear(&item->any);
		opk_words_clear(&item->only);
		opk_words_clear(&item->except);
		clear_items(&item->items);
	}
	free(items->items);
}

static void clear_changes(struct opk_set *set)
{
	for (size_t i = 0; i < set->changes.count; i++) {
		opk_words_clear(&set->changes.items[i].where);
		clear_items(&set->changes.items[i].add);
		opk_words_clear(&set->changes.items[i].remove);
	}
	free(set->changes.items);
}

static void clear_definitions(struct opk_set *set)
{
	for (size_t i = 0; i < set->constants.count; i++) {
		struct opk_constant *constant = &set->constants.items[i];

		free(constant->name.text);
		free(constant->unit.text);
		free(constant->values);
		opk_words_clear(&constant->where);
	}
	free(set->constants.items);
	for (size_t i = 0; i < set->derived.count; i++) {
		struct opk_formula_text *derived = &set->derived.items[i];

		free(derived->name.text);
		free(derived->formula.text);
		free(derived->unit.text);
		free(derived->description.text);
	}
	free(set->derived.items);
}

static void clear_parameters(struct opk_parameter *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(items[i].name.text);
		free(items[i].value);
	}
	free(items);
}

void opk_set_free(struct opk_set *set)
{
	if (!set || --set->users)
		return;
	for (size_t i = 0; i < set->includes.count; i++)
		opk_set_free(set->includes.items[i]);
	free(set->includes.items);
	free(set->claiming.items);
	free(set->name);
	free(set->description);
	free(set->path);
	free(set->single_pass);
	opk_words_clear(&set->chips);
	clear_items(&set->items);
	clear_changes(set);
	clear_definitions(set);
	opk_set_roofline_clear(&set->roofline);
	clear_parameters(set->parameters.items, set->parameters.count);
	clear_parameters(set->given.items, set->given.count);
	opk_strlist_clear(&set->metrics);
	if (set->symbols)
		opk_symbols_clear(set->symbols);
	free(set->symbols);
	opk_problems_clear(&set->errors);
	/* Last, since the places in everything freed above point into the source. */
	opk_source_free(set->source);
	free(set);
}

/* ---- the entries as written */

static bool list_one(struct opk_set *set, struct opk_index *seen, const char *text)
{
	size_t at;

	return opk_index_add(seen, text, set->metrics.count, &at)
	       && (at < set->metrics.count || opk_strlist_add(&set->metrics, text));
}

static bool list_items(struct opk_set *set, struct opk_index *seen,
                       const struct opk_set_items *items)
{
	bool ok = true;

	for (size_t i = 0; ok && i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_HEADING)
			ok = list_items(set, seen, &item->items);
		else if (item->what.text)
			ok = list_one(set, seen, item->what.text);
	}
	return ok;
}

static bool add_claiming(struct opk_set *set, const struct opk_set *other)
{
	const struct opk_set **slot;

	for (size_t i = 0; i < set->claiming.count; i++)
		if (set->claiming.items[i] == other)
			return true;
	slot = opk_list_add(&set->claiming);
	if (slot)
		*slot = other;
	return slot != NULL;
}

static bool find_claiming(struct opk_set *set)
{
	bool ok = true;

	if (set->chips.count)
		return add_claiming(set, set);
	for (size_t i = 0; !set->joined && i < set->includes.count; i++)
		for (size_t j = 0; ok && j < set->includes.items[i]->claiming.count; j++)
			ok = add_claiming(set, set->includes.items[i]->claiming.items[j]);
	return ok;
}

bool opk_set_complete(struct opk_set *set)
{
	opk_autoindex struct opk_index seen = { 0 };
	bool ok = find_claiming(set);

	for (size_t i = 0; i < set->includes.count; i++) {
		const struct opk_set *from = set->includes.items[i];

		for (size_t j = 0; ok && j < from->metrics.count; j++)
			ok = list_one(set, &seen, from->metrics.items[j]);
	}
	return ok && list_items(set, &seen, &set->items);
}

/* ---- sets */

struct opk_set *opk_set_create(const char *name, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = opk_alloc(sizeof *set);

	if (!set)
		return NULL;
	set->users = 1;
	set->version = 1;
	set->left = OPK_EXPRESSION_SECONDS;
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

static bool has_namesake(const struct opk_set *const *sets, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(sets[j]->name, sets[i]->name))
			return true;
	return false;
}

/* "memory+roofline": the name of the set in a recording of both; each name once. */
static char *joined_name(const struct opk_set *const *sets, size_t count)
{
	char *name = opk_strdup(sets[0]->name);

	for (size_t i = 1; name && i < count; i++) {
		char *longer = has_namesake(sets, i) ? opk_strdup(name)
		                                     : opk_printf("%s+%s", name, sets[i]->name);

		free(name);
		name = longer;
	}
	return name;
}

/* The joined set includes the others. */
static int join(struct opk_set *to, struct opk_ctx *ctx, struct opk_set *from)
{
	struct opk_set **slot;

	if (from->errors.count)
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
	if (from->single_pass && to->single_pass && strcmp(from->single_pass, to->single_pass))
		return opk_fail(ctx, OPK_EUSAGE,
		                "CUPTI plans one of its single-pass sets at a time, not %s and %s",
		                to->single_pass, from->single_pass);
	if (from->single_pass && !to->single_pass)
		to->single_pass = opk_strdup(from->single_pass);
	slot = opk_list_add(&to->includes);
	if (!slot || (from->single_pass && !to->single_pass))
		return opk_nomem(ctx, "a metric set");
	*slot = opk_set_use(from);
	/* Leave at least a moment, so that the lack of time is reported. */
	to->left = fmax(to->left - (OPK_EXPRESSION_SECONDS - from->left), 0.1);
	return OPK_OK;
}

/* Copies what holds only for a single set. */
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

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "no metric set was named");
	set = name ? opk_set_create(name, count == 1 ? sets[0]->path : "") : NULL;
	if (!set)
		return opk_nomem(ctx, "a metric set");
	set->joined = true;
	/* The sets are shared, not changed. */
	for (size_t i = 0; i < count; i++)
		TRY(join(set, ctx, (struct opk_set *)(uintptr_t)sets[i]));
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

/* ---- chips */

bool opk_set_claims(const struct opk_set *set, const char *chip)
{
	for (size_t i = 0; i < set->claiming.count; i++) {
		const struct opk_words *chips = &set->claiming.items[i]->chips;
		bool named = false;

		for (size_t j = 0; j < chips->count && !named; j++)
			named = opk_chip_is_meant(chip, chips->items[j].text);
		if (!named)
			return false;
	}
	return true;
}

const char *opk_set_example(const struct opk_set *set)
{
	return set->claiming.count ? set->claiming.items[0]->chips.items[0].text : NULL;
}

bool opk_set_has_profiler_on(const struct opk_set *set, const struct opk_chip *chip)
{
	if (set->has_profiler && opk_profiler_is_code(set->profiler))
		return chip->sass;
	return set->has_profiler && set->profiler == OPK_PROFILER_PM ? chip->pm_sampling
	                                                             : chip->range;
}

bool opk_set_supports(const struct opk_set *set, const struct opk_chip *chip)
{
	return opk_set_has_profiler_on(set, chip) && opk_set_claims(set, chip->name);
}

/* ---- checks */

static void report_unknown(struct opk_problems *problems, const struct opk_word *word,
                           const struct opk_chips *chips)
{
	struct opk_nearest nearest = { .name = word->text };

	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		opk_nearest_try(&nearest, opk_chips_get(chips, i)->name);
		opk_nearest_try(&nearest, opk_chip_architecture(opk_chips_get(chips, i)->name));
	}
	opk_problems_advise(opk_problems_add(problems, &word->place,
	                                     "unknown chip '%.100s'" OPK_DID_YOU_MEAN, word->text,
	                                     OPK_NEAR(nearest.best)),
	                    OPK_REMEDY_LIST_CHIPS);
}

static void check(struct opk_problems *problems, const struct opk_set *set,
                  const struct opk_word *word, const struct opk_chips *chips)
{
	bool known = false, supported = false;

	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		if (!opk_chip_is_meant(chip->name, word->text))
			continue;
		known = true;
		supported |= opk_set_has_profiler_on(set, chip);
	}
	/* Another release of CUPTI may know the claimed chip. */
	if (!known && opk_chips_meant(word->text))
		return;
	if (!known)
		report_unknown(problems, word, chips);
	else if (!supported)
		opk_problems_add(problems, &word->place, "%s has no profiler %s", word->text,
		                 opk_profiler_name(set->profiler));
}

int opk_set_check_claims(struct opk_ctx *ctx, const struct opk_set *set,
                         const struct opk_chips *chips)
{
	opk_autoproblems struct opk_problems problems = { 0 };

	for (size_t i = 0; i < set->claiming.count; i++)
		for (size_t j = 0; j < set->claiming.items[i]->chips.count; j++)
			check(&problems, set, &set->claiming.items[i]->chips.items[j], chips);
	return opk_problems_fail(ctx, &problems, OPK_EINPUT, *set->path ? set->path : set->name);
}
