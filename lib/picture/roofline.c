/* SPDX-License-Identifier: BSD-2-Clause */
/* Places kernels below roofs: turns operations, bytes and time into intensities and rates. */
#include <math.h>
#include <string.h>

#include "eval/door.h"
#include "eval/eval.h"
#include "picture/picture.h"
#include "summary/door.h"

/* A type of operations is ignored if another type has a share of its peak greater by this. */
#define SLIGHT 0.05

/* The columns of a line; SIZE_MAX: no column. */
struct line {
	size_t bytes, peak; /* bytes: only of levels */
	size_t work;        /* the operations that a peak limits */
	size_t throughput;  /* of a level */
	char *unit;         /* the throughput's name without its rollup */
	bool known;         /* some kernel's work or throughput is known */
	bool bound;         /* the throughput may be higher: parts of it are unknown */
};

struct roofline {
	struct opk_roofline public;
	struct opk_roof *roofs;
	struct line *lines; /* one per roof */
	size_t *work;
	size_t work_count, time;
	double seconds; /* of the time column's unit */
	struct opk_roofline_dot *dots;
	struct opk_roofline_kernel *kernels;
	char *lacks;
};

void opk_roofline_free(struct opk_roofline *public)
{
	struct roofline *r = (struct roofline *)public;

	if (!r)
		return;
	for (size_t i = 0; r->lines && i < r->public.roof_count; i++)
		free(r->lines[i].unit);
	for (size_t i = 0; i < r->public.kernel_count; i++) {
		free((char *)r->kernels[i].highest);
		free((char *)r->kernels[i].text);
	}
	free(r->roofs);
	free(r->lines);
	free(r->work);
	free(r->dots);
	free(r->kernels);
	free(r->lacks);
	free(r);
}

/* ---- columns */

static int find(size_t *out, struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                const char *name)
{
	*out = opk_find_column(evaluation, name);
	return *out != SIZE_MAX ? OPK_OK
	                        : opk_fail(ctx, OPK_EUSAGE,
	                                   "the roofline needs %s, which is not evaluated", name);
}

static int find_time(struct roofline *r, struct opk_ctx *ctx,
                     const struct opk_evaluation *evaluation, const char *name)
{
	const char *unit;

	TRY(find(&r->time, ctx, evaluation, name));
	unit = opk_evaluation_column_unit(evaluation, r->time);
	if (!strncmp(unit, "nanosecond", 10))
		r->seconds = 1e-9;
	else if (!strcmp(unit, "second") || !strcmp(unit, "seconds"))
		r->seconds = 1;
	else
		return opk_fail(ctx, OPK_EUSAGE,
		                "the roofline's time %s is in '%s', neither second nor nanosecond",
		                name, unit);
	return OPK_OK;
}

static int find_optional(size_t *out, struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                         const char *name)
{
	*out = SIZE_MAX;
	return name && *name ? find(out, ctx, evaluation, name) : OPK_OK;
}

static int find_line(struct line *line, struct opk_ctx *ctx,
                     const struct opk_evaluation *evaluation, const struct opk_meta_roof *roof)
{
	const char *throughput = roof->throughput ? roof->throughput : "";

	TRY(find(&line->peak, ctx, evaluation, roof->peak));
	TRY(find_optional(&line->bytes, ctx, evaluation, roof->bytes));
	TRY(find_optional(&line->work, ctx, evaluation, roof->work));
	TRY(find_optional(&line->throughput, ctx, evaluation, throughput));
	line->bound = line->throughput != SIZE_MAX
	              && opk_evaluation_is_bound(evaluation, line->throughput);
	line->unit = opk_printf("%.*s", (int)strcspn(throughput, "."), throughput);
	return line->unit ? OPK_OK : opk_nomem(ctx, "a roofline");
}

static int find_columns(struct roofline *r, struct opk_ctx *ctx,
                        const struct opk_evaluation *evaluation,
                        const struct opk_meta_roofline *from)
{
	int code = find_time(r, ctx, evaluation, from->time);

	for (size_t i = 0; !code && i < from->work_count; i++)
		code = find(&r->work[i], ctx, evaluation, from->work[i]);
	for (size_t i = 0; !code && i < from->roof_count; i++) {
		r->roofs[i].name = from->roofs[i].name;
		code = find_line(&r->lines[i], ctx, evaluation, &from->roofs[i]);
		r->roofs[i].is_level = r->lines[i].bytes != SIZE_MAX;
	}
	return code;
}

