/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of Nsight Compute in CSV: numbers, units, NVTX ranges, rows, and malformed files. */
#include <math.h>

#include "folder.h"
#include "ncu/values.h"
#include "testing.h"

/* ---- numbers */

enum { POINT, COMMA };

static const struct number {
	struct here here;
	int decimal;
	const char *text;
	double value; /* NaN: it is a text */
	int power;
} numbers[] = {
	{ HERE, POINT, "0", 0, 0 },
	{ HERE, POINT, "-12.50", -12.5, 0 },
	{ HERE, POINT, "17,824.00", 17824, 0 },
	{ HERE, POINT, "2,621,440", 2621440, 0 },
	{ HERE, POINT, "12,34,567.5", 1234567.5, 0 },
	{ HERE, POINT, "117.344", 117.344, 0 },
	{ HERE, POINT, "1.5e+10", 1.5e10, 0 },
	{ HERE, POINT, "1e-3", 1e-3, 0 },
	{ HERE, POINT, "17.82", 17820, 3 },
	{ HERE, POINT, "0.1", 0.1e9, 9 },
	{ HERE, POINT, "5e2", 5e5, 3 },
	{ HERE, POINT, "1'234'567.5", 1234567.5, 0 },
	{ HERE, POINT,
	  "1\xe2\x80\x99"
	  "234",
	  1234, 0 },
	{ HERE, POINT, "12 (4; 8)", 12, 0 },
	{ HERE, POINT, "262,144 (65,536; 196,608)", 262144, 0 },
	{ HERE, POINT, "inf", HUGE_VAL, 0 },
	{ HERE, POINT, "-Inf", -HUGE_VAL, 0 },
	{ HERE, POINT, "+infinity", HUGE_VAL, 0 },
	{ HERE, POINT, "(!) inf", HUGE_VAL, 0 },
	{ HERE, POINT, "(!) 12", 12, 0 },
	{ HERE, COMMA, "(!) -1.234,5", -1234.5, 0 },
	{ HERE, POINT, "inf.", (double)NAN, 0 },
	{ HERE, COMMA, "65,77", 65.77, 0 },
	{ HERE, COMMA, "117.344", 117344, 0 },
	{ HERE, COMMA, "27.595.520", 27595520, 0 },
	{ HERE, COMMA, "1.234,5", 1234.5, 0 },
	{ HERE, COMMA,
	  "1\xc2\xa0"
	  "234,5",
	  1234.5, 0 },
	{ HERE, COMMA,
	  "1\xe2\x80\xaf"
	  "234\xe2\x80\xaf"
	  "567,5",
	  1234567.5, 0 },
	{ HERE, COMMA, "1 234", 1234, 0 },
	{ HERE, POINT, "CachePreferNone", (double)NAN, 0 },
	{ HERE, POINT, "12 MB", (double)NAN, 0 },
	{ HERE, POINT, "1,2,3", (double)NAN, 0 },
	{ HERE, POINT, "12,34", (double)NAN, 0 },
	{ HERE, POINT, "1.2.3", (double)NAN, 0 },
	{ HERE, POINT, "1.234,5", (double)NAN, 0 },
	{ HERE, POINT, "1,234,", (double)NAN, 0 },
	{ HERE, POINT, "0x10", (double)NAN, 0 },
	{ HERE, POINT, "1e999", (double)NAN, 0 },
	{ HERE, POINT, "1e99999999999999999999", (double)NAN, 0 },
	{ HERE, POINT, ".5", (double)NAN, 0 },
	{ HERE, POINT, "-", (double)NAN, 0 },
};

TEST(numbers_in_any_locale)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct number *row = &numbers[i];
		struct opk_printed printed = { .comma_line = row->decimal == COMMA };
		double value;
		enum opk_printed_kind kind = opk_printed_read(&value, &printed, row->text,
		                                              row->power);

		ck_row(row, kind == (isnan(row->value) ? OPK_PRINTED_TEXT : OPK_PRINTED_NUMBER),
		       "'%s' is of kind %d", row->text, kind);
		ck_row(row, isnan(row->value) ? isnan(value) : value == row->value,
		       "'%s' is %.17g, not %.17g", row->text, value, row->value);
	}
}

