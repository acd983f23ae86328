/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out at any moment of any family of functions: each runs with its n-th allocation
 * failing, once or from there on, in this process or in a child. It ends with OPK_ENOMEM, or
 * normally if it can do without the memory, frees everything, and leaves no file.
 */
#include <sys/mman.h>

#include "adapters/nv/nv.h"
#include "base/file.h"
#include "chip/door.h"
#include "compare/door.h"
#include "container/door.h"
#include "eval/door.h"
#include "fake_nv.h"
#include "folder.h"
#include "ncu/door.h"
#include "nsight/door.h"
#include "output/door.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "set/door.h"

/* ---- the hook: a child's allocations count for its parent */

static struct counter {
	long made, failed;
	long fails_at; /* negative: never */
	bool for_good;
} * counter;

static void *counting(void *old, size_t size)
{
	long n = counter->made++;

	if (counter->fails_at >= 0
	    && (counter->for_good ? n >= counter->fails_at : n == counter->fails_at)) {
		counter->failed++;
		return NULL;
	}
	return realloc(old, size);
}

static void arm(long fails_at, bool for_good)
{
	*counter = (struct counter){ .fails_at = fails_at, .for_good = for_good };
	opk_set_realloc(counting);
}

/* ---- the families' inputs, in the folder */

static const char *const names[] = { "fake__a.sum", "fake__b.sum", "fake__ratio.pct",
	                             "fake__c.sum" };
static const uint32_t pass_1[] = { 1 }, pass_2[] = { 2 };
static const struct opk_pass_list metric_passes[] = {
	{ pass_1, 1 }, { pass_2, 1 }, { NULL, 0 }, { pass_1, 1 }
};
static const struct opk_meta_derived derived[] = { { "both", "fake__a.sum + label", "", "" } };
static const struct opk_meta_label labels[] = { { "fake__c.sum", "label" } };
static const struct opk_property run_facts[] = { { "hostname", "node" } };
static const struct opk_meta recorded = {
	.kind = "recording",
	.chip = "FA100",
	.metrics = names,
	.metric_count = 4,
	.passes = 2,
	.metric_passes = metric_passes,
	.metric_pass_count = 4,
	.join = "kernel",
	.derived = derived,
	.derived_count = 1,
	.labels = labels,
	.label_count = 1,
	.run = run_facts,
	.run_count = 1,
	.inflated = names,
	.inflated_count = 1,
};

/* The same three kernels twice, with the metrics of one group, then of the other. */
static void add_ranges(struct opk_ctx *ctx, struct opk_writer *writer, uint32_t group)
{
	struct opk_range ranges[3];

	for (uint32_t i = 0; i < 3; i++)
		ranges[i] = (struct opk_range){ .kernel = i % 2 ? "x" : "y",
			                        .launch = 3 * group + i,
			                        .pass = group,
			                        .rank = -1,
			                        .nvtx = "step" };
	ck_ok(ctx, opk_writer_add_ranges(writer, ranges, 3, sizeof(struct opk_range)));
}

static void add_times(struct opk_ctx *ctx, struct opk_writer *writer, uint64_t from)
{
	const struct opk_time times[] = { { from, from + 1, 0 },
		                          { from + 1, from + 2, 0 },
		                          { from + 2, from + 3, 0 } };

	ck_ok(ctx, opk_writer_add_times(writer, times, 3, sizeof(struct opk_time)));
}

