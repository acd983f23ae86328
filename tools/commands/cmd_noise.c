/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak noise: how far means can be trusted, and how many more launches would do. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/number_text.h"
#include "commands.h"
#include "common/args.h"
#include "summary/door.h"

/* In a table for people: kernels, and metrics of each. */
enum { TOP = 5, MOST_METRICS = 10 };

struct noise_args {
	const char *kernel, *by, *columns, *level, *within;
	uint64_t top;
	bool all;
	unsigned kernel_names, table;
};

#define TABLES "summary|kernels|metrics"

static const struct option_spec specs[] = {
	{ "kernel", 'k', "PATTERN", "only kernels like this, or user ranges: *gemm*, step/*",
	  OPTION_TEXT, offsetof(struct noise_args, kernel) },
	{ "by", 0, "KEY", "keep apart, besides: shape, nvtx, device, host or rank", OPTION_TEXT,
	  offsetof(struct noise_args, by) },
	{ "columns", 0, "A,B", "only these metrics", OPTION_TEXT,
	  offsetof(struct noise_args, columns) },
	{ "level", 0, "PERCENT", "how sure a statement is to be; default 95", OPTION_TEXT,
	  offsetof(struct noise_args, level) },
	{ "within", 0, "PERCENT", "how near the mean is to be; default 1", OPTION_TEXT,
	  offsetof(struct noise_args, within) },
	{ "top", 0, "N",
	  "metrics of the first N kernels; default: 5 in a table for people, else all",
	  OPTION_COUNT, offsetof(struct noise_args, top) },
	{ "all", 0, NULL, "in a table for people, metrics that can be trusted or are unknown, too",
	  OPTION_FLAG, offsetof(struct noise_args, all) },
	KERNEL_NAMES_OPTION(struct noise_args, kernel_names),
	TABLE_OPTION(TABLES, "metrics", struct noise_args, table),
	{ 0 },
};

enum { TEXT = 32 };

struct noise {
	struct app *app;
	const struct noise_args *args;
	double level, within; /* percent */
	char needed[TEXT];    /* "launches_for_1pct" */
	struct opk_strlist columns;
	struct opk_file **files;
	struct opk_noise *of;
};

static size_t top(const struct noise *n)
{
	size_t count = n->of->kernels.count, most = app_shows_table(n->app) ? TOP : SIZE_MAX;

	if (n->args->top)
		most = (size_t)n->args->top;
	return most < count ? most : count;
}

/* ---- in one sentence -------------------------------------------------------------------- */

/* "25 more launches of histogram"; free() */
static char *count_more(const struct noise *n, const struct opk_noise_kernel *kernel)
{
	const char *singular = n->of->of_kernels ? "launch of" : "range";
	const char *several = n->of->of_kernels ? "launches of" : "ranges";

	return opk_printf("%" PRIu64 " more %s %s", kernel->more,
	                  kernel->more == 1 ? singular : several, kernel->name);
}

static bool all_single(const struct noise *n)
{
	for (size_t i = 0; i < n->of->kernels.count; i++)
		if (n->of->kernels.items[i].launches > 1)
			return false;
	return true;
}

/* What would do for the first kernel that more launches help. */
static void put_advice(struct opk_buf *out, const struct noise *n)
{
	const struct opk_noise_kernel *kernel = n->of->kernels.items;
	const struct opk_noise_kernel *end = kernel + n->of->kernels.count;
	opk_autofree char *more = NULL;

	while (kernel < end && !kernel->more)
		kernel++;
	more = kernel < end ? count_more(n, kernel) : NULL;
	if (more)
		opk_buf_add_printf(out, "; %s would do for all of its metrics", more);
	if (more && kernel->all_but)
		opk_buf_add_printf(out,
		                   " but %zu that are unknown or take more than ten times the "
		                   "launches",
		                   kernel->all_but);
	if (more && kernel->time_more > kernel->more)
		opk_buf_add_printf(out, ", as its time does: %" PRIu64 " more", kernel->time_more);
	if (!more && all_single(n))
		opk_buf_add_text(out, "; one launch shows no spread: record several");
	else if (!more && n->of->trusted + n->of->unknown < n->of->values)
		opk_buf_add_text(out, "; the others take more than ten times as many launches");
}

