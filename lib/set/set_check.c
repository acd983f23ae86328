/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries and changes of sets, as far as they can be judged without a chip. */
#include <string.h>

#include "chip/chip.h"
#include "set/set.h"

enum { MAX_CHANGES = 1000 };

struct checker {
	const struct opk_symbols *symbols;
	struct opk_ctx *ctx;
	struct opk_problems *problems;
	size_t patterns;
	bool too_much;
	double *seconds; /* left for expressions; NULL: don't compile them */
};

static void check_pattern(struct checker *c, const struct opk_pattern *pattern,
                          const struct opk_place *place)
{
	if (pattern->kind == OPK_PATTERN_NAME || c->patterns > OPK_MAX_PATTERNS)
		return;
	if (c->patterns++ == OPK_MAX_PATTERNS) {
		opk_problems_add(c->problems, place, "more than %d patterns", OPK_MAX_PATTERNS);
		c->too_much = true;
	} else if (pattern->kind == OPK_PATTERN_REGEX && c->seconds && *c->seconds > 0) {
		/* Report a lack of time only once. */
		opk_pattern_check(c->ctx, c->problems, pattern, place, c->seconds);
	}
}

/* "dram_bytes.sum" may have been "dram__bytes.sum". */
static void report_underscore(struct checker *c, const struct opk_word *word, const char *name)
{
	const char *underscore = strchr(name, '_');

	opk_problems_add(
		c->problems, &word->place,
		"'%.200s' is not a full metric name: two underscores follow the unit, did you mean "
		"%.*s_%.200s?",
		name, (int)(underscore - name), name, underscore);
}

/* Suggests the name that a name without "__" might mean. */
static void report_unknown(struct checker *c, const struct opk_word *word, const char *name)
{
	opk_autofree char *near = NULL;
	struct opk_suggestions derived = { .name = name };
	const char *best;
	int code = OPK_OK;

	if (strchr(name, '.') && strchr(name, '_')) {
		report_underscore(c, word, name);
		return;
	}
	/* Look for suggestions only if they will be shown. */
	for (size_t i = 0; i < c->symbols->derived.count && !opk_problems_full(c->problems); i++)
		opk_suggestions_try(&derived, c->symbols->derived.items[i].name.text);
	if (!opk_problems_full(c->problems))
		code = opk_name_meant(&near, c->ctx, name);
	if (code)
		opk_clear_errors(c->ctx);
	opk_problems_need(c->problems, code != OPK_ENOMEM);
	best = derived.count ? derived.best[0].name : near;
	opk_problems_add(
		c->problems, &word->place,
		"'%.200s' is not a full metric name such as dram__bytes.sum, nor a derived metric of this "
		"set or a name of nvprof's" OPK_DID_YOU_MEAN,
		name, OPK_NEAR(best));
}

static void check_word(struct checker *c, const struct opk_set_item *item, const char *name)
{
	const struct opk_index *names = &c->symbols->names;
	opk_autolegacyrow struct opk_legacy_row row = { 0 };
	size_t at;
	int code;

	/* nvprof's names may have another label. */
	if (item->as.text && opk_index_find(&at, names, item->as.text)
	    && c->symbols->derived.items[at].legacy)
		return;
	if (opk_index_find(&at, names, name)) {
		if (item->as.text)
			opk_problems_add(
				c->problems, &item->as.place,
				"%.100s is derived under this name already: it takes no other",
				name);
		return;
	}
	/* A file that could not be read may define it, if it can be a name. */
	code = opk_legacy_find(&row, c->ctx, name);
	opk_problems_need(c->problems, code != OPK_ENOMEM);
	if (code || (c->symbols->broken && !strchr(name, '.')))
		return;
	if (!row.name)
		report_unknown(c, &item->what, name);
	else if (!*row.today && !item->optional)
		opk_problems_add(c->problems, &item->what.place,
		                 "nvprof's %.100s has no counterpart on %s: %s", name,
		                 c->problems->chip ? OPK_THE_CHIP : "any chip", row.note);
}

static void check_metric(struct checker *c, const struct opk_set_item *item)
{
	opk_autofree char *text = opk_symbols_substitute(c->symbols, &item->what);
	struct opk_pattern pattern;

	if (!text || !opk_pattern_init(&pattern, c->problems, text, &item->what.place))
		return;
	check_pattern(c, &pattern, &item->what.place);
	if (pattern.kind != OPK_PATTERN_NAME && item->as.text)
		opk_problems_add(c->problems, &item->as.place,
		                 "a pattern may match several metrics, so 'as' can't name them");
	else if (pattern.kind == OPK_PATTERN_NAME && !strstr(text, "__"))
		check_word(c, item, text);
}

static void check_candidate(struct checker *c, const struct opk_word *word)
{
	opk_autofree char *text = opk_symbols_substitute(c->symbols, word);
	struct opk_pattern pattern;

	if (text && opk_pattern_init(&pattern, c->problems, text, &word->place)
	    && (pattern.kind != OPK_PATTERN_NAME || !strstr(text, "__")))
		opk_problems_add(c->problems, &word->place,
		                 "a full metric name is needed here, such as dram__bytes.sum");
}

static void check_text(struct checker *c, const struct opk_word *word)
{
	if (word->text)
		free(opk_symbols_substitute(c->symbols, word));
}

static void check_items(struct checker *c, const struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		for (size_t j = 0; j < item->any.count; j++)
			check_candidate(c, &item->any.items[j]);
		if (item->kind == OPK_SET_ITEM_METRIC && item->what.text)
			check_metric(c, item);
		if (item->kind == OPK_SET_ITEM_HEADING) {
			check_text(c, &item->what);
			check_text(c, &item->prose);
			check_items(c, &item->items);
		}
	}
}

static void check_change(struct checker *c, const struct opk_change *change)
{
	check_items(c, &change->add);
	for (size_t i = 0; i < change->remove.count; i++) {
		const struct opk_word *word = &change->remove.items[i];
		opk_autofree char *text = opk_symbols_substitute(c->symbols, word);
		struct opk_pattern pattern;

		if (text && opk_pattern_init(&pattern, c->problems, text, &word->place))
			check_pattern(c, &pattern, &word->place);
	}
}

bool opk_symbols_check(const struct opk_symbols *symbols, double *seconds)
{
	struct checker c = { .symbols = symbols,
		             .ctx = symbols->ctx,
		             .problems = symbols->problems,
		             .seconds = seconds };

	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set *set = symbols->sets.items[i];

		check_items(&c, &set->items);
		for (size_t j = 0; j < set->changes.count && j < MAX_CHANGES; j++)
			check_change(&c, &set->changes.items[j]);
		if (set->changes.count <= MAX_CHANGES)
			continue;
		opk_problems_add(c.problems, &set->changes.items[MAX_CHANGES].place,
		                 "more than %d changes", MAX_CHANGES);
		c.too_much = true;
	}
	opk_set_check_rooflines(symbols);
	return !c.too_much;
}