/* `samples`: when the first one begins; 0: ranges instead. */
static void write_recording(struct opk_ctx *ctx, const char *name, uint64_t samples, bool whole)
{
	static const struct opk_drop drop = { "no memory", 1 };
	static const struct opk_property fact = { "device.0.slowed_by", "power limit" };
	static const struct opk_stats stats = { 6, 6, 1, &drop, 1, 0, &fact, 1 };
	struct opk_meta meta = recorded;
	freed(opk_writer) *writer = NULL;

	if (samples) {
		meta.profiler = OPK_PROFILER_PM;
		meta.metric_pass_count = 0;
		meta.join = NULL;
	}
	ck_ok(ctx, opk_writer_new_live(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (uint32_t group = 1; group < 3; group++) {
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
		if (samples)
			add_times(ctx, writer, samples + 1000 * group);
		else
			add_ranges(ctx, writer, group);
	}
	if (whole) {
		ck_ok(ctx, opk_writer_add_stats(writer, &stats));
		ck_ok(ctx, opk_writer_finish(writer));
	}
}

static const char set_text[] =
	"name: t\nversion: 2\nchips: [FA100]\nparameters: {p: a}\nconstants: {c: {unit: byte, default: 2}}\n"
	"derived: {d: c + x, e: {formula: fake__c.sum / d, unit: '', description: prose}}\n"
	"metrics:\n- {metric: 'fake__${p}.sum', as: x}\n- group: g\n  metrics: [fake__?.sum, e]\n"
	"- {any: [no__such.sum, fake__ratio.pct], as: r}\n- {metric: fake__listed.sum, optional: true}\n"
	"- /fake__throughput.avg.*/\n"
	"changes:\n- {for: [FA100], remove: [fake__b.sum]}\n";
static const char including_text[] = "name: u\ninclude: [./set.yaml]\nmetrics: [fake__b.sum]\n";
static const char wrong_text[] =
	"name: w\nmetrics: [fake__a.sun, {metric: fake__b.sum, ass: x}]\nderived: {d: 1 +}\n";
static const char command_text[] =
	"sudo ncu --metrics 'a__b.sum,group:memory__chart' --section SpeedOfLight -k x ./app\n";
static const char section_text[] =
	"Identifier: \"S\"\nDisplayName: \"Name\"\nMetrics {\n  Metrics {\n    Label: \"L\"\n"
	"    Name: \"dram__bytes.sum\"\n  }\n  Metrics {\n    Label: \"M\"\n    Name: \"launch__grid_size\"\n  }\n}\n";
static const char sass_text[] = "FA100\tsmsp__sass_a\ta\nFA100\tsmsp__sass_b\tb\n";

static const char code_text[] =
	"name: c\nprofiler: sass\nmetrics:\n- {metric: smsp__sass_a, as: a}\n"
	"- '*_b'\n- {metric: smsp__sass_gone, optional: true}\n"
	"derived: {d: a / smsp__sass_b}\n";

static const char legacy_text[] =
	"metric\tone\tfake__a.sum / fake__no.sum\nevent\tone\tfake__b.sum\n";
static const char rules_text[] =
	"rules:\n- {fail: fake__b.sum > 1, where: kernel=x, reason: why}\n- unmatched\n";
static const char wanted_text[] = "range\tfake__c.sum\nrange\tfake__b.sum\npm\tfake__a.sum\n";

static void fill_folder(void)
{
	freed(opk_ctx) *ctx = NULL;

	make_folder();
	ctx = fake_ctx();
	write_recording(ctx, "run.opk", 0, true);
	write_recording(ctx, "torn.opk", 0, false);
	write_recording(ctx, "samples.opk", 1, true);
	write_recording(ctx, "later.opk", 5000, true);
	put_file("set.yaml", set_text, strlen(set_text));
	put_file("including.yaml", including_text, strlen(including_text));
	put_file("wrong.yaml", wrong_text, strlen(wrong_text));
	put_file("rules.yaml", rules_text, strlen(rules_text));
	put_file("s.section", section_text, strlen(section_text));
	put_file("command.txt", command_text, strlen(command_text));
	put_file("legacy_names.tsv", legacy_text, strlen(legacy_text));
	put_file("single_pass.tsv", wanted_text, strlen(wanted_text));
	put_file("sass_metrics.tsv", sass_text, strlen(sass_text));
	put_file("pc_metrics.tsv", "", 0);
	put_file("code.yaml", code_text, strlen(code_text));
	ck_assert_int_eq(symlink(TEST_DATA_DIR "/report", in_folder("report")), 0);
}

/* ---- the families; each frees all that it made, and writes to "out" */

typedef int family_fn(struct opk_ctx *ctx);

static int chips(struct opk_ctx *ctx)
{
	freed(opk_chips) *all = NULL;
	const struct opk_chip *chip;
	size_t count;

	TRY(opk_chips_new(&all, ctx));
	TRY(opk_chips_resolve(&chip, ctx, all, "fa100"));
	return opk_chip_metric_count(&count, ctx, chip, OPK_PROFILER_RANGE);
}

/* The error suggests a name, if there is memory for it. */
static int misspelt_chip(struct opk_ctx *ctx)
{
	freed(opk_chips) *all = NULL;
	const struct opk_chip *chip;
	int code = opk_chips_new(&all, ctx);

	if (!code)
		code = opk_chips_resolve(&chip, ctx, all, "fa10");
	return code == OPK_EUSAGE ? OPK_OK : code;
}

static int catalogs(struct opk_ctx *ctx)
{
	struct opk_metric_list_options options = OPTIONS(options, .processes = 1);
	freed(opk_catalog) *catalog = NULL;
	struct opk_full_name name = { 0 };

	TRY(opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	TRY(opk_catalog_complete(catalog, ctx));
	name.metric = opk_catalog_get(catalog, 0);
	opk_catalog_find(catalog, "fake__b.sum");
	return opk_catalog_count_passes(catalog, ctx, &name, 1, &options);
}

static int describe(struct opk_ctx *ctx)
{
	freed(opk_description) *description = NULL;

	TRY(opk_description_new(&description, ctx, "FA100", OPK_PROFILER_RANGE,
	                        "fake__throughput"));
	for (int i = 0; i <= OPK_DESCRIPTION_TERMS; i++) {
		freed(opk_listing) *rows = NULL;

		TRY(opk_description_list(&rows, ctx, description, (enum opk_description_list)i));
	}
	return OPK_OK;
}

static int list_all(struct opk_ctx *ctx)
{
	freed(opk_listing) *chips = NULL, *single = NULL, *sets = NULL, *metrics = NULL, *nv = NULL;

	TRY(opk_chip_list(&chips, ctx, NULL, OPK_CHIP_FACTS | OPK_CHIP_LIMITS | OPK_CHIP_COUNTS));
	TRY(opk_single_pass_list(&single, ctx, "FA100"));
	TRY(opk_set_list(&sets, ctx, NULL));
	TRY(opk_metric_list(&metrics, ctx, "FA100", OPK_PROFILER_RANGE, NULL));
	return opk_nvidia_list(&nv, ctx, OPK_NVIDIA_FEATURES);
}

/* Metrics of instructions, and a set of them. */
static int instructions(struct opk_ctx *ctx)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "fa100");
	freed(opk_description) *description = NULL;
	freed(opk_set) *set = NULL;
	freed(opk_plan) *plan = NULL;
	freed(opk_listing) *costs = NULL;
	opk_autostrlist struct opk_strlist found = { 0 };

	TRY(opk_complete_name(&found, ctx, "FA100", OPK_PROFILER_SASS, "smsp"));
	TRY(opk_description_find(&description, ctx, "FA100", "smsp__sass_a"));
	TRY(opk_set_load(&set, ctx, in_folder("code.yaml")));
	TRY(opk_plan_new(&plan, ctx, set, &options));
	TRY(opk_plan_list(&costs, ctx, plan, OPK_PLAN_COSTS));
	return opk_build(ctx, plan, NULL, in_folder("out"));
}

/* Says which profiler has the name. */
static int misplaced_metric(struct opk_ctx *ctx)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "FA100");
	freed(opk_set) *set = NULL;
	freed(opk_plan) *plan = NULL;
	int code;

	TRY(opk_set_from_names(&set, ctx, "smsp__sass_a"));
	code = opk_plan_new(&plan, ctx, set, &options);
	return code == OPK_EUSAGE ? OPK_OK : code;
}

