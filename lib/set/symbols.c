/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects what a set and its included sets define by name. */
#include "set/set.h"

#include <string.h>

#include "formula/formula.h"
#include "chip/chip.h"

enum { MAX_VALUE = 256 };

/* ---- the sets */

/* Adds a set after the sets that it includes; a set that is already there is skipped. */
static bool collect_sets(struct opk_symbols *symbols, const struct opk_set *set)
{
	const struct opk_set **slot;

	for (size_t i = 0; i < symbols->sets.count; i++)
		if (symbols->sets.items[i] == set
		    || (set->inode && symbols->sets.items[i]->inode == set->inode
		        && symbols->sets.items[i]->device == set->device))
			return true;
	for (size_t i = 0; i < set->includes.count; i++)
		if (!collect_sets(symbols, set->includes.items[i]))
			return false;
	slot = opk_list_add(&symbols->sets);
	if (slot)
		*slot = set;
	symbols->broken |= set->broken;
	symbols->unfit |= set->unfit;
	return slot != NULL;
}

/* ---- definitions */

static void report_twice(struct opk_problems *problems, const struct opk_word *name,
                         const char *what, const struct opk_word *first)
{
	opk_autofree char *place = opk_place_text(&first->place);

	opk_problems_add(problems, &name->place,
	                 "%s '%.100s' is defined a second time, first at %s", what, name->text,
	                 place && *place ? place : "another set");
}

/* The earlier definition of the name, except as a parameter; NULL: none. */
static const struct opk_word *defined(const struct opk_symbols *symbols, const char *name)
{
	size_t i;

	if (opk_index_find(&i, &symbols->constants, name))
		return &symbols->constant.items[i]->name;
	if (opk_index_find(&i, &symbols->names, name))
		return &symbols->derived.items[i].name;
	return opk_index_find(&i, &symbols->labels, name) ? &symbols->label.items[i]->as : NULL;
}

static void add_parameters(struct opk_symbols *symbols, const struct opk_set *set)
{
	for (size_t i = 0; i < set->parameters.count; i++) {
		const struct opk_parameter *parameter = &set->parameters.items[i];
		const char **slot = opk_list_add(&symbols->values);
		size_t known = 0;

		if (!slot
		    || !opk_index_add(&symbols->parameters, parameter->name.text,
		                      symbols->values.count - 1, &known)) {
			symbols->problems->code = OPK_ENOMEM;
			return;
		}
		*slot = parameter->value;
		/* The message can't say which included set: symbols don't know their sets. */
		if (known != symbols->values.count - 1)
			opk_problems_add(symbols->problems, &parameter->name.place,
			                 "parameter '%.100s' is one of an included set already",
			                 parameter->name.text);
	}
}

static void give_values(struct opk_symbols *symbols, const struct opk_set *set)
{
	size_t at;

	for (size_t i = 0; i < set->given.count; i++)
		if (opk_index_find(&at, &symbols->parameters, set->given.items[i].name.text))
			symbols->values.items[at] = set->given.items[i].value;
}

static void add_constants(struct opk_symbols *symbols, const struct opk_set *set)
{
	for (size_t i = 0; i < set->constants.count; i++) {
		const struct opk_constant *constant = &set->constants.items[i], **slot;
		const struct opk_word *first = defined(symbols, constant->name.text);

		if (first) {
			report_twice(symbols->problems, &constant->name, "constant", first);
			continue;
		}
		slot = opk_list_add(&symbols->constant);
		if (slot)
			*slot = constant;
		if (!slot
		    || !opk_index_add(&symbols->constants, constant->name.text,
		                      symbols->constant.count - 1, NULL))
			symbols->problems->code = OPK_ENOMEM;
	}
}

static struct opk_derived_symbol *add_name(struct opk_symbols *symbols, const struct opk_word *name)
{
	struct opk_derived_symbol *derived = opk_list_add(&symbols->derived);

	if (!opk_problems_need(symbols->problems,
	                       derived
	                               && opk_index_add(&symbols->names, name->text,
	                                                symbols->derived.count - 1, NULL)))
		return NULL;
	derived->name = *name;
	return derived;
}

static void add_derived(struct opk_symbols *symbols, const struct opk_set *set)
{
	for (size_t i = 0; i < set->derived.count; i++) {
		const struct opk_formula_text *text = &set->derived.items[i];
		const struct opk_word *first = defined(symbols, text->name.text);
		struct opk_derived_symbol *derived;

		if (first) {
			report_twice(symbols->problems, &text->name, "derived metric", first);
			continue;
		}
		derived = add_name(symbols, &text->name);
		if (!derived)
			return;
		derived->written = text->formula;
		derived->unit = text->unit;
		derived->description = text->description;
	}
}

/* ---- names in the lists */

