/* SPDX-License-Identifier: BSD-2-Clause */
/* One recording of several. */
#include "allocation.h"
#include "container/container.h"
#include "containers.h"

static const uint32_t pass_1[] = { 1 }, pass_2[] = { 2 };
static const struct opk_pass_list metric_passes[] = { { pass_1, 1 }, { pass_2, 1 } };

/* What a part may differ in. */
struct part {
	struct opk_meta meta; /* what is 0 is that of a plain part */
	bool images, ranges, times, incomplete;
};

static struct opk_meta fill_meta(const struct opk_meta *given)
{
	struct opk_meta meta = *given;

	meta.chip = meta.chip ? meta.chip : "GH100";
	if (!meta.metric_count) {
		meta.metrics = metric_names;
		meta.metric_count = 2;
	}
	meta.passes = meta.passes ? meta.passes : 2;
	if (!meta.metric_pass_count) {
		meta.metric_passes = metric_passes;
		meta.metric_pass_count = 2;
	}
	return meta;
}

/* Two images of two samples each, and what belongs to them, marked with the part's number. */
static void write_part(struct opk_ctx *ctx, const struct part *part, uint32_t number,
                       const char *name)
{
	struct opk_meta meta = fill_meta(&part->meta);
	struct opk_drop drop = { "no memory", number };
	struct opk_stats stats = { 10, 2, number, &drop, 1, 0 };
	struct opk_writer *writer;

	ck_ok(ctx, opk_writer_new(&writer, ctx, name));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_CONFIG, &number, 4));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_PREFIX, &number, 4));
	for (uint32_t i = 0; part->images && i < 2; i++) {
		struct opk_time times[] = { { number, i, 0 }, { i, 7, 0 } };
		struct opk_range range = { .launch = 10 * number + i, .pass = i + 1 };
		const struct opk_range ranges[] = { range, range };

		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, &number, 4));
		if (part->times)
			ck_ok(ctx, opk_writer_add_times(writer, times, 2));
		if (part->ranges)
			ck_ok(ctx, opk_writer_add_ranges(writer, ranges, 2));
	}
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	if (part->incomplete) {
		struct stat info;

		ck_assert_int_eq(stat(name, &info), 0);
		ck_assert_int_eq(truncate(name, info.st_size - 8), 0);
	}
}

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

START_TEST(fit_or_not)
{
	static const char *const other_names[] = { "a__b.sum", "UNIT.Set.a__b.avg" };
	static const struct opk_pass_list other_passes[] = { { pass_2, 1 }, { pass_1, 1 } };
	static const struct {
		struct here here;
		struct part one, two;
		const char *join;
		int code;
		const char *wanted;
	} rows[] = {
		{ HERE, { .images = true }, { .images = true }, NULL, OPK_OK, NULL },
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
		/* Each range has all of them. */
		{ HERE, { .meta = { .passes = 3 } }, { .images = true }, NULL, OPK_OK, NULL },
		{ HERE,
		  { .meta = { .join = "name" } },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "joined by ''" },
		{ HERE,
		  { .meta = { .join = "name" } },
		  { .images = true },
		  "launch",
		  OPK_OK,
		  NULL },
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
		{ HERE,
		  { .images = true },
		  { .images = true },
		  "stream",
		  OPK_EUSAGE,
		  "'stream' is no way to join" },
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
		  { .meta = { .gpu_time_shift = 1, .has_gpu_time_shift = true }, .images = true },
		  { .images = true },
		  NULL,
		  OPK_EUSAGE,
		  "its clock differs" },
		{ HERE,
		  { .meta = { .gpu_time_shift = 1, .has_gpu_time_shift = true },
		    .images = true,
		    .times = true },
		  { .images = true, .times = true },
		  NULL,
		  OPK_OK,
		  NULL },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		int code = merge_two(ctx, &rows[i].one, &rows[i].two, rows[i].join);

		ck_row(&rows[i], code == rows[i].code, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], !code || strstr(errors_of(ctx), rows[i].wanted), "%s",
		       errors_of(ctx));
		/* Nothing, or all of it. */
		ck_row(&rows[i], entries(false) == !code, "%zu files", entries(false));
		unlink(path);
	}
	opk_ctx_free(ctx);
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
	ck_assert(opk_meta_same_set(meta, &full_meta));
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- what is there twice */

/* A log is the last of its lines. */
static char last_line[400];

static void keep_line(void *data, const char *line)
{
	(void)data;
	snprintf(last_line, sizeof last_line, "%s", line);
}