/* The unit of these operations if the first ones have the same, such as "flop"; else "op". */
static const char *unit_of(const struct roofline *r, const struct opk_evaluation *evaluation,
                           size_t work)
{
	const char *first = opk_evaluation_column_unit(evaluation, r->work[0]);
	const char *unit = opk_evaluation_column_unit(evaluation, r->work[work]);

	return strcmp(unit, first) ? "op" : first;
}

/* A peak whose operations are not one of the sums has the roofline's unit. */
static void find_roof_units(struct roofline *r, const struct opk_evaluation *evaluation)
{
	for (size_t i = 0; i < r->public.roof_count; i++) {
		r->roofs[i].unit = r->roofs[i].is_level ? "byte" : r->public.unit;
		for (size_t j = 0; !r->roofs[i].is_level && j < r->work_count; j++)
			if (r->work[j] == r->lines[i].work)
				r->roofs[i].unit = unit_of(r, evaluation, j);
	}
}

/* Finds the unit of all operations: the first one's, or "op" if they differ. */
static void find_units(struct roofline *r, const struct opk_evaluation *evaluation,
                       const struct opk_drawn *kernels, size_t count)
{
	r->public.unit = r->work_count ? unit_of(r, evaluation, 0) : "";
	find_roof_units(r, evaluation);
	for (size_t i = 1; i < r->work_count; i++)
		for (size_t j = 0; j < count; j++)
			if (kernels[j].values[r->work[i]] > 0
			    && strcmp(unit_of(r, evaluation, i), r->public.unit) != 0)
				r->public.unit = "op";
	if (!*r->public.unit)
		r->public.unit = "operations";
}

/* ---- roofs and dots */

/* NaN if there is no such column. */
static double value_of(const struct opk_drawn *kernel, size_t column)
{
	return column == SIZE_MAX ? (double)NAN : kernel->values[column];
}

static double time_of(const struct roofline *r, const struct opk_drawn *kernel)
{
	return kernel->values[r->time] * r->seconds;
}

/* At this kernel's clocks. */
static double share_of(const struct roofline *r, const struct opk_drawn *kernel, size_t column,
                       size_t roof)
{
	return value_of(kernel, column) / time_of(r, kernel) / kernel->values[r->lines[roof].peak];
}

/* Compilers move constants by a few fp16 operations, which are not a kernel's real work. */
static bool is_slight(const struct roofline *r, const struct opk_drawn *kernel, size_t roof)
{
	double share = share_of(r, kernel, r->lines[roof].work, roof);

	for (size_t i = 0; i < r->public.roof_count; i++)
		if (share < SLIGHT * share_of(r, kernel, r->lines[i].work, i))
			return true;
	return false;
}

static void find_peaks(struct roofline *r, const struct opk_drawn *kernels, size_t count)
{
	for (size_t i = 0; i < r->public.roof_count; i++) {
		struct opk_roof *roof = &r->roofs[i];
		struct line *line = &r->lines[i];

		roof->peak = (double)NAN;
		roof->idle = line->work != SIZE_MAX;
		for (size_t j = 0; j < count; j++) {
			double work = value_of(&kernels[j], line->work);

			roof->peak = fmax(roof->peak, kernels[j].values[line->peak]);
			roof->idle &= work == 0 || is_slight(r, &kernels[j], i);
			line->known |= !isnan(work)
			               || !isnan(value_of(&kernels[j], line->throughput));
		}
	}
}

static bool is_positive(double number)
{
	return isfinite(number) && number > 0;
}

/* NaN if any part is NaN. */
static double work_of(const struct roofline *r, const struct opk_drawn *kernel)
{
	double sum = 0;

	for (size_t i = 0; i < r->work_count; i++)
		sum += kernel->values[r->work[i]];
	return sum;
}

/* Adds a dot at each level at which the kernel moved bytes. */
static void add_dots(struct roofline *r, const struct opk_drawn *kernels, size_t kernel)
{
	const double *values = kernels[kernel].values;
	double work = work_of(r, &kernels[kernel]), rate = work / time_of(r, &kernels[kernel]);
	bool unknown = isnan(rate);

	for (size_t i = 0; i < r->public.roof_count && is_positive(rate); i++) {
		double bytes = r->roofs[i].is_level ? values[r->lines[i].bytes] : 0;

		unknown |= isnan(bytes);
		if (is_positive(bytes))
			r->dots[r->public.dot_count++] = (struct opk_roofline_dot){ kernel, i,
				                                                    work / bytes,
				                                                    rate };
	}
	r->kernels[kernel].unknown = unknown;
	r->kernels[kernel].idle = work == 0;
}

