/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters over metrics, by name, description, type and unit. */
#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ctx.h"
#include "base/mem.h"
#include "base/option_struct.h"
#include "chip/door.h"

struct opk_matcher {
	struct opk_metric_list_options filter; /* strings borrowed from the caller */
	regex_t grep;
	/* The globs, borrowed: first plain names, sorted, then patterns. */
	const char **globs;
	size_t name_count;
};

static bool is_name(const char *glob)
{
	return !strpbrk(glob, "*?[\\");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts names for a fast search: there may be hundreds, and all metrics are compared. */
static bool sort_globs(struct opk_matcher *matcher)
{
	const struct opk_metric_list_options *filter = &matcher->filter;
	size_t patterns = 0;

	matcher->globs = opk_alloc_array(filter->glob_count + 1, sizeof *matcher->globs);
	for (size_t i = 0; matcher->globs && i < filter->glob_count; i++) {
		if (is_name(filter->globs[i]))
			matcher->globs[matcher->name_count++] = filter->globs[i];
		else
			matcher->globs[filter->glob_count - ++patterns] = filter->globs[i];
	}
	if (matcher->name_count)
		qsort(matcher->globs, matcher->name_count, sizeof *matcher->globs, compare_names);
	return matcher->globs != NULL;
}

int opk_matcher_new(struct opk_matcher **out, struct opk_ctx *ctx,
                    const struct opk_metric_list_options *given)
{
	OPK_OPTIONS(opk_metric_list_options, filter, given);
	struct opk_matcher *matcher = opk_alloc(sizeof *matcher);
	int status;

	if (!matcher)
		return opk_nomem(ctx, "a filter");
	matcher->filter = filter;
	if (!sort_globs(matcher)) {
		free(matcher);
		return opk_nomem(ctx, "a filter");
	}
	status = filter.grep ? regcomp(&matcher->grep, filter.grep,
	                               REG_EXTENDED | REG_ICASE | REG_NOSUB)
	                     : 0;
	if (status) {
		char reason[128];

		regerror(status, &matcher->grep, reason, sizeof reason);
		free(matcher->globs);
		free(matcher);
		return opk_fail(ctx, OPK_EUSAGE, "regular expression '%s': %s", filter.grep,
		                reason);
	}
	*out = matcher;
	return OPK_OK;
}

void opk_matcher_free(struct opk_matcher *matcher)
{
	if (!matcher)
		return;
	if (matcher->filter.grep)
		regfree(&matcher->grep);
	free(matcher->globs);
	free(matcher);
}

static bool match_globs(const struct opk_matcher *matcher, const char *name)
{
	size_t count = matcher->filter.glob_count;

	if (matcher->name_count
	    && bsearch(&name, matcher->globs, matcher->name_count, sizeof name, compare_names))
		return true;
	for (size_t i = matcher->name_count; i < count; i++)
		if (!fnmatch(matcher->globs[i], name, 0))
			return true;
	return count == 0;
}

static bool match_grep(const struct opk_matcher *matcher, const char *name, const char *description)
{
	return !matcher->filter.grep || !regexec(&matcher->grep, name, 0, NULL, 0)
	       || !regexec(&matcher->grep, description, 0, NULL, 0);
}

static bool match_kind(const struct opk_metric_list_options *filter,
                       const struct opk_metric *metric)
{
	return (!filter->has_type || metric->type == filter->type)
	       && (!filter->unit || !strcasecmp(metric->hw_unit, filter->unit));
}

bool opk_matcher_match_full(const struct opk_matcher *matcher, const struct opk_metric *metric,
                            const char *full)
{
	const struct opk_metric_list_options *filter = &matcher->filter;

	return match_kind(filter, metric)
	       && (match_globs(matcher, metric->name) || match_globs(matcher, full))
	       && match_grep(matcher, full, metric->description);
}

bool opk_matcher_match(const struct opk_matcher *matcher, const struct opk_metric *metric)
{
	return opk_matcher_match_full(matcher, metric, metric->name);
}
