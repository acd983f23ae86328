/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/scope.h"

#include <string.h>

#include "base/nearest.h"
#include "domain/formula.h"
#include "domain/legacy.h"
#include "domain/pattern.h"

/* ---- the sets */

/* A set comes after what it includes; one that is there needs no second look. */
static bool collect_sets(struct opk_scope *scope, const struct opk_set *set)
{
	const struct opk_set **slot;

	for (size_t i = 0; i < scope->set_count; i++)
		if (scope->sets[i] == set || (set->inode && scope->sets[i]->inode == set->inode
		                              && scope->sets[i]->device == set->device))
			return true;
	for (size_t i = 0; i < set->include_count; i++)
		if (!collect_sets(scope, set->includes[i]))
			return false;
	slot = opk_append(&scope->sets, &scope->set_capacity, &scope->set_count, sizeof *slot);
	if (slot)
		*slot = set;
	scope->broken |= set->broken;
	return slot != NULL;
}

/* ---- definitions */

static void tell_twice(struct opk_problems *problems, const struct opk_word *name, const char *what,
                       const struct opk_word *first)
{
	opk_autofree char *place = opk_place_text(&first->place);

	opk_problems_add(problems, &name->place, "%s '%.100s' is defined a second time, first at %s", what,
	                 name->text, place && *place ? place : "another set");
}

/* Where the name was defined before, other than as a parameter; NULL where it was not. */
static const struct opk_word *defined(const struct opk_scope *scope, const char *name)
{
	size_t i;

	if (opk_index_find(&i, &scope->constants, name))
		return &scope->constant[i]->name;
	if (opk_index_find(&i, &scope->names, name))
		return &scope->derived[i].name;
	return opk_index_find(&i, &scope->labels, name) ? scope->label[i] : NULL;
}

static void add_parameters(struct opk_scope *scope, struct opk_problems *problems, const struct opk_set *set)
{
	for (size_t i = 0; i < set->parameters.count; i++) {
		const struct opk_parameter *parameter = &set->parameters.items[i];
		const char **slot = opk_append(&scope->values, &scope->value_capacity, &scope->value_count,
		                               sizeof *slot);
		size_t known = 0;

		if (!slot || !opk_index_add(&scope->parameters, parameter->name.text, scope->value_count - 1,
		                            &known)) {
			problems->no_memory = true;
			return;
		}
		*slot = parameter->value;
		/* Which one was first does not matter much, and is not kept. */
		if (known != scope->value_count - 1)
			opk_problems_add(problems, &parameter->name.place,
			                 "parameter '%.100s' is one of an included set already",
			                 parameter->name.text);
	}
}

static void give_values(struct opk_scope *scope, const struct opk_set *set)
{
	size_t at;

	for (size_t i = 0; i < set->given.count; i++)
		if (opk_index_find(&at, &scope->parameters, set->given.items[i].name.text))
			scope->values[at] = set->given.items[i].value;
}

static void add_constants(struct opk_scope *scope, struct opk_problems *problems, const struct opk_set *set)
{
	for (size_t i = 0; i < set->constants.count; i++) {
		const struct opk_constant *constant = &set->constants.items[i], **slot;
		const struct opk_word *first = defined(scope, constant->name.text);

		if (first) {
			tell_twice(problems, &constant->name, "constant", first);
			continue;
		}
		slot = opk_append(&scope->constant, &scope->constant_capacity, &scope->constant_count,
		                  sizeof *slot);
		if (slot)
			*slot = constant;
		if (!slot || !opk_index_add(&scope->constants, constant->name.text,
		                            scope->constant_count - 1, NULL))
			problems->no_memory = true;
	}
}

static struct opk_scope_derived *add_name(struct opk_scope *scope, struct opk_problems *problems,
                                          const struct opk_word *name)
{
	struct opk_scope_derived *derived = opk_append(&scope->derived, &scope->derived_capacity,
	                                               &scope->derived_count, sizeof *derived);

	if (!derived || !opk_index_add(&scope->names, name->text, scope->derived_count - 1, NULL)) {
		problems->no_memory = true;
		return NULL;
	}
	derived->name = *name;
	return derived;
}

static void add_derived(struct opk_scope *scope, struct opk_problems *problems, const struct opk_set *set)
{
	for (size_t i = 0; i < set->derived.count; i++) {
		const struct opk_formula_text *text = &set->derived.items[i];
		const struct opk_word *first = defined(scope, text->name.text);
		struct opk_scope_derived *derived;

		if (first) {
			tell_twice(problems, &text->name, "derived metric", first);
			continue;
		}
		derived = add_name(scope, problems, &text->name);
		if (!derived)
			return;
		derived->written = text->formula;
		derived->unit = text->unit;
		derived->description = text->description;
		derived->set = set;
	}
}

/* ---- names in the lists */

