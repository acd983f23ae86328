/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak eval: its options. */
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "database/door.h"
#include "eval/eval_table.h"

struct eval_args {
	struct raw_args raw;
	unsigned format, layout, first_sample, join, launch_columns, evaluator, kernel_names, per;
	const char *columns, *aggregate, *by, *level, *sort, *resample;
	struct option_list where;
	uint64_t workers, top;
	bool allow_incomplete, strict;
};

/* Words of options; those of --first-sample are an enum first_sample. */
enum {
	SQLITE = OPK_FORMAT_OPENMETRICS + 2,
	LAYOUT_LONG = 2,
	LAYOUT_TREE = 3,
	JOIN_NONE = 2,
	ALL_COLUMNS = 2,
	ONLY_CUPTI = 2
};

static const struct option_spec specs[] = {
	{ "format", 0, "table|csv|json|ndjson|openmetrics|sqlite",
	  "csv (default), or as FILE ends: .csv, .json, .ndjson, .txt; .prom: Prometheus' text; .db, .sqlite: a database",
	  OPTION_WORD, offsetof(struct eval_args, format) },
	{ "layout", 0, "wide|long|tree",
	  "wide (default): a column a metric; long: a row a value; tree: ranges inside others",
	  OPTION_WORD, offsetof(struct eval_args, layout) },
	{ "first-sample", 0, "keep|mark|drop",
	  "PM sampling: what becomes of the first; default drop", OPTION_WORD,
	  offsetof(struct eval_args, first_sample) },
	{ "per", 0, "sample|kernel|launch|instruction|line|function",
	  "PM samples, or what they say of the kernels or launches that were recorded beside them; "
	  "counts and samples of code",
	  OPTION_WORD, offsetof(struct eval_args, per) },
	{ "resample", 0, "TIME",
	  "PM sampling: a row for each second (1s), minute (1min) or other time, over all files",
	  OPTION_TEXT, offsetof(struct eval_args, resample) },
	{ "join", 0, "recorded|none",
	  "recorded (default): one row of ranges that belong together; or none", OPTION_WORD,
	  offsetof(struct eval_args, join) },
	{ "launch-columns", 0, "basic|all", "basic (default), or all that is known of each launch",
	  OPTION_WORD, offsetof(struct eval_args, launch_columns) },
	{ "columns", 0, "A,B", "only these columns and metrics, in this order", OPTION_TEXT,
	  offsetof(struct eval_args, columns) },
	{ "where", 0, "NAME=GLOB",
	  "only rows like this: kernel=*gemm*, device=0, 'METRIC>1e6'; may be repeated",
	  OPTION_LIST, offsetof(struct eval_args, where) },
	{ "sort", 0, "COL",
	  "order rows by this column or metric, or several: A,B; -COL: from the greatest on",
	  OPTION_TEXT, offsetof(struct eval_args, sort) },
	{ "top", 0, "N", "only the first N rows, or key groups", OPTION_COUNT,
	  offsetof(struct eval_args, top) },
	{ "strict", 0, NULL,
	  "exit 1 where a metric is nan in every row, there is no row, or a recording counts twice",
	  OPTION_FLAG, offsetof(struct eval_args, strict) },
	{ "aggregate", 0, "KEY",
	  "statistics of ranges that share it: name, kernel, device and others", OPTION_TEXT,
	  offsetof(struct eval_args, aggregate) },
	{ "by", 0, "KEY",
	  "keep apart in statistics and with --per kernel, besides: device, host, rank and others",
	  OPTION_TEXT, offsetof(struct eval_args, by) },
	LEVEL_OPTION(struct eval_args, level),
	KERNEL_NAMES_OPTION(struct eval_args, kernel_names),
	{ "allow-incomplete", 0, NULL, "evaluate what a cut-off recording still holds", OPTION_FLAG,
	  offsetof(struct eval_args, allow_incomplete) },
	{ "workers", 0, "N", "processes that divide the images; default: as is worthwhile",
	  OPTION_NUMBER, offsetof(struct eval_args, workers) },
	{ "evaluator", 0, "auto|cupti",
	  "auto (default): the faster one; or CUPTI's call. The bits are the same", OPTION_WORD,
	  offsetof(struct eval_args, evaluator) },
	RAW_OPTIONS(struct eval_args, raw),
	{ 0 },
};

