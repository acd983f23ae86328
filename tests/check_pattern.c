/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, globs and regular expressions: their matches, and a bound on their time. */
#include "set/set.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

#include "testing.h"

static const char *const names[] = {
	"dram__bytes.sum",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"lts__t_sectors.avg",
	"dram",
	"a)(b",
};

struct walk {
	size_t at, times; /* repetitions of all names */
};

static const char *next(void *data)
{
	struct walk *walk = data;

	return walk->at < COUNT(names) * walk->times ? names[walk->at++ % COUNT(names)] : NULL;
}

/* The numbers of the matches, a blank after each; or the pattern's error. */
static const char *selected(struct opk_ctx *ctx, const char *text, size_t times, double *seconds)
{
	static char out[1024];
	opk_autoproblems struct opk_problems problems = { 0 };
	opk_autoselection struct opk_selection selection = { 0 };
	struct opk_place nowhere = { 0 };
	struct opk_pattern pattern;
	struct walk walk = { .times = times };
	int code = OPK_EUSAGE;

	out[0] = '\0';
	if (opk_pattern_init(&pattern, &problems, text, &nowhere))
		code = opk_pattern_select(&selection, ctx, &problems, &pattern, &nowhere,
		                          &(struct opk_names){ next, &walk, seconds });
	ck_assert_uint_eq(problems.count, code != OPK_OK);
	for (size_t i = 0; i < selection.count; i++)
		sprintf(out + strlen(out), "%zu ", selection.numbers[i]);
	if (code)
		snprintf(out, sizeof out, "%s", problems.items[0].text);
	return out;
}

static const struct {
	struct here here;
	const char *text, *wanted;
} matches_rows[] = {
	{ HERE, "dram__bytes.sum", "0 " },
	{ HERE, "dram__bytes", "" },
	{ HERE, "dram__bytes*.sum", "0 1 2 " },
	{ HERE, "*", "0 1 2 3 4 5 " },
	/* An expression must match the whole name, also with alternatives or anchors. */
	{ HERE, "/dram/", "4 " },
	{ HERE, "/dram__.*/", "0 1 2 " },
	{ HERE, "/dram__bytes_(read|write)\\.sum/", "1 2 " },
	{ HERE, "/dram|lts__t_sectors\\.avg/", "3 4 " },
	{ HERE, "/lts.*|dram__bytes.sum/", "0 3 " },
	{ HERE, "/^dram$/", "4 " },
	{ HERE, "/dram_*bytes.sum/", "0 " },
	{ HERE, "/dram_{2}bytes.sum/", "0 " },
	{ HERE, "/drame?/", "4 " },
	{ HERE, "/[^)]\\)\\([[:alpha:]]/", "5 " },
	{ HERE, "/a[)](.b|x)/", "5 " },
	{ HERE, "/a[[:punct:])](.b|x)/", "5 " },
	{ HERE, "/none/", "" },
	/* Invalid patterns. */
	{ HERE, "/a(/", "regular expression /a(/: Unmatched ( or \\(" },
	{ HERE, "/a[[./", "regular expression /a[[./: Unmatched [, [^, [:, [., or [=" },
	{ HERE, "/a[[.b/", "regular expression /a[[.b/: Unmatched [, [^, [:, [., or [=" },
	{ HERE, "/a)(b/", "regular expression /a)(b/: a ')' closes nothing" },
	{ HERE, "/(a)\\1/", "back-references are not allowed in regular expressions" },
	{ HERE, "/a{99999}/", "regular expression /a{99999}/: Regular expression too big" },
};

CTX_TEST_EACH(matches, matches_rows)
{
	double seconds = OPK_EXPRESSION_SECONDS;
	const char *got = selected(ctx, row->text, 1, &seconds);

	ck_row(row, !strcmp(got, row->wanted), "got %s", got);
	ck_row(row, seconds > OPK_EXPRESSION_SECONDS - 1, "%f s are left", seconds);
}

static const struct {
	struct here here;
	const char *text;
	int without, with; /* time */
} alone_rows[] = {
	{ HERE, "dram*", OPK_OK, OPK_OK },
	{ HERE, "/dram__bytes(_(read|write))?\\.sum/", OPK_OK, OPK_OK },
	{ HERE, "/dram.*/", OPK_OK, OPK_OK },
	{ HERE, "/a(b/", OPK_EUSAGE, OPK_EUSAGE },
	{ HERE, "/a*/", OPK_EINPUT, OPK_OK },
	{ HERE, "/.+/", OPK_EINPUT, OPK_OK },
	{ HERE, "/a{2}/", OPK_EINPUT, OPK_OK },
	{ HERE, "/^a$/", OPK_EINPUT, OPK_OK },
	{ HERE, "/[ab]/", OPK_EINPUT, OPK_OK },
	{ HERE, "/a\\b/", OPK_EINPUT, OPK_OK },
	{ HERE, "/[/", OPK_EINPUT, OPK_EUSAGE },
};