/* Chips may have different metrics with the same label. */
static void add_label(struct opk_symbols *symbols, const struct opk_set_item *item)
{
	const struct opk_word *label = &item->as;
	const struct opk_set_item **slot;
	size_t known;

	if (opk_index_find(&known, &symbols->labels, label->text)) {
		if (item->has_else)
			symbols->label.items[known] = item;
		return;
	}
	if (defined(symbols, label->text)) {
		report_twice(symbols->problems, label, "the name", defined(symbols, label->text));
		return;
	}
	slot = opk_list_add(&symbols->label);
	if (slot)
		*slot = item;
	if (!slot || !opk_index_add(&symbols->labels, label->text, symbols->label.count - 1, NULL))
		symbols->problems->code = OPK_ENOMEM;
}

/* The name with parameters replaced; NULL if that fails, which is reported elsewhere. */
static char *final_text(struct opk_symbols *symbols, const struct opk_word *word)
{
	opk_autoproblems struct opk_problems quiet = { 0 };
	struct opk_problems *problems = symbols->problems;
	char *text;

	symbols->problems = &quiet;
	text = opk_symbols_substitute(symbols, word);
	symbols->problems = problems;
	opk_problems_stop(problems, quiet.code);
	return text;
}

static void find_row(struct opk_legacy_row *out, const struct opk_symbols *symbols,
                     const struct opk_word *word, const char *name)
{
	int code = opk_legacy_find(out, symbols->ctx, name);

	if (opk_problems_need(symbols->problems, code != OPK_ENOMEM) && code)
		opk_problems_add(symbols->problems, &word->place, "%s",
		                 opk_innermost(symbols->ctx));
}

/* Whether another list has the legacy name under the same name. */
static bool is_same_legacy(const struct opk_symbols *symbols, const char *name, const char *legacy)
{
	size_t i;

	return opk_index_find(&i, &symbols->names, name) && symbols->derived.items[i].legacy
	       && !strcmp(symbols->derived.items[i].legacy, legacy);
}

/* A word without a unit is one of nvprof's names, unless the set defines it. */
static void add_legacy(struct opk_symbols *symbols, const struct opk_set_item *item)
{
	opk_autofree char *text = final_text(symbols, &item->what);
	const struct opk_word name = { item->as.text ? item->as.text : text, item->what.place };
	opk_autolegacyrow struct opk_legacy_row row = { 0 };
	opk_autofree char *formulas = NULL, *unit = NULL;
	struct opk_derived_symbol *derived;

	if (!text || strstr(text, "__") || opk_pattern_kind(text) != OPK_PATTERN_NAME
	    || opk_index_find(NULL, &symbols->names, text))
		return;
	find_row(&row, symbols, &item->what, text);
	if (!row.name || !*row.today || is_same_legacy(symbols, name.text, text))
		return;
	formulas = opk_strdup(row.today);
	unit = opk_strdup(row.unit);
	if (!opk_problems_need(symbols->problems, formulas && unit))
		return;
	if (defined(symbols, name.text)) {
		report_twice(symbols->problems, &item->as, "the name", defined(symbols, name.text));
		return;
	}
	derived = add_name(symbols, &name);
	if (!derived)
		return;
	derived->legacy_formulas = opk_take(formulas);
	derived->legacy = opk_take(text);
	if (*unit)
		derived->unit.text = derived->legacy_unit = opk_take(unit);
}

/* Whether the entry is a derived metric: then `as` is not a label. */
static bool is_derived(const struct opk_symbols *symbols, const struct opk_set_item *item)
{
	const struct opk_word *word = item->as.text ? &item->as : &item->what;

	return item->kind == OPK_SET_ITEM_METRIC && word->text
	       && opk_index_find(NULL, &symbols->names, word->text)
	       && !(item->what.text && strstr(item->what.text, "__"));
}

static void add_items(struct opk_symbols *symbols, const struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_HEADING)
			add_items(symbols, &item->items);
		else if (item->what.text && item->kind == OPK_SET_ITEM_METRIC)
			add_legacy(symbols, item);
		if (item->as.text && !is_derived(symbols, item))
			add_label(symbols, item);
	}
}

void opk_symbols_init(struct opk_symbols *symbols, struct opk_ctx *ctx,
                      struct opk_problems *problems, const struct opk_set *set, double *seconds)
{
	*symbols = (struct opk_symbols){ .ctx = ctx, .problems = problems };
	if (!collect_sets(symbols, set))
		problems->code = OPK_ENOMEM;
	for (size_t i = 0; i < symbols->sets.count; i++) {
		add_parameters(symbols, symbols->sets.items[i]);
		add_constants(symbols, symbols->sets.items[i]);
		add_derived(symbols, symbols->sets.items[i]);
	}
	/* The definition of the outer set comes last. */
	for (size_t i = 0; i < symbols->sets.count; i++)
		give_values(symbols, symbols->sets.items[i]);
	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set *one = symbols->sets.items[i];