static int choose_format(struct eval *eval, const struct eval_args *args)
{
	struct app *app = eval->app;
	int code = OPK_OK;

	eval->to_database = args->format ? args->format == SQLITE : app_names_database(app);
	if (eval->to_database && !app->output)
		return app_error(app, OPK_EUSAGE,
		                 "--format sqlite: a database needs a file: -o FILE.db");
	if (!eval->to_database)
		app->format = args->format;
	if (app->output)
		code = files_write(app, app->output,
		                   eval->to_database ? OPK_OUTPUT_DATABASE : OPK_OUTPUT_TABLE);
	if (code || eval->to_database)
		return code;
	if (eval->is_tree && !app->format)
		app->format = (app->output || !isatty(STDOUT_FILENO) ? OPK_FORMAT_JSON
		                                                     : OPK_FORMAT_TABLE)
		              + 1;
	if (!app->format)
		app->format = OPK_FORMAT_CSV + 1;
	return OPK_OK;
}

/* Prometheus has a row's values, a metric each. */
static int check_metrics(const struct eval *eval)
{
	if (eval->is_tree || eval->is_long)
		return app_error(eval->app, OPK_EUSAGE,
		                 "--format openmetrics: each value has a line: no --layout");
	return OPK_OK;
}

static int check_tree(struct app *app, const struct eval *eval)
{
	if (eval->to_database || app->format == OPK_FORMAT_CSV + 1)
		return app_error(app, OPK_EUSAGE,
		                 "--layout tree: rows inside rows are a table, json or ndjson; "
		                 "names have the path in csv and databases");
	if (eval->order.top)
		return app_error(app, OPK_EUSAGE,
		                 "--layout tree: --top would cut it anywhere; --where and --sort "
		                 "choose rows and the order inside each range");
	return OPK_OK;
}

/* A row per group and metric excludes rows of ranges, and a bare image has no groups. */
static int check_aggregate(struct app *app, const struct eval_args *args, const struct eval *eval)
{
	if (args->raw.image)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate takes recordings; 'import' makes "
		                 "one of a bare image");
	if (eval->single || (args->layout && args->layout != LAYOUT_LONG) || args->allow_incomplete)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate has one row a group and metric, of "
		                 "whole recordings: no --layout wide or tree, --join none or "
		                 "--allow-incomplete");
	if (eval->to_database)
		return app_error(
			app, OPK_EUSAGE,
			"eval: --aggregate writes table, csv, json or ndjson, no database");
	if (eval->first_sample == FIRST_MARK)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --aggregate with --first-sample keep or drop");
	return OPK_OK;
}

/* A long table's value belongs to a metric, and a database's rows have no order. */
static int check_sort(const struct eval *eval)
{
	static const char *const words[] = { "value", "metric", "unit" };

	if (eval->key)
		return OPK_OK;
	for (size_t i = 0; i < eval->order.key_count; i++) {
		const struct eval_key *key = &eval->order.keys[i];

		for (size_t j = 0; j < COUNT(words); j++)
			if (!strcmp(key->name, words[j]))
				return app_error(eval->app, OPK_EUSAGE,
				                 "--sort %s: the values of one row stay together: "
				                 "sort by what is known of rows, or by a metric",
				                 words[j]);
		if (key->statistic)
			return app_error(eval->app, OPK_EUSAGE,
			                 "--sort %s:%s: statistics are of key groups, which "
			                 "--aggregate makes",
			                 key->name, key->statistic);
	}
	return OPK_OK;
}

static int check_per(struct app *app, const struct eval_args *args)
{
	if (args->raw.image)
		return app_error(
			app, OPK_EUSAGE,
			"eval: --per takes recordings: a bare image does not say what ran");
	if (args->per < PER_KERNEL)
		return OPK_OK;
	if (args->aggregate || args->layout == LAYOUT_TREE)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --per has rows of its own: no --aggregate or "
		                 "--layout tree");
	if (args->first_sample)
		return app_error(app, OPK_EUSAGE,
		                 "eval: --per leaves the first sample out: no --first-sample");
	return OPK_OK;
}

