/* SPDX-License-Identifier: BSD-2-Clause */
/* What a set defines by name: parameters, constants, derived metrics. */
#include <string.h>

#include "base/ascii.h"
#include "set/set_read.h"
#include "set/set.h"

/* Calls `take` with the value of each key that can be a name. */
static void each(struct opk_set_reader *r, const struct opk_yaml *map, const char *what,
                 void (*take)(struct opk_set_reader *r, const struct opk_word *name,
                              const struct opk_yaml *value))
{
	r->set->broken |= map->kind != OPK_YAML_MAP;
	if (map->kind != OPK_YAML_MAP && map->kind != OPK_YAML_BAD) {
		opk_problems_add(r->problems, &map->place,
		                 "a map is needed here, from the name of each %s", what);
		return;
	}
	for (size_t i = 0; map->kind == OPK_YAML_MAP && i + 1 < map->count; i += 2) {
		struct opk_word name = { map->items[i].text, map->items[i].place };

		/* The value is checked even if the name is bad and defines nothing. */
		if (map->items[i].kind == OPK_YAML_SCALAR) {
			opk_set_check_name(r, &name, what);
			take(r, &name, &map->items[i + 1]);
		}
	}
}

static void take_name(struct opk_set_reader *r, struct opk_word *out, const struct opk_word *name)
{
	out->place = name->place;
	out->text = opk_strdup(name->text);
	opk_problems_need(r->problems, out->text);
}

/* "" is valid: a number without a unit. */
static void read_unit(struct opk_set_reader *r, struct opk_word *out, const struct opk_yaml *value)
{
	char nothing[] = "";

	if (value->kind == OPK_YAML_SCALAR && !*value->text)
		take_name(r, out, &(struct opk_word){ nothing, value->place });
	else
		opk_set_read_word(r, out, value);
}

/* ---- parameters */

static void take_parameter(struct opk_set_reader *r, const struct opk_word *name,
                           const struct opk_yaml *value)
{
	struct opk_parameter *parameter = opk_list_add(&r->set->parameters);
	const char *text = value->kind == OPK_YAML_SCALAR ? value->text : NULL;

	if (!opk_problems_need(r->problems, parameter))
		return;
	if (value->kind != OPK_YAML_SCALAR && value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place,
		                 "plain text is needed here, the default of %.100s", name->text);
	if (text && strlen(text) > OPK_MAX_PARAMETER) {
		opk_problems_add(r->problems, &value->place,
		                 "a parameter has at most %d characters", OPK_MAX_PARAMETER);
		text = NULL;
	}
	take_name(r, &parameter->name, name);
	parameter->value = text ? opk_strdup(text) : NULL;
	opk_problems_need(r->problems, !text || parameter->value);
}

static void read_parameters(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	each(r, value, "parameter", take_parameter);
}

/* ---- constants */

static struct opk_constant *new_constant(struct opk_set_reader *r, const struct opk_word *name)
{
	struct opk_constant *constant = opk_list_add(&r->set->constants);

	opk_problems_need(r->problems, constant);
	if (constant)
		take_name(r, &constant->name, name);
	return constant;
}

static void add_value(struct opk_set_reader *r, struct opk_constant *constant,
                      const struct opk_yaml *key, double value)
{
	const struct opk_word *first = opk_where_find(&constant->where, constant->where.count,
	                                              key->text);
	const char *near = opk_where_nearest(key->text, false);

	if (first) {
		opk_problems_add(r->problems, &key->place,
		                 "duplicate key '%.100s', first as %.100s on line %zu", key->text,
		                 first->text, first->place.line);
		return;
	}
	if (!opk_where_known(r->ctx, r->problems, key->text, false)) {
		opk_problems_add(
			r->problems, &key->place,
			"'%.100s' is not a chip or architecture, nor unit or default" OPK_DID_YOU_MEAN,
			key->text, OPK_NEAR(near));
		constant->wrong = true;
		return;
	}
	if (!opk_words_add(&constant->where, key->text, &key->place)
	    || !opk_grow(&constant->values, &constant->value_capacity, constant->where.count - 1,
	                 sizeof *constant->values))
		r->problems->code = OPK_ENOMEM;
	else
		constant->values[constant->where.count - 1] = value;
}

