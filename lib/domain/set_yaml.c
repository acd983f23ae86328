/* SPDX-License-Identifier: BSD-2-Clause */
/* The YAML form of a metric set, docs/metric-sets.md: the keys of the file, and what values have in common. */
#include <string.h>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/number.h"
#include "domain/formula.h"
#include "domain/set_read.h"
#include "domain/where.h"

void opk_set_reader_clear(struct opk_set_reader *r)
{
	opk_words_clear(&r->includes);
	opk_words_clear(&r->metrics);
	opk_index_clear(&r->seen);
}

/* ---- values */

static bool copy_word(struct opk_set_reader *r, struct opk_word *out, const struct opk_yaml *value)
{
	free(out->text);
	out->text = opk_strdup(value->text);
	out->place = value->place;
	r->problems->no_memory |= !out->text;
	return out->text != NULL;
}

void opk_set_read_word(struct opk_set_reader *r, struct opk_word *out, const struct opk_yaml *value)
{
	if (value->kind == OPK_YAML_SCALAR && *value->text)
		copy_word(r, out, value);
	else if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "text is needed here");
}

static bool check_words(struct opk_set_reader *r, const struct opk_yaml *value, const char *many)
{
	if (value->kind == OPK_YAML_BAD)
		return false;
	if (value->kind != OPK_YAML_LIST || !value->count)
		opk_problems_add(r->problems, &value->place, "a list of %s is needed here", many);
	else if (value->count > OPK_MAX_METRICS)
		opk_problems_add(r->problems, &value->place, "more than %d %s", OPK_MAX_METRICS, many);
	else
		return true;
	return false;
}

void opk_set_read_words(struct opk_set_reader *r, struct opk_words *out, const struct opk_yaml *value,
                        const char *one, const char *many)
{
	opk_autoindex struct opk_index seen = { 0 };

	if (!check_words(r, value, many))
		return;
	for (size_t i = 0; i < value->count; i++) {
		const struct opk_yaml *item = &value->items[i];
		size_t first = i;

		if (item->kind == OPK_YAML_BAD)
			continue;
		if (item->kind != OPK_YAML_SCALAR || !*item->text)
			opk_problems_add(r->problems, &item->place,
			                 "one of the %s is needed here, as plain text", many);
		else if (!opk_index_add(&seen, item->text, i, &first)
		         || (first == i && !opk_words_add(out, item->text, &item->place)))
			r->problems->no_memory = true;
		else if (first < i)
			opk_problems_add(r->problems, &item->place, "%s %.100s is listed twice", one,
			                 item->text);
	}
}

/* What is the same in any case: those of the very same letters were told. */
static void check_cases(struct opk_set_reader *r, const struct opk_words *words, const char *one)
{
	for (size_t i = 1; i < words->count; i++)
		if (opk_where_find(words, i, words->items[i].text))
			opk_problems_add(r->problems, &words->items[i].place, "%s %.100s is listed twice", one,
			                 words->items[i].text);
}

void opk_set_read_where(struct opk_set_reader *r, struct opk_words *out, const struct opk_yaml *value)
{
	opk_set_read_words(r, out, value, "the word", "chips, architectures or profilers");
	check_cases(r, out, "the word");
	for (size_t i = 0; i < out->count; i++) {
		const char *word = out->items[i].text;
		const char *near = opk_where_nearest(word, true);

		if (!opk_where_known(r->ctx, &r->problems->no_memory, word, true))
			opk_problems_add(r->problems, &out->items[i].place,
			                 "'%.100s' is no chip, architecture or profiler" OPK_DID_YOU_MEAN,
			                 word, OPK_NEAR(near));
	}
}

void opk_set_read_bool(struct opk_set_reader *r, bool *out, const struct opk_yaml *value)
{
	bool text = value->kind == OPK_YAML_SCALAR;

	*out = text && !strcmp(value->text, "true");
	if (!*out && !(text && !strcmp(value->text, "false")) && value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "true or false is needed here");
}

/* Hexadecimal numbers, infinity and the like are no numbers of the language. */
static enum opk_number read_decimal(double *out, const char *text)
{
	size_t length = 0;
	enum opk_number outcome = text[strspn(text, "+-.0123456789eE")]
	                                  ? OPK_NUMBER_NONE
	                                  : opk_number_read(out, &length, text);

	return outcome == OPK_NUMBER_GOOD && text[length] ? OPK_NUMBER_NONE : outcome;
}

bool opk_set_read_number(struct opk_set_reader *r, double *out, const struct opk_yaml *value)
{
	enum opk_number outcome = OPK_NUMBER_NONE;

	*out = 0;
	if (value->kind == OPK_YAML_SCALAR)
		outcome = read_decimal(out, value->text);
	r->problems->no_memory |= outcome == OPK_NUMBER_NOMEM;
	if (outcome == OPK_NUMBER_GOOD)
		return true;
	if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "a number is needed here, such as 2.5 or 1e9%s",
		                 outcome == OPK_NUMBER_LARGE   ? "; this one is too large"
		                 : outcome == OPK_NUMBER_SMALL ? "; a double would have this one as 0"
		                                               : "");
	return false;
}