/* free() */
static char *describe(const struct noise *n)
{
	const struct opk_noise *of = n->of;
	struct opk_buf out = { 0 };

	opk_buf_add_printf(&out, "%zu of %zu metrics of %zu %s%s are within %g%% at %g%%",
	                   of->trusted, of->values, of->kernels.count,
	                   of->of_kernels ? "kernel" : "range", opk_plural(of->kernels.count),
	                   n->within, n->level);
	if (of->zero)
		opk_buf_add_printf(&out, ", %zu of them 0 exactly", of->zero);
	if (of->unknown)
		opk_buf_add_printf(&out, "; %zu %s unknown", of->unknown,
		                   of->unknown == 1 ? "is" : "are");
	if (of->trusted < of->values)
		put_advice(&out, n);
	return opk_buf_take_text(&out);
}

static int put_summary(const struct noise *n)
{
	opk_autofree char *sentence = describe(n);
	struct app_fields fields = { .count = 0 };

	if (!sentence)
		return app_nomem(n->app);
	field_text(&fields, "noise", sentence);
	if (!app_shows_table(n->app)) {
		field_add(&fields, "level_pct", OPK_CELL_DOUBLE, cell_value(n->level));
		field_add(&fields, "within_pct", OPK_CELL_DOUBLE, cell_value(n->within));
		field_number(&fields, "kernels", n->of->kernels.count);
		field_number(&fields, "metrics", n->of->values);
		field_number(&fields, "trusted", n->of->trusted);
		field_number(&fields, "zero", n->of->zero);
		field_number(&fields, "unknown", n->of->unknown);
	}
	return app_record(n->app, &fields);
}

/* ---- kernels ---------------------------------------------------------------------------- */

static const char *word(const struct noise *n)
{
	return n->of->of_kernels ? "kernel" : "range";
}

static void fill_kernel(struct app_fields *fields, const struct noise *n,
                        const struct opk_noise_kernel *kernel)
{
	fields->count = 0;
	field_text(fields, word(n), kernel->name);
	field_number(fields, "launches", kernel->launches);
	field_number(fields, "metrics", kernel->values.count);
	field_number(fields, "trusted", kernel->trusted);
	field_number(fields, "unknown", kernel->unknown);
	field_number(fields, "more_launches", kernel->more);
	field_number(fields, "all_but", kernel->all_but);
	field_add(fields, "time_more", OPK_CELL_OPTIONAL,
	          cell_known(kernel->time_more, kernel->time_known));
}

static int put_kernels(const struct noise *n)
{
	static const struct opk_noise_kernel none;
	size_t count = top(n);
	struct app_fields row;

	/* The sentence has said all there is to say. */
	if (n->of->unknown == n->of->values && app_shows_table(n->app) && !n->args->all
	    && !app_wants_table(n->app, "kernels"))
		return OPK_OK;
	fill_kernel(&row, n, count ? n->of->kernels.items : &none);
	TRY(app_fields_table(n->app, "kernels", &row));
	for (size_t i = 0; i < count; i++) {
		fill_kernel(&row, n, &n->of->kernels.items[i]);
		TRY(opk_out_row(n->app->out, row.cells));
	}
	return OPK_OK;
}

/* ---- metrics ---------------------------------------------------------------------------- */

/* "0.25%"; "": unknown. */
static void write_percent(char out[TEXT], double percent)
{
	*out = '\0';
	if (percent > 0 && percent < 0.001)
		snprintf(out, TEXT, "<0.001%%");
	else if (isfinite(percent))
		snprintf(out, TEXT, percent < 10 ? "%.2g%%" : "%.0f%%", percent);
}

static union opk_cell cell_needed(const struct opk_noise_value *value, uint64_t launches)
{
	return cell_known(launches, value->precision.needed > 0);
}

/* The first are enough where a line has no room for all. */
enum { NEEDED_FIELDS = 5 };

