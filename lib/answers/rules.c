/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the rules of findings: data/findings.yaml. */
#include <string.h>

#include "adapters/yaml/yaml_tree.h"
#include "answers/answers_inside.h"
#include "base/decimal.h"
#include "chip/chip.h"

enum { MOST_RULES = 500, MARGIN = 10, MOST_MARGIN = 100 };

struct reading {
	struct opk_ctx *ctx;
	struct opk_problems problems;
	struct opk_answer_rules *rules;
};

/* ---- values of keys ------------------------------------------------------------------------- */

static const char *read_text(struct reading *r, const struct opk_yaml *value)
{
	struct opk_strlist *texts = &r->rules->texts;

	if (value->kind != OPK_YAML_SCALAR || !*value->text) {
		if (value->kind != OPK_YAML_BAD)
			opk_problems_add(&r->problems, &value->place, "text is needed here");
		return "";
	}
	if (!opk_problems_need(&r->problems, opk_strlist_add(texts, value->text)))
		return "";
	return texts->items[texts->count - 1];
}

static void read_formula(struct reading *r, struct opk_formula **out, const struct opk_yaml *value)
{
	const char *text = read_text(r, value);
	struct opk_place place;
	size_t offset = 0;
	int code;

	if (!*text || *out)
		return;
	code = opk_formula_parse(out, r->ctx, text, &offset);
	place = opk_place_within(&value->place, value->text, offset);
	if (code == OPK_EINPUT)
		opk_problems_add(&r->problems, &place, "%s", opk_innermost(r->ctx));
	else
		opk_problems_stop(&r->problems, code);
}

static void read_names(struct reading *r, struct opk_strlist *out, const struct opk_yaml *value)
{
	if (value->kind != OPK_YAML_LIST && value->kind != OPK_YAML_BAD)
		opk_problems_add(&r->problems, &value->place, "a list of names is needed here");
	for (size_t i = 0; value->kind == OPK_YAML_LIST && i < value->count; i++)
		opk_problems_need(&r->problems,
		                  opk_strlist_add(out, read_text(r, &value->items[i])));
}