/* ---- how near a kernel is to the lines */

/* State while a kernel's sentence is written. */
struct nearness {
	const struct roofline *r;
	const struct opk_drawn *kernel;
	struct opk_buf text;
	struct opk_buf unknown; /* names of levels with unknown throughput */
	double covered;         /* operations with a peak of their type */
	size_t nearest;         /* a line; SIZE_MAX: none is known yet */
	double share;
	bool at_least; /* the share is of a throughput that may be higher */
};

/* "fp32 48.1%", "l1tex__throughput at least 12%" */
static void put_share(struct opk_buf *out, const char *name, double share, bool at_least)
{
	opk_buf_add_printf(out, "%s %s", name, at_least ? "at least " : "");
	if (isnan(share))
		opk_buf_add_text(out, "nan");
	else
		opk_buf_add_printf(out, "%.3g%%", 100 * share);
}

static void try_nearest(struct nearness *n, size_t roof, double share, bool at_least)
{
	if (!isfinite(share) || share <= n->share)
		return;
	n->nearest = roof;
	n->share = share;
	n->at_least = at_least;
}

/* Units for different types work at the same time, so their shares are not added up. */
static void put_operations(struct nearness *n)
{
	const struct roofline *r = n->r;
	const char *comma = "";

	for (size_t i = 0; i < r->public.roof_count; i++) {
		double work = value_of(n->kernel, r->lines[i].work);
		double share = share_of(r, n->kernel, r->lines[i].work, i);

		if (!is_positive(work) || !is_positive(share))
			continue;
		n->covered += work;
		if (is_slight(r, n->kernel, i))
			continue;
		opk_buf_add_text(&n->text, comma);
		put_share(&n->text, r->roofs[i].name, share, false);
		comma = ", ";
		try_nearest(n, i, share, false);
	}
}

/* Notes operations that are zero or nan, and missing peaks. */
static void put_rest(struct nearness *n)
{
	double work = work_of(n->r, n->kernel), rest = work - n->covered;

	if (isnan(work) || work == 0)
		opk_buf_add_printf(&n->text, "%s%s %s", n->covered > 0 ? ", " : "",
		                   n->r->public.unit, isnan(work) ? "nan" : "0");
	else if (rest > 1e-6 * work)
		opk_buf_add_printf(&n->text, "%speak not known of %.3g%% of the operations",
		                   n->covered > 0 ? ", " : "", 100 * rest / work);
}

static void put_level(struct nearness *n, size_t roof, const char *comma)
{
	const struct line *line = &n->r->lines[roof];
	double bytes = share_of(n->r, n->kernel, line->bytes, roof);
	double throughput = value_of(n->kernel, line->throughput);

	opk_buf_add_text(&n->text, comma);
	put_share(&n->text, n->r->roofs[roof].name, bytes, false);
	try_nearest(n, roof, bytes, false);
	try_nearest(n, roof, throughput / 100, line->bound);
	if (isnan(throughput)) {
		opk_buf_add_printf(&n->unknown, "%s%s", n->unknown.size ? ", " : "",
		                   n->r->roofs[roof].name);
		return;
	}
	opk_buf_add_text(&n->text, " (");
	put_share(&n->text, line->unit, throughput / 100, line->bound);
	opk_buf_add_text(&n->text, ")");
}

/* Whether another level may be the nearest, because its throughput may be higher. */
static bool may_be_nearer(const struct nearness *n)
{
	for (size_t i = 0; i < n->r->public.roof_count; i++)
		if (i != n->nearest && n->r->lines[i].bound)
			return true;
	return false;
}

/* Claims no more than is known: a missing throughput may be the highest of all. */
static void put_verdict(struct nearness *n)
{
	double work = work_of(n->r, n->kernel);
	bool all = !n->unknown.size && !may_be_nearer(n) && work - n->covered <= 1e-6 * work;

	if (n->nearest != SIZE_MAX)
		opk_buf_add_printf(&n->text, ". Nearest%s: %s", all ? "" : " of these",
		                   n->r->roofs[n->nearest].name);
	if (n->unknown.size)
		opk_buf_add_printf(&n->text, ". Throughput not known: %.*s", (int)n->unknown.size,
		                   (char *)n->unknown.data);
	opk_buf_add_text(&n->text, ".");
}

