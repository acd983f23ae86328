/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows are wanted: patterns over their facts. */
#include "eval/eval_inside.h"

#include <inttypes.h>
#include <string.h>

#include "base/glob.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "container/container.h"

struct condition {
	char *name;
	const char *pattern; /* in the same memory */
	char *spelled;       /* of kernels: the pattern in the one spelling of names */
	bool inverted;
	/* One for each profiler. */
	bool known[2];
	enum opk_fact facts[2];
};

struct opk_filter {
	struct condition *conditions;
	size_t count;
};

/* Facts that rows have before they are joined. A range goes by its name, whatever its number. */
static bool find(enum opk_fact *out, const char *name, enum opk_profiler profiler)
{
	if (!strcmp(name, "range"))
		name = "name";
	return opk_fact_find(out, name, profiler) && *out < OPK_FACT_LAUNCHES;
}

static int explain_name(struct opk_ctx *ctx, const char *name)
{
	struct opk_nearest nearest = { .name = name };

	if (strstr(name, "__") || strchr(name, '.'))
		return opk_fail(
			ctx, OPK_EUSAGE,
			"%s is a metric, and values can't be asked for: rows are chosen "
			"before they are evaluated, by what is known of them, such as kernel, range "
			"and device",
			name);
	for (enum opk_fact fact = 0; fact < OPK_FACT_LAUNCHES; fact++)
		for (enum opk_profiler profiler = 0; profiler <= OPK_PROFILER_PM; profiler++)
			if (opk_fact_column(fact, profiler))
				opk_nearest_try(&nearest, opk_fact_column(fact, profiler)->name);
	return opk_fail(ctx, OPK_EUSAGE, "rows have no '%s' to ask for%s%s%s", name,
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?"
	                             : "; kernel, range and device, for example, but no values");
}

/* The condition's name and pattern are cut out of its text. */
static int parse(struct condition *condition, struct opk_ctx *ctx)
{
	char *equals = strchr(condition->name, '=');

	if (!equals || equals[1] == '=')
		return opk_fail(
			ctx, OPK_EUSAGE,
			"a condition is NAME=PATTERN or NAME!=PATTERN, such as kernel=*gemm* or "
			"device=0");
	condition->pattern = equals + 1;
	condition->inverted = equals > condition->name && equals[-1] == '!';
	equals[-condition->inverted] = '\0';
	if (!opk_glob_sound(condition->pattern))
		return opk_fail(
			ctx, OPK_EUSAGE,
			"'[' begins a set of characters, which ']' does not end here; [[] is the "
			"character itself");
	for (enum opk_profiler profiler = 0; profiler <= OPK_PROFILER_PM; profiler++)
		condition->known[profiler] = find(&condition->facts[profiler], condition->name,
		                                  profiler);
	if (!condition->known[0] && !condition->known[1])
		return explain_name(ctx, condition->name);
	if (condition->known[0] && condition->facts[0] == OPK_FACT_KERNEL
	    && !(condition->spelled = opk_kernel_spell(condition->pattern)))
		return opk_nomem(ctx, "conditions");
	return OPK_OK;
}

static int parse_all(struct opk_filter *filter, struct opk_ctx *ctx, const char *const *conditions,
                     size_t count)
{
	int code = OPK_OK;

	filter->conditions = opk_alloc_array(count + 1, sizeof *filter->conditions);
	if (!filter->conditions)
		return opk_nomem(ctx, "conditions");
	for (; !code && filter->count < count; filter->count++) {
		struct condition *condition = &filter->conditions[filter->count];

		condition->name = opk_strdup(conditions[filter->count]);
		code = condition->name ? parse(condition, ctx) : opk_nomem(ctx, "conditions");
		if (code == OPK_EUSAGE)
			opk_add(ctx, code, "can't filter by '%s'", conditions[filter->count]);
	}
	return code;
}

int opk_filter_new(struct opk_filter **out, struct opk_ctx *ctx, const char *const *conditions,
                   size_t count)
{
	struct opk_filter *filter = opk_alloc(sizeof *filter);
	int code = filter ? parse_all(filter, ctx, conditions, count)
	                  : opk_nomem(ctx, "conditions");

	if (code) {
		opk_filter_free(filter);
		return code;
	}
	*out = filter;
	return OPK_OK;
}

void opk_filter_free(struct opk_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; filter->conditions && i < filter->count; i++) {
		free(filter->conditions[i].name);
		free(filter->conditions[i].spelled);
	}
	free(filter->conditions);
	free(filter);
}

int opk_filter_check(const struct opk_filter *filter, struct opk_ctx *ctx,
                     enum opk_profiler profiler)
{
	for (size_t i = 0; filter && i < filter->count; i++)
		if (!filter->conditions[i].known[profiler])
			return opk_fail(ctx, OPK_EUSAGE, "can't filter by %s: %s",
			                filter->conditions[i].name,
			                profiler == OPK_PROFILER_PM
			                        ? "PM samples only have sample, start_ns, end_ns, "
			                          "spans_earlier and device"
			                        : "that is of PM samples, and these are ranges");
	return OPK_OK;
}