static void read_constant_key(struct opk_set_reader *r, struct opk_constant *constant,
                              const struct opk_yaml *key, const struct opk_yaml *value)
{
	double number = 0;

	if (!strcmp(key->text, "unit")) {
		read_unit(r, &constant->unit, value);
		return;
	}
	opk_set_read_number(r, &number, value);
	if (!strcmp(key->text, "default")) {
		constant->has_default = true;
		constant->value = number;
	} else {
		add_value(r, constant, key, number);
	}
}

static void take_constant(struct opk_set_reader *r, const struct opk_word *name,
                          const struct opk_yaml *value)
{
	struct opk_constant *constant = new_constant(r, name);

	if (!constant)
		return;
	if (value->kind != OPK_YAML_MAP) {
		constant->has_default = true;
		opk_set_read_number(r, &constant->value, value);
		return;
	}
	for (size_t i = 0; i + 1 < value->count; i += 2)
		if (value->items[i].kind == OPK_YAML_SCALAR)
			read_constant_key(r, constant, &value->items[i], &value->items[i + 1]);
	if (constant->wrong || constant->has_default || constant->where.count)
		return;
	opk_problems_add(
		r->problems, &value->place,
		"constant %.100s has no value: give a default, or one for a chip or architecture",
		name->text);
	constant->wrong = true;
}

static void read_constants(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	each(r, value, "constant", take_constant);
}

/* ---- derived metrics */

static void read_derived_unit(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_formula_text *derived = object;

	read_unit(r, &derived->unit, value);
}

static const struct opk_set_field fields[] = {
	{ "formula", .word = offsetof(struct opk_formula_text, formula) },
	{ "unit", .read = read_derived_unit },
	{ "description", .word = offsetof(struct opk_formula_text, description) },
};

static void take_derived(struct opk_set_reader *r, const struct opk_word *name,
                         const struct opk_yaml *value)
{
	struct opk_formula_text *derived = opk_list_add(&r->set->derived);

	if (!opk_problems_need(r->problems, derived))
		return;
	take_name(r, &derived->name, name);
	if (value->kind == OPK_YAML_SCALAR && *value->text)
		opk_set_read_word(r, &derived->formula, value);
	else if (!(opk_set_read_map(r, derived, value, fields, 3,
	                            "a formula is needed here, or a map with one")
	           & 1))
		opk_problems_add(r->problems, &value->place, "the key 'formula' is missing");
}

static void read_derived(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	each(r, value, "derived metric", take_derived);
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
		opk_problems_add(r->problems, &value->place,
		                 "a version is a whole number from 1 on");
	r->set->version = version ? (unsigned)version : 1;
}

static void read_profiler(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	r->set->has_profiler = true;
	if (value->kind == OPK_YAML_SCALAR && opk_profiler_parse(&r->set->profiler, value->text))
		return;
	/* The profilers have different metrics. */
	r->set->unfit = true;
	if (value->kind != OPK_YAML_BAD)
		opk_problems_add(r->problems, &value->place,
		                 "profiler must be range, pm, sass or pc");
}

static void read_chips(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	opk_set_read_words(r, &r->set->chips, value, "chip", "chips");
	opk_set_check_cases(r, &r->set->chips, "chip");
	r->set->unfit |= !r->set->chips.count;
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

static const struct opk_set_field file_fields[] = {
	[NAME] = { "name", .read = read_name },
	[INCLUDE] = { "include", .read = read_includes },
	[DERIVED] = { "derived", .read = read_derived },
	[METRICS] = { "metrics", .read = read_metrics },
	{ "version", .read = read_version },
	{ "description", .read = read_description },
	{ "profiler", .read = read_profiler },
	{ "chips", .read = read_chips },
	{ "parameters", .read = read_parameters },
	{ "constants", .read = read_constants },
	{ "changes", .read = opk_set_read_changes },
	{ "roofline", .read = opk_set_read_roofline },
};

enum { FIELD_COUNT = sizeof file_fields / sizeof *file_fields };

void opk_set_read(struct opk_set_reader *r, const struct opk_yaml *root)
{
	unsigned seen =
		opk_set_read_map(r, NULL, root, file_fields, FIELD_COUNT,
	                         "a metric set is a map with name, description and metrics");

	if (!(seen & 1U << NAME))
		opk_problems_add(r->problems, &root->place, "the key 'name' is missing");
	/* Without metrics, samples of program counters have all reasons. */
	if (!(seen & (1U << METRICS | 1U << INCLUDE | 1U << DERIVED))
	    && r->set->profiler != OPK_PROFILER_PC)
		opk_problems_add(
			r->problems, &root->place,
			"the key 'metrics' is missing; 'include' or 'derived' would do, too");
}