TEST(no_values)
{
	static const char *const texts[] = { "",     "n/a",     "N/A",     "nan",
		                             "-nan", "(!) n/a", "(!) nan", "(!) " };
	const struct opk_printed printed = { 0 };

	for (size_t i = 0; i < COUNT(texts); i++) {
		double value;

		ck_assert_int_eq(opk_printed_read(&value, &printed, texts[i], 3), OPK_PRINTED_NONE);
		ck_assert(isnan(value));
	}
}

/* What a number says of the decimal mark: 'c' a comma, 'p' a point, ' ' nothing. */
TEST(decimal_marks_are_learnt)
{
	static const struct {
		const char *text;
		char mark;
	} rows[] = {
		{ "12", ' ' },        { "1,234", ' ' },       { "1.234", ' ' },
		{ "1,234.5", 'p' },   { "1.234,5", 'c' },     { "1,234,567", 'p' },
		{ "1.234.567", 'c' }, { "65,77", 'c' },       { "65.77", 'p' },
		{ "0,123", 'c' },     { "0.123", 'p' },       { "1234.567", 'p' },
		{ "1.234e3", 'p' },   { "CachePrefer", ' ' }, { "n/a", ' ' },
		{ "1'234", ' ' },     { "12.5 (4,1)", 'p' },  { "117.344", ' ' },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_printed printed = { 0 };
		char mark;

		opk_printed_learn(&printed, rows[i].text, 7);
		mark = printed.comma_line ? 'c' : printed.point_line ? 'p' : ' ';
		ck_assert_msg(mark == rows[i].mark, "%s: '%c'", rows[i].text, mark);
		ck_assert(!(printed.comma_line && printed.point_line));
		ck_assert(!printed.open_line || (mark == ' ' && strchr(rows[i].text, '.')));
	}
}

/* ---- units */

