/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses rules as people write them on a command line. */
#include <string.h>

#include "base/decimal.h"
#include "compare/compare.h"

static const char unmatched[] = "unmatched";

static void clear_rule(struct opk_compared_rule *rule)
{
	free(rule->text);
	free(rule->metric);
	free(rule->reason);
	opk_strlist_clear(&rule->where);
	opk_filter_free(rule->filter);
	*rule = (struct opk_compared_rule){ 0 };
}

void opk_diff_rules_clear(struct opk_diff_rules *rules)
{
	for (size_t i = 0; i < rules->rules.count; i++)
		clear_rule(&rules->rules.items[i]);
	for (size_t i = 0; i < rules->sources.count; i++)
		opk_source_free(rules->sources.items[i]);
	free(rules->rules.items);
	free(rules->sources.items);
}

/* ---- text ------------------------------------------------------------------------------- */

static size_t skip_blanks(const char *text)
{
	return strspn(text, " \t");
}

/* A copy without surrounding blanks; NULL when out of memory. */
static char *trimmed(const char *text, size_t length)
{
	size_t begin = skip_blanks(text);

	begin = begin < length ? begin : length;
	while (length > begin && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	return opk_strndup(text + begin, length - begin);
}

static const char *parse_limit(struct opk_diff_rule *rule, const char *text)
{
	size_t length = 0;

	rule->less = *text == '<';
	text++;
	rule->equal = *text == '=';
	text += rule->equal;
	text += skip_blanks(text);
	if (opk_decimal_read(&rule->limit, &length, text) != OPK_DECIMAL_GOOD)
		return "a number is needed after < or >, such as 5% or 1.5e6";
	text += length;
	text += skip_blanks(text);
	rule->relative = *text == '%';
	text += rule->relative;
	text += skip_blanks(text);
	return *text ? "nothing may follow the number but %" : NULL;
}

bool opk_compared_rule_parse(struct opk_compared_rule *out, const char **wrong, const char *text)
{
	size_t length = strcspn(text, "<>");

	*wrong = NULL;
	out->text = trimmed(text, strlen(text));
	out->metric = text[length] ? trimmed(text, length) : opk_strdup("");
	if (!out->text || !out->metric)
		return false;
	out->rule.text = out->text;
	out->rule.metric = out->metric;
	out->rule.reason = "";
	if (!text[length])
		*wrong = strcmp(out->text, unmatched)
		                 ? "a rule is METRIC>5%, METRIC<-3%, METRIC>1.5e6, or unmatched"
		                 : NULL;
	else if (!*out->metric)
		*wrong = "a metric is needed before < or >";
	else
		*wrong = parse_limit(&out->rule, text + length);
	return !*wrong;
}

int opk_diff_rules_add(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *text)
{
	struct opk_compared_rule *rule = opk_list_add(&rules->rules);
	const char *wrong = NULL;

	if (rule && opk_compared_rule_parse(rule, &wrong, text))
		return OPK_OK;
	if (rule) {
		clear_rule(rule);
		rules->rules.count--;
	}
	return wrong ? opk_fail(ctx, OPK_EUSAGE, "rule '%s': %s", text, wrong)
	             : opk_nomem(ctx, "rules");
}

bool opk_compared_is_ruled(const struct opk_diff_rules *rules, const char *metric)
{
	for (size_t i = 0; i < rules->rules.count; i++)
		if (!strcmp(rules->rules.items[i].metric, metric))
			return true;
	return false;
}