/* The text that CSV has; unknown is "". `number` has room for 64 bits. */
static const char *text_of(const union opk_cell *cell, enum opk_cell_type type, char number[24])
{
	if (type == OPK_CELL_STRING)
		return cell->string ? cell->string : "";
	if (type == OPK_CELL_BOOL)
		return cell->boolean ? "yes" : "no";
	if (type == OPK_CELL_OPTIONAL && !cell->optional.known)
		return "";
	snprintf(number, 24, "%" PRIu64, type == OPK_CELL_UINT ? cell->uint : cell->optional.uint);
	return number;
}

/* A kernel goes by its name, however that is spelled, and by the plain one without arguments. */
static bool matches(const struct condition *condition, const char *text)
{
	struct opk_kernel_parts parts;
	opk_autofree char *base = NULL;

	if (opk_glob_match(condition->pattern, text))
		return true;
	if (!condition->spelled)
		return false;
	if (opk_glob_match(condition->spelled, text))
		return true;
	if (opk_kernel_find_parts(&parts, text))
		base = opk_strndup(parts.base.text, parts.base.length);
	return base && opk_glob_match(condition->pattern, base);
}

bool opk_filter_may_accept(const struct opk_filter *filter, enum opk_profiler profiler,
                           const struct opk_row *row, uint64_t unknown)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct condition *condition = &filter->conditions[i];
		enum opk_fact fact = condition->facts[profiler];
		struct opk_fact_text text;
		union opk_cell cell;
		char number[24];

		if (unknown >> fact & 1)
			continue;
		cell = opk_fact_get(&text, fact, row, NULL);
		if (matches(condition,
		            text_of(&cell, opk_fact_column(fact, profiler)->type, number))
		    == condition->inverted)
			return false;
	}
	return true;
}

bool opk_filter_accepts(const struct opk_filter *filter, enum opk_profiler profiler,
                        const struct opk_row *row)
{
	return opk_filter_may_accept(filter, profiler, row, 0);
}

/* ---- segments --------------------------------------------------------------------------- */

#define FACT(fact) (UINT64_C(1) << (fact))

/* What was recorded of the launch or the sample is better than what the image says. */
static uint64_t describe_by_range(struct opk_row *row, const struct opk_range *range)
{
	uint64_t unknown = 0;

	row->range = range;
	if (*range->name)
		row->name = range->name;
	else
		unknown |= FACT(OPK_FACT_NAME);
	if (range->end_ns) {
		row->start_ns = range->start_ns;
		row->end_ns = range->end_ns;
	} else {
		unknown |= FACT(OPK_FACT_SAMPLE_START) | FACT(OPK_FACT_SAMPLE_END);
	}
	return unknown;
}

static void describe_by_time(struct opk_row *row, struct opk_range *room,
                             const struct opk_time *time)
{
	row->start_ns = time->start;
	row->end_ns = time->end;
	*room = (struct opk_range){ OPK_UNKNOWN_RANGE };
	room->device = (int32_t)time->device;
	if (!row->range)
		row->range = room;
}

uint64_t opk_segment_describe(struct opk_row *row, struct opk_range *room,
                              const struct opk_segment *segment, uint64_t i)
{
	const uint64_t times = FACT(OPK_FACT_SAMPLE_START) | FACT(OPK_FACT_SAMPLE_END);
	uint64_t unknown = FACT(OPK_FACT_NAME) | times;

	if (segment->ranges && i < segment->row_count)
		unknown = describe_by_range(row, &segment->ranges[i]);
	if (segment->times && i < segment->row_count) {
		describe_by_time(row, room, &segment->times[i]);
		unknown &= ~times;
	}
	return unknown | FACT(OPK_FACT_SPANS_EARLIER);
}

/* `first`: number of its first row, unless images before it have no tables. */
static bool may_want(const struct opk_filter *filter, enum opk_profiler profiler,
                     const struct opk_segment *segment, size_t first, bool numbered)
{
	for (size_t i = 0; i < segment->row_count; i++) {
		struct opk_row row = { .index = first + i, .name = "" };
		struct opk_range room;
		uint64_t unknown = opk_segment_describe(&row, &room, segment, i);

		if (!numbered)
			unknown |= FACT(OPK_FACT_SAMPLE);
		if (opk_filter_may_accept(filter, profiler, &row, unknown))
			return true;
	}
	return false;
}

int opk_filter_segments(bool **unwanted, struct opk_ctx *ctx, const struct opk_filter *filter,
                        enum opk_profiler profiler, const struct opk_segment *segments,
                        size_t count)
{
	bool numbered = true, *out = opk_alloc_array(count + 1, sizeof *out);
	size_t first = 0;

	if (!out)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < count && filter; i++) {
		bool counted = opk_segment_is_counted(&segments[i]);

		out[i] = counted && !may_want(filter, profiler, &segments[i], first, numbered);
		numbered = numbered && counted;
		first += segments[i].row_count;
	}
	*unwanted = out;
	return OPK_OK;
}