static int explain_legacy(struct opk_ctx *ctx)
{
	freed(opk_catalog) *catalog = NULL;
	freed(opk_legacy) *legacy = NULL;

	TRY(opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	TRY(opk_catalog_complete(catalog, ctx));
	TRY(opk_legacy_new(&legacy, ctx, catalog, "one"));
	ck_assert(legacy);
	return OPK_OK;
}

static int match(struct opk_ctx *ctx)
{
	static const char *const globs[] = { "fake__*", "[ab]*" };
	struct opk_metric_list_options filter = OPTIONS(filter, .globs = globs, .glob_count = 2,
	                                                .unit = "SM", .grep = "cyc(les)?");
	freed(opk_matcher) *matcher = NULL;
	struct opk_metric metric = { .name = "fake__a", .hw_unit = "sm", .description = "cycles" };
	int code;

	code = opk_matcher_new(&matcher, ctx, &filter);
	if (!code)
		ck_assert(opk_matcher_match(matcher, &metric));
	return code;
}

static int complete(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist all = { 0 };

	return opk_complete_name(&all, ctx, "FA100", OPK_PROFILER_RANGE, "fake__a.");
}

static int single_pass(struct opk_ctx *ctx)
{
	freed(opk_single_pass_sets) *sets = NULL;
	freed(opk_set) *set = NULL;
	opk_autofree char *yaml = NULL;

	TRY(opk_single_pass_sets_new(&sets, ctx, "FA100"));
	TRY(opk_set_from_single_pass(&set, ctx, opk_single_pass_sets_get(sets, 0)));
	return opk_single_pass_set_yaml(&yaml, ctx, opk_single_pass_sets_get(sets, 0), "FA100");
}

static int sets(struct opk_ctx *ctx)
{
	freed(opk_set) *one = NULL, *other = NULL, *both = NULL;
	opk_autostrlist struct opk_strlist paths = { 0 };
	freed(opk_chips) *all = NULL;

	TRY(opk_set_load(&one, ctx, in_folder("including.yaml")));
	TRY(opk_set_find(&other, ctx, "fake__a.sum,fake__c.sum"));
	TRY(opk_set_join(&both, ctx, (const struct opk_set *const[]){ one, other }, 2));
	TRY(opk_set_parameter(both, ctx, "p", "b"));
	TRY(opk_set_paths(&paths, ctx));
	TRY(opk_chips_new(&all, ctx));
	return opk_set_check_claims(ctx, both, all);
}

static int wrong_set(struct opk_ctx *ctx)
{
	freed(opk_set) *set = NULL;
	int code = opk_set_load(&set, ctx, in_folder("wrong.yaml"));

	return code == OPK_EINPUT ? OPK_OK : code;
}

static int import_set(struct opk_ctx *ctx, const char *file)
{
	freed(opk_set_import) *import = NULL;

	return opk_set_import_new(&import, ctx,
	                          &(struct opk_set_import_options){ .path = in_folder(file) });
}

static int import_sets(struct opk_ctx *ctx)
{
	TRY(import_set(ctx, "s.section"));
	return import_set(ctx, "command.txt");
}

static int import_report(struct opk_ctx *ctx)
{
	opk_autoimported struct opk_ncu_imported imported = { 0 };

	return opk_ncu_import(&imported, ctx, TEST_SOURCE_DIR "/files/reports/raw.csv", NULL,
	                      in_folder("out"));
}

/* A plan of the set, for functions that use one. */
static int planned(struct opk_ctx *ctx, bool single,
                   int (*use)(struct opk_ctx *ctx, struct opk_plan *plan))
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;
	freed(opk_plan) *plan = NULL;

	TRY(opk_set_load(&set, ctx, in_folder("set.yaml")));
	options.chip = "fa100";
	options.single_pass = single;
	TRY(opk_plan_new(&plan, ctx, set, &options));
	return use(ctx, plan);
}