static void add_for_people(struct app_fields *fields, const struct noise *n,
                           const struct opk_noise_value *value, char texts[2][TEXT])
{
	const struct opk_precision *precision = &value->precision;
	bool zero = value->mean == 0 && precision->half_width == 0;

	field_text(fields, "metric", value->metric);
	field_add(fields, "mean", OPK_CELL_DOUBLE, cell_value(value->mean));
	field_text(fields, "unit", value->unit);
	write_percent(texts[0], precision->half_width);
	field_text(fields, "trusted to", zero ? "0 exactly" : texts[0]);
	field_add(fields, "more", OPK_CELL_OPTIONAL, cell_needed(value, value->more));
	write_percent(texts[1], precision->spread);
	field_text(fields, "spread", texts[1]);
	field_number(fields, "launches", value->of.count);
	field_add(fields, n->needed, OPK_CELL_OPTIONAL, cell_needed(value, precision->needed));
}

static void add_for_programs(struct app_fields *fields, const struct noise *n,
                             const struct opk_noise_kernel *kernel,
                             const struct opk_noise_value *value)
{
	const struct opk_precision *precision = &value->precision;

	field_text(fields, "metric", value->metric);
	field_text(fields, word(n), kernel->name);
	field_number(fields, "launches", value->of.count);
	field_add(fields, "spread", OPK_CELL_DOUBLE, cell_value(precision->spread));
	field_add(fields, "trusted_pct", OPK_CELL_DOUBLE, cell_value(precision->half_width));
	field_add(fields, n->needed, OPK_CELL_OPTIONAL, cell_needed(value, precision->needed));
	field_add(fields, "more_launches", OPK_CELL_OPTIONAL, cell_needed(value, value->more));
	field_add(fields, "mean", OPK_CELL_DOUBLE, cell_value(value->mean));
	field_text(fields, "unit", value->unit);
}

static void fill_value(struct app_fields *fields, const struct noise *n,
                       const struct opk_noise_kernel *kernel, const struct opk_noise_value *value,
                       char texts[2][TEXT])
{
	fields->count = 0;
	if (app_shows_table(n->app))
		add_for_people(fields, n, value, texts);
	else
		add_for_programs(fields, n, kernel, value);
}

/* The values of the kernel that are shown, in their order; how many. */
static size_t choose_values(const struct opk_noise_value **out, const struct noise *n,
                            const struct opk_noise_kernel *kernel)
{
	if (app_shows_table(n->app) && !n->args->all)
		return opk_noise_choose(out, n->of, kernel, MOST_METRICS);
	for (size_t i = 0; i < kernel->values.count; i++)
		out[i] = &kernel->values.items[i];
	return kernel->values.count;
}

static int put_metrics_of(const struct noise *n, size_t i)
{
	const struct opk_noise_kernel *kernel = &n->of->kernels.items[i];
	opk_autofree char *title = opk_printf("%zu. %s", i + 1, kernel->name);
	opk_autofree const struct opk_noise_value **values = opk_alloc_array(kernel->values.count
	                                                                             + 1,
	                                                                     sizeof *values);
	size_t count;
	struct app_fields row;
	char texts[2][TEXT];

	if (!title || !values)
		return app_nomem(n->app);
	count = choose_values(values, n, kernel);
	if (count)
		TRY(opk_out_heading(n->app->out, title, ""));
	for (size_t j = 0; j < count; j++) {
		fill_value(&row, n, kernel, values[j], texts);
		TRY(opk_out_row(n->app->out, row.cells));
	}
	return OPK_OK;
}

/* Notes what a table for people leaves out; `shown`: how many rows it has. */
static int note_left_out(size_t *shown, const struct noise *n)
{
	size_t trusted = 0, unknown = 0, all = 0;

	for (size_t i = 0; i < top(n); i++) {
		const struct opk_noise_kernel *kernel = &n->of->kernels.items[i];
		opk_autofree const struct opk_noise_value *
			*values = opk_alloc_array(kernel->values.count + 1, sizeof *values);
		size_t count;

		if (!values)
			return app_nomem(n->app);
		count = choose_values(values, n, kernel);
		all += kernel->values.count;
		*shown += count;
		trusted += kernel->trusted;
		unknown += kernel->unknown;
		for (size_t j = 0; j < count; j++)
			trusted -= values[j]->trusted;
	}
	if (*shown && *shown < all)
		app_note("not shown: %zu of %zu metrics: %zu within %g%%, %zu unknown, %zu more; "
		         "--all shows them",
		         all - *shown, all, trusted, n->within, unknown,
		         all - *shown - trusted - unknown);
	return OPK_OK;
}

