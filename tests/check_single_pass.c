/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-pass sets: over the fake, and with NVIDIA's own libraries. */
#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "plan/door.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "fake_nv.h"
#include "folder.h"
#include "real.h"

/* "NAME PROFILER ORIGIN: METRIC... - LEFT_OUT..." for each set, with "; " between. */
static const char *text_of(const struct opk_single_pass_sets *sets)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof text, "w");

	text[0] = '\0';
	for (size_t i = 0; i < opk_single_pass_sets_count(sets); i++) {
		const struct opk_single_pass_set *set = opk_single_pass_sets_get(sets, i);

		fprintf(file, "%s%s %s %s:", i ? "; " : "", set->name,
		        opk_profiler_name(set->profiler), opk_single_pass_origin_name(set->origin));
		for (size_t j = 0; j < set->metric_count; j++)
			fprintf(file, " %s", set->metrics[j]);
		fprintf(file, " -");
		for (size_t j = 0; j < set->left_out_count; j++)
			fprintf(file, " %s", set->left_out[j]);
	}
	fclose(file);
	return text;
}

static void check_sets(struct opk_ctx *ctx, const char *chip, const char *wanted)
{
	struct opk_single_pass_sets *sets;

	ck_ok(ctx, opk_single_pass_sets_new(&sets, ctx, chip));
	ck_assert_str_eq(text_of(sets), wanted);
	opk_single_pass_sets_free(sets);
	ck_assert_int_eq(fake.hosts, 0);
}

static void put_wanted(struct opk_ctx *ctx, const char *text)
{
	put_file("single_pass.tsv", text, strlen(text));
	ctx->data_dir = folder;
}

/* As fake_ctx(), with a list of our sets in the folder. */
static struct opk_ctx *ctx_with(const char *wanted)
{
	struct opk_ctx *ctx = fake_ctx();

	free((char *)ctx->data_dir);
	put_wanted(ctx, wanted);
	return ctx;
}

static void free_ctx(struct opk_ctx *ctx)
{
	ctx->data_dir = NULL;
	opk_ctx_free(ctx);
}

static const char wanted[] = "# ours\n"
			     "range\tfake__throughput.avg.pct_of_peak_sustained_elapsed\n"
			     "range\tfake__gone.sum\n"
			     "range\tfake__c.sum\n"
			     "\n"
			     "range\tfake__b.sum\n"
			     "pm\tfake__a.sum\n";

#define OUR_RANGE_SET                                                                              \
	"offpeak-range range offpeak: fake__throughput.avg.pct_of_peak_sustained_elapsed "         \
	"fake__c.sum - fake__b.sum"

TEST(of_cupti)
{
	struct opk_ctx *ctx = ctx_with(wanted);

	check_sets(
		ctx, "fa100",
		"Triage pm cupti: fake__a.sum fake__c.sum - fake__listed.sum fake__b.sum; " OUR_RANGE_SET);
	free_ctx(ctx);
}

/* Host objects are made with the set's name, which the library may need. */
TEST(hosts_know_the_set)
{
	struct opk_ctx *ctx = ctx_with("");

	fake.initialize_size = NV_END(struct nv_HostInitialize, pSinglePassMetricSetName);
	check_sets(ctx, "FA100",
	           "Triage pm cupti: fake__a.sum fake__c.sum - fake__listed.sum fake__b.sum");
	/* Eight host objects were made: one for the names, and seven to pack four metrics. */
	ck_assert_uint_eq(fake.hosts_of_sets, 8);
	free_ctx(ctx);
}

/* Planning passes the set's name, too, and the plan keeps it for evaluation. */
TEST(plans_know_the_set)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_ctx *ctx = ctx_with("");
	struct opk_set *set;
	struct opk_plan *plan;
	size_t hosts;

	fake.initialize_size = NV_END(struct nv_HostInitialize, pSinglePassMetricSetName);
	ck_ok(ctx, opk_set_find_on(&set, ctx, "single-pass:Triage", "FA100"));
	options.chip = "FA100";
	fake.hosts_of_sets = 0;
	hosts = fake.calls[FAKE_cuptiProfilerHostInitialize];
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	hosts = fake.calls[FAKE_cuptiProfilerHostInitialize] - hosts;
	ck_assert_uint_gt(hosts, 0);
	ck_assert_uint_eq(fake.hosts_of_sets, hosts);
	ck_assert_str_eq(plan->target.single_pass, "Triage");
	ck_assert_uint_eq(opk_plan_passes(plan), 1);
	opk_plan_free(plan);
	opk_set_free(set);
	free_ctx(ctx);
}

static void keep_note(void *data, const char *message)
{
	snprintf(data, 400, "%s", message);
}