		add_items(symbols, &one->items);
		for (size_t j = 0; j < one->changes.count; j++)
			add_items(symbols, &one->changes.items[j].add);
	}
	if (!problems->code)
		opk_symbols_check_formulas(symbols);
	if (!problems->code)
		symbols->unfit |= !opk_symbols_check(symbols, seconds);
}

/* Other parameter values may make other formulas; a set joined alone equals that set. */
static const struct opk_symbols *kept(const struct opk_set *set)
{
	while (!set->given.count && !set->symbols && set->joined && set->includes.count == 1)
		set = set->includes.items[0];
	return set->given.count ? NULL : set->symbols;
}

void opk_symbols_of(struct opk_symbols *symbols, struct opk_ctx *ctx, struct opk_problems *problems,
                    const struct opk_set *set)
{
	const struct opk_symbols *from = kept(set);
	size_t size = from ? from->derived.count * sizeof *from->derived.items : 0;

	if (!from) {
		opk_symbols_init(symbols, ctx, problems, set, NULL);
		return;
	}
	*symbols = *from;
	symbols->ctx = ctx;
	symbols->problems = problems;
	symbols->borrowed = true;
	symbols->derived.items = opk_alloc(size + 1);
	if (opk_problems_need(problems, symbols->derived.items) && size)
		memcpy(symbols->derived.items, from->derived.items, size);
}

static void clear_derived(const struct opk_symbols *symbols, struct opk_derived_symbol *derived)
{
	if (derived->legacy || !symbols->borrowed) {
		free(derived->formula);
		opk_formula_free(derived->parsed);
	}
	if (symbols->borrowed)
		return;
	free(derived->legacy);
	free(derived->legacy_formulas);
	free(derived->legacy_unit);
}

void opk_symbols_clear(struct opk_symbols *symbols)
{
	for (size_t i = 0; symbols->derived.items && i < symbols->derived.count; i++)
		clear_derived(symbols, &symbols->derived.items[i]);
	free(symbols->derived.items);
	if (symbols->borrowed)
		return;
	free(symbols->sets.items);
	free(symbols->values.items);
	free(symbols->constant.items);
	free(symbols->label.items);
	free(symbols->order);
	opk_index_clear(&symbols->parameters);
	opk_index_clear(&symbols->constants);
	opk_index_clear(&symbols->labels);
	opk_index_clear(&symbols->names);
}

/* ---- values from outside */

static int give(struct opk_set *set, struct opk_ctx *ctx, const char *name, const char *value)
{
	struct opk_parameter *given = opk_list_add(&set->given);

	if (given) {
		given->name.text = opk_strdup(name);
		given->value = opk_strdup(value);
	}
	if (given && given->name.text && given->value)
		return OPK_OK;
	if (given) {
		free(given->name.text);
		free(given->value);
		set->given.count--;
	}
	return opk_nomem(ctx, "a parameter");
}

/* Lists the parameters of the set and of its included sets; false: out of memory. */
static bool list_parameters(struct opk_strlist *out, const struct opk_set *set)
{
	opk_autosymbols struct opk_symbols symbols = { 0 };
	bool ok = collect_sets(&symbols, set);

	for (size_t i = 0; ok && i < symbols.sets.count; i++) {
		const struct opk_set *one = symbols.sets.items[i];

		for (size_t j = 0; ok && j < one->parameters.count; j++)
			ok = opk_strlist_add(out, one->parameters.items[j].name.text);
	}
	opk_strlist_sort_unique(out);
	return ok;
}

/* Reports "set a has no parameter 'x'; it has y, z". */
static int fail_unknown(const struct opk_set *set, struct opk_ctx *ctx, const char *name,
                        const struct opk_strlist *names)
{
	struct opk_nearest nearest = { .name = name };
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *text = NULL;

	for (size_t i = 0; i < names->count; i++) {
		opk_nearest_try(&nearest, names->items[i]);
		opk_buf_add_printf(&list, "%s%s", i ? ", " : "; it has ", names->items[i]);
	}
	text = opk_buf_take_text(&list);
	return opk_fail(ctx, OPK_EUSAGE, "set %s has no parameter '%s'" OPK_DID_YOU_MEAN "%s",
	                set->name, name, OPK_NEAR(nearest.best), nearest.best || !text ? "" : text);
}

int opk_set_parameter(struct opk_set *set, struct opk_ctx *ctx, const char *name, const char *value)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	if (!list_parameters(&names, set))
		return opk_nomem(ctx, "a parameter");
	if (strlen(value) > MAX_VALUE)
		return opk_fail(ctx, OPK_EUSAGE, "parameter %s: a value has at most %d characters",
		                name, MAX_VALUE);
	return opk_strlist_contains_sorted(&names, name) ? give(set, ctx, name, value)
	                                                 : fail_unknown(set, ctx, name, &names);
}