/* Names in the folder for a test's words: "a b" are a.opk and b.opk. */
static size_t open_named(struct opk_file *files[4], struct opk_ctx *ctx, const char *words)
{
	size_t count = 0;

	for (const char *at = words; *at; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");
		char name[100];

		snprintf(name, sizeof name, "%s/%.*s.opk", folder, length, at);
		ck_ok(ctx, opk_file_open(&files[count++], ctx, name));
		at += length;
	}
	return count;
}

static void run_in_folder(const char *command)
{
	char line[200];

	snprintf(line, sizeof line, "cd '%s' && %s", folder, command);
	ck_assert_int_eq(system(line), 0);
}

static void merge_named(struct opk_ctx *ctx, const char *one, const char *other, const char *to)
{
	char names[3][100];

	snprintf(names[0], sizeof names[0], "%s/%s.opk", folder, one);
	snprintf(names[1], sizeof names[1], "%s/%s.opk", folder, other);
	snprintf(names[2], sizeof names[2], "%s/%s.opk", folder, to);
	ck_ok(ctx, opk_merge(ctx, (const char *const[]){ names[0], names[1] }, 2, NULL, names[2]));
}

/* Images of the same time on the same GPU are the same, wherever they are. */
START_TEST(what_counts_twice)
{
	static const struct {
		struct here here;
		const char *files, *note; /* without the folder; "": none */
	} rows[] = {
		{ HERE, "a", "" },
		{ HERE, "a b", "" },
		{ HERE, "a a", "a.opk is named twice: it counts twice" },
		{ HERE, "a link", "link.opk is the same file as a.opk: it counts twice" },
		{ HERE, "a b copy", "copy.opk is the same recording as a.opk: it counts twice" },
		{ HERE, "both a",
		  "a.opk: 2 of its 2 images are also in both.opk: they count twice" },
		{ HERE, "a b both",
		  "both.opk: 4 of its 4 images are also in a.opk, b.opk: they count twice" },
		{ HERE, "double",
		  "double.opk: 2 of its 4 images are in it twice: they count twice" },
		/* Without times files alone can be told from others, not images. */
		{ HERE, "old", "" },
		{ HERE, "old older", "" },
		{ HERE, "old oldcopy",
		  "oldcopy.opk is the same recording as old.opk: it counts twice" },
	};
	static const struct opk_property run[] = { { "started", "2026-11-22T14:41:08Z" } };
	struct part timed = { .images = true, .ranges = true, .times = true };
	struct part old = { .images = true }, older = old;
	struct opk_ctx *ctx = new_ctx();
	char name[100];

	older.meta.run = run;
	older.meta.run_count = 1;
	ctx->log = keep_line;
	snprintf(name, sizeof name, "%s/a.opk", folder);
	write_part(ctx, &timed, 1, name);
	snprintf(name, sizeof name, "%s/b.opk", folder);
	write_part(ctx, &timed, 2, name);
	snprintf(name, sizeof name, "%s/old.opk", folder);
	write_part(ctx, &old, 1, name);
	snprintf(name, sizeof name, "%s/older.opk", folder);
	write_part(ctx, &older, 1, name);
	run_in_folder("ln -s a.opk link.opk; cp a.opk copy.opk; cp old.opk oldcopy.opk");
	merge_named(ctx, "a", "b", "both");
	ck_assert_str_eq(last_line, "");
	merge_named(ctx, "a", "a", "double");
	ck_assert_ptr_nonnull(strstr(last_line, "a.opk is named twice"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_file *files[4] = { NULL };
		size_t count = open_named(files, ctx, rows[i].files);
		char found[400] = "", *to = found;

		*last_line = '\0';
		ck_ok(ctx, opk_twice_check(ctx, files, count, OPK_OK));
		for (const char *at = last_line; *at;)
			if (!strncmp(at, folder, strlen(folder)))
				at += strlen(folder) + 1;
			else
				*to++ = *at++;
		ck_row(&rows[i], !strcmp(found, rows[i].note), "note '%s'", found);
		ck_row(&rows[i],
		       opk_twice_check(ctx, files, count, OPK_EUSAGE)
		               == (*rows[i].note ? OPK_EUSAGE : OPK_OK),
		       "not refused");
		opk_clear_errors(ctx);
		for (size_t j = 0; j < count; j++)
			opk_file_free(files[j]);
	}
	run_in_folder("rm *.opk");
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
	tcase_add_test(tests, fit_or_not);
	tcase_add_test(tests, join_is_overridden);
	tcase_add_test(tests, set_is_kept);
	tcase_add_test(tests, what_counts_twice);
	tcase_add_test(tests, without_memory);
	return run_suite(suite);
}