bool opk_set_check_name(struct opk_set_reader *r, const struct opk_word *name, const char *what)
{
	const char *text = name->text;

	if (opk_formula_is_function(text))
		opk_problems_add(r->problems, &name->place, "%s is a function of formulas: take another name",
		                 text);
	else if (!opk_set_is_name(text))
		opk_problems_add(r->problems, &name->place,
		                 "'%.100s' can't be the name of a %s: take letters, digits and single "
		                 "underscores, a letter first", text, what);
	else
		return true;
	return false;
}

/* ---- maps */

/* Which field a key is, or was meant to be; `count` where none. */
static size_t find_field(struct opk_set_reader *r, const struct opk_yaml *key,
                         const struct opk_set_field *fields, size_t count, bool *known)
{
	struct opk_nearest nearest = { .name = key->text };
	size_t meant = count;

	for (size_t i = 0; i < count; i++) {
		*known = !strcmp(fields[i].name, key->text);
		if (*known)
			return i;
		opk_nearest_try(&nearest, fields[i].name);
		if (nearest.best == fields[i].name)
			meant = i;
	}
	/* {formula: max(a, b)} is two keys to YAML. */
	opk_problems_add(r->problems, &key->place, "unknown key '%.100s'" OPK_DID_YOU_MEAN "%s", key->text,
	                 OPK_NEAR(nearest.best),
	                 strpbrk(key->text, " ()") ? "; text with commas goes in quotes" : "");
	return meant;
}

unsigned opk_set_read_map(struct opk_set_reader *r, void *object, const struct opk_yaml *map,
                          const struct opk_set_field *fields, size_t count, const char *what)
{
	unsigned seen = 0;

	if (map->kind != OPK_YAML_MAP) {
		if (map->kind != OPK_YAML_BAD)
			opk_problems_add(r->problems, &map->place, "%s", what);
		return ~0U;
	}
	for (size_t i = 0; i + 1 < map->count; i += 2) {
		bool known = false;
		size_t field;

		/* Whatever this key was: it may have been one that is missing. */
		if (map->items[i].kind == OPK_YAML_BAD) {
			seen = ~0U;
			continue;
		}
		field = find_field(r, &map->items[i], fields, count, &known);
		if (known)
			fields[field].read(r, object, &map->items[i + 1]);
		if (field < count)
			seen |= 1U << field;
	}
	return seen;
}

/* ---- the keys of the file */

static void replace(struct opk_set_reader *r, char **field, const struct opk_yaml *value)
{
	struct opk_word word = { 0 };

	opk_set_read_word(r, &word, value);
	if (!word.text)
		return;
	free(*field);
	*field = word.text;
}

static void read_name(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	replace(r, &r->set->name, value);
}

static void read_description(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	replace(r, &r->set->description, value);
}

static void read_version(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	bool text = value->kind == OPK_YAML_SCALAR;
	unsigned long version = 0;

	(void)object;
	if (text && !value->text[opk_span(value->text, opk_is_digit)] && strlen(value->text) < 10)
		version = strtoul(value->text, NULL, 10);
	if (!version && value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "a version is a whole number from 1 on");
	r->set->version = version ? (unsigned)version : 1;
}

static void read_profiler(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	r->set->has_profiler = true;
	if (value->kind != OPK_YAML_BAD
	    && !(value->kind == OPK_YAML_SCALAR && opk_profiler_parse(&r->set->profiler, value->text)))
		opk_problems_add(r->problems, &value->place, "profiler must be range or pm");
}

static void read_chips(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	opk_set_read_words(r, &r->set->chips, value, "chip", "chips");
	check_cases(r, &r->set->chips, "chip");
}

static void read_includes(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	opk_set_read_words(r, &r->includes, value, "set", "sets");
}

static void read_metrics(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	opk_set_read_items(r, &r->set->items, value);
}

enum { NAME, INCLUDE, DERIVED, METRICS };

static const struct opk_set_field fields[] = {
	[NAME] = { "name", read_name },
	[INCLUDE] = { "include", read_includes },
	[DERIVED] = { "derived", opk_set_read_derived },
	[METRICS] = { "metrics", read_metrics },
	{ "version", read_version },
	{ "description", read_description },
	{ "profiler", read_profiler },
	{ "chips", read_chips },
	{ "parameters", opk_set_read_parameters },
	{ "constants", opk_set_read_constants },
	{ "changes", opk_set_read_changes },
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

void opk_set_read(struct opk_set_reader *r, const struct opk_yaml *root)
{
	unsigned seen = opk_set_read_map(r, NULL, root, fields, FIELD_COUNT,
	                                 "a metric set is a map with name, description and metrics");

	if (!(seen & 1U << NAME))
		opk_problems_add(r->problems, &root->place, "the key 'name' is missing");
	if (!(seen & (1U << METRICS | 1U << INCLUDE | 1U << DERIVED)))
		opk_problems_add(r->problems, &root->place,
		                 "the key 'metrics' is missing; 'include' or 'derived' would do, too");
}