static int begin_metrics(const struct noise *n)
{
	static const struct opk_noise_kernel none;
	static const struct opk_noise_value nothing = { .metric = "", .unit = "" };
	struct opk_out *out = n->app->out;
	struct app_fields row;
	char texts[2][TEXT];

	fill_value(&row, n, &none, &nothing, texts);
	TRY(app_fields_table(n->app, "metrics", &row));
	for (size_t i = 0; i < row.count && app_shows_table(n->app); i++)
		if (!strcmp(row.columns[i].name, "unit"))
			opk_out_unit_in(out, i);
		else if (i >= NEEDED_FIELDS)
			opk_out_optional(out, i);
	return OPK_OK;
}

static int put_metrics(const struct noise *n)
{
	size_t shown = 0;

	TRY(note_left_out(&shown, n));
	if (!shown && app_shows_table(n->app) && !app_wants_table(n->app, "metrics"))
		return OPK_OK;
	TRY(begin_metrics(n));
	for (size_t i = 0; i < top(n); i++)
		TRY(put_metrics_of(n, i));
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static void note_mixed(const struct noise *n)
{
	size_t count = 0;

	for (size_t i = 0; i < n->of->kernels.count; i++)
		count += n->of->kernels.items[i].mixed;
	if (count)
		app_note("%zu kernel%s several launch shapes, whose differences are in the spread: "
		         "--by shape keeps them apart",
		         count, count == 1 ? " has" : "s have");
}

/* Where launches have one pass each, none has a metric of several passes. */
static void note_unknown(const struct noise *n)
{
	const struct opk_meta *meta;
	size_t count = 0;

	if (opk_file_meta(&meta, n->app->ctx, n->files[0]) || !*meta->join)
		return;
	for (size_t i = 0; i < n->of->kernels.count; i++) {
		const struct opk_noise_kernel *kernel = &n->of->kernels.items[i];

		for (size_t j = 0; j < kernel->values.count; j++)
			count += !kernel->values.items[j].of.count
			         && !isnan(kernel->values.items[j].mean);
	}
	if (count)
		app_note(
			"%zu of the unknown metrics take counters of several passes, and no launch had "
			"more than one: they have a mean, but no spread",
			count);
}

static void note_order(const struct noise *n)
{
	for (size_t i = 0; i < n->of->kernels.count; i++)
		if (!isnan(n->of->kernels.items[i].time))
			return;
	if (n->of->kernels.count > 1)
		app_note("no time was measured: %ss are in the order in which they appeared",
		         word(n));
}

static void note_incomplete(const struct noise *n)
{
	for (size_t i = 0; i < n->app->argument_count; i++)
		if (!opk_file_complete(n->files[i]))
			app_note("%s was cut off: only the launches that it still holds count",
			         n->app->arguments[i]);
}

static void note_rest(const struct noise *n)
{
	size_t rest = n->of->kernels.count - top(n);

	if (!n->of->kernels.count)
		app_note("%s", n->args->kernel ? "no kernel or range is like --kernel"
		                               : "the recording has no ranges");
	else if (rest && n->of->unknown < n->of->values)
		app_note("%zu more %s%s: --top %zu shows %s", rest, word(n), opk_plural(rest),
		         n->of->kernels.count, rest == 1 ? "it" : "them");
}

static int print(const struct noise *n)
{
	TRY(app_choose_table(n->app, TABLES, n->args->table, "metrics"));
	TRY(app_begin_output(n->app));
	TRY(put_summary(n));
	TRY(put_kernels(n));
	TRY(put_metrics(n));
	note_rest(n);
	note_mixed(n);
	note_unknown(n);
	note_order(n);
	note_incomplete(n);
	return app_end_output(n->app);
}

static int open_files(struct noise *n)
{
	n->files = opk_alloc_array(n->app->argument_count, sizeof(struct opk_file *));
	if (!n->files)
		return app_nomem(n->app);
	for (size_t i = 0; i < n->app->argument_count; i++)
		TRY(opk_file_open(&n->files[i], n->app->ctx, n->app->arguments[i]));
	return OPK_OK;
}

static int parse(struct noise *n)
{
	const struct noise_args *args = n->args;

	n->level = 95;
	n->within = 1;
	if (args->level)
		TRY(parse_between(n->app, &n->level, "--level", args->level, 1, 100,
		                  "a percentage such as 95"));
	if (args->within)
		TRY(parse_between(n->app, &n->within, "--within", args->within, 0, 100,
		                  "a percentage such as 1"));
	snprintf(n->needed, sizeof n->needed, "launches_for_%gpct", n->within);
	return args->columns ? split_names(n->app, &n->columns, "--columns", args->columns)
	                     : OPK_OK;
}

static int make(struct noise *n)
{
	struct opk_noise_options options = {
		.kernel = n->args->kernel,
		.by = n->args->by,
		.columns = opk_strlist_items(&n->columns),
		.column_count = n->columns.count,
		.kernel_names = kernel_style(n->app, n->args->kernel_names),
		.level = n->level / 100,
		.within = n->within,
	};
	int code = open_files(n);

	if (!code)
		code = opk_noise_new(&n->of, n->app->ctx, n->files, n->app->argument_count,
		                     &options);
	return code ? opk_add(n->app->ctx, code, "can't find the noise") : OPK_OK;
}

static int run(struct app *app, void *data)
{
	struct noise n = { .app = app, .args = data };
	int code;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE, "noise: which recordings?");
	/* A table fits a page in a pipe, too. */
	app->for_people = !app->output;
	code = parse(&n);
	if (!code)
		code = make(&n);
	if (!code)
		code = print(&n);
	opk_noise_free(n.of);
	for (size_t i = 0; n.files && i < app->argument_count; i++)
		opk_file_free(n.files[i]);
	free(n.files);
	opk_strlist_clear(&n.columns);
	return code;
}

