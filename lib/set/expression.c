/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs regular expressions in a child process with limits, since glibc sets none. */
#include "set/set.h"

#include <regex.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "child/child.h"

struct work {
	const char *expression; /* matches a whole name */
	const struct opk_names *names;
	double seconds;
};

/* ---- expressions that need no child */

/* Whether it has no anchors, classes or repetition except ".*": glibc copies nodes for those. */
static bool is_plain(const char *expression)
{
	for (const char *c = expression; *c; c++)
		if (*c == '\\'  ? *++c != '.'
		    : *c == '*' ? c == expression || c[-1] != '.'
		                : !opk_in_name(*c) && !strchr(".|()?", *c))
			return false;
	return true;
}

/*
 * Whether matching costs less than a child: it has no ".", and few ".*". glibc has a state for each
 * combination of positions that matching may have reached; here these are hardly more than the
 * expression has characters.
 */
static bool is_quick(const char *expression)
{
	enum { MOST = 400, MOST_REPEATED = 4 };
	size_t repeated = 0;

	if (!is_plain(expression) || strlen(expression) > MOST)
		return false;
	for (const char *c = expression; *c; c++) {
		if (*c == '\\')
			c++;
		else if (*c == '.' && (c[1] != '*' || ++repeated > MOST_REPEATED))
			return false;
	}
	return true;
}

static int compile(regex_t *out, struct opk_ctx *ctx, const char *expression)
{
	int status = regcomp(out, expression, REG_EXTENDED | REG_NOSUB);
	char reason[128];

	if (!status)
		return OPK_OK;
	regerror(status, out, reason, sizeof reason);
	return opk_fail(ctx, status == REG_ESPACE ? OPK_EINPUT : OPK_EUSAGE, "%s", reason);
}

static int match_here(size_t **out, size_t *count, struct opk_ctx *ctx, const char *whole,
                      const struct opk_names *names)
{
	opk_autofree size_t *numbers = NULL;
	size_t capacity = 0;
	const char *name;
	regex_t regex;
	int code = compile(&regex, ctx, whole);

	if (code)
		return code;
	*count = 0;
	for (size_t i = 0; !code && (name = names->next(names->data)); i++) {
		if (regexec(&regex, name, 0, NULL, 0))
			continue;
		if (opk_grow(&numbers, &capacity, *count, sizeof *numbers))
			numbers[(*count)++] = i;
		else
			code = opk_nomem(ctx, "names");
	}
	regfree(&regex);
	*out = opk_take(numbers);
	return code;
}

/* ---- in the child */

static void end_late(int number)
{
	(void)number;
	signal(SIGXCPU, SIG_DFL);
	raise(SIGXCPU);
}

/* Limits the process's own time, to the millisecond; the system's limit counts seconds. */
static void set_end(double seconds)
{
	struct itimerval timer = { .it_value = { .tv_sec = (time_t)seconds } };

	timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6) | 1;
	signal(SIGPROF, end_late);
	setitimer(ITIMER_PROF, &timer, NULL);
}

static int find(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct work *work = data;
	regex_t regex;
	const char *name;
	int status = REG_NOMATCH;

	set_end(work->seconds);
	TRY(compile(&regex, ctx, work->expression));
	for (size_t i = 0; status != REG_ESPACE && (name = work->names->next(work->names->data));
	     i++) {
		status = regexec(&regex, name, 0, NULL, 0);
		if (!status)
			opk_put_number(child, i);
	}
	regfree(&regex);
	return status == REG_ESPACE ? OPK_EINPUT : OPK_OK;
}

/* ---- in the parent */

static int read_numbers(size_t **out, size_t *count, struct opk_ctx *ctx, struct opk_result *result)
{
	opk_autofree size_t *numbers = NULL;
	size_t capacity = 0;

	*count = 0;
	while (result->at < result->end && !result->code) {
		if (!opk_grow(&numbers, &capacity, *count, sizeof *numbers))
			return opk_nomem(ctx, "names");
		numbers[(*count)++] = opk_get_number(result, SIZE_MAX);
	}
	*out = opk_take(numbers);
	return opk_result_check(result, ctx);
}

/* The processor time of ended children, without the system's time to make and end them. */
static double seconds_of_children(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

int opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx, const char *expression,
                         const struct opk_names *names)
{
	opk_autofree char *whole = opk_printf("^(%s)$", expression);
	opk_autosent struct opk_result result = { 0 };
	struct work work = { whole, names, *names->seconds };
	/* A timeout counts as a crash; glibc itself reports a lack of memory. */
	struct opk_contain_options options = {
		.limits = { .data = (uint64_t)OPK_EXPRESSION_MEGABYTES << 20,
		            .seconds = *names->seconds > 0 ? 1 + (unsigned)*names->seconds : 0 },
	};
	double before = seconds_of_children();
	int code = OPK_EINPUT;

	if (!whole)
		return opk_nomem(ctx, "a regular expression");
	if (is_quick(expression))
		return match_here(out, count, ctx, whole, names);
	if (*names->seconds > 0)
		code = opk_contain(&result, ctx, find, &work, &options);
	*names->seconds -= seconds_of_children() - before;
	if (code != OPK_EINPUT)
		return code ? code : read_numbers(out, count, ctx, &result);
	*names->seconds = 0;
	return opk_fail(
		ctx, code,
		"with this the expressions of a set take more than %d seconds on a chip, or "
		"more than %d MB",
		OPK_EXPRESSION_SECONDS, OPK_EXPRESSION_MEGABYTES);
}

/* ---- without names */

static const char *no_name(void *data)
{
	(void)data;
	return NULL;
}

int opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds)
{
	opk_autofree char *whole = opk_printf("^(%s)$", expression);
	opk_autofree size_t *none = NULL;
	size_t count;
	regex_t regex;

	if (!whole)
		return opk_nomem(ctx, "a regular expression");
	if (!is_plain(expression))
		return opk_expression_match(&none, &count, ctx, expression,
		                            &(struct opk_names){ .next = no_name,
		                                                 .seconds = seconds });
	TRY(compile(&regex, ctx, whole));
	regfree(&regex);
	return OPK_OK;
}
