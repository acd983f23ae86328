/* SPDX-License-Identifier: BSD-2-Clause */
/* Says why rows can't be chosen by a condition. */
#include "eval/eval_inside.h"

#include <string.h>

#include "base/buf.h"
#include "base/metric.h"
#include "base/nearest.h"

bool opk_fact_is_of_joined(enum opk_fact fact)
{
	return fact == OPK_FACT_LAUNCHES || fact == OPK_FACT_LAUNCHES_MIN;
}

int opk_explain_name(struct opk_ctx *ctx, const char *name)
{
	struct opk_nearest nearest = { .name = name };

	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		for (enum opk_profiler profiler = 0; profiler < OPK_PROFILER_COUNT; profiler++)
			if (opk_fact_column(fact, profiler) && !opk_fact_is_of_joined(fact))
				opk_nearest_try(&nearest, opk_fact_column(fact, profiler)->name);
	return opk_fail(ctx, OPK_EUSAGE, "rows have no '%s' to ask for%s%s%s", name,
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?"
	                             : "; kernel, name and device, for example, and metrics by "
	                               "their full names, which are compared with a number");
}

/* Times of facts and of the chip's metrics are nanoseconds; a set may define values in seconds. */
int opk_explain_measure(struct opk_ctx *ctx, const char *name, const char *pattern, bool is_value,
                        const struct opk_measure *measure)
{
	bool is_time = !strcmp(measure->unit, "seconds");
	char seconds[48] = "";

	if (is_time && is_value && !strstr(name, "__"))
		snprintf(seconds, sizeof seconds, ", and for seconds %.15g", measure->number);
	return opk_fail(ctx, OPK_EUSAGE,
	                "'%s' has a unit: values are compared with a plain number in their own "
	                "unit, which for %s is %.15g%s",
	                pattern, is_time ? "nanoseconds" : measure->unit,
	                measure->number * (is_time ? 1e9 : 1), seconds);
}

/* "PM samples only have sample, start_ns, ... and gpu". */
static void list_facts_of_samples(struct opk_buf *out)
{
	const struct opk_column *last = NULL;
	const char *before = "PM samples only have ";

	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, OPK_PROFILER_PM);

		if (column && last) {
			opk_buf_add_printf(out, "%s%s", before, last->name);
			before = ", ";
		}
		last = column ? column : last;
	}
	opk_buf_add_printf(out, " and %s", last->name);
}

int opk_explain_lack(struct opk_ctx *ctx, const char *name, enum opk_profiler profiler)
{
	opk_autobuf struct opk_buf text = { 0 };

	if (profiler == OPK_PROFILER_PM)
		list_facts_of_samples(&text);
	else if (opk_profiler_is_code(profiler))
		opk_buf_add_text(&text, "instructions, lines and functions do not have it");
	else
		opk_buf_add_text(&text, "that is of PM samples, and these are ranges");
	opk_buf_add(&text, "", 1);
	return text.failed ? opk_nomem(ctx, "conditions")
	                   : opk_fail(ctx, OPK_EUSAGE, "can't filter by %s: %s", name,
	                              (const char *)text.data);
}