/* A set that CUPTI can't use is left out with a note; other sets work. */
TEST(unusable_sets)
{
	struct opk_ctx *ctx = ctx_with(wanted);
	char note[400] = "";
	struct opk_set *set;

	ctx->log = keep_note;
	ctx->log_data = note;
	fake.initialize_size = NV_END(struct nv_HostInitialize, pSinglePassMetricSetName);
	fake.sets_fail = true;
	check_sets(ctx, "FA100", "offpeak-pm pm offpeak: fake__a.sum -; " OUR_RANGE_SET);
	ck_assert_msg(strstr(note, "can't use") && strstr(note, ": Triage"), "%s", note);
	*note = '\0';
	ck_assert_int_eq(opk_set_find_on(&set, ctx, "single-pass:triage", "FA100"), OPK_EFAILED);
	ck_assert_msg(told(ctx, "'triage': CUPTI lists it for FA100, but can't use it"), "%s",
	              errors_of(ctx));
	ck_assert_str_eq(note, "");
	free_ctx(ctx);
}

TEST(of_names)
{
	struct opk_ctx *ctx = ctx_with(wanted);

	fake.no_sets = fake.named_sets = true;
	check_sets(ctx, "FA100",
	           "Triage pm emulated: U.Triage.fake__x.sum - Triage.fake__y.sum; "
	           "Other pm emulated: - U.Other.fake__z.sum; " OUR_RANGE_SET);
	free_ctx(ctx);
}

TEST(of_ours)
{
	struct opk_ctx *ctx = ctx_with(wanted);

	fake.no_sets = true;
	check_sets(ctx, "FA100", "offpeak-pm pm offpeak: fake__a.sum -; " OUR_RANGE_SET);
	/* A chip that can't sample, and one without a profiler. */
	check_sets(ctx, "FB100", OUR_RANGE_SET);
	check_sets(ctx, "FC100", "");
	free_ctx(ctx);
}

TEST(before_13_2)
{
	struct nv_table table = fake_table();
	struct opk_ctx *ctx;

	fake_reset();
	table.cuptiProfilerHostGetSinglePassSets = NULL;
	ctx = fake_ctx_of(&table);
	free((char *)ctx->data_dir);
	put_wanted(ctx, "pm\tfake__b.sum\n");
	check_sets(ctx, "FA100", "offpeak-pm pm offpeak: fake__b.sum -");
	free_ctx(ctx);
}

static const struct {
	struct here here;
	const char *text, *error;
} bad_lists_rows[] = {
	{ HERE, "pm\n", "/single_pass.tsv:1: not a profiler and a metric" },
	{ HERE, "pm\tfake__a.sum\nrange\t\n", "/single_pass.tsv:2: not a profiler" },
	{ HERE, "# x\nrage\tfake__a.sum\n", "/single_pass.tsv:2: not a profiler" },
};

TEST_EACH(bad_lists, bad_lists_rows)
{
	struct opk_ctx *ctx = ctx_with(row->text);
	struct opk_single_pass_sets *sets = NULL;
	int code = opk_single_pass_sets_new(&sets, ctx, "FA100");

	ck_row(row, code == OPK_EINPUT && !sets, "%d", code);
	ck_row(row, told(ctx, row->error), "%s", errors_of(ctx));
	free_ctx(ctx);
}

TEST(unknown_chip)
{
	struct opk_ctx *ctx = ctx_with(wanted);
	struct opk_single_pass_sets *sets;

	ck_fails(ctx, opk_single_pass_sets_new(&sets, ctx, "FA10"), OPK_EUSAGE,
	         "did you mean FA100?");
	free_ctx(ctx);
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *name;
	unsigned from;
	int code;
} calls_fail_rows[] = {
	{ HERE, CALL(cuptiProfilerHostGetSupportedChips), 0, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostInitialize), 0, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostInitialize), 5, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetSinglePassSets), 0, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetMetricsInSinglePassSet), 0, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetMetricProperties), 2, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetConfigImage), 0, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetNumOfPasses), 0, OPK_EFAILED },
};

TEST_EACH(calls_fail, calls_fail_rows)
{
	struct opk_ctx *ctx = ctx_with(wanted);
	struct opk_single_pass_sets *sets = NULL;
	int code;

	fake.status[row->call] = 999;
	fake.from[row->call] = row->from;
	code = opk_single_pass_sets_new(&sets, ctx, "FA100");
	ck_row(row, code == row->code && !sets, "%d", code);
	ck_row(row, told(ctx, row->name), "%s", errors_of(ctx));
	ck_assert_int_eq(fake.hosts, 0);
	free_ctx(ctx);
}