static size_t read_bar(struct reading *r, const struct opk_yaml *value)
{
	const char *text = read_text(r, value);

	for (size_t i = 0; i < OPK_BARS; i++)
		if (!strcmp(opk_answers_bar(i), text))
			return i;
	opk_problems_add(&r->problems, &value->place, "there is no bar '%.100s'", text);
	return SIZE_MAX;
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const char limiter_keys[] =
	"name label percent yields margin within either unsure ranges alone bar";
static const char finding_keys[] =
	"name kernels when about only_if_named says gain relieves try because";

static void report_key(struct reading *r, const struct opk_yaml *word, const char *keys)
{
	opk_problems_add(&r->problems, &word->place, "unknown key '%.100s'; there are: %s",
	                 word->text, keys);
}

static void read_flag(struct reading *r, bool *out, const struct opk_yaml *value)
{
	*out = !strcmp(read_text(r, value), "true");
	if (!*out)
		opk_problems_add(&r->problems, &value->place, "true is needed, or no such key");
}

static void read_margin(struct reading *r, struct opk_limiter_rule *rule,
                        const struct opk_yaml *value)
{
	const char *text = read_text(r, value);
	double points;
	size_t length;

	if (opk_decimal_read(&points, &length, text) == OPK_DECIMAL_GOOD && !text[length]
	    && points >= 0 && points <= MOST_MARGIN)
		rule->margin = points;
	else
		opk_problems_add(&r->problems, &value->place, "points from 0 to 100 are needed");
}

static void read_limiter_key(struct reading *r, struct opk_limiter_rule *rule,
                             const struct opk_yaml *word, const struct opk_yaml *value)
{
	if (!strcmp(word->text, "name"))
		rule->name = read_text(r, value);
	else if (!strcmp(word->text, "label"))
		rule->label = read_text(r, value);
	else if (!strcmp(word->text, "percent"))
		read_formula(r, &rule->percent, value);
	else if (!strcmp(word->text, "yields"))
		read_names(r, &rule->yields, value);
	else if (!strcmp(word->text, "margin"))
		read_margin(r, rule, value);
	else if (!strcmp(word->text, "within"))
		rule->within = read_text(r, value);
	else if (!strcmp(word->text, "either"))
		read_flag(r, &rule->either, value);
	else if (!strcmp(word->text, "unsure"))
		read_flag(r, &rule->unsure, value);
	else if (!strcmp(word->text, "ranges"))
		read_flag(r, &rule->ranges, value);
	else if (!strcmp(word->text, "alone"))
		read_flag(r, &rule->alone, value);
	else if (!strcmp(word->text, "bar"))
		rule->bar = read_bar(r, value);
	else
		report_key(r, word, limiter_keys);
}

/* A part yields to parts before it, or lies within one: their ranks are known then. */
static void check_part(struct reading *r, const struct opk_yaml *map, const char *name)
{
	if (!opk_index_find(NULL, &r->rules->numbers, name))
		opk_problems_add(&r->problems, &map->place,
		                 "there is no limiter '%.100s' before this", name);
}

static void read_limiter(struct reading *r, const struct opk_yaml *map, enum opk_limiter_kind kind)
{
	struct opk_limiter_rule *rule = opk_list_add(&r->rules->limiters);
	struct opk_index *numbers = &r->rules->numbers;

	if (!opk_problems_need(&r->problems, rule))
		return;
	*rule = (struct opk_limiter_rule){ .kind = kind, .margin = MARGIN, .bar = SIZE_MAX };
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (map->items[i].kind != OPK_YAML_BAD)
			read_limiter_key(r, rule, &map->items[i], &map->items[i + 1]);
	for (size_t i = 0; i < rule->yields.count; i++)
		check_part(r, map, rule->yields.items[i]);
	if (rule->within)
		check_part(r, map, rule->within);
	if (!rule->name || !rule->label || !rule->percent)
		opk_problems_add(&r->problems, &map->place, "name, label and percent are needed");
	else if (opk_index_find(NULL, numbers, rule->name))
		opk_problems_add(&r->problems, &map->place, "a second '%.100s'", rule->name);
	else
		opk_problems_need(&r->problems, opk_index_add(numbers, rule->name,
		                                              r->rules->limiters.count - 1, NULL));
}

static void read_finding_key(struct reading *r, struct opk_finding_rule *rule,
                             const struct opk_yaml *word, const struct opk_yaml *value)
{
	if (!strcmp(word->text, "name"))
		rule->name = read_text(r, value);
	else if (!strcmp(word->text, "when"))
		read_formula(r, &rule->when, value);
	else if (!strcmp(word->text, "says"))
		rule->says = read_text(r, value);
	else if (!strcmp(word->text, "kernels"))
		read_names(r, &rule->kernels, value);
	else if (!strcmp(word->text, "gain"))
		read_formula(r, &rule->gain, value);
	else if (!strcmp(word->text, "relieves"))
		read_names(r, &rule->relieves, value);
	else if (!strcmp(word->text, "about"))
		read_names(r, &rule->about, value);
	else if (!strcmp(word->text, "only_if_named"))
		read_flag(r, &rule->only_if_named, value);
	else if (!strcmp(word->text, "try"))
		rule->advice = read_text(r, value);
	else if (!strcmp(word->text, "because"))
		rule->because = read_text(r, value);
	else
		report_key(r, word, finding_keys);
}

static void read_finding(struct reading *r, const struct opk_yaml *map)
{
	struct opk_finding_rule *rule = opk_list_add(&r->rules->findings);

	if (!opk_problems_need(&r->problems, rule))
		return;
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (map->items[i].kind != OPK_YAML_BAD)
			read_finding_key(r, rule, &map->items[i], &map->items[i + 1]);
	if (!rule->name || !rule->when || !rule->says || !rule->gain || !rule->advice
	    || !rule->because)
		opk_problems_add(&r->problems, &map->place,
		                 "name, when, says, gain, try and because are needed");
	for (size_t i = 0; i < rule->about.count; i++)
		check_part(r, map, rule->about.items[i]);
	for (size_t i = 0; i < rule->relieves.count; i++)
		if (strcmp(rule->relieves.items[i], "*") != 0
		    && !opk_index_find(NULL, &r->rules->numbers, rule->relieves.items[i]))
			opk_problems_add(&r->problems, &map->place, "there is no limiter '%.100s'",
			                 rule->relieves.items[i]);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* NULL: there is none. */
static const struct opk_yaml *value_of(const struct opk_yaml *root, const char *key)
{
	for (size_t i = 0; i + 1 < root->count; i += 2)
		if (root->items[i].kind == OPK_YAML_SCALAR && !strcmp(root->items[i].text, key))
			return &root->items[i + 1];
	return NULL;
}

/* Limiters come first: findings name them. */
static void read_part(struct reading *r, const struct opk_yaml *root, const char *key, int kind)
{
	const struct opk_yaml *list = value_of(root, key);

	if (!list || list->kind != OPK_YAML_LIST || list->count > MOST_RULES) {
		opk_problems_add(&r->problems, list ? &list->place : &root->place,
		                 "'%s': a list of at most %d rules is needed", key, MOST_RULES);
		return;
	}
	for (size_t i = 0; i < list->count && !r->problems.code; i++) {
		const struct opk_yaml *map = &list->items[i];

		if (map->kind != OPK_YAML_MAP)
			opk_problems_add(&r->problems, &map->place, "a rule is a map");
		else if (kind < OPK_LIMITER_KINDS)
			read_limiter(r, map, (enum opk_limiter_kind)kind);
		else
			read_finding(r, map);
	}
}

static int read_all(struct reading *r, struct opk_source *source)
{
	static const char *const parts[] = { "parts", "idle", "waits", "findings" };
	struct opk_yaml *root = NULL;
	int code = opk_yaml_parse(&root, r->ctx, &r->problems, source);

	if (code == OPK_ENOMEM)
		return code;
	if (root && root->kind == OPK_YAML_MAP && value_of(root, "needs"))
		read_names(r, &r->rules->needs, value_of(root, "needs"));
	if (root && root->kind == OPK_YAML_MAP && value_of(root, "doubt"))
		read_formula(r, &r->rules->doubt, value_of(root, "doubt"));
	for (int i = 0; root && root->kind == OPK_YAML_MAP && i <= OPK_LIMITER_KINDS; i++)
		read_part(r, root, parts[i], i);
	if (root && root->kind != OPK_YAML_MAP && root->kind != OPK_YAML_BAD)
		opk_problems_add(&r->problems, &root->place, "a file of findings is a map");
	opk_yaml_free(root);
	return OPK_OK;
}

int opk_answer_rules_read(struct opk_answer_rules *rules, struct opk_ctx *ctx, const char *name,
                          const char *text, size_t size)
{
	struct reading r = { .ctx = ctx, .rules = rules };
	opk_auto(opk_source) struct opk_source *source = opk_source_new(name, text, size);
	int code = source ? read_all(&r, source) : opk_nomem(ctx, "findings");

	if (!code)
		code = opk_problems_fail(ctx, &r.problems, OPK_EINPUT, name);
	opk_problems_clear(&r.problems);
	return code;
}

int opk_answer_rules_load(struct opk_answer_rules *rules, struct opk_ctx *ctx)
{
	opk_autofree char *text = NULL, *path = NULL;

	TRY(opk_data_file(&text, &path, ctx, "findings.yaml"));
	if (!text)
		return opk_fail(ctx, OPK_EFAILED, "%s is missing", path);
	return opk_answer_rules_read(rules, ctx, path, text, strlen(text));
}

void opk_answer_rules_clear(struct opk_answer_rules *rules)
{
	for (size_t i = 0; i < rules->limiters.count; i++) {
		opk_formula_free(rules->limiters.items[i].percent);
		opk_strlist_clear(&rules->limiters.items[i].yields);
	}
	for (size_t i = 0; i < rules->findings.count; i++) {
		opk_formula_free(rules->findings.items[i].when);
		opk_formula_free(rules->findings.items[i].gain);
		opk_strlist_clear(&rules->findings.items[i].relieves);
		opk_strlist_clear(&rules->findings.items[i].about);
		opk_strlist_clear(&rules->findings.items[i].kernels);
	}
	opk_strlist_clear(&rules->needs);
	opk_formula_free(rules->doubt);
	free(rules->limiters.items);
	free(rules->findings.items);
	opk_strlist_clear(&rules->texts);
	opk_index_clear(&rules->numbers);
	*rules = (struct opk_answer_rules){ 0 };
}
