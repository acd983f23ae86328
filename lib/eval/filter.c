/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses rows by patterns over their facts, and by comparisons. */
#include "eval/eval_inside.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/glob.h"
#include "base/mem.h"
#include "base/metric.h"
#include "container/container.h"

enum relation { EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

struct condition {
	char *name;
	const char *pattern; /* in the same memory */
	char *spelled;       /* of kernels: the pattern in the one spelling of names */
	enum relation relation;
	/* The pattern as a number, if it is one; exact if it is whole. */
	bool is_number, is_whole;
	bool or_number; /* or the range's number, if it has no name */
	double number;
	uint64_t whole;
	bool is_of_code; /* it judges rows of code */
	/* Per profiler: whether rows have a fact of this name, and which; neither: a value. */
	bool known[OPK_PROFILER_COUNT];
	enum opk_fact facts[OPK_PROFILER_COUNT];
};

struct opk_filter {
	struct condition *conditions;
	size_t count;
};

/* Values of ranges may have the names of facts that only rows of code have, such as "line". */
static bool is_value(const struct condition *condition)
{
	for (enum opk_profiler profiler = 0; profiler < OPK_PROFILER_COUNT; profiler++)
		if (condition->known[profiler]
		    && (condition->is_of_code || !opk_profiler_is_code(profiler)))
			return false;
	return true;
}

/*
 * Finds a fact that rows have before they are joined. "range" is its name; its number if the
 * condition compares numbers, or if the range has no name.
 */
static bool find(struct condition *condition, enum opk_profiler profiler)
{
	enum opk_fact *fact = &condition->facts[profiler];
	bool is_range = !strcmp(condition->name, "range");
	const char *name = is_range && condition->relation < LESS ? "name"
	                   : !strcmp(condition->name, "file")     ? "source"
	                                                          : condition->name;

	condition->or_number = is_range && condition->is_whole && condition->relation < LESS;
	return opk_fact_find(fact, name, profiler) && !opk_fact_is_of_joined(*fact);
}

/* ---- conditions as text ----------------------------------------------------------------- */

/* Cuts "NAME OPERATOR PATTERN" into its parts. */
static bool cut(struct condition *condition)
{
	char *at = condition->name + strcspn(condition->name, "=<>!"), *end = at;
	bool or_equal = *at && at[1] == '=';

	condition->relation = *at == '='   ? EQUAL
	                      : *at == '!' ? UNEQUAL
	                      : *at == '<' ? LESS
	                                   : GREATER;
	/* == is refused: the user meant =, and a pattern could begin with =. */
	if (!*at || at == condition->name || (*at == '!' && !or_equal) || (*at == '=' && or_equal))
		return false;
	if (or_equal && *at != '!')
		condition->relation++;
	condition->pattern = at + 1 + or_equal;
	condition->pattern += opk_span(condition->pattern, opk_is_blank);
	while (end > condition->name && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return true;
}

static void read_number(struct condition *condition)
{
	const char *text = condition->pattern;
	char *end;

	condition->number = strtod(text, &end);
	condition->is_number = end != text && !end[strspn(end, " \t")];
	errno = 0;
	condition->whole = strtoull(text, &end, 10);
	condition->is_whole = condition->is_number && !end[strspn(end, " \t")] && !errno
	                      && !strchr(text, '-');
}

static bool is_text(const struct condition *condition, enum opk_profiler profiler)
{
	enum opk_cell_type type = condition->known[profiler]
	                                  ? opk_fact_column(condition->facts[profiler], profiler)
	                                            ->type
	                                  : OPK_CELL_UINT;

	return type == OPK_CELL_STRING || type == OPK_CELL_BOOL;
}

static int check(const struct condition *condition, struct opk_ctx *ctx)
{
	const char *name = condition->name;
	bool compares = condition->relation >= LESS;
	struct opk_measure measure;

	if ((compares || (is_value(condition) && strpbrk(name, "_.")))
	    && opk_measure_find(&measure, condition->pattern))
		return opk_explain_measure(ctx, name, condition->pattern, is_value(condition),
		                           &measure);
	if (is_value(condition) && !condition->known[OPK_PROFILER_SASS] && !condition->is_number)
		return strpbrk(name, "_.")
		               ? opk_fail(ctx, OPK_EUSAGE,
		                          "'%s' is not a number, and a metric is compared with a "
		                          "number",
		                          condition->pattern)
		               : opk_explain_name(ctx, name);
	if (compares && !condition->is_number)
		return opk_fail(ctx, OPK_EUSAGE, "'%s' is not a number", condition->pattern);
	if (compares
	    && (is_text(condition, OPK_PROFILER_RANGE) || is_text(condition, OPK_PROFILER_PM)))
		return opk_fail(ctx, OPK_EUSAGE, "%s is text, which has = and != alone", name);
	if (!is_value(condition) && !compares && !opk_glob_sound(condition->pattern))
		return opk_fail(
			ctx, OPK_EUSAGE,
			"'[' begins a set of characters, which ']' does not end here; [[] is the "
			"character itself");
	return OPK_OK;
}

static int parse(struct condition *condition, struct opk_ctx *ctx)
{
	enum opk_fact fact;

	if (!cut(condition))
		return opk_fail(ctx, OPK_EUSAGE,
		                "a condition is NAME=PATTERN, NAME!=PATTERN or, with < <= > or >=, "
		                "NAME<NUMBER, such as kernel=*gemm*, device=0 or start_ns>1e9");
	read_number(condition);
	for (enum opk_profiler profiler = 0; profiler < OPK_PROFILER_COUNT; profiler++)
		condition->known[profiler] = find(condition, profiler);
	if (opk_fact_find(&fact, condition->name, OPK_PROFILER_RANGE)
	    && opk_fact_is_of_joined(fact))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s is known only after rows are joined, and conditions are "
		                "checked before",
		                condition->name);
	if (((condition->known[0] && condition->facts[0] == OPK_FACT_KERNEL)
	     || (condition->known[OPK_PROFILER_SASS]
	         && condition->facts[OPK_PROFILER_SASS] == OPK_FACT_FUNCTION))
	    && !(condition->spelled = opk_kernel_spell(condition->pattern)))
		return opk_nomem(ctx, "conditions");
	return check(condition, ctx);
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

int opk_filter_of(struct opk_filter **out, struct opk_ctx *ctx,
                  const struct opk_eval_options *options)
{
	if (options->where_count)
		return opk_filter_new(out, ctx, options->where, options->where_count);
	*out = NULL;
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

static int check_condition(const struct condition *condition, struct opk_ctx *ctx,
                           enum opk_profiler profiler)
{
	if (!is_value(condition) && !condition->known[profiler])
		return opk_explain_lack(ctx, condition->name, profiler);
	if (is_value(condition) && !strcmp(condition->name, "file"))
		return opk_fail(ctx, OPK_EUSAGE,
		                "can't filter by file='%s': only code is chosen by its files; of "
		                "recordings, name only those that are wanted",
		                condition->pattern);
	if (is_value(condition) && !condition->is_number)
		return opk_fail(ctx, OPK_EUSAGE,
		                "can't filter by %s='%s': only rows of code have that text, and "
		                "values are compared with a number",
		                condition->name, condition->pattern);
	if (condition->relation >= LESS && is_text(condition, profiler))
		return opk_fail(ctx, OPK_EUSAGE, "%s is text, which has = and != alone",
		                condition->name);
	return OPK_OK;
}

int opk_filter_check(const struct opk_filter *filter, struct opk_ctx *ctx,
                     enum opk_profiler profiler)
{
	for (size_t i = 0; filter && i < filter->count; i++)
		TRY(check_condition(&filter->conditions[i], ctx, profiler));
	return OPK_OK;
}

void opk_filter_judge_code(struct opk_filter *filter)
{
	for (size_t i = 0; filter && i < filter->count; i++)
		filter->conditions[i].is_of_code = true;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The text as in CSV; "" if unknown. `number` has room for 64 bits. */
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

/* A row, and whether judging it ran out of memory. */
struct judged {
	const struct opk_row *row;
	enum opk_profiler profiler;
	bool failed;
};

/* A kernel matches by its name in any spelling, and by its base name without arguments. */
static bool matches(struct judged *judged, const struct condition *condition, const char *text)
{
	struct opk_kernel_parts parts;

	if (opk_glob_match(condition->pattern, text))
		return true;
	if (!condition->spelled)
		return false;
	if (opk_glob_match(condition->spelled, text))
		return true;
	/* A plain word is its own base, and has no other spelling. */
	if (!strpbrk(text, " <("))
		return false;
	judged->failed |= !opk_kernel_find_parts(&parts, text);
	return opk_glob_match_part(condition->pattern, parts.base.text, parts.base.length);
}

/*
 * Each NVTX domain nests by itself: "NCCL@init/step/forward" also has the path step/forward. The
 * fact nvtx has a path for each domain, a range's name only that of its own domain.
 */
static bool matches_domain(struct judged *judged, const struct condition *condition,
                           const char *text, bool any_domain)
{
	if (!strchr(text, '@') || (any_domain && opk_path_is_too_deep(text)))
		return false;
	for (size_t at = 0, end;; at = end + 1) {
		opk_autofree char *path = NULL;

		end = opk_path_end_part(text, at);
		if (any_domain || !text[end]) {
			path = opk_path_of_domain(text, at);
			judged->failed |= !path;
			if (path && opk_glob_match(condition->pattern, path))
				return true;
		}
		if (!text[end])
			return false;
	}
}

static bool matches_path(struct judged *judged, const struct condition *condition,
                         enum opk_fact fact, const char *text)
{
	bool nvtx = fact == OPK_FACT_NVTX;

	/* A source file matches by its path, and without its folders. */
	if (fact == OPK_FACT_SOURCE && opk_glob_match(condition->pattern, opk_base_name(text)))
		return true;

	return matches(judged, condition, text)
	       || ((nvtx || fact == OPK_FACT_NAME)
	           && matches_domain(judged, condition, text, nvtx));
}

/* `order` is below, at or above 0, as the row's number is below, at or above the condition's. */
static bool holds(enum relation relation, int order)
{
	switch (relation) {
	case EQUAL:
		return !order;
	case UNEQUAL:
		return order != 0;
	case LESS:
		return order < 0;
	case LESS_EQUAL:
		return order <= 0;
	case GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* NaN equals only NaN, so that conditions can choose rows without a value. */
static bool number_meets(const struct condition *condition, double number)
{
	double other = condition->number;
	bool nans = isnan(number) && isnan(other);

	if (isnan(number) || isnan(other))
		return condition->relation == UNEQUAL ? !nans
		                                      : condition->relation == EQUAL && nans;
	return holds(condition->relation, (number > other) - (number < other));
}

static bool cell_meets(struct judged *judged, const struct condition *condition,
                       const union opk_cell *cell)
{
	enum opk_fact fact = condition->facts[judged->profiler];
	enum opk_cell_type type = opk_fact_column(fact, judged->profiler)->type;
	char text[24];
	uint64_t number;

	if (!condition->is_number || type == OPK_CELL_STRING || type == OPK_CELL_BOOL)
		return matches_path(judged, condition, fact, text_of(cell, type, text))
		       != (condition->relation == UNEQUAL);
	if (type == OPK_CELL_OPTIONAL && !cell->optional.known)
		return number_meets(condition, NAN);
	number = type == OPK_CELL_UINT ? cell->uint : cell->optional.uint;
	/* Times in nanoseconds have more digits than a double. */
	if (condition->is_whole)
		return holds(condition->relation,
		             (number > condition->whole) - (number < condition->whole));
	return number_meets(condition, (double)number);
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool row_meets(struct judged *judged, const struct condition *condition)
{
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, condition->facts[judged->profiler], judged->row);
	size_t index = judged->row->index;

	if (condition->or_number && !is_number(cell.string ? cell.string : ""))
		return holds(condition->relation,
		             (index > condition->whole) - (index < condition->whole));
	return cell_meets(judged, condition, &cell);
}

/* The facts that a condition is on, as bits. */
static uint64_t facts_of(const struct condition *condition, enum opk_profiler profiler)
{
	return UINT64_C(1) << condition->facts[profiler]
	       | (uint64_t)condition->or_number << OPK_FACT_RANGE;
}

int opk_filter_accepts(bool *out, struct opk_ctx *ctx, const struct opk_filter *filter,
                       enum opk_profiler profiler, const struct opk_row *row, uint64_t unknown)
{
	struct judged judged = { row, profiler, false };

	*out = true;
	for (size_t i = 0; filter && *out && i < filter->count; i++) {
		const struct condition *condition = &filter->conditions[i];

		if (!is_value(condition) && !(unknown & facts_of(condition, profiler)))
			*out = row_meets(&judged, condition);
	}
	return judged.failed ? opk_nomem(ctx, "conditions") : OPK_OK;
}

size_t opk_filter_value_count(const struct opk_filter *filter)
{
	size_t count = 0;

	for (size_t i = 0; filter && i < filter->count; i++)
		count += is_value(&filter->conditions[i]);
	return count;
}

const char *opk_filter_value(const struct opk_filter *filter, size_t wanted)
{
	size_t i = 0;

	while (!is_value(&filter->conditions[i]) || wanted-- > 0)
		i++;
	return filter->conditions[i].name;
}

bool opk_filter_takes(const struct opk_filter *filter, const double *values)
{
	for (size_t i = 0; filter && i < filter->count; i++)
		if (is_value(&filter->conditions[i])
		    && !number_meets(&filter->conditions[i], *values++))
			return false;
	return true;
}

/* ---- segments --------------------------------------------------------------------------- */

#define FACT(fact) (UINT64_C(1) << (fact))

/* The record of a launch or sample takes precedence over the image. */
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
                             const struct opk_segment *segment, const struct opk_time *time)
{
	row->start_ns = time->start;
	row->end_ns = time->end;
	*room = (struct opk_range){ OPK_UNKNOWN_RANGE };
	room->device = (int32_t)time->device;
	room->host = segment->host;
	room->gpu = segment->gpu;
	room->rank = segment->rank;
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
		describe_by_time(row, room, segment, &segment->times[i]);
		unknown &= ~times;
	}
	return unknown | FACT(OPK_FACT_SPANS_EARLIER) | opk_facts_of_bins;
}

/* `first`: the number of its first row; NULL if an image before it has no table. */
static int may_want(bool *out, struct opk_ctx *ctx, const struct opk_filter *filter,
                    enum opk_profiler profiler, const struct opk_segment *segment,
                    const size_t *first)
{
	*out = false;
	for (size_t i = 0; !*out && i < segment->row_count; i++) {
		struct opk_row row = { .index = first ? *first + i : 0, .name = "" };
		struct opk_range room;
		uint64_t unknown = opk_segment_describe(&row, &room, segment, i);

		if (!first)
			unknown |= FACT(OPK_FACT_SAMPLE) | FACT(OPK_FACT_RANGE);
		TRY(opk_filter_accepts(out, ctx, filter, profiler, &row, unknown));
	}
	return OPK_OK;
}

int opk_filter_segments(bool **unwanted, struct opk_ctx *ctx, const struct opk_filter *filter,
                        enum opk_profiler profiler, const struct opk_segment *segments,
                        size_t count, size_t first)
{
	opk_autofree bool *out = opk_alloc_array(count + 1, sizeof *out);
	bool numbered = true, wanted;

	if (!out)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < count && filter; i++) {
		bool counted = opk_segment_is_counted(&segments[i]);

		if (counted) {
			TRY(may_want(&wanted, ctx, filter, profiler, &segments[i],
			             numbered ? &first : NULL));
			out[i] = !wanted;
		}
		numbered = numbered && counted;
		first += segments[i].row_count;
	}
	*unwanted = opk_take(out);
	return OPK_OK;
}
