/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the recordings, or their chips, have what rules name. */
#include <string.h>

#include "base/nearest.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "compare/compare.h"
#include "container/container.h"

struct check {
	struct opk_diff *diff;
	struct opk_ctx *ctx;
	struct opk_problems problems; /* of rules from files */
	struct opk_catalog *catalog;  /* for the first recording's chip; NULL: not opened yet */
	struct opk_nearest nearest;
	struct opk_strlist names; /* of values of the recordings */
};

/* Searches the names of values of a recording, or of the set used instead. */
static int look_in_names(bool *known, struct check *c, const struct opk_compared_source *source,
                         const char *name)
{
	struct opk_meta_names names = { 0 };

	TRY(opk_meta_names_init(&names, c->ctx, source->names));
	*known |= opk_meta_names_find(&names, name) != NULL;
	for (size_t i = 0; i < names.count; i++)
		opk_nearest_try(&c->nearest, names.items[i].name);
	opk_meta_names_clear(&names);
	/* The nearest name's text belongs to the metadata. */
	return OPK_OK;
}

/* Any full name of the chip can be evaluated; it is nan if it was not measured. */
static int open_catalog(struct check *c)
{
	const struct opk_meta *meta = c->diff->sources[0].meta;

	if (!c->catalog)
		TRY(opk_catalog_new(&c->catalog, c->ctx, meta->chip, meta->profiler));
	return opk_catalog_complete(c->catalog, c->ctx);
}

/* Columns requested by name, such as nvprof's names, which the metadata lacks. */
static bool is_asked_for(const struct check *c, const char *name)
{
	OPK_OPTIONS(opk_eval_options, eval, c->diff->options.eval);
	bool found = false;

	for (size_t i = 0; !eval.set && eval.metrics && i < eval.metric_count; i++)
		found |= !strcmp(eval.metrics[i], name);
	return found;
}

static int look_in_recordings(bool *known, struct check *c, const char *name)
{
	*known = !strcmp(name, opk_compared_duration) || is_asked_for(c, name);
	opk_nearest_try(&c->nearest, opk_compared_duration);
	for (size_t i = 0; !*known && i < c->diff->source_count; i++)
		TRY(look_in_names(known, c, &c->diff->sources[i], name));
	return OPK_OK;
}

/* Explains that no recording has this fact about launches or devices. */
static int explain_attribute(char **out, struct check *c, const char *name)
{
	int code = OPK_EUSAGE;

	for (size_t i = 0; code == OPK_EUSAGE && i < c->diff->source_count; i++) {
		opk_clear_errors(c->ctx);
		code = opk_attribute_check(c->ctx, name, c->diff->sources[i].meta);
	}
	if (code != OPK_EUSAGE)
		return code;
	*out = opk_strdup(opk_innermost(c->ctx));
	opk_clear_errors(c->ctx);
	return *out ? OPK_OK : opk_nomem(c->ctx, "rules");
}

/* Adds the names of a recording that are not known from another one. */
static int add_names(struct check *c, const struct opk_compared_source *source)
{
	opk_autonames struct opk_meta_names names = { 0 };
	bool good = true;

	TRY(opk_meta_names_init(&names, c->ctx, source->names));
	for (size_t i = 0; good && i < names.count; i++)
		good = opk_strlist_contains(&c->names, names.items[i].name)
		       || opk_strlist_add(&c->names, names.items[i].name);
	return good ? OPK_OK : opk_nomem(c->ctx, "names of values");
}

/* Words as on screens say more than letters that are alike. */
static int find_by_words(struct check *c)
{
	for (size_t i = 0; !c->names.count && i < c->diff->source_count; i++)
		TRY(add_names(c, &c->diff->sources[i]));
	return opk_nearest_by_words(&c->nearest, c->ctx, (const char *const *)c->names.items,
	                            c->names.count);
}

static bool has_metrics(const struct opk_diff *diff)
{
	for (size_t i = 0; i < diff->source_count; i++)
		if (strcmp(diff->sources[i].meta->mode, "trace") != 0)
			return true;
	return false;
}

/* What is wrong with the name, free(); NULL: nothing. */
static int explain(char **out, struct check *c, const char *name)
{
	bool known = false;
	int code;

	if (opk_compared_is_code(c->diff))
		return opk_compared_explain_code(out, c->diff, c->ctx, name);
	c->nearest = (struct opk_nearest){ .name = name };
	code = look_in_recordings(&known, c, name);
	if (code || known)
		return code;
	if (opk_attribute_is_like(name))
		return explain_attribute(out, c, name);
	if (strstr(name, "__") && has_metrics(c->diff)) {
		code = open_catalog(c);
		if (code || opk_catalog_has_full(c->catalog, c->ctx, name))
			return code;
		if (!c->nearest.best)
			*out = opk_catalog_explain(c->catalog, c->ctx, opk_catalog_chip(c->catalog),
			                           name);
	}
	if (!*out)
		TRY(find_by_words(c));
	if (!*out)
		*out = opk_printf("the %s no '%.200s'" OPK_DID_YOU_MEAN,
		                  c->diff->sources[0].set.meta.metric_count ? "set has"
		                                                            : "recordings have",
		                  name, OPK_NEAR(c->nearest.best));
	return *out ? OPK_OK : opk_nomem(c->ctx, "rules");
}

static int check_rule(struct check *c, const struct opk_compared_rule *rule)
{
	const char *name = rule->rule.metric;
	opk_autofree char *wrong = NULL;
	int code = *name ? explain(&wrong, c, name) : OPK_OK;

	if (!code && opk_compared_is_code(c->diff)) {
		opk_filter_judge_code(rule->filter);
		code = opk_filter_check(rule->filter, c->ctx, OPK_PROFILER_SASS);
	}
	if (code || !wrong)
		return code;
	if (!rule->place.source)
		return opk_fail(c->ctx, OPK_EUSAGE, "rule '%s': %s", rule->rule.text, wrong);
	opk_problems_add(&c->problems, &rule->place, "%s", wrong);
	return OPK_OK;
}

int opk_compared_check_rules(struct opk_diff *diff, struct opk_ctx *ctx)
{
	struct check c = { .diff = diff, .ctx = ctx };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < diff->rules.rules.count; i++)
		code = check_rule(&c, &diff->rules.rules.items[i]);
	if (!code)
		code = opk_problems_fail(ctx, &c.problems, OPK_EINPUT, "rules");
	opk_problems_clear(&c.problems);
	opk_strlist_clear(&c.names);
	opk_catalog_free(c.catalog);
	return code;
}