TEST(units_are_those_of_recordings)
{
	static const struct {
		const char *theirs, *ours;
		int power;
	} rows[] = {
		{ "", "", 0 },
		{ "%", "percent", 0 },
		{ "ns", "nanoseconds", 0 },
		{ "nsecond", "nanoseconds", 0 },
		{ "us", "nanoseconds", 3 },
		{ "usecond", "nanoseconds", 3 },
		{ "msecond", "nanoseconds", 6 },
		{ "s", "nanoseconds", 9 },
		{ "second", "nanoseconds", 9 },
		{ "byte", "bytes", 0 },
		{ "Kbyte", "bytes", 3 },
		{ "Mbyte", "bytes", 6 },
		{ "Gbyte/s", "bytes/second", 9 },
		{ "Tbyte/second", "bytes/second", 12 },
		{ "byte/us", "bytes/second", 6 },
		{ "byte/block", "bytes/cta", 0 },
		{ "Kbyte/block", "bytes/cta", 3 },
		{ "register/thread", "registers/thread", 0 },
		{ "inst", "instructions", 0 },
		{ "inst/cycle", "instructions/cycle", 0 },
		{ "inst/Kcycle", "instructions/cycle", -3 },
		{ "hz", "cycles/second", 0 },
		{ "Mhz", "cycles/second", 6 },
		{ "Ghz", "cycles/second", 9 },
		{ "cycle/nsecond", "cycles/second", 9 },
		{ "1/s", "1/second", 0 },
		{ "1/us", "1/second", 6 },
		{ "sector/s", "sectors/second", 0 },
		/* These stay as they are. */
		{ "parsec", "parsec", 0 },
		{ "Gparsec/s", "Gparsec/s", 0 },
		{ "byte/", "bytes", 0 },
		{ "byte//s", "byte//s", 0 },
		{ "Kns", "Kns", 0 },
		{ "K", "K", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int power;
		opk_autofree char *unit = opk_printed_unit(&power, rows[i].theirs);

		ck_assert_str_eq(unit, rows[i].ours);
		ck_assert_msg(power == rows[i].power, "%s: %d", rows[i].theirs, power);
	}
}

/* ---- ranges of NVTX */

#define NONE ":none:none:none:none:none:none"

TEST(nvtx_columns)
{
	static const struct {
		const char *pushed, *started, *wanted;
	} rows[] = {
		{ "", "", "" },
		{ "4711 ", "", "" },
		{ "4711  \"<default domain>:step" NONE "\"", "", "step" },
		{ "1  \"<default domain>:a" NONE "\"  \"<default domain>:b/c\\" NONE "\" ", "",
		  "a/b\\/c\\\\" },
		{ "1  \"D:x" NONE "\"  \"<default domain>:a" NONE "\"  \"E:z" NONE "\"  \"D:y" NONE
		  "\"",
		  "", "a/D@x/D@y/E@z" },
		{ "1  \"<default domain>:all:reduce:2" NONE "\"", "", "all:reduce:2" },
		{ "1  \"<default domain>:plain\"", "", "plain" },
		{ "1  \"<default domain>:" NONE "\"", "", "" },
		{ "1  \"no colon\"", "", "" },
		{ "1  \"<default domain>:open", "", "" },
		{ "", "0:<default domain>:warm-up" NONE, "warm-up" },
		{ "", "\"0:<default domain>:a" NONE "\"  \"1:D:b" NONE "\"", "a/D@b" },
		{ "1  \"<default domain>:a" NONE "\"", "0:<default domain>:b" NONE, "a" },
		{ "", "\"", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *got = opk_printed_ranges(rows[i].pushed, rows[i].started);

		ck_assert_msg(!strcmp(got, rows[i].wanted), "%s: %s", rows[i].pushed, got);
	}
}

/* ---- rows */

#define TITLES                                                                                     \
	"\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
#define LONG TITLES "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define ROW(id, metric, unit, value)                                                               \
	"\"" id "\",\"1\",\"k\",\"(256, 1, 1)\",\"(4, 2, 1)\",\"0\",\"9.0\",\"" metric             \
	"\",\"" unit "\",\"" value "\"\n"

/* A page of details has columns of rules after those of metrics. */
#define RULES                                                                                      \
	"\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\","                 \
	"\"Rule Name\",\"Rule Type\",\"Estimated Speedup\"\n"

static int read_text(struct opk_ncu_report **out, struct opk_ctx *ctx, const char *text)
{
	put_file("r.csv", text, strlen(text));
	return opk_ncu_report_read(out, ctx, in_folder("r.csv"));
}

static const struct bad {
	struct here here;
	const char *text, *wanted;
} bad[] = {
	{ HERE, "", "r.csv: no line begins with \"ID\"" },
	{ HERE, "hello\nworld", "r.csv: no line begins with \"ID\"" },
	{ HERE, LONG, "r.csv: the table has no launches" },
	{ HERE, "\"Process ID\",\"Kernel Name\",\"Invocations\",\"x\"\n", "this is a summary" },
	{ HERE, "\"ID\";\"Process ID\"\n", "separated by ';'" },
	{ HERE, "\"#\",\"Source\",\"x\"\n", "of the page source" },
	{ HERE, "\xff\xfe\"", "this is UTF-16" },
	{ HERE, "x\n\"ID\",\"a\"\n", "r.csv:2: the table lacks the column Kernel Name" },
	{ HERE, "\"ID\",\"Kernel Name\",\"Metric Name\"\n",
	  "r.csv:1: the table lacks the column Metric Unit" },
	{ HERE, "\"ID\",\"Function Name\",\"Duration [us]\"\n",
	  "r.csv:1: the user interface of Nsight Compute exported this table" },
	{ HERE, "\"ID\",\"Kernel Name\",\"ID\"\n", "r.csv:1: the column ID is there twice" },
	{ HERE, "\"ID\",\"Kernel Name\",\"a__b.sum\",\"a__b.sum\"\n",
	  "r.csv:1: the column a__b.sum is there twice" },
	{ HERE, LONG "\"0\",\"1\"\n",
	  "r.csv:2: this row has 2 cells, but the table has 10 columns" },
	{ HERE, LONG "nonsense\n", "r.csv:2: this row has 1 cells" },
	{ HERE, RULES "\"0\",\"k\",\"a__b.sum\",\"us\"\n",
	  "r.csv:2: this row has 4 cells, but the table has 8 columns" },
	{ HERE, RULES "\"0\",\"k\",\"a__b.sum\",\"us\",\"1\",,,,\n",
	  "r.csv:2: this row has 9 cells, but the table has 8 columns" },
	{ HERE,
	  "\"ID\",\"Kernel Name\",\"Metric Unit\",\"Metric Value\",\"Metric Name\"\n"
	  "\"0\",\"k\",\"us\",\"1\",\"a__b.sum\"\n\"1\",\"k\",\"us\",\"2\"\n",
	  "r.csv:3: this row has 4 cells, but the table has 5 columns" },
	{ HERE, LONG "\"0\",\"1", "r.csv:2: a quote that begins in this line is not closed" },
	{ HERE, LONG "\"0\"x,\"1\"\n", "r.csv:2: a comma is needed after a quoted cell" },
	{ HERE, LONG ROW("x", "a__b.sum", "", "1"),
	  "r.csv:2: 'x' is not a number, in the column ID" },
	{ HERE, LONG ROW("0", "a__b.sum", "", "1") ROW("99999999999", "a__b.sum", "", "1"),
	  "r.csv:3: '99999999999' is not a number, in the column ID" },
	{ HERE, LONG ROW("0", "a__b.sum", "byte", "1") ROW("1", "a__b.sum", "inst", "1"),
	  "r.csv:3: a__b.sum has the unit instructions here, and in line 2 bytes" },
	{ HERE, LONG ROW("0", "a__b.sum", "", "1") ROW("0", "a__b.sum", "", "2"),
	  "r.csv:3: the launch has two values of a__b.sum: '2' here, and '1' in line 2" },
	{ HERE, LONG ROW("0", "a__b.sum", "", "1,5") ROW("0", "a__c.sum", "", "2.5"),
	  "r.csv:2: the decimal mark is a comma here, but a point in line 3" },
	{ HERE, TITLES "\"a__b.sum\"\n\"0\",\"1\",\"k\",\"256\",\"\",\"0\",\"9.0\",\"1\"\n",
	  "r.csv:2: '256' is not of the form (256, 1, 1), in the column Block Size" },
	{ HERE, TITLES "\"a__b.sum\"\n\"0\",\"1\",\"k\",\"\",\"\",\"-1\",\"9.0\",\"1\"\n",
	  "r.csv:2: '-1' is not a number, in the column Device" },
	{ HERE,
	  TITLES "\"a__b.sum\"\n\"0\",\"1\",\"k\",\"\",\"\",\"0\",\"9.0\",\"1\"\n"
	         "\"0\",\"1\",\"k\",\"\",\"\",\"0\",\"9.0\",\"1\"\n",
	  "r.csv:3: the launch 0 is there twice" },
	{ HERE,
	  TITLES "\"a__b.sum\"\n\"0\",\"1\",\"k\",\"\",\"\",\"0\",\"9.0\",\"1\"\n"
	         "\"1\",\"1\",\"k\",\"\",\"\",\"0\",\"8.0\",\"1\"\n",
	  "r.csv:3: device 0 has the compute capability 8.0 here, and 9.0 in a line above" },
	{ HERE, LONG "\"0\",\"\xff\"\n", "r.csv:2: a cell is not UTF-8" },
};

CTX_TEST(malformed_reports)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct opk_ncu_report *report = NULL;
		int code = read_text(&report, ctx, bad[i].text);

		ck_row(&bad[i], code == OPK_EINPUT && !report, "code %d", code);
		ck_row(&bad[i], strstr(errors_of(ctx), bad[i].wanted), "got %s", errors_of(ctx));
		opk_clear_errors(ctx);
	}
}