static int lists_of(struct opk_ctx *ctx, struct opk_plan *plan)
{
	int code = OPK_OK;

	for (int list = 0; !code && list <= OPK_PLAN_DOMAINS; list++) {
		freed(opk_listing) *rows = NULL;

		code = opk_plan_list(&rows, ctx, plan, (enum opk_plan_list)list);
	}
	return code;
}

static int plan(struct opk_ctx *ctx)
{
	/* Our plans have fewer passes. */
	fake.needless_passes = 1;
	return planned(ctx, false, lists_of);
}

static int plan_single(struct opk_ctx *ctx)
{
	return planned(ctx, true, lists_of);
}

static int split(struct opk_ctx *ctx)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;
	freed(opk_plan_split) *all = NULL;

	TRY(opk_set_from_names(&set, ctx, "fake__a.sum,fake__b.sum,fake__c.sum"));
	options.chip = "FA100";
	options.max_passes = 1;
	return opk_plan_split_new(&all, ctx, set, &options);
}

static int build_from(struct opk_ctx *ctx, struct opk_plan *plan)
{
	struct opk_build_options options = OPK_INIT(options);
	freed(opk_writer) *writer = NULL;
	void *prefix = NULL;
	size_t size;
	int code = opk_prefix_new(&prefix, &size, ctx, plan, NULL);

	free(prefix);
	if (!code)
		code = opk_build_begin(&writer, ctx, plan, &options, in_folder("out"));
	if (!code)
		code = opk_writer_finish(writer);
	return code;
}