/* The file in the folder with this ending. */
static const char *cached_file(const char *ending)
{
	static char name[256];
	DIR *dir = opendir(folder);

	name[0] = '\0';
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strstr(entry->d_name, ending))
			snprintf(name, sizeof name, "%s", entry->d_name);
	closedir(dir);
	return name;
}

/* A second query does not call CUPTI, unless our list or the cached file has changed. */
TEST(cached)
{
	static const struct {
		struct here here;
		const char *list;
		bool damaged, asks;
		const char *sets;
	} rows[] = {
		{ HERE, "pm\tfake__a.sum\n", false, true, "offpeak-pm pm offpeak: fake__a.sum -" },
		{ HERE, "pm\tfake__a.sum\n", false, false, "offpeak-pm pm offpeak: fake__a.sum -" },
		{ HERE, "pm\tfake__a.sum\n", true, true, "offpeak-pm pm offpeak: fake__a.sum -" },
		{ HERE, "pm\tfake__b.sum\n", false, true, "offpeak-pm pm offpeak: fake__b.sum -" },
		{ HERE, "pm\tfake__b.sum\n", false, false, "offpeak-pm pm offpeak: fake__b.sum -" },
		/* An empty list is cached, too. */
		{ HERE, "", false, true, "" },
		{ HERE, "", false, false, "" },
	};

	put_file("libcupti.so.13", "a library", 9);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = ctx_with(rows[i].list);

		fake.no_sets = true;
		ctx->cuda_dir = strdup(folder);
		ctx->cache_dir = strdup(folder);
		if (rows[i].damaged)
			put_file(cached_file(".single-pass"), "offpeak cache 1\nset\t", 20);
		check_sets(ctx, i % 2 ? "fa100" : "FA100", rows[i].sets);
		ck_row(&rows[i], !fake.calls[FAKE_cuptiProfilerHostInitialize] == !rows[i].asks,
		       "%u hosts", fake.calls[FAKE_cuptiProfilerHostInitialize]);
		free_ctx(ctx);
	}
}

TEST(names_outside_the_buffer)
{
	struct opk_ctx *ctx = ctx_with(wanted);
	struct opk_single_pass_sets *sets;

	fake.name_beyond = 100;
	ck_fails(ctx, opk_single_pass_sets_new(&sets, ctx, "FA100"), OPK_EFAILED,
	         "single-pass set Triage: a name has no end");
	free_ctx(ctx);
}

/* An allocation failure does not refuse a metric. */
TEST(cupti_without_memory)
{
	struct opk_ctx *ctx = ctx_with(wanted);
	struct opk_single_pass_sets *sets;

	fake.status[FAKE_cuptiProfilerHostConfigAddMetrics] = 8;
	ck_code(ctx, opk_single_pass_sets_new(&sets, ctx, "FA100"), OPK_ENOMEM);
	free_ctx(ctx);
}

/* ---- NVIDIA's own libraries */

/* Each set, planned again by itself, has one pass, and more with any metric that it leaves out. */
static void replan(struct opk_ctx *ctx, const char *chip, const struct opk_single_pass_set *set)
{
	const struct opk_target target = { chip, set->profiler, NULL,
		                           set->origin == OPK_SINGLE_PASS_CUPTI ? set->name
		                                                                : NULL };
	opk_autofree const char **names = calloc(set->metric_count + 1, sizeof *names);
	struct opk_schedule_result result;

	memcpy(names, set->metrics, set->metric_count * sizeof *names);
	ck_assert_msg(set->metric_count >= 20, "%s %s: %zu", chip, set->name, set->metric_count);
	ck_ok(ctx, opk_schedule_try(&result, ctx, &target, names, set->metric_count));
	ck_assert_msg(result.passes == 1 && !result.apart, "%s %s: %zu passes", chip, set->name,
	              result.passes);
	opk_schedule_result_clear(&result);
	for (size_t i = 0; i < set->left_out_count; i += 5) {
		names[set->metric_count] = set->left_out[i];
		if (!opk_schedule_try(&result, ctx, &target, names, set->metric_count + 1)) {
			ck_assert_msg(result.passes > 1 || result.apart, "%s %s: %s would fit",
			              chip, set->name, set->left_out[i]);
			opk_schedule_result_clear(&result);
		}
		opk_clear_errors(ctx);
	}
}

