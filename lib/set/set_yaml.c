/* SPDX-License-Identifier: BSD-2-Clause */
/* The YAML form of a metric set, docs/metric-sets.md: values and maps. */
#include <string.h>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/decimal.h"
#include "formula/formula.h"
#include "set/set_read.h"
#include "set/set.h"

bool opk_set_is_name(const char *text)
{
	return opk_is_letter(*text) && !text[opk_span(text, opk_in_name)] && !strstr(text, "__")
	       && strlen(text) <= 100;
}

bool opk_words_add(struct opk_words *words, const char *text, const struct opk_place *place)
{
	struct opk_word *word = opk_list_add(words);

	if (!word)
		return false;
	word->place = *place;
	word->text = opk_strdup(text);
	words->count -= !word->text;
	return word->text != NULL;
}

void opk_words_clear(struct opk_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i].text);
	free(words->items);
}

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
	opk_problems_need(r->problems, out->text);
	return out->text != NULL;
}

void opk_set_read_word(struct opk_set_reader *r, struct opk_word *out, const struct opk_yaml *value)
{
	if (value->kind == OPK_YAML_SCALAR && *value->text)
		copy_word(r, out, value);
	else if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "text is needed here");
}

const struct opk_yaml *opk_set_check_list(struct opk_set_reader *r, size_t *count,
                                          const struct opk_yaml *value, const char *many)
{
	*count = 0;
	if (value->kind == OPK_YAML_BAD)
		return NULL;
	if (value->kind == OPK_YAML_LIST && value->count && value->count <= OPK_MAX_SET_METRICS) {
		*count = value->count;
		return value->items;
	}
	if (value->kind == OPK_YAML_LIST && value->count)
		opk_problems_add(r->problems, &value->place, "more than %d %s", OPK_MAX_SET_METRICS,
		                 many);
	else
		opk_problems_add(r->problems, &value->place, "a list of %s is needed here", many);
	/* Text is read as a list of one item. */
	*count = value->kind == OPK_YAML_SCALAR && *value->text;
	return value;
}

void opk_set_read_words(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value, const char *one, const char *many)
{
	opk_autoindex struct opk_index seen = { 0 };
	size_t count;
	const struct opk_yaml *items = opk_set_check_list(r, &count, value, many);

	for (size_t i = 0; i < count; i++) {
		const struct opk_yaml *item = &items[i];
		size_t first = i;

		if (item->kind == OPK_YAML_BAD)
			continue;
		if (item->kind != OPK_YAML_SCALAR || !*item->text)
			opk_problems_add(r->problems, &item->place,
			                 "one of the %s is needed here, as plain text", many);
		else if (!opk_index_add(&seen, item->text, i, &first)
		         || (first == i && !opk_words_add(out, item->text, &item->place)))
			r->problems->code = OPK_ENOMEM;
		else if (first < i)
			opk_problems_add(r->problems, &item->place, "%s %.100s is listed twice",
			                 one, item->text);
	}
}

void opk_set_check_cases(struct opk_set_reader *r, const struct opk_words *words, const char *one)
{
	for (size_t i = 1; i < words->count; i++)
		if (opk_where_find(words, i, words->items[i].text))
			opk_problems_add(r->problems, &words->items[i].place,
			                 "%s %.100s is listed twice", one, words->items[i].text);
}

/* Replaces the word by the one that was probably meant; false if none is near. */
static bool correct(struct opk_set_reader *r, struct opk_word *word)
{
	const char *near = opk_where_nearest(word->text, true);

	if (opk_where_known(r->ctx, r->problems, word->text, true))
		return true;
	opk_problems_add(r->problems, &word->place,
	                 "'%.100s' is not a chip, architecture or profiler" OPK_DID_YOU_MEAN,
	                 word->text, OPK_NEAR(near));
	if (!near)
		return false;
	free(word->text);
	word->text = opk_strdup(near);
	opk_problems_need(r->problems, word->text);
	return word->text != NULL;
}

bool opk_set_read_where(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value)
{
	bool sure;

	opk_set_read_words(r, out, value, "the word", "chips, architectures or profilers");
	opk_set_check_cases(r, out, "the word");
	sure = out->count != 0;
	for (size_t i = 0; i < out->count && !r->problems->code; i++)
		sure &= correct(r, &out->items[i]);
	return sure;
}

bool opk_set_read_bool(struct opk_set_reader *r, bool *out, const struct opk_yaml *value)
{
	bool text = value->kind == OPK_YAML_SCALAR;

	*out = text && !strcmp(value->text, "true");
	if (*out || (text && !strcmp(value->text, "false")))
		return true;
	if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place, "true or false is needed here");
	return false;
}

/* Hexadecimal numbers, infinity and the like are not valid numbers in sets. */
static enum opk_decimal read_decimal(double *out, const char *text)
{
	size_t length = 0;
	enum opk_decimal outcome = text[strspn(text, "+-.0123456789eE")]
	                                   ? OPK_DECIMAL_NONE
	                                   : opk_decimal_read(out, &length, text);