/* Patterns that surely compile quickly need no child, and so no time. */
CTX_TEST_EACH(alone, alone_rows)
{
	const struct opk_place place = { 0 };
	opk_autoproblems struct opk_problems problems = { 0 };
	double none = 0, seconds = OPK_EXPRESSION_SECONDS;
	struct opk_pattern pattern;

	ck_row(row, opk_pattern_init(&pattern, &problems, row->text, &place), "no pattern");
	ck_row(row, opk_pattern_check(ctx, &problems, &pattern, &place, &none) == row->without,
	       "no time");
	ck_row(row, opk_pattern_check(ctx, &problems, &pattern, &place, &seconds) == row->with,
	       "time");
}

static const struct {
	struct here here;
	const char *text, *beginning;
	bool may;
} beginnings_rows[] = {
	{ HERE, "dram__*", "dram__bytes", true },
	{ HERE, "dram__*", "lts__t", false },
	{ HERE, "/dram__bytes\\.sum/", "dram__bytes", true },
	{ HERE, "/dram__bytes\\.sum/", "dram__byte", true },
	{ HERE, "/dram__bytes\\.sum/", "dram__reads", false },
	{ HERE, "/dram__(a|b)/", "dram__x", true },
	{ HERE, "/dram__(a|b)/", "lts__a", false },
	{ HERE, "/dram__a|lts__b/", "lts__b", true },
	{ HERE, "/dram__a(b)|lts__b/", "lts__b", true },
	{ HERE, "/dram__a[|]/", "lts__b", false },
	{ HERE, "/dram__a\\|/", "lts__b", false },
	{ HERE, "/dram__ab*/", "dram__a", true },
	{ HERE, "/dram__ab?c/", "dram__ac", true },
	{ HERE, "/dram__ab{0,1}c/", "dram__ac", true },
	{ HERE, "/dram__ab+c/", "dram__ac", false },
	{ HERE, "/.*/", "a", true },
};

/* Whole branches of a catalog are skipped by the beginnings of their names. */
TEST_EACH(beginnings, beginnings_rows)
{
	opk_autoproblems struct opk_problems problems = { 0 };
	struct opk_place nowhere = { 0 };
	struct opk_pattern pattern;

	ck_row(row, opk_pattern_init(&pattern, &problems, row->text, &nowhere), "no pattern");
	ck_row(row, opk_pattern_may_match(&pattern, row->beginning) == row->may, "wrong");
}

static double seconds_of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
	       + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Loading uses up the chip's time, too; it takes longer than the steps in which a system counts. */
CTX_TEST(loading_counts)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	opk_autofree char *file = opk_strdup("/tmp/offpeak-pattern-XXXXXX.yaml");
	int fd = mkstemps(file, 5);
	static const char text[] =
		"name: slow\nmetrics: ['/(((a{1,40}){1,60}){1,60}|dram__.*)sum/']\n";
	freed(opk_set) *joined = NULL;

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ck_ok(ctx, opk_set_load(&set, ctx, file));
	unlink(file);
	ck_assert_msg(set->left < OPK_EXPRESSION_SECONDS && set->left > 0, "%f", set->left);
	ck_ok(ctx, opk_set_join(&joined, ctx, (const struct opk_set *[]){ set, set }, 2));
	ck_assert(joined->left < set->left);
}

/* Compiling and matching share the time limit of all expressions of a set. */
CTX_TEST(no_pattern_takes_for_ever)
{
	static const char *const rows[] = {
		"/(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*"
		"(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*/",
		"/.+/", /* over the greatest number of names */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		double seconds = 0.5;
		time_t before = time(NULL);
		double taken = seconds_of_children();

		ck_assert_ptr_nonnull(
			strstr(selected(ctx, rows[i], SIZE_MAX / COUNT(names), &seconds),
		               "with this the expressions of a set take more than 5 seconds"));
		ck_assert(seconds == 0);
		ck_assert(seconds_of_children() - taken < 0.8);
		/* The machine may be busy, but thirty seconds are the limit. */
		ck_assert_int_lt(time(NULL) - before, 35);
		ck_assert_ptr_nonnull(
			strstr(selected(ctx, "/dr.m/", 1, &seconds), "more than 5 seconds"));
	}
}

CTX_TEST(no_pattern_takes_all_memory, .needs = is_plain_build)
{
	double seconds = OPK_EXPRESSION_SECONDS;

	ck_assert_ptr_nonnull(
		strstr(selected(ctx, "/(((a{1,99}){1,99}){1,99}){1,99}/", 1, &seconds), "256 MB"));
}