static int build(struct opk_ctx *ctx)
{
	return planned(ctx, false, build_from);
}

static int read_file(struct opk_ctx *ctx)
{
	const struct opk_range *ranges;
	const struct opk_stats *stats;
	const struct opk_time *times;
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;
	opk_autofree void *data = NULL;
	size_t size;

	TRY(opk_file_open(&file, ctx, in_folder("run.opk")));
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_ranges(&ranges, &size, ctx, file));
	TRY(opk_file_times(&times, &size, ctx, file));
	TRY(opk_file_stats(&stats, ctx, file));
	return opk_file_read(&data, &size, ctx, file, 1);
}

static int read_rows(struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	const struct opk_row *row;
	size_t rows = 0;
	int code;

	do {
		code = opk_evaluation_next(&row, ctx, evaluation);
		rows += !code && row;
	} while (!code && row);
	ck_assert(code || rows == opk_evaluation_row_count(evaluation));
	return code;
}

static int evaluated(struct opk_ctx *ctx, const char *name, const struct opk_eval_options *options)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	TRY(opk_file_open(&file, ctx, in_folder(name)));
	TRY(opk_eval_file(&evaluation, ctx, file, options));
	return read_rows(ctx, evaluation);
}

static int evaluate(struct opk_ctx *ctx)
{
	return evaluated(ctx, "run.opk", NULL);
}

static int evaluate_joined(struct opk_ctx *ctx)
{
	struct opk_eval_options options = OPTIONS(options, .inside = &(struct opk_eval_inside){
								   .join = "" });

	return evaluated(ctx, "run.opk", &options);
}

static int evaluate_samples(struct opk_ctx *ctx)
{
	fake.image_is_pm = true;
	return evaluated(ctx, "samples.opk", NULL);
}

/* Two files of a watch as a table of two rows. */
static int resample(struct opk_ctx *ctx)
{
	const struct opk_table_options options = OPTIONS(options, .resample = "4us");
	opk_autofree char *first = opk_strdup(in_folder("samples.opk"));
	opk_autofree char *second = opk_strdup(in_folder("later.opk"));
	freed(opk_table) *table = NULL;
	const union opk_cell *cells;
	const bool *known;
	size_t rows = 0;

	if (!first || !second)
		return OPK_ENOMEM;
	fake.image_is_pm = true;
	TRY(opk_table_new(&table, ctx, (const char *const[]){ second, first }, 2, &options));
	do {
		int code = opk_table_next(&cells, &known, table);

		if (code)
			return opk_add(ctx, code, "a table");
		rows += cells != NULL;
	} while (cells);
	ck_assert_uint_eq(rows, 2);
	return OPK_OK;
}

static int draw_samples(struct opk_ctx *ctx)
{
	const struct opk_picture_options options = OPTIONS(options);
	freed(opk_picture) *picture = NULL;
	freed(opk_file) *file = NULL;

	fake.image_is_pm = true;
	TRY(opk_file_open(&file, ctx, in_folder("samples.opk")));
	return opk_picture_new(&picture, ctx, file, OPK_PICTURE_TIMELINE, &options);
}

static int evaluate_set(struct opk_ctx *ctx)
{
	freed(opk_set) *set = NULL;
	struct opk_eval_options options = OPTIONS(options, .set = set);

	TRY(opk_set_load(&set, ctx, in_folder("set.yaml")));
	return evaluated(ctx, "run.opk", &options);
}

static const struct opk_eval_options image_options = {
	.size = sizeof image_options,
	.metrics = names,
	.metric_count = 4,
};