CTX_TEST(real_sets, .needs = have_cupti)
{
	static const struct {
		const char *chip;
		size_t sets;
		const char *first;
		enum opk_single_pass_origin origin;
	} rows[] = {
		{ "GV100", 1, "offpeak-range", OPK_SINGLE_PASS_OFFPEAK },
		{ "TU102", 2, "TriageA", OPK_SINGLE_PASS_EMULATED },
		{ "GA100", 2, "offpeak-pm", OPK_SINGLE_PASS_OFFPEAK },
		{ "GH100", 2, "TriageCompute", OPK_SINGLE_PASS_EMULATED },
		{ "GA102", 3, "TriageAC", OPK_SINGLE_PASS_EMULATED },
		{ "GB10B", 2, "TriageTop", OPK_SINGLE_PASS_EMULATED },
		{ "GB202", 2, "offpeak-pm", OPK_SINGLE_PASS_OFFPEAK },
	};
	/* The first four rows have both origins. */
	size_t count = is_long() ? COUNT(rows) : 4;

	for (size_t i = 0; version_of(ctx) == CUPTI_13_0 && i < count; i++) {
		freed(opk_single_pass_sets) *sets = NULL;

		ck_ok(ctx, opk_single_pass_sets_new(&sets, ctx, rows[i].chip));
		ck_assert_uint_eq(opk_single_pass_sets_count(sets), rows[i].sets);
		ck_assert_str_eq(opk_single_pass_sets_get(sets, 0)->name, rows[i].first);
		ck_assert_int_eq(opk_single_pass_sets_get(sets, 0)->origin, rows[i].origin);
		for (size_t j = 0; j < rows[i].sets; j++)
			replan(ctx, rows[i].chip, opk_single_pass_sets_get(sets, j));
	}
}

/* All 127 Triage metrics of CUPTI 13.0 take eight passes; one pass keeps 114 of them. */
CTX_TEST(real_triage, .needs = have_cupti)
{
	freed(opk_single_pass_sets) *sets = NULL;
	const struct opk_single_pass_set *set;

	ck_ok(ctx, opk_single_pass_sets_new(&sets, ctx, "GH100"));
	set = opk_single_pass_sets_get(sets, 0);
	if (version_of(ctx) == CUPTI_13_0) {
		ck_assert_uint_eq(set->metric_count, 114);
		ck_assert_uint_eq(set->left_out_count, 13);
	}
}

/* Every chip under each profiler that it has. */
struct hosts {
	struct opk_nv_host *items[2][64];
	size_t count;
};

static void open_hosts(struct hosts *hosts, struct opk_ctx *ctx)
{
	freed(opk_chips) *chips = NULL;

	*hosts = (struct hosts){ 0 };
	ck_ok(ctx, opk_chips_new(&chips, ctx));
	hosts->count = opk_chips_count(chips);
	ck_assert_uint_le(hosts->count, COUNT(hosts->items[0]));
	for (size_t i = 0; i < 2 * hosts->count; i++)
		opk_nv_host_new(&hosts->items[i % 2][i / 2], ctx, opk_chips_get(chips, i / 2)->name,
		                (enum opk_profiler)(i % 2), NULL);
}

/* Whether any chip has the metric. */
static bool is_known(struct opk_ctx *ctx, const struct hosts *hosts, enum opk_profiler profiler,
                     const char *name)
{
	bool known = false;

	for (size_t i = 0; !known && i < hosts->count; i++) {
		struct opk_metric metric;

		known = hosts->items[profiler][i]
		        && !opk_nv_properties(&metric, ctx, hosts->items[profiler][i], name);
		opk_clear_errors(ctx);
	}
	return known;
}

/* A misspelt name would be skipped like one that the chip lacks. */
CTX_TEST(real_list_of_ours, .needs = have_cupti)
{
	/* PerfWorks' text has it, but no chip yet. */
	static const char later[] = "sm__pipe_fp64_cycles_active_realtime";
	opk_autofree char *text = NULL, *path = NULL;
	opk_autostrlist struct opk_strlist seen = { 0 };
	struct hosts hosts;
	char *rest;

	ck_ok(ctx, opk_data_file(&text, &path, ctx, "single_pass.tsv"));
	open_hosts(&hosts, ctx);
	rest = text;
	for (char *line; version_of(ctx) == CUPTI_13_0 && (line = strsep(&rest, "\n"));) {
		enum opk_profiler profiler = !strncmp(line, "pm\t", 3) ? OPK_PROFILER_PM
		                                                       : OPK_PROFILER_RANGE;
		const char *name = strchr(line, '\t');

		if (!name)
			continue;
		ck_assert_msg(is_known(ctx, &hosts, profiler, name + 1) || strstr(line, later),
		              "%s", line);
		ck_assert_msg(!opk_strlist_contains(&seen, line), "%s: twice", line);
		opk_strlist_add(&seen, line);
	}
	ck_assert(version_of(ctx) != CUPTI_13_0 || seen.count > 100);
	for (size_t i = 0; i < 2 * hosts.count; i++)
		opk_nv_host_free(hosts.items[i % 2][i / 2]);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder, .seconds = 300);
