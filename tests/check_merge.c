/* SPDX-License-Identifier: BSD-2-Clause */
/* One recording of several. */
#include "allocation.h"
#include "container/container.h"
#include "parts.h"

static int merge_two(struct opk_ctx *ctx, const struct part *one, const struct part *two,
                     const char *join)
{
	struct opk_merge_options options = OPK_INIT(options);
	char names[2][80];
	const char *const paths[] = { names[0], names[1] };
	int code;

	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof names[i], "%s/%d.opk", folder, i);
	write_part(ctx, one, 1, names[0]);
	write_part(ctx, two, 2, names[1]);
	options.join = join;
	code = opk_merge(ctx, paths, 2, &options, path);
	for (int i = 0; i < 2; i++)
		unlink(names[i]);
	return code;
}

START_TEST(all_sections_in_order)
{
	static const uint32_t types[] = {
		OPK_SECTION_META,   OPK_SECTION_CONFIG, OPK_SECTION_PREFIX, OPK_SECTION_DATA,
		OPK_SECTION_TIMES,  OPK_SECTION_RANGES, OPK_SECTION_DATA,   OPK_SECTION_TIMES,
		OPK_SECTION_RANGES, OPK_SECTION_STATS,  OPK_SECTION_DATA,   OPK_SECTION_TIMES,
		OPK_SECTION_RANGES, OPK_SECTION_DATA,   OPK_SECTION_TIMES,  OPK_SECTION_RANGES,
		OPK_SECTION_STATS,
	};
	static const uint64_t launches[] = { 10, 11, 20, 21 };
	static const struct opk_property run[] = { { "env.RANK", "0" },
		                                   { "device.0.name", "H100" },
		                                   { "hostname", "a" },
		                                   { "driver", "570" } };
	static const struct opk_property other_run[] = { { "driver", "570" },
		                                         { "env.RANK", "1" },
		                                         { "x", "y" },
		                                         { "device.0.name", "H100 NVL" } };
	struct part part = { .images = true, .ranges = true, .times = true };
	struct part other = part;
	struct opk_ctx *ctx = new_ctx();
	const struct opk_range *ranges;
	const struct opk_stats *stats;
	const struct opk_time *times;
	const struct opk_meta *meta;
	struct opk_file *file;
	size_t count;

	/* These may differ. */
	part.meta.run = run;
	part.meta.run_count = COUNT(run);
	other.meta.run = other_run;
	other.meta.run_count = COUNT(other_run);
	part.meta.config_hash = "crc32:00000001";
	other.meta.config_hash = "crc32:00000002";
	part.meta.source = "a";
	part.meta.keep_instances = true;
	part.meta.inflated = metric_names;
	part.meta.inflated_count = 1;
	other.meta.inflated = metric_names + 1;
	other.meta.inflated_count = 1;
	part.meta.mode = "kernel";
	other.meta.mode = "launch";
	part.meta.backend = other.meta.backend = "legacy";
	ck_ok(ctx, merge_two(ctx, &part, &other, NULL));
	file = open_file(ctx);
	ck_assert(opk_file_complete(file));
	ck_assert_uint_eq(opk_file_section_count(file), COUNT(types));
	for (size_t i = 0; i < COUNT(types); i++)
		ck_assert_uint_eq(opk_file_section(file, i)->type, types[i]);
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_uint_eq(count, 8);
	for (size_t i = 0; i < 8; i++)
		ck_assert_uint_eq(ranges[i].launch, launches[i / 2]);
	ck_ok(ctx, opk_file_times(&times, &count, ctx, file));
	ck_assert_uint_eq(count, 8);
	ck_assert_uint_eq(times[4].start, 2);
	ck_ok(ctx, opk_file_stats(&stats, ctx, file));
	ck_assert_uint_eq(stats->launches, 20);
	ck_assert_uint_eq(stats->depth, 2);
	ck_assert_uint_eq(stats->drops[0].count, 3);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	/* What is not true of all is left out. */
	ck_assert_uint_eq(meta->run_count, 1);
	ck_assert_str_eq(meta->run[0].name, "driver");
	ck_assert_str_eq(meta->run[0].value, "570");
	ck_assert_str_eq(meta->config_hash, "");
	ck_assert_str_eq(meta->source, "");
	ck_assert(!meta->keep_instances);
	ck_assert_uint_eq(meta->inflated_count, 2);
	ck_assert_str_eq(meta->mode, "mixed");
	ck_assert_str_eq(meta->backend, "legacy");
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* How many tables of the file name the host of some row. */
static size_t tables_with_hosts(struct opk_ctx *ctx, struct opk_file *file)
{
	size_t found = 0;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		opk_autofree void *text = NULL;
		size_t size;

		if (opk_file_section(file, i)->type != OPK_SECTION_RANGES)
			continue;
		ck_ok(ctx, opk_file_read(&text, &size, ctx, file, i));
		found += memmem(text, size, "\"host\":", 7) != NULL;
	}
	return found;
}