static int evaluate_many(struct opk_ctx *ctx)
{
	struct opk_evaluation *evaluations[3] = { NULL };
	struct opk_file *files[3] = { NULL };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < COUNT(files); i++)
		code = opk_file_open(&files[i], ctx, in_folder("run.opk"));
	if (!code)
		code = opk_eval_files(evaluations, ctx, files, COUNT(files), NULL);
	for (size_t i = 0; i < COUNT(files); i++) {
		if (!code)
			code = read_rows(ctx, evaluations[i]);
		opk_evaluation_free(evaluations[i]);
		opk_file_free(files[i]);
	}
	return code;
}

static int evaluate_image(struct opk_ctx *ctx)
{
	freed(opk_evaluation) *evaluation = NULL;

	TRY(opk_eval_image(&evaluation, ctx, fake_image(), FAKE_IMAGE_SIZE, &image_options));
	return read_rows(ctx, evaluation);
}

static int import_image(struct opk_ctx *ctx)
{
	static const char ranges[] = "[{\"kernel\":\"x\"},{},{}]";
	static const uint8_t config[FAKE_CONFIG_SIZE] = { 1 }; /* of one pass */
	struct opk_import_options options = OPTIONS(options, .eval = &image_options,
	                                            .config = config, .config_size = sizeof config,
	                                            .passes = 1, .ranges = ranges,
	                                            .ranges_size = strlen(ranges));

	fake.image_chip = "FA100";
	return opk_import(ctx, fake_image(), FAKE_IMAGE_SIZE, &options, in_folder("out"));
}

static int merge(struct opk_ctx *ctx)
{
	char path[512];
	const char *const paths[] = { path, path };

	snprintf(path, sizeof path, "%s", in_folder("run.opk"));
	return opk_merge(ctx, paths, 2, NULL, in_folder("out"));
}

static int report(struct opk_ctx *ctx)
{
	char path[512];
	const char *const paths[] = { path, path };

	snprintf(path, sizeof path, "%s", in_folder("run.opk"));
	return opk_report(ctx, paths, 2, NULL, in_folder("out"));
}

static int verify(struct opk_ctx *ctx)
{
	struct opk_verify_options options = OPTIONS(options, .deep = true);
	freed(opk_listing) *findings = NULL;
	int code;

	code = opk_verify(&findings, ctx, in_folder("run.opk"), &options);
	for (size_t i = 0; !code && i < opk_listing_count(findings); i++)
		ck_assert_ptr_null(opk_listing_get(findings, i)[4].string);
	return code;
}

static int recover(struct opk_ctx *ctx)
{
	char from[512];

	snprintf(from, sizeof from, "%s", in_folder("torn.opk"));
	return opk_recover(NULL, ctx, from, in_folder("out"));
}

/* Ranges of one pass each: their joined rows are evaluated, too. */
static int compare(struct opk_ctx *ctx)
{
	const char *rule = "both > 5%", *rules;
	char path[512];
	struct opk_diff_options options = OPK_INIT(options);
	freed(opk_file) *file = NULL;
	freed(opk_diff) *diff = NULL;

	snprintf(path, sizeof path, "%s", in_folder("rules.yaml"));
	rules = path;
	options.rules = &rule;
	options.rule_files = &rules;
	options.rule_count = options.rule_file_count = 1;
	options.kernel_names = OPK_KERNEL_SHORT;
	TRY(opk_diff_check_rules(ctx, &options));
	TRY(opk_file_open(&file, ctx, in_folder("run.opk")));
	TRY(opk_diff_new(&diff, ctx, (struct opk_file *[]){ file, file }, 1, 1, &options));
	for (int which = 0; which <= OPK_DIFF_RULES; which++) {
		freed(opk_listing) *rows = NULL;

		TRY(opk_diff_list(&rows, ctx, diff, (enum opk_diff_list)which));
	}
	return opk_diff_write_junit(diff, ctx, in_folder("out"));
}

static int swallow(void *data, const void *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
	return 0;
}