	return outcome == OPK_DECIMAL_GOOD && text[length] ? OPK_DECIMAL_NONE : outcome;
}

bool opk_set_read_number(struct opk_set_reader *r, double *out, const struct opk_yaml *value)
{
	enum opk_decimal outcome = OPK_DECIMAL_NONE;

	*out = 0;
	if (value->kind == OPK_YAML_SCALAR)
		outcome = read_decimal(out, value->text);
	opk_problems_need(r->problems, outcome != OPK_DECIMAL_NOMEM);
	if (outcome == OPK_DECIMAL_GOOD)
		return true;
	if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place,
		                 "a number is needed here, such as 2.5 or 1e9%s",
		                 outcome == OPK_DECIMAL_LARGE ? "; this one is too large"
		                 : outcome == OPK_DECIMAL_SMALL
		                         ? "; a double would have this one as 0"
		                         : "");
	return false;
}

bool opk_set_check_name(struct opk_set_reader *r, const struct opk_word *name, const char *what)
{
	const char *text = name->text;

	if (opk_formula_is_function(text))
		opk_problems_add(r->problems, &name->place,
		                 "%s is a function of formulas: take another name", text);
	else if (!opk_set_is_name(text))
		opk_problems_add(
			r->problems, &name->place,
			"'%.100s' can't be the name of a %s: take letters, digits and single "
			"underscores, a letter first",
			text, what);
	else
		return true;
	return false;
}

/* ---- maps */

/* The key that an unknown key was probably meant to be. */
struct meant {
	size_t field; /* the number of fields: no key */
	bool sure;
};

static bool find_field(size_t *out, const char *key, const struct opk_set_field *fields,
                       size_t count)
{
	for (*out = 0; *out < count; ++*out)
		if (!strcmp(fields[*out].name, key))
			return true;
	return false;
}

/* The one field that a key abbreviates; `count`: none, or several. */
static size_t find_abbreviated(const char *key, const struct opk_set_field *fields, size_t count)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		if (!opk_is_abbreviation(key, fields[i].name))
			continue;
		if (found < count)
			return count;
		found = i;
	}
	return found;
}

static struct meant report_unknown(struct opk_set_reader *r, const struct opk_yaml *key,
                                   const struct opk_set_field *fields, size_t count)
{
	struct opk_nearest nearest = { .name = key->text };
	struct meant meant = { .field = count };

	for (size_t i = 0; i < count; i++) {
		opk_nearest_try(&nearest, fields[i].name);
		if (nearest.best == fields[i].name)
			meant.field = i;
	}
	meant.sure = nearest.best && 3 * nearest.distance <= strlen(key->text);
	if (!nearest.best) {
		meant.field = find_abbreviated(key->text, fields, count);
		meant.sure = meant.field < count;
		nearest.best = meant.sure ? fields[meant.field].name : NULL;
	}
	/* YAML reads {formula: max(a, b)} as two keys. */
	opk_problems_add(r->problems, &key->place, "unknown key '%.100s'" OPK_DID_YOU_MEAN "%s",
	                 key->text, OPK_NEAR(nearest.best),
	                 strpbrk(key->text, " ()") ? "; text with commas goes in quotes" : "");
	return meant;
}

bool opk_yaml_has_key(const struct opk_yaml *map, const char *name)
{
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (map->items[i].kind == OPK_YAML_SCALAR && !strcmp(map->items[i].text, name))
			return true;
	return false;
}

/* Reads what it can, whether problems are reported or not. */
static void read_field(struct opk_set_reader *r, void *object, const struct opk_yaml *value,
                       const struct opk_set_field *field, bool report)
{
	opk_autoproblems struct opk_problems quiet = { 0 };
	struct opk_problems *problems = r->problems;

	if (!report)
		r->problems = &quiet;
	if (field->read)
		field->read(r, object, value);
	else
		opk_set_read_word(r, (struct opk_word *)((char *)object + field->word), value);
	r->problems = problems;
	opk_problems_stop(problems, quiet.code);
}

void opk_set_read_quietly(struct opk_set_reader *r, void *object, const struct opk_yaml *value,
                          const struct opk_set_field *field)
{
	read_field(r, object, value, field, false);
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
		const struct opk_yaml *key = &map->items[i], *value = &map->items[i + 1];
		struct meant meant;
		size_t field;

		/* This key may be a missing one. */
		if (key->kind == OPK_YAML_BAD) {
			seen = ~0U;
			continue;
		}
		if (find_field(&field, key->text, fields, count)) {
			read_field(r, object, value, &fields[field], true);
			seen |= 1U << field;
			continue;
		}
		meant = report_unknown(r, key, fields, count);
		if (meant.field == count)
			continue;
		seen |= 1U << meant.field;
		/* Errors below the key are reported only if the intended key is certain. */
		if (!opk_yaml_has_key(map, fields[meant.field].name))
			read_field(r, object, value, &fields[meant.field], meant.sure);
	}
	return seen;
}
