/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads rules from YAML files (docs/ci.md), and all rules of the options. */
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "compare/compare.h"

enum { MOST_BYTES = 1 << 20, MOST_RULES = 1000 };

struct reading {
	struct opk_ctx *ctx;
	struct opk_problems problems;
	struct opk_diff_rules *rules;
	bool code; /* rows are of code */
};

/* A key of a map, and the function for its value. */
struct key {
	const char *name;
	void (*read)(struct reading *r, struct opk_compared_rule *rule,
	             const struct opk_yaml *value);
};

/* ---- maps ------------------------------------------------------------------------------- */

static const struct key *find_key(struct reading *r, const struct opk_yaml *word,
                                  const struct key *keys)
{
	struct opk_nearest nearest = { .name = word->text };

	for (const struct key *key = keys; key->name; key++) {
		if (!strcmp(key->name, word->text))
			return key;
		opk_nearest_try(&nearest, key->name);
	}
	opk_problems_add(&r->problems, &word->place, "unknown key '%.100s'" OPK_DID_YOU_MEAN,
	                 word->text, OPK_NEAR(nearest.best));
	return NULL;
}

/* Whether the map has the key `needed`, or one that may be a misspelling of it. */
static bool read_map(struct reading *r, struct opk_compared_rule *rule, const struct opk_yaml *map,
                     const struct key *keys, const char *needed)
{
	bool seen = false;

	for (size_t i = 0; i + 1 < map->count; i += 2) {
		const struct opk_yaml *word = &map->items[i];
		const struct key *key = word->kind == OPK_YAML_BAD ? NULL : find_key(r, word, keys);

		seen |= !key || !strcmp(key->name, needed);
		if (key)
			key->read(r, rule, &map->items[i + 1]);
	}
	if (!seen)
		opk_problems_add(&r->problems, &map->place, "the key '%s' is missing", needed);
	return seen;
}

/* NULL: not a text, which is reported. */
static const char *read_text(struct reading *r, const struct opk_yaml *value)
{
	if (value->kind == OPK_YAML_SCALAR && *value->text)
		return value->text;
	if (value->kind != OPK_YAML_BAD)
		opk_problems_add(&r->problems, &value->place, "text is needed here");
	return NULL;
}

/* ---- a rule ----------------------------------------------------------------------------- */

static void read_fail(struct reading *r, struct opk_compared_rule *rule,
                      const struct opk_yaml *value)
{
	const char *text = read_text(r, value), *wrong;

	if (!text)
		return;
	rule->place = value->place;
	/* A duplicate key is already reported. */
	if (rule->text || opk_compared_rule_parse(rule, &wrong, text))
		return;
	if (opk_problems_need(&r->problems, wrong))
		opk_problems_add(&r->problems, &value->place, "%s", wrong);
}

static void read_condition(struct reading *r, struct opk_compared_rule *rule,
                           const struct opk_yaml *value)
{
	const char *text = read_text(r, value);
	struct opk_filter *filter = NULL;
	int code = text ? opk_filter_new(&filter, r->ctx, &text, 1) : OPK_OK;

	if (r->code)
		opk_filter_judge_code(filter);
	if (code == OPK_EUSAGE)
		opk_problems_add(&r->problems, &value->place, "%s", opk_innermost(r->ctx));
	else if (!code && opk_filter_value_count(filter))
		opk_problems_add(&r->problems, &value->place,
		                 "'%.100s' is not a fact of rows, such as %s",
		                 opk_filter_value(filter, 0),
		                 r->code ? "function or line" : "kernel or grid");
	opk_filter_free(filter);
	if (code != OPK_EUSAGE)
		opk_problems_stop(&r->problems, code);
	if (text)
		opk_problems_need(&r->problems, opk_strlist_add(&rule->where, text));
}

static void read_where(struct reading *r, struct opk_compared_rule *rule,
                       const struct opk_yaml *value)
{
	if (value->kind != OPK_YAML_LIST)
		read_condition(r, rule, value);
	for (size_t i = 0; value->kind == OPK_YAML_LIST && i < value->count; i++)
		read_condition(r, rule, &value->items[i]);
}

static void read_reason(struct reading *r, struct opk_compared_rule *rule,
                        const struct opk_yaml *value)
{
	const char *text = read_text(r, value);

	if (!text || rule->reason)
		return;
	rule->reason = opk_strdup(text);
	opk_problems_need(&r->problems, rule->reason);
}