/* Several metrics may have the same label, on different chips. */
static void add_label(struct opk_scope *scope, struct opk_problems *problems, const struct opk_word *label)
{
	const struct opk_word **slot;

	if (opk_index_find(NULL, &scope->labels, label->text))
		return;
	if (defined(scope, label->text)) {
		tell_twice(problems, label, "the name", defined(scope, label->text));
		return;
	}
	slot = opk_append(&scope->label, &scope->label_capacity, &scope->label_count, sizeof *slot);
	if (slot)
		*slot = label;
	if (!slot || !opk_index_add(&scope->labels, label->text, scope->label_count - 1, NULL))
		problems->no_memory = true;
}

/* The name as it stands once parameters are put in; NULL where that fails, which is told elsewhere. */
static char *final_text(const struct opk_scope *scope, struct opk_problems *problems,
                        const struct opk_word *word)
{
	opk_autoproblems struct opk_problems quiet = { 0 };
	char *text = opk_scope_substitute(scope, &quiet, word);

	problems->no_memory |= quiet.no_memory;
	return text;
}

static char *formula_of(struct opk_ctx *ctx, struct opk_problems *problems, const struct opk_word *word,
                        const char *name)
{
	char *formula = NULL;
	int code = opk_legacy_formula(&formula, ctx, name);

	if (code == OPK_ENOMEM)
		problems->no_memory = true;
	else if (code)
		opk_problems_add(problems, &word->place, "%s", opk_error_message(ctx, 0));
	return formula;
}

/* Another list may have it under the same name. */
static bool is_same_legacy(const struct opk_scope *scope, const char *name, const char *legacy)
{
	size_t i;

	return opk_index_find(&i, &scope->names, name) && scope->derived[i].legacy
	       && !strcmp(scope->derived[i].legacy, legacy);
}

/* A word without a unit is one of nvprof's names, unless it is defined here. */
static void add_legacy(struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems,
                       const struct opk_set *set, const struct opk_item *item)
{
	opk_autofree char *text = final_text(scope, problems, &item->what);
	const struct opk_word name = { item->as.text ? item->as.text : text, item->what.place };
	opk_autofree char *formula = NULL;
	struct opk_scope_derived *derived;

	if (!text || strstr(text, "__") || opk_pattern_kind(text) != OPK_PATTERN_NAME
	    || opk_index_find(NULL, &scope->names, text))
		return;
	formula = formula_of(ctx, problems, &item->what, text);
	if (!formula || !*formula || is_same_legacy(scope, name.text, text))
		return;
	if (defined(scope, name.text)) {
		tell_twice(problems, &item->as, "the name", defined(scope, name.text));
		return;
	}
	derived = add_name(scope, problems, &name);
	if (!derived)
		return;
	derived->formula = opk_take(formula);
	derived->legacy = opk_take(text);
	derived->set = set;
}

/* Whether the entry is a derived metric: `as` is then no label. */
static bool is_derived(const struct opk_scope *scope, const struct opk_item *item)
{
	const struct opk_word *word = item->as.text ? &item->as : &item->what;

	return item->kind == OPK_ITEM_METRIC && word->text && opk_index_find(NULL, &scope->names, word->text)
	       && !(item->what.text && strstr(item->what.text, "__"));
}

static void add_items(struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems,
                      const struct opk_set *set, const struct opk_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_item *item = &items->items[i];

		if (item->kind == OPK_ITEM_GROUP)
			add_items(scope, ctx, problems, set, &item->items);
		else if (item->what.text && item->kind == OPK_ITEM_METRIC)
			add_legacy(scope, ctx, problems, set, item);
		if (item->as.text && !is_derived(scope, item))
			add_label(scope, problems, &item->as);
	}
}

void opk_scope_init(struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems,
                    const struct opk_set *set)
{
	*scope = (struct opk_scope){ 0 };
	if (!collect_sets(scope, set))
		problems->no_memory = true;
	for (size_t i = 0; i < scope->set_count; i++) {
		add_parameters(scope, problems, scope->sets[i]);
		add_constants(scope, problems, scope->sets[i]);
		add_derived(scope, problems, scope->sets[i]);
	}
	/* The outer one's word is the last. */
	for (size_t i = 0; i < scope->set_count; i++)
		give_values(scope, scope->sets[i]);
	for (size_t i = 0; i < scope->set_count; i++) {
		add_items(scope, ctx, problems, scope->sets[i], &scope->sets[i]->items);
		for (size_t j = 0; j < scope->sets[i]->changes.count; j++)
			add_items(scope, ctx, problems, scope->sets[i], &scope->sets[i]->changes.items[j].add);
	}
	if (!problems->no_memory)
		opk_scope_check_formulas(scope, ctx, problems);
}

void opk_scope_clear(struct opk_scope *scope)
{
	for (size_t i = 0; i < scope->derived_count; i++) {
		free(scope->derived[i].formula);
		free(scope->derived[i].legacy);
		opk_formula_free(scope->derived[i].parsed);
	}
	free(scope->derived);
	free(scope->sets);
	free(scope->values);
	free(scope->constant);
	free(scope->label);
	free(scope->order);
	opk_index_clear(&scope->parameters);
	opk_index_clear(&scope->constants);
	opk_index_clear(&scope->labels);
	opk_index_clear(&scope->names);
}