const struct command noise_command = {
	.name = "noise",
	.synopsis = "RUN.opk...",
	.summary = "show how far metrics can be trusted, and how many more launches would do",
	.details =
		"A mean over launches says how a kernel behaves as far as its launches are alike. spread\n"
		"is the standard deviation of launches in percent of their mean. trusted_pct is the half\n"
		"width of the interval in which the mean of many more launches lies with the probability\n"
		"of --level, in percent of the mean, by Student's t. launches_for_1pct is how many\n"
		"launches make that 1%, or what --within says, if they are spread as these; more_launches\n"
		"says how many are missing. These are empty or nan where they are unknown: of one launch,\n"
		"and of a mean that is 0 though launches are not. A metric that is 0 in all launches is 0\n"
		"exactly. Other equal values need three launches, because two may be equal by chance.\n"
		"\n"
		"Each launch counts once, whether its passes were replayed or not. Where passes took turns\n"
		"in several launches, or in several runs of the program, a metric has the launches of its\n"
		"own pass, a metric of several passes has none and is unknown; more_launches counts\n"
		"launches of the kernel. Where the program has ranges, each is one. What ran on the\n"
		"timeline has times alone: PM samples are not independent of their neighbours.\n"
		"\n"
		"A kernel's launches of all shapes count as one kernel, as in 'offpeak show': what shapes\n"
		"differ by is in the spread unless --by shape keeps them apart; --by takes several of\n"
		"these words with ',' between.\n"
		"\n"
		"Several recordings add up, kernel by kernel. Launches of one run share its clocks and\n"
		"memory: only several runs show what runs differ by. The interval is too narrow where a\n"
		"few launches take most of the time, such as the first ones, which offpeak-collect\n"
		"can leave out.\n"
		"\n"
		"Kernels, or the ranges of the program, are in the order of 'offpeak show'. The metrics\n"
		"of each are in the order of trusted_pct, the greatest first, and those last of which\n"
		"nothing is known. A table for people has at most ten of a kernel, only such as are not\n"
		"within --within: its time in any case, then what 'offpeak show' judges by, and\n"
		"others where there is room; --all shows every one. CSV has the table of metrics, or that of --table.\n"
		"In the table of kernels, more_launches would do for all metrics of the kernel but all_but\n"
		"that are unknown or take more than ten times the launches. time_more would do for the\n"
		"kernel's time; where it is above more_launches, the time is one of all_but.",
	.examples = {
		{ "noise run.opk", "what the recording can be trusted for" },
		{ "noise run.opk -k '*gemm*' --within 0.5 --level 99", "a stricter question" },
		{ "noise run.opk --columns gpu__time_duration.sum -o noise.csv",
		  "how far times can be trusted" },
	},
	.options = specs,
	.args_size = sizeof(struct noise_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
