/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging several recordings into one. */
#include <math.h>

#include "container/container.h"
#include "parts.h"
#include "timeline/door.h"

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

CTX_TEST(all_sections_in_order)
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
	const struct opk_range *ranges;
	const struct opk_stats *stats;
	const struct opk_time *times;
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;
	size_t count;

	/* Facts in which the files of a merge may differ. */
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
	/* What the files say of a device's clocks and slowdowns is joined; other facts differ. */
	ck_assert_uint_eq(stats->run_count, 4);
	ck_assert_str_eq(stats->run[0].value, "900");
	ck_assert_str_eq(stats->run[1].value, "1050");
	ck_assert_str_eq(stats->run[2].value, "1800");
	ck_assert_str_eq(stats->run[3].value, "heat in 3 of 8, the power limit in 1 of 4 readings");
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	/* Facts that are not true of all are left out. */
	ck_assert_uint_eq(meta->run_count, 1);
	ck_assert_str_eq(meta->run[0].name, "driver");
	ck_assert_str_eq(meta->run[0].value, "570");
	ck_assert_str_eq(meta->config_hash, "");
	ck_assert_str_eq(meta->source, "");
	ck_assert(!meta->keep_instances);
	ck_assert_uint_eq(meta->inflated_count, 2);
	ck_assert_str_eq(meta->mode, "mixed");
	ck_assert_str_eq(meta->backend, "legacy");
}

/* How many tables of the file name the host in any row. */
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
 * Facts of each file move into the rows of the merged file. The rows have them from the first call
 * on, and later calls do not change them.
 */
TEST(hosts_and_gpus)
{
	static const struct opk_property runs[][2] = {
		{ { "hostname", "a" }, { "device.0.pci", "0000:01" } },
		{ { "hostname", "b" }, { "device.0.pci", "0000:02" } },
		{ { "hostname", "a" }, { "device.0.pci", "0000:02" } },
		{ { "hostname", "a" }, { "device.0.x", "y" } },
	};
	static const struct {
		struct here here;
		size_t one, two; /* of runs; 4: unknown */
		bool ranges;     /* or only times */
		bool placed;     /* the rows have the fact */
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
		freed(opk_ctx) *ctx = new_ctx();
		const struct opk_segment *segments;
		const struct opk_range *ranges;
		struct opk_range first[8];
		freed(opk_file) *file = NULL;
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
	}
}

/* ---- which recordings can be merged */

static const struct part plain = { .images = true };
static const struct part nothing = { .images = false };
static const struct part ranged = { .images = true, .ranges = true };
static const struct part timed = { .images = true, .times = true };
static const struct part cut_off = { .images = true, .incomplete = true };
static const struct part joined = { .images = true, .meta = { .join = "kernel" } };
/* A part without images, with these metadata. */
#define META(...)                                                                                  \
	&(const struct part)                                                                       \
	{                                                                                          \
		.meta = { __VA_ARGS__ }                                                            \
	}
#define SHIFTED                                                                                    \
	{                                                                                          \
		.gpu_time_shift = 1, .has_gpu_time_shift = true                                    \
	}
#define SASS META(.profiler = OPK_PROFILER_SASS)
#define TRACE META(.profiler = OPK_PROFILER_PM, .mode = "trace")
static const struct part sass_images = { .images = true,
	                                 .meta = { .profiler = OPK_PROFILER_SASS } };
static const struct part shifted = { .images = true, .meta = SHIFTED };
static const struct part shifted_times = { .images = true, .times = true, .meta = SHIFTED };

static const char *const other_names[] = { "a__b.sum", "UNIT.Set.a__b.avg" };
static const struct opk_pass_list other_passes[] = { { pass_2, 1 }, { pass_1, 1 } };