static int check_resample(const struct eval *eval, const struct eval_args *args)
{
	if (args->raw.image || args->aggregate || args->per || args->first_sample
	    || eval->to_database || eval->is_tree || args->join || args->allow_incomplete)
		return app_error(
			eval->app, OPK_EUSAGE,
			"eval: --resample has rows of its own, of whole recordings: no --raw, "
			"--aggregate, --per, --first-sample, --join, --layout tree, "
			"--allow-incomplete or database");
	return OPK_OK;
}

static int check_inputs(struct app *app, const struct raw_args *raw)
{
	if (!raw->image && !app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "eval: which recording? FILE.opk, or --raw IMAGE");
	if (raw->image && app->argument_count)
		return app_error(app, OPK_EUSAGE, "eval: --raw IMAGE or FILE.opk, not both");
	if (!raw->image && (raw->chip || raw->profiler || raw->time_shift))
		return app_error(app, OPK_EUSAGE,
		                 "eval: --chip, --profiler and --time-shift go with --raw; a "
		                 "recording knows its own");
	return OPK_OK;
}

/* Takes the options over. */
static int choose(struct eval *eval, const struct eval_args *args)
{
	int code = OPK_OK;

	eval->is_tree = args->layout == LAYOUT_TREE;
	eval->is_long = args->layout == LAYOUT_LONG;
	if (args->columns)
		code = split_names(eval->app, &eval->chosen, "--columns", args->columns);
	eval->first_sample = args->first_sample ? (enum first_sample)(args->first_sample - 1)
	                                        : FIRST_DROP;
	eval->drops_as_told = args->first_sample == FIRST_DROP + 1;
	eval->single = args->join == JOIN_NONE;
	if (args->aggregate)
		eval->key = args->by ? opk_printf("%s,%s", args->aggregate, args->by)
		                     : opk_strdup(args->aggregate);
	if (!code && args->aggregate && !eval->key)
		code = app_nomem(eval->app);
	eval->level = args->level;
	eval->order.top = args->top;
	eval->strict = args->strict;
	if (!code && args->sort)
		code = eval_order_parse(&eval->order, eval->app, args->sort);
	if (!code && args->sort)
		code = check_sort(eval);
	eval->per = (enum eval_per)args->per;
	if (!code)
		code = choose_format(eval, args);
	if (!code && eval_is_metrics(eval))
		code = check_metrics(eval);
	if (!code && eval->is_tree)
		code = check_tree(eval->app, eval);
	if (!code && eval->to_database && (args->sort || args->top))
		code = app_error(eval->app, OPK_EUSAGE,
		                 "eval: a database has no order: ORDER BY and LIMIT of SQL choose, "
		                 "not --sort and --top");
	if (!code)
		code = check_inputs(eval->app, &args->raw);
	if (!code && args->level && !args->aggregate)
		code = app_error(eval->app, OPK_EUSAGE, "eval: --level goes with --aggregate");
	if (!code && args->by && !args->aggregate && args->per != PER_KERNEL)
		code = app_error(eval->app, OPK_EUSAGE,
		                 "eval: --by goes with --aggregate or --per kernel");
	if (!code && args->per)
		code = check_per(eval->app, args);
	if (!code && args->kernel_names && eval->to_database)
		code = app_error(
			eval->app, OPK_EUSAGE,
			"eval: --kernel-names: a database has kernel and symbol of each range");
	if (!code && args->aggregate)
		code = check_aggregate(eval->app, args, eval);
	if (!code && args->resample)
		code = check_resample(eval, args);
	return code;
}

static enum opk_rows rows_of(const struct eval *eval)
{
	if (eval->per == PER_KERNEL)
		return OPK_ROWS_KERNELS;
	if (eval->per == PER_LAUNCH)
		return OPK_ROWS_LAUNCHES;
	if (eval->per >= PER_INSTRUCTION)
		return OPK_ROWS_INSTRUCTIONS + (eval->per - PER_INSTRUCTION);
	return eval->single ? OPK_ROWS_SINGLE : OPK_ROWS_RECORDED;
}

static int make_table(struct eval *eval, const char *raw_image,
                      const struct opk_table_options *options)
{
	struct app *app = eval->app;
	opk_autofree void *image = NULL;
	size_t size;

	if (!raw_image)
		return opk_table_new(&eval->table, app->ctx, (const char *const *)app->arguments,
		                     app->argument_count, options);
	TRY(files_get(app, &image, &size, raw_image));
	return opk_table_new_image(&eval->table, app->ctx, image, size, raw_image, options);
}