/* What is read of titles: of metrics, and of labels, which have none. */
TEST(titles)
{
	static const struct {
		const char *title, *metric;
	} rows[] = {
		{ "gpu__time_duration.sum", "gpu__time_duration.sum" },
		{ "Duration (gpu__time_duration.sum)", "gpu__time_duration.sum" },
		{ "Share (of all) (a__b.avg.pct)", "a__b.avg.pct" },
		{ "Duration", NULL },
		{ "Duration (us)", NULL },
		{ "Duration )(", NULL },
		{ "Duration (gpu__time_duration.sum) x", NULL },
		{ "pmsampling:a__b.sum", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *title = opk_strdup(rows[i].title);
		const char *got = opk_ncu_metric_in(title);

		ck_assert_msg(got ? rows[i].metric && !strcmp(got, rows[i].metric)
		                  : !rows[i].metric && !strcmp(title, rows[i].title),
		              "%s: %s", rows[i].title, got ? got : "none");
	}
}

static double value_of(const struct opk_ncu_values *values, size_t launch, const char *name)
{
	for (size_t i = 0; i < values->metric_count; i++)
		if (!strcmp(values->names[i], name))
			return values->values[launch * values->metric_count + i];
	ck_abort_msg("there is no %s", name);
	return 0;
}

/* Scales differ from row to row; rows of rules, lines of ncu, and a second report come between. */
CTX_TEST(rows_of_metrics)
{
	static const char text[] = "\xef\xbb\xbf==PROF== Connected\r\noutput\r\n" LONG
		ROW("0", "a__b.sum", "us",
	            "1.5") ROW("0", "a__c.sum", "", "n/a") "\n==WARNING== x\n" ROW("1", "a__b.sum",
	                                                                           "ms", "2.5")
			ROW("1", "", "", "") ROW("1", "Memory Throughput", "%",
	                                         "3") ROW("1", "pmsampling:a__b.sum", "%", "3")
				ROW("1", "warpsampling:a__b", "",
	                            "3") ROW("1", "SMs (launch__sm_count)", "", "132")
					ROW("1", "launch__cluster_dim_x", "", "0")
						ROW("1", "launch__cluster_dim_y", "", "2")
							ROW("1", "a__d", "", "Text")
								LONG ROW("0", "a__b.sum", "s", "1");
	struct opk_ncu_values values = { 0 };
	freed(opk_ncu_report) *report = NULL;

	ck_ok(ctx, read_text(&report, ctx, text));
	ck_ok(ctx, opk_ncu_values_init(&values, ctx, report));
	ck_assert_uint_eq(report->launches.rows.count, 3);
	ck_assert_uint_eq(report->launches.rows.items[2].grid[1], 2);
	ck_assert_uint_eq(values.metric_count, 3);
	ck_assert_str_eq(values.units[0], "nanoseconds");
	ck_assert(value_of(&values, 0, "a__b.sum") == 1500);
	ck_assert(value_of(&values, 1, "a__b.sum") == 2500000);
	ck_assert(value_of(&values, 2, "a__b.sum") == 1e9);
	ck_assert(value_of(&values, 1, "launch__sm_count") == 132);
	ck_assert_uint_eq(report->launches.rows.items[1].cluster[0], 1);
	ck_assert_uint_eq(report->launches.rows.items[1].cluster[1], 2);
	ck_assert_uint_eq(report->launches.rows.items[1].cluster[2], 0);
	ck_assert(isnan(value_of(&values, 0, "a__c.sum")));
	ck_assert_uint_eq(report->labels.count, 1);
	ck_assert_uint_eq(report->sampled.count, 2);
	ck_assert_uint_eq(values.texts.count, 1);
	opk_ncu_values_clear(&values);
}

/* Rows of metrics lack cells of rules; ranges of several launches have no stream and no shapes. */
static const struct partial {
	struct here here;
	const char *text;
} partial[] = {
	{ HERE, RULES "\"0\",\"k\",\"a__b.sum\",\"us\",\"1.5\"\n" },
	{ HERE, RULES "\"0\",\"k\",\"a__b.sum\",\"us\",\"1.5\",\n" },
	{ HERE, RULES "\"0\",\"k\",\"\",\"\",\"\",\"Bottleneck\",\"OPT\",\"12\"\n"
	              "\"0\",\"k\",\"a__b.sum\",\"us\",\"1.5\",,,\n" },
	{ HERE, "\"ID\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
	        "\"a__b.sum\"\n,,,,,,,us\n0,k,n/a,n/a,n/a,n/a,n/a,1.5\n" },
};

CTX_TEST(parts_of_rows_are_missing)
{
	for (size_t i = 0; i < COUNT(partial); i++) {
		struct opk_ncu_values values = { 0 };
		freed(opk_ncu_report) *report = NULL;
		const struct opk_range *launch;
		int code = read_text(&report, ctx, partial[i].text);

		ck_row(&partial[i], !code, "got %s", errors_of(ctx));
		ck_ok(ctx, opk_ncu_values_init(&values, ctx, report));
		launch = report->launches.rows.items;
		ck_row(&partial[i], report->launches.rows.count == 1, "launches");
		ck_row(&partial[i], !launch->stream && !launch->grid[0] && launch->device == -1,
		       "a fact is known");
		ck_row(&partial[i], value_of(&values, 0, "a__b.sum") == 1500, "value");
		opk_ncu_values_clear(&values);
	}
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