static const struct pair {
	struct here here;
	const struct part *one, *two;
	const char *join;
	int code;
	const char *wanted; /* of the error */
} pairs[] = {
	{ HERE, &plain, &plain, NULL, OPK_OK, NULL },
	/* Each range has all of them. */
	{ HERE, META(.passes = 3), &plain, NULL, OPK_OK, NULL },
	{ HERE, META(.join = "name"), &plain, "launch", OPK_OK, NULL },
	/* A process without launches can be merged with any. */
	{ HERE, &nothing, &ranged, NULL, OPK_OK, NULL },
	{ HERE, &ranged, &nothing, NULL, OPK_OK, NULL },
	{ HERE, &shifted_times, &timed, NULL, OPK_OK, NULL },
	/* Counts of instructions go with ranges, and with each other. */
	{ HERE, SASS, &plain, NULL, OPK_OK, NULL },
	{ HERE, &plain, META(.profiler = OPK_PROFILER_PC), NULL, OPK_OK, NULL },
	{ HERE, SASS, META(.profiler = OPK_PROFILER_PC), NULL, OPK_OK, NULL },
	{ HERE, SASS,
	  META(.metrics = other_names, .metric_count = 2, .profiler = OPK_PROFILER_SASS), NULL,
	  OPK_OK, NULL },
	/* So do records of what ran with samples, and with each other. */
	{ HERE, TRACE, META(.profiler = OPK_PROFILER_PM), NULL, OPK_OK, NULL },
	{ HERE, META(.profiler = OPK_PROFILER_PM), TRACE, NULL, OPK_OK, NULL },
	{ HERE, TRACE, TRACE, NULL, OPK_OK, NULL },
	{ HERE, TRACE, &plain, NULL, OPK_EUSAGE, "0.opk is of GH100 and profiler pm, " },
	{ HERE, META(.chip = "GA100", .profiler = OPK_PROFILER_PM), TRACE, NULL, OPK_EUSAGE,
	  "1.opk is of GH100 and profiler pm, " },
	{ HERE, META(.profiler = OPK_PROFILER_PM), SASS, NULL, OPK_EUSAGE,
	  "1.opk is of GH100 and profiler sass, " },
	{ HERE, SASS, META(.profiler = OPK_PROFILER_PM), NULL, OPK_EUSAGE,
	  "0.opk is of GH100 and profiler sass, " },
	{ HERE, META(.chip = "GA100", .profiler = OPK_PROFILER_SASS), &plain, NULL, OPK_EUSAGE,
	  "0.opk is of GA100 and profiler sass, " },
	{ HERE, &sass_images, &plain, NULL, OPK_EUSAGE, "1.opk is of GH100 and profiler range, " },
	/* Different metrics; chips and profilers; and different passes of metrics. */
	{ HERE, META(.chip = "GA100"), &plain, NULL, OPK_EUSAGE,
	  "1.opk is of GH100 and profiler range, " },
	{ HERE, META(.profiler = OPK_PROFILER_PM), &plain, NULL, OPK_EUSAGE,
	  "0.opk of GH100 and profiler pm: they can't be merged" },
	{ HERE, META(.metrics = other_names, .metric_count = 2), &plain, NULL, OPK_EUSAGE,
	  "its metrics differ" },
	{ HERE, META(.metric_passes = other_passes, .metric_pass_count = 2, .join = "kernel"),
	  &joined, NULL, OPK_EUSAGE, "its metrics are in other passes" },
	{ HERE, META(.passes = 3, .join = "kernel"), &joined, NULL, OPK_EUSAGE,
	  "its metrics are in other passes" },
	/* Sets. */
	{ HERE, META(.join = "name"), &plain, NULL, OPK_EUSAGE, "joined by ''" },
	{ HERE, &plain, &plain, "stream", OPK_EUSAGE, "'stream' is not a way to join" },
	{ HERE, META(.set_version = 2), &plain, "launch", OPK_EUSAGE,
	  "1.opk: version, labels, derived metrics or columns of its set differ" },
	{ HERE, META(.columns = metric_names, .column_count = 2),
	  META(.columns = metric_names, .column_count = 1), NULL, OPK_EUSAGE,
	  "columns of its set differ" },
	/* Tables, clocks, and cut-off files. */
	{ HERE, &plain, &cut_off, NULL, OPK_EINPUT, "1.opk: cut off" },
	{ HERE, &cut_off, &plain, NULL, OPK_EINPUT, "0.opk: cut off" },
	{ HERE, &ranged, &plain, NULL, OPK_EUSAGE, "has a range table" },
	{ HERE, &plain, &timed, NULL, OPK_EUSAGE, "has times of samples" },
	{ HERE, &shifted, &plain, NULL, OPK_EUSAGE, "its clock differs" },
};

CTX_TEST_EACH(merged_pairs, pairs)
{
	int code = merge_two(ctx, row->one, row->two, row->join);

	ck_row(row, code == row->code, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !code || strstr(errors_of(ctx), row->wanted), "%s", errors_of(ctx));
	/* No file, or a complete one. */
	ck_row(row, entries(false) == !code, "%zu files", entries(false));
	unlink(path);
}