static int read_files(struct eval *eval, const struct eval_args *args,
                      struct opk_eval_options *eval_options)
{
	struct opk_eval_inside eval_inside = { 0 };
	struct opk_table_options options = OPK_INIT(options);
	struct opk_table_inside inside = {
		.mark_first_sample = eval->first_sample == FIRST_MARK,
		.drop_first_sample = eval->drops_as_told,
		.only_sources = eval->to_database,
		.is_tree = eval->is_tree,
		.refuse_twice = args->strict,
		.with_origin = eval_is_metrics(eval),
		.with_sass = eval->to_database || eval_sorted_has_sass(eval),
	};

	eval_options->allow_incomplete = args->allow_incomplete;
	eval_options->workers = args->workers;
	eval_options->where = args->where.items;
	eval_options->where_count = args->where.count;
	eval_options->inside = &eval_inside;
	eval->of_code = eval->per >= PER_INSTRUCTION || (!eval->per && eval_is_code(eval->app));
	eval_inside.latest_bin = eval_is_metrics(eval);
	eval_inside.cupti_only = args->evaluator == ONLY_CUPTI;
	eval_inside.by = eval->key ? NULL : args->by;
	if (!eval->key) {
		eval_inside.also = eval->also;
		eval_inside.also_count = eval_sorted_values(eval);
	}
	options.eval = eval_options;
	options.columns = opk_strlist_items(&eval->chosen);
	options.column_count = eval->chosen.count;
	options.all_facts = args->launch_columns == ALL_COLUMNS;
	options.keep_first_sample = eval->first_sample == FIRST_KEEP;
	options.rows = args->raw.image ? OPK_ROWS_RECORDED : rows_of(eval);
	options.kernel_names = kernel_style(eval->app, args->kernel_names);
	options.is_long = eval->is_long && !eval->to_database;
	options.aggregate = eval->key;
	options.level = eval->level;
	options.resample = args->resample;
	options.log = app_log;
	options.inside = &inside;
	return make_table(eval, args->raw.image, &options);
}

static int evaluate(struct eval *eval, const struct eval_args *args,
                    struct opk_eval_options *options)
{
	TRY(eval_name_option(eval, read_files(eval, args, options)));
	TRY(eval_check_files(eval));
	return eval_print(eval);
}

static void clear(struct eval *eval)
{
	opk_database_free(eval->database);
	opk_table_free(eval->table);
	free(eval->key);
	opk_strlist_clear(&eval->chosen);
	free(eval->headers);
	free(eval->cells);
	eval_order_clear(&eval->order);
	eval_tree_clear(&eval->tree);
}

static int run(struct app *app, void *data)
{
	const struct eval_args *args = data;
	struct opk_eval_options options;
	struct raw_metrics metrics = { 0 };
	struct eval eval = { .app = app };
	int code = choose(&eval, args);

	if (!code)
		code = raw_eval_options(app, &args->raw, &options, &metrics);
	if (!code)
		code = evaluate(&eval, args, &options);
	clear(&eval);
	raw_metrics_free(&metrics);
	return code;
}