static int rows_out(struct opk_ctx *ctx, enum opk_format format)
{
	static const struct opk_column columns[] = { { "name", OPK_CELL_STRING },
		                                     { "n", OPK_CELL_UINT },
		                                     { "value", OPK_CELL_DOUBLE } };
	struct opk_out_options options = OPTIONS(options, .format = format, .width = 20);
	freed(opk_out) *out = NULL;

	TRY(opk_out_new(&out, ctx, &options, swallow, NULL));
	TRY(opk_out_table(out, "rows", columns, 3));
	TRY(opk_out_role(out, 1, OPK_ROLE_LABEL));
	TRY(opk_out_constant(out, "chip", "GH100"));
	TRY(opk_out_unit(out, 2, "bytes"));
	for (uint64_t i = 0; i < 3; i++)
		TRY(opk_out_row(out, (union opk_cell[]){ { .string = "a, \"b\"" },
		                                         { .uint = i },
		                                         { .number = 0.5 } }));
	return opk_out_finish(out);
}

static int output(struct opk_ctx *ctx)
{
	static const enum opk_format formats[] = { OPK_FORMAT_TABLE, OPK_FORMAT_CSV,
		                                   OPK_FORMAT_JSON, OPK_FORMAT_NDJSON,
		                                   OPK_FORMAT_OPENMETRICS };

	for (size_t i = 0; i < COUNT(formats); i++)
		TRY(rows_out(ctx, formats[i]));
	return OPK_OK;
}

static int files(struct opk_ctx *ctx)
{
	opk_autonewfile struct opk_newfile out = { 0 };
	opk_autofree void *data = NULL;
	size_t size;

	TRY(opk_read_file(&data, &size, ctx, in_folder("run.opk")));
	TRY(opk_newfile_create(&out, ctx, in_folder("out"), NULL, OPK_OUTPUT_TABLE));
	TRY(opk_newfile_write(&out, data, size));
	return opk_newfile_commit(&out);
}

static int contexts(struct opk_ctx *ctx)
{
	struct opk_env env = { .size = sizeof env, .cuda_home = "a", .home = "b", .sets = "c" };
	struct opk_ctx_options options = OPK_INIT(options);
	freed(opk_ctx) *other = NULL;

	(void)ctx;
	options.env = &env;
	options.cuda_dir = options.data_dir = options.cache_dir = "/nowhere";
	return opk_ctx_new(&other, &options);
}

/* All libraries that features open, and the paths that were tried. */
static int libraries(struct opk_ctx *ctx)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_nvidia_info info = OPK_INIT(info);
	freed(opk_ctx) *other = NULL;
	int code;

	(void)ctx;
	options.cuda_dir = "/nowhere";
	code = opk_ctx_new(&other, &options);
	if (!code)
		code = opk_nvidia_get_info(&info, other);
	return code == OPK_ENVIDIA ? OPK_OK : code;
}

/* ---- all of them */

static const struct family {
	struct here here;
	const char *name;
	family_fn *run;
	bool caches;         /* with a cache folder, whose failure is ignored */
	bool can_do_without; /* only adds help for people: carets below errors, units of values */
} families[] = {
	{ HERE, "contexts", contexts, false, false },
	{ HERE, "libraries", libraries, false, false },
	{ HERE, "chips", chips, false, false },
	{ HERE, "a misspelt chip", misspelt_chip, false, false },
	{ HERE, "catalogs", catalogs, false, false },
	{ HERE, "catalogs with a cache", catalogs, true, true },
	{ HERE, "descriptions", describe, false, false },
	{ HERE, "lists", list_all, false, false },
	{ HERE, "instructions", instructions, false, false },
	{ HERE, "misplaced metric", misplaced_metric, false, true },
	{ HERE, "descriptions with a cache", describe, true, true },
	{ HERE, "legacy names", explain_legacy, false, false },
	{ HERE, "filters", match, false, false },
	{ HERE, "completion", complete, false, false },
	{ HERE, "single-pass sets", single_pass, false, false },
	{ HERE, "single-pass sets with a cache", single_pass, true, true },
	{ HERE, "sets", sets, false, false },
	{ HERE, "a set with errors", wrong_set, false, true },
	{ HERE, "imported sets", import_sets, false, false },
	{ HERE, "an imported report", import_report, false, false },
	{ HERE, "plans and their details", plan, false, false },
	{ HERE, "plans of one pass and what they leave out", plan_single, false, false },
	{ HERE, "plans of split sets", split, false, false },
	{ HERE, "build", build, false, false },
	{ HERE, "reading containers", read_file, false, false },
	{ HERE, "evaluation", evaluate, false, true },
	{ HERE, "evaluation of many files", evaluate_many, false, true },
	{ HERE, "evaluation, joined", evaluate_joined, false, true },
	{ HERE, "evaluation of samples", evaluate_samples, false, true },
	{ HERE, "samples over time", resample, false, true },
	{ HERE, "picture of samples", draw_samples, false, true },
	{ HERE, "evaluation of a set", evaluate_set, false, true },
	{ HERE, "evaluation of an image", evaluate_image, false, true },
	{ HERE, "import", import_image, false, true },
	{ HERE, "merge", merge, false, false },
	{ HERE, "reports", report, false, true },
	{ HERE, "verification", verify, false, true },
	{ HERE, "recovery", recover, false, false },
	{ HERE, "comparison", compare, false, true },
	{ HERE, "rows out", output, false, false },
	{ HERE, "files", files, false, false },
};