CTX_TEST(join_is_overridden)
{
	struct part part = { .images = true, .ranges = true };
	const struct opk_meta *meta;
	struct opk_file *file;

	ck_ok(ctx, merge_two(ctx, &part, &part, "launch"));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->join, "launch");
	opk_file_free(file);
	ck_code(ctx, opk_merge(ctx, NULL, 0, NULL, path), OPK_EUSAGE);
}

/* The merged file keeps the parts' set. */
CTX_TEST(set_is_kept)
{
	struct part part = { .meta = full_meta, .images = true, .ranges = true };
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, merge_two(ctx, &part, &part, NULL));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert(same_set(meta, &full_meta));
}

/* Copies the samples of a recording, or its records of what ran. */
static void copy_half(struct opk_ctx *ctx, struct opk_file *file, bool samples, const char *name)
{
	const struct opk_meta *whole;
	struct opk_writer *writer;
	struct opk_meta meta;

	ck_ok(ctx, opk_file_meta(&whole, ctx, file));
	meta = *whole;
	if (!samples) {
		meta = (struct opk_meta){ .chip = whole->chip, .kind = "recording" };
		meta.profiler = OPK_PROFILER_PM;
		meta.mode = "trace";
		meta.backend = "activity";
		meta.run = whole->run;
		meta.run_count = whole->run_count;
	}
	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < file->section_count; i++) {
		uint32_t type = file->sections[i].type;

		if (samples && type == OPK_SECTION_DATA) {
			ck_ok(ctx, opk_writer_copy(writer, file, i));
			ck_ok(ctx, opk_writer_copy_tables(writer, file, i));
		} else if (!samples && type == OPK_SECTION_ACTIVITIES) {
			ck_ok(ctx, opk_writer_copy(writer, file, i));
		}
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
}

static void same_rows(struct opk_ctx *ctx, struct opk_file *one, struct opk_file *other)
{
	freed(opk_evaluation) *a = NULL;
	freed(opk_evaluation) *b = NULL;
	const struct opk_row *x, *y;
	size_t rows = 0, known = 0, metrics;

	ck_ok(ctx, opk_timeline_eval(&a, ctx, one, NULL, false));
	ck_ok(ctx, opk_timeline_eval(&b, ctx, other, NULL, false));
	metrics = opk_evaluation_metric_count(a);
	ck_assert_uint_eq(opk_evaluation_metric_count(b), metrics);
	for (;; rows++) {
		ck_ok(ctx, opk_evaluation_next(&x, ctx, a));
		ck_ok(ctx, opk_evaluation_next(&y, ctx, b));
		ck_assert(!x == !y);
		if (!x)
			break;
		ck_assert_str_eq(x->name, y->name);
		for (size_t i = 0; i < metrics; i++) {
			double a_value = x->values[i], b_value = y->values[i];

			ck_assert_msg(isnan(a_value)
			                      ? isnan(b_value)
			                      : fabs(a_value - b_value) <= 1e-12 * fabs(a_value),
			              "%s: %zu %.17g, %.17g", x->name, i, a_value, b_value);
			known += !isnan(a_value);
		}
	}
	ck_assert_msg(rows > 5 && known > 5 * metrics / 2, "%zu rows, %zu values", rows, known);
}

/* A watch has the samples, and the program that ran meanwhile records what it launches. */
CTX_TEST(two_recordings_of_one_time)
{
	const char *paths[] = { opk_strdup(in_folder("watch.opk")),
		                opk_strdup(in_folder("app.opk")) };
	const char *turned[] = { paths[1], paths[0] };
	freed(opk_file) *file = NULL;

	ck_ok(ctx,
	      opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-training-kernels.opk"));
	copy_half(ctx, file, true, "watch.opk");
	copy_half(ctx, file, false, "app.opk");
	for (int i = 0; i < 2; i++) {
		freed(opk_file) *both = NULL;
		const struct opk_meta *meta;

		ck_ok(ctx, opk_merge(ctx, i ? turned : paths, 2, NULL, path));
		ck_ok(ctx, opk_file_open(&both, ctx, path));
		ck_ok(ctx, opk_file_meta(&meta, ctx, both));
		ck_assert_str_eq(meta->mode, "sampling");
		ck_assert_str_eq(meta->backend, "pm-sampling");
		same_rows(ctx, file, both);
	}
	unlink(path);
	for (int i = 0; i < 2; i++) {
		unlink(paths[i]);
		free((char *)paths[i]);
	}
}

SUITE(.set_up = make_path, .tear_down = remove_path);