const struct command eval_command = {
	.name = "eval",
	.synopsis = "FILE.opk... | --raw IMAGE --metrics A,B",
	.summary = "evaluate recordings into CSV or a database, on a machine without a GPU",
	.details =
		"Ranges: range,name, then kernel, grid, block and device where recorded, and nvtx,\n"
		"rank and duration_ns, and level and parent where ranges are inside others; then the\n"
		"metrics. --launch-columns all adds launch, shared_bytes, registers, stream, context,\n"
		"process, clocks and start_ns. PM sampling: sample,start_ns,end_ns, device where there\n"
		"are several, then the metrics; only completed samples. The first sample of a recording\n"
		"begins at an earlier event, so that its times and values span more than an interval:\n"
		"it is left out. --first-sample keep keeps it, mark adds the column spans_earlier, too.\n"
		"\n"
		"Where each range has one pass of the set, those that belong together make one row:\n"
		"launches of the same kernel and shape, the same launch of several runs, or ranges of\n"
		"the same name. Of each pass the counters of all ranges make a mean range, of which\n"
		"metrics are evaluated. The column launches is the number of ranges: in a wide table\n"
		"that of the row, beside launches_min, which is that of the value with the fewest; 0\n"
		"shows that a pass is missing, and what needs it is nan. --join none prints each range\n"
		"by itself.\n"
		"\n"
		"Some ways to collect count idle time around short kernels into some metrics: a\n"
		"note names them, and a long table has the column inflated.\n"
		"\n"
		"A recording may show more than its metrics: short names instead of theirs, and\n"
		"derived metrics, computed from each row's values. --metrics takes any of these names\n"
		"and those of metrics that are not shown. A long table has the units of derived metrics\n"
		"as declared, or else as they follow from the formula.\n"
		"\n"
		"Where the set has headings, a table for people (--format table) has them over the\n"
		"columns; a long one has them between the rows, and their prose once.\n"
		"\n"
		"--columns takes the names of columns, metrics, and all else that is known of a row,\n"
		"such as symbol, stream or file; no other metrics are evaluated. In a long table\n"
		"metrics are rows, and metric, unit and value follow where they are not named. --where\n"
		"NAME=GLOB keeps the rows whose text in that column matches as a whole (* ? [a-z]\n"
		"[!a]), --where NAME!=GLOB those where it does not. Numbers and metrics are compared\n"
		"with < <= > >= = and !=, in their own unit, which is not written:\n"
		"'gpu__time_duration.sum>25000'. Where several conditions are given, all must hold. In\n"
		"a condition range is the name of a range, range=step/*, but with < and > its number,\n"
		"as in the column range; index is always the number. What is not known only matches an\n"
		"empty pattern or *. Facts are judged before rows are joined, values after it. Only\n"
		"rows with facts as wanted are evaluated: images without any are not read, so that\n"
		"damage there goes unnoticed.\n"
		"\n"
		"Where offpeak-collect recorded kernels beside PM samples, as it does if told to, --per\n"
		"kernel has a row for each kernel, and --per launch one for each launch, with the\n"
		"values of the samples that they ran in, and a row for idle time. A sample in which\n"
		"several ran is divided by how long each ran in it and how much it counts per time.\n"
		"What adds up is the mean of a launch; rates and percentages are means over its time.\n"
		"The column samples says in how many samples it ran, samples_alone how much these say\n"
		"of it alone, and shared_ns how long others ran beside it. --per kernel finds values of\n"
		"kernels of few samples or less by all of their launches together; the column\n"
		"METRIC:within is how far off such a value may be, in 95 of 100 cases. What is too short\n"
		"or too rare is nan. --by shape, device, host or rank keeps kernels apart by these, too.\n"
		"Of a recording of kernels alone each launch is a row, and with --aggregate kernel each\n"
		"kernel.\n"
		"Where the program's calls were recorded, launch_latency_ns is the time from a call to\n"
		"its work, gap_ns how long the GPU did nothing before, and host_gap_ns how long of this\n"
		"the call had not been made.\n"
		"\n"
		"--layout tree puts each range after the one that it was in, indented in a table, and\n"
		"inside it in JSON, which is the default but on a terminal. Names say what is inside what,\n"
		"and where several ranges have a name, times do, or the order: equally many in each.\n"
		"\n"
		"--sort A,-B orders rows by these, '-' from the greatest on: columns, other facts, or\n"
		"metrics, which need not be shown. What is nan or unknown comes last, and equal rows stay\n"
		"in order; rows of several files go together, and the values of a row in a long table stay\n"
		"together. Keys are kept in memory, some 70 bytes a row; rows stay in temporary files.\n"
		"--aggregate takes METRIC, which is its sum or else its mean, and METRIC:max and other\n"
		"statistics. --top N is the first N rows or key groups. --strict is for scripts: exit 1\n"
		"where a metric of the table is nan in every row, or there is no row, and all is written;\n"
		"or, before anything is evaluated, where files have the same launches or samples.\n"
		"\n"
		"Nsight Compute's names for a launch and its device are taken like metrics where the\n"
		"recording has them: launch__grid_size, launch__block_size, launch__thread_count,\n"
		"launch__registers_per_thread, device__attribute_multiprocessor_count and others, which\n"
		"docs/formats.md lists. Their parts are columns, too: grid_x, block_x.\n"
		"\n"
		"--kernel-names says how kernels are called: full, in one spelling whatever tool recorded\n"
		"them, as in CSV and JSON; short, without namespaces, template arguments and arguments,\n"
		"as in tables; or symbol, mangled, where the recording has it. Short names of different\n"
		"kernels have what they differ in, as scale<float>, or a number. --where kernel=PATTERN\n"
		"takes full names in any spelling, and plain ones: kernel=scale.\n"
		"\n"
		"--format sqlite writes a database, as does -o FILE.db, FILE.sqlite or FILE.sqlite3\n"
		"without --format: tables runs, devices, metrics, ranges and samples, and the views\n"
		"wide, long and \"values\" (quoted, as it is a word of SQL), whatever --layout says.\n"
		"nan is NULL there. An older database of that name is replaced, not added to: name all\n"
		"recordings at once. docs/formats.md has the tables, and how Parquet is made of it.\n"
		"\n"
		"--resample 1s has a row for each second, and each GPU, of the PM samples of all files,\n"
		"which are those of one watch in any order: run-*.opk, quoted or not. The counters of a\n"
		"row's samples are summed before metrics are evaluated, so that ratios and percentages are\n"
		"right for the whole second. Rows begin at whole multiples of the time. A sample is in the row of\n"
		"its middle; the first one of a watch, which begins at an earlier event, is in none.\n"
		"samples says how many the row has, and covered_ns their time: less than the row's where\n"
		"sampling began or ended in it, or samples were lost, and there values that add up are less\n"
		"by as much. A time without samples has no row. --where chooses samples by facts, and rows\n"
		"by values, samples and covered_ns.\n"
		"\n"
		"--format openmetrics writes Prometheus' text format, for node_exporter's textfile\n"
		"collector, as does -o FILE.prom: a gauge offpeak_NAME for each value, with seconds or bytes\n"
		"at its end where it has these units, and the row's other columns as labels. Two rows can't\n"
		"have the same labels. With --resample there is one row a GPU: the latest time that is over.\n"
		"\n"
		"--aggregate has a row for each metric and each key group: ranges that share name,\n"
		"kernel, shape (grid, block, shared memory), nvtx, device, host or rank, several with\n"
		"',' between, or all. --by adds to the key: --by device keeps GPUs apart, which are\n"
		"otherwise in one group: what adds up is added, ratios are those of sums where\n"
		"numerator and denominator are known, and else means, which the column weighted_by\n"
		"marks; docs/formats.md says what becomes of which metric. Counters of one GPU are\n"
		"summed before metrics are evaluated, by PerfWorks' combiner: mean is the ratio,\n"
		"percentage or rate of all ranges together, and for what adds up the sum over the\n"
		"count. What does not add up has no sum (nan). The sum of X.max is that of the one\n"
		"instance with the most in all ranges, which may be less than that of the rows. count\n"
		"is of all ranges that have the metric, also of those where it is nan. min, max and\n"
		"percentiles are over the ranges' own values, interpolated between two of them. Where\n"
		"ranges are inside others of their key, as step/forward in step, only the outermost\n"
		"count; --level innermost takes those that hold no others, --level all every one.\n"
		"Derived metrics are computed from sums, or from means where passes have different\n"
		"counts. PM samples aggregate by device. --where chooses the ranges, and --columns the\n"
		"metrics that have rows and the columns: metric and unit follow where they are not\n"
		"named, and all statistics where no statistic is. It writes no database.\n"
		"\n"
		"Values are base units with 17 digits; nan is what CUPTI could not compute. A\n"
		"recording's checksums are verified first. Only child processes pass images to NVIDIA's\n"
		"code: on damaged bytes it may crash, which is exit code 4 here. Large recordings are\n"
		"divided among as many as there are cores. With --raw the chip and the profiler are\n"
		"read from the image.",
	.examples = {
		{ "eval run.opk -o run.csv", "all ranges and metrics" },
		{ "eval run.opk --where 'kernel=*add*' --columns name,duration_ns,sm__cycles_active.sum --format table",
		  "some, on a terminal" },
		{ "eval run.opk --aggregate kernel -o kernels.csv",
		  "count, sum, mean and percentiles of each kernel" },
	},
	.options = specs,
	.args_size = sizeof(struct eval_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_ANY,
	.run = run,
};