/*
 * What the facts of each file say of all its rows, the rows of the merged one say themselves. They
 * have it from the first call on, and no later one changes them.
 */
START_TEST(hosts_and_gpus)
{
	static const struct opk_property runs[][2] = {
		{ { "hostname", "a" }, { "device.0.pci", "0000:01" } },
		{ { "hostname", "b" }, { "device.0.pci", "0000:02" } },
		{ { "hostname", "a" }, { "device.0.pci", "0000:02" } },
		{ { "hostname", "a" }, { "device.0.x", "y" } },
	};
	static const struct {
		struct here here;
		size_t one, two; /* of runs; 4: no fact */
		bool ranges;     /* or only times */
		bool placed;     /* the rows say it */
	} rows[] = {
		{ HERE, 0, 1, true, true },   { HERE, 0, 1, false, true },
		{ HERE, 0, 2, true, true },   { HERE, 0, 4, true, true },
		{ HERE, 4, 1, true, true },   { HERE, 0, 0, true, false },
		{ HERE, 0, 0, false, false }, { HERE, 3, 3, true, false },
		{ HERE, 4, 4, true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t of[] = { rows[i].one, rows[i].two };
		struct part parts[2];
		struct opk_ctx *ctx = new_ctx();
		const struct opk_segment *segments;
		const struct opk_range *ranges;
		struct opk_range first[8];
		struct opk_file *file;
		size_t count, size, found;

		for (size_t j = 0; j < 2; j++) {
			parts[j] = (struct part){ .images = true,
				                  .ranges = rows[i].ranges,
				                  .times = true };
			parts[j].meta.run = of[j] < 4 ? runs[of[j]] : NULL;
			parts[j].meta.run_count = of[j] < 4 ? 2 : 0;
		}
		ck_ok(ctx, merge_two(ctx, &parts[0], &parts[1], NULL));
		file = open_file(ctx);
		ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
		ck_row(&rows[i], count == (rows[i].ranges || rows[i].placed ? 8 : 0), "%zu rows",
		       count);
		for (size_t j = 0; j < count; j++) {
			first[j] = ranges[j];
			ck_row(&rows[i], (of[j / 4] < 4) == (*ranges[j].host != 0), "host '%s'",
			       ranges[j].host);
		}
		size = count;
		found = (of[0] < 4) + (of[1] < 4);
		ck_row(&rows[i], tables_with_hosts(ctx, file) == (rows[i].placed ? 2 * found : 0),
		       "%zu tables", tables_with_hosts(ctx, file));
		ck_ok(ctx, opk_file_segments(&segments, &count, ctx, file));
		ck_row(&rows[i], !size || !memcmp(first, ranges, size * sizeof *first),
		       "rows changed");
		ck_assert_uint_eq(count, 4);
		for (size_t j = 0; j < 4; j++) {
			const struct opk_property *run = of[j / 2] < 4 ? runs[of[j / 2]] : NULL;
			const char *host = segments[j].ranges ? segments[j].ranges->host
			                                      : segments[j].host;
			const char *gpu = segments[j].ranges ? segments[j].ranges->gpu
			                                     : segments[j].gpu;

			ck_row(&rows[i], !strcmp(host, run ? run[0].value : ""), "host '%s'", host);
			ck_row(&rows[i], !strcmp(gpu, run && run != runs[3] ? run[1].value : ""),
			       "GPU '%s'", gpu);
		}
		opk_file_free(file);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* ---- what goes together */

struct pair {
	struct here here;
	struct part one, two;
	const char *join;
	int code;
	const char *wanted; /* of the error */
};

static void merge_pairs(const struct pair *pairs, size_t count)
{
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < count; i++) {
		int code = merge_two(ctx, &pairs[i].one, &pairs[i].two, pairs[i].join);

		ck_row(&pairs[i], code == pairs[i].code, "code %d: %s", code, errors_of(ctx));
		ck_row(&pairs[i], !code || strstr(errors_of(ctx), pairs[i].wanted), "%s",
		       errors_of(ctx));
		/* Nothing, or all of it. */
		ck_row(&pairs[i], entries(false) == !code, "%zu files", entries(false));
		unlink(path);
	}
	opk_ctx_free(ctx);
}

START_TEST(parts_that_fit)
{
	static const struct pair pairs[] = {
		{ HERE, { .images = true }, { .images = true }, NULL, OPK_OK, NULL },
		/* Each range has all of them. */
		{ HERE, { .meta = { .passes = 3 } }, { .images = true }, NULL, OPK_OK, NULL },
		{ HERE,
		  { .meta = { .join = "name" } },
		  { .images = true },
		  "launch",
		  OPK_OK,
		  NULL },
		/* A process that launched nothing fits to any. */
		{ HERE,
		  { .images = false },
		  { .images = true, .ranges = true },
		  NULL,
		  OPK_OK,
		  NULL },
		{ HERE,
		  { .images = true, .ranges = true },
		  { .images = false },
		  NULL,
		  OPK_OK,
		  NULL },
		{ HERE,
		  { .meta = { .gpu_time_shift = 1, .has_gpu_time_shift = true },
		    .images = true,
		    .times = true },
		  { .images = true, .times = true },
		  NULL,
		  OPK_OK,
		  NULL },
	};

	merge_pairs(pairs, COUNT(pairs));
}
END_TEST

/* Chips and profilers differ, too; and the passes that metrics are in. */
START_TEST(metrics_that_differ)
{
	static const char *const other_names[] = { "a__b.sum", "UNIT.Set.a__b.avg" };
	static const struct opk_pass_list other_passes[] = { { pass_2, 1 }, { pass_1, 1 } };
	static const struct pair pairs[] = {
		{ HERE,
		  { .meta = { .chip = "GA100" } },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "1.opk: of GH100, profiler range; " },
		{ HERE,
		  { .meta = { .profiler = OPK_PROFILER_PM } },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "0.opk is of GH100, profiler pm" },
		{ HERE,
		  { .meta = { .metrics = other_names, .metric_count = 2 } },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "its metrics differ" },
		{ HERE,
		  { .meta = { .metric_passes = other_passes,
		              .metric_pass_count = 2,
		              .join = "kernel" } },
		  { .images = true, .meta = { .join = "kernel" } },
		  NULL,
		  OPK_EUSAGE,
		  "its metrics are in other passes" },
		{ HERE,
		  { .meta = { .passes = 3, .join = "kernel" } },
		  { .images = true, .meta = { .join = "kernel" } },
		  NULL,
		  OPK_EUSAGE,
		  "its metrics are in other passes" },
	};

	merge_pairs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(sets_that_differ)
{
	static const struct pair pairs[] = {
		{ HERE,
		  { .meta = { .join = "name" } },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "joined by ''" },
		{ HERE,
		  { .images = true },
		  { .images = true },
		  "stream",
		  OPK_EUSAGE,
		  "'stream' is no way to join" },
		{ HERE,
		  { .meta = { .set_version = 2 } },
		  { .images = true },
		  "launch",
		  OPK_EUSAGE,
		  "1.opk: version, labels, derived metrics or columns of its set differ" },
		{ HERE,
		  { .meta = { .columns = metric_names, .column_count = 2 } },
		  { .meta = { .columns = metric_names, .column_count = 1 } },
		  NULL,
		  OPK_EUSAGE,
		  "columns of its set differ" },
	};

	merge_pairs(pairs, COUNT(pairs));
}
END_TEST

/* And clocks, and files that are cut off. */
START_TEST(tables_that_differ)
{
	static const struct pair pairs[] = {
		{ HERE,
		  { .images = true },
		  { .images = true, .incomplete = true },
		  NULL,
		  OPK_EINPUT,
		  "1.opk: cut off" },
		{ HERE,
		  { .images = true, .incomplete = true },
		  { .images = true },
		  NULL,
		  OPK_EINPUT,
		  "0.opk: cut off" },
		{ HERE,
		  { .images = true, .ranges = true },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "has a range table" },
		{ HERE,
		  { .images = true },
		  { .images = true, .times = true },
		  NULL,
		  OPK_EUSAGE,
		  "has times of samples" },
		{ HERE,
		  { .meta = { .gpu_time_shift = 1, .has_gpu_time_shift = true }, .images = true },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "its clock differs" },
	};

	merge_pairs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(join_is_overridden)
{
	struct part part = { .images = true, .ranges = true };
	struct opk_ctx *ctx = new_ctx();
	const struct opk_meta *meta;
	struct opk_file *file;

	ck_ok(ctx, merge_two(ctx, &part, &part, "launch"));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->join, "launch");
	opk_file_free(file);
	ck_code(ctx, opk_merge(ctx, NULL, 0, NULL, path), OPK_EUSAGE);
	opk_ctx_free(ctx);
}
END_TEST

/* What the parts' set says, the whole says. */
START_TEST(set_is_kept)
{
	struct part part = { .meta = full_meta, .images = true, .ranges = true };
	struct opk_ctx *ctx = new_ctx();
	const struct opk_meta *meta;
	struct opk_file *file;

	ck_ok(ctx, merge_two(ctx, &part, &part, NULL));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert(same_set(meta, &full_meta));
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(without_memory)
{
	struct part part = { .images = true, .ranges = true, .times = true };
	struct opk_ctx *ctx = new_ctx();
	char input[80];
	const char *const paths[] = { input, input };
	long n = 0;

	part.meta.inflated = metric_names;
	part.meta.inflated_count = 2;
	part.meta.derived = full_derived;
	part.meta.derived_count = 2;
	part.meta.labels = full_labels;
	part.meta.label_count = 1;
	snprintf(input, sizeof input, "%s/in.opk", folder);
	write_part(ctx, &part, 1, input);
	ctx->log = NULL; /* a note says that it counts twice */
	for (;; n++) {
		fail_allocation(n);
		if (!was_short(ctx, n, opk_merge(ctx, paths, 2, NULL, path)))
			break;
		ck_assert_uint_eq(entries(false), 1);
	}
	ck_assert_int_gt(n, 20);
	unlink(input);
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tests = add_case(suite, "merge");

	tcase_add_test(tests, all_sections_in_order);
	tcase_add_test(tests, hosts_and_gpus);
	tcase_add_test(tests, parts_that_fit);
	tcase_add_test(tests, metrics_that_differ);
	tcase_add_test(tests, sets_that_differ);
	tcase_add_test(tests, tables_that_differ);
	tcase_add_test(tests, join_is_overridden);
	tcase_add_test(tests, set_is_kept);
	tcase_add_test(tests, without_memory);
	return run_suite(suite);
}