enum { INPUTS = 16, EACH = 150, SAMPLES = 150 };

static void ignore(void *data, const char *message)
{
	(void)data;
	(void)message;
}

static struct opk_ctx *family_ctx(const struct family *family)
{
	struct opk_ctx *ctx = fake_ctx();

	ctx->log = ignore;
	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(folder);
	if (family->caches) {
		/* Any two files replace the libraries; the cache compares their age. */
		ctx->cuda_dir = strdup(folder);
		ctx->cache_dir = strdup(in_folder("cache"));
	}
	return ctx;
}

/* Counts files; the cache in the folder may stay. */
static size_t files_left(void)
{
	DIR *cache = opendir(in_folder("cache"));
	size_t count = entries(false) - (cache != NULL);

	if (!cache)
		return count;
	for (struct dirent *entry; (entry = readdir(cache));) {
		/* The cache has complete files alone: none that is still being written. */
		ck_assert_ptr_null(strstr(entry->d_name, ".new"));
		if (*entry->d_name != '.')
			unlinkat(dirfd(cache), entry->d_name, 0);
	}
	closedir(cache);
	rmdir(in_folder("cache"));
	return count;
}

/* Returns the number of allocations. */
static long run_once(const struct family *family, long n, bool for_good)
{
	freed(opk_ctx) *ctx = family_ctx(family);
	int code;

	arm(n, for_good);
	code = family->run(ctx);
	opk_set_realloc(NULL);
	ck_row(family,
	       counter->failed ? code == OPK_ENOMEM || (!code && family->can_do_without) : !code,
	       "%s: allocation %ld%s: %d: %s", family->name, n, for_good ? " and all after it" : "",
	       code, errors_of(ctx));
	if (!code)
		unlink(in_folder("out"));
	ck_row(family, files_left() == INPUTS, "%s: allocation %ld: files are left", family->name,
	       n);
	ck_row(family, !fake.hosts && !fake.evaluators && !fake.builders && !fake.schedulers,
	       "%s: allocation %ld: objects of NVIDIA's are left", family->name, n);
	return counter->made;
}

/* The first allocations are tested one by one, then a sample; make check-long tests all. */
static long step_after(long n, long total)
{
	return is_long() || n < EACH || total < EACH + SAMPLES ? 1 : (total - EACH) / SAMPLES;
}

TEST_EACH(runs_out, families)
{
	long total = run_once(row, -1, false);

	ck_row(row, total > 0, "%s: %ld allocations", row->name, total);
	for (long n = 0; n < total; n += step_after(n, total))
		run_once(row, n, false);
	/* Later failures resemble the first one. */
	for (long n = 0; n < total; n += 1 + total / 40)
		run_once(row, n, true);
}

static void empty_folder(void)
{
	files_left();
	remove_folder();
}

static void share_counter(void)
{
	counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	if (counter == MAP_FAILED)
		abort();
}

SUITE(.once = share_counter, .set_up = fill_folder, .tear_down = empty_folder, .seconds = 300);