static const struct key rule_keys[] = {
	{ "fail", read_fail }, { "where", read_where }, { "reason", read_reason }, { 0 }
};

static void finish_rule(struct reading *r, struct opk_compared_rule *rule)
{
	int code = OPK_OK;

	rule->rule.where = opk_strlist_items(&rule->where);
	rule->rule.where_count = rule->where.count;
	rule->rule.reason = rule->reason ? rule->reason : "";
	if (rule->where.count && !r->problems.count)
		code = opk_filter_new(&rule->filter, r->ctx, rule->rule.where, rule->where.count);
	opk_problems_stop(&r->problems, code);
}

static void read_rule(struct reading *r, const struct opk_yaml *value)
{
	struct opk_compared_rule *rule;

	if (value->kind == OPK_YAML_BAD)
		return;
	rule = opk_list_add(&r->rules->rules);
	if (!opk_problems_need(&r->problems, rule))
		return;
	if (value->kind == OPK_YAML_MAP)
		read_map(r, rule, value, rule_keys, "fail");
	else
		read_fail(r, rule, value);
	finish_rule(r, rule);
}

/* ---- the file --------------------------------------------------------------------------- */

static void read_rules(struct reading *r, struct opk_compared_rule *rule,
                       const struct opk_yaml *value)
{
	(void)rule;
	if (value->kind == OPK_YAML_BAD)
		return;
	if (value->kind != OPK_YAML_LIST || !value->count || value->count > MOST_RULES) {
		opk_problems_add(&r->problems, &value->place,
		                 "a list of rules is needed here, of at most %d", MOST_RULES);
		return;
	}
	for (size_t i = 0; i < value->count && !r->problems.code; i++)
		read_rule(r, &value->items[i]);
}

/* Text for people who read the file. */
static void read_prose(struct reading *r, struct opk_compared_rule *rule,
                       const struct opk_yaml *value)
{
	(void)rule;
	read_text(r, value);
}

static const struct key file_keys[] = {
	{ "name", read_prose }, { "description", read_prose }, { "rules", read_rules }, { 0 }
};

static int read_file(struct reading *r, struct opk_source *source)
{
	struct opk_yaml *root = NULL;
	int code = opk_yaml_parse(&root, r->ctx, &r->problems, source);

	if (code == OPK_ENOMEM)
		return code;
	if (root && root->kind == OPK_YAML_MAP)
		read_map(r, NULL, root, file_keys, "rules");
	else if (root && root->kind != OPK_YAML_BAD)
		opk_problems_add(&r->problems, &root->place,
		                 "a file of rules is a map with the key 'rules'");
	opk_yaml_free(root);
	return OPK_OK;
}

static int keep_source(struct opk_source **out, struct opk_ctx *ctx, struct opk_diff_rules *rules,
                       const char *path)
{
	opk_autofree void *text = NULL;
	struct opk_source **kept;
	size_t size;

	TRY(opk_read_small_file(&text, &size, ctx, path, MOST_BYTES));
	kept = opk_list_add(&rules->sources);
	if (!kept)
		return opk_nomem(ctx, "rules");
	*out = *kept = opk_source_new(path, text, size);
	return *out ? OPK_OK : opk_nomem(ctx, "rules");
}

int opk_diff_rules_load(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *path,
                        bool code_rows)
{
	struct reading r = { .ctx = ctx, .rules = rules, .code = code_rows };
	struct opk_source *source = NULL;
	int code = keep_source(&source, ctx, rules, path);

	if (!code)
		code = read_file(&r, source);
	if (!code)
		code = opk_problems_fail(ctx, &r.problems, OPK_EINPUT, path);
	opk_problems_clear(&r.problems);
	return code;
}

int opk_diff_rules_read(struct opk_diff_rules *rules, struct opk_ctx *ctx,
                        const struct opk_diff_options *options)
{
	for (size_t i = 0; i < options->rule_count; i++)
		TRY(opk_diff_rules_add(rules, ctx, options->rules[i]));
	for (size_t i = 0; i < options->rule_file_count; i++)
		TRY(opk_diff_rules_load(rules, ctx, options->rule_files[i],
		                        options->rows >= OPK_ROWS_INSTRUCTIONS));
	return OPK_OK;
}

int opk_diff_check_rules(struct opk_ctx *ctx, const struct opk_diff_options *options)
{
	struct opk_diff_rules rules = { 0 };
	int code = opk_diff_rules_read(&rules, ctx, options);

	opk_diff_rules_clear(&rules);
	return code;
}