static int judge(struct opk_roofline_kernel *out, struct opk_ctx *ctx, const struct roofline *r,
                 const struct opk_drawn *kernel)
{
	struct nearness n = { .r = r, .kernel = kernel, .nearest = SIZE_MAX };
	opk_autobuf struct opk_buf highest = { 0 };
	const char *comma = "; ";

	opk_buf_add_text(&n.text, "Of the peaks: ");
	put_operations(&n);
	put_rest(&n);
	for (size_t i = 0; i < r->public.roof_count; i++)
		if (r->roofs[i].is_level) {
			put_level(&n, i, comma);
			comma = ", ";
		}
	put_verdict(&n);
	opk_buf_clear(&n.unknown);
	out->text = opk_buf_take_text(&n.text);
	if (n.nearest != SIZE_MAX)
		put_share(&highest, r->roofs[n.nearest].name, n.share, n.at_least);
	out->highest = opk_buf_take_text(&highest);
	return out->text && out->highest ? OPK_OK : opk_nomem(ctx, "a roofline");
}

/* Finds what is missing in every kernel. */
static int find_lacks(struct roofline *r, struct opk_ctx *ctx)
{
	opk_autobuf struct opk_buf text = { 0 };
	bool types = false;

	for (size_t i = 0; i < r->public.roof_count; i++) {
		types |= !r->roofs[i].is_level && !r->lines[i].known;
		if (r->roofs[i].is_level && !r->lines[i].known)
			opk_buf_add_printf(&text, "%s%s",
			                   text.size ? ", " : "Not recorded: the throughput of ",
			                   r->roofs[i].name);
	}
	if (types)
		opk_buf_add_printf(&text, "%swhich operations each peak limits",
		                   text.size ? "; " : "Not recorded: ");
	if (text.size)
		opk_buf_add_text(&text, ".");
	r->public.lacks = r->lacks = opk_buf_take_text(&text);
	return r->lacks ? OPK_OK : opk_nomem(ctx, "a roofline");
}

static int allocate(struct roofline *r, struct opk_ctx *ctx, const struct opk_meta_roofline *from,
                    size_t count)
{
	r->roofs = opk_alloc_array(from->roof_count, sizeof *r->roofs);
	r->lines = opk_alloc_array(from->roof_count, sizeof *r->lines);
	r->work = opk_alloc_array(from->work_count + 1, sizeof *r->work);
	r->work_count = from->work_count;
	r->dots = opk_alloc_array(from->roof_count * count + 1, sizeof *r->dots);
	r->kernels = opk_alloc_array(count + 1, sizeof *r->kernels);
	r->public = (struct opk_roofline){
		.roofs = r->roofs,
		.roof_count = from->roof_count,
		.dots = r->dots,
		.kernels = r->kernels,
		.kernel_count = r->kernels ? count : 0,
	};
	return r->roofs && r->lines && r->work && r->dots && r->kernels
	               ? OPK_OK
	               : opk_nomem(ctx, "a roofline");
}

/* Called when the columns are known. */
static int place(struct roofline *r, struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                 const struct opk_drawn_kernels *kernels)
{
	find_units(r, evaluation, kernels->items, kernels->count);
	find_peaks(r, kernels->items, kernels->count);
	for (size_t i = 0; i < kernels->count; i++) {
		add_dots(r, kernels->items, i);
		TRY(judge(&r->kernels[i], ctx, r, &kernels->items[i]));
	}
	return find_lacks(r, ctx);
}

int opk_roofline_new(struct opk_roofline **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary)
{
	opk_autodrawn struct opk_drawn_kernels kernels = { 0 };
	opk_auto(opk_roofline) struct opk_roofline *made = NULL;
	const struct opk_evaluation *evaluation = summary->evaluation;
	const struct opk_meta_roofline *from;
	struct roofline *r;

	if (!evaluation)
		return opk_fail(ctx, OPK_EUSAGE, "no roofline: there are no values of kernels");
	from = opk_evaluation_roofline(evaluation);
	if (!from->roof_count)
		return opk_fail(ctx, OPK_EUSAGE,
		                "no roofline: the set of the recording does not say what it is "
		                "drawn of, its roofs and levels of memory: record with the set "
		                "roofline-hierarchical, which does");
	TRY(opk_drawn_kernels_init(&kernels, ctx, summary));
	r = opk_alloc(sizeof *r);
	if (!r)
		return opk_nomem(ctx, "a roofline");
	made = &r->public;
	TRY(allocate(r, ctx, from, kernels.count));
	TRY(find_columns(r, ctx, evaluation, from));
	TRY(place(r, ctx, evaluation, &kernels));
	r->public.title = from->title && *from->title ? from->title : "Roofline";
	*out = opk_take(made);
	return OPK_OK;
}
