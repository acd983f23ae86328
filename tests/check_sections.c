/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of samples and counts of the run: sections that come in several pieces. */
#include <inttypes.h>

#include "allocation.h"
#include "container/container.h"
#include "containers.h"

/* ---- TIME ------------------------------------------------------------------------------- */

static const char rotated_meta[] = "{\"chip\":\"GH100\",\"profiler\":\"range\","
				   "\"metrics\":[\"a__b.sum\",\"c__d.sum\"],"
				   "\"passes\":2}";

static const struct opk_time times[] = {
	{ 1000000000000000007, 1000000000000010007, 0 },
	{ 1000000000000010007, 1000000000000020007, 0 },
	{ 1000000000000020009, 1000000000000030001, 0 },
	{ 5, 4, 0 }, /* nonsense is returned unchanged */
	{ 0, UINT64_MAX, 0 },
	{ UINT64_MAX, 0, 0 },
};

static void write_times(struct opk_ctx *ctx, size_t first)
{
	freed(opk_writer) *writer = NULL;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "first", 5));
	ck_ok(ctx, opk_writer_add_times(writer, times, first, sizeof(struct opk_time)));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add_times(writer, times + first, COUNT(times) - first,
	                                sizeof(struct opk_time)));
	ck_ok(ctx, opk_writer_finish(writer));
}

CTX_TEST(times_round_trip)
{
	for (size_t first = 0; first <= COUNT(times); first++) {
		const struct opk_time *got, *again;
		freed(opk_file) *file = NULL;
		size_t count;

		write_times(ctx, first);
		file = open_file(ctx);
		ck_ok(ctx, opk_file_times(&got, &count, ctx, file));
		ck_assert_uint_eq(count, COUNT(times));
		ck_assert_mem_eq(got, times, sizeof times);
		ck_ok(ctx, opk_file_times(&again, &count, ctx, file));
		ck_assert_ptr_eq(got, again);
	}
}

/* The layout, byte by byte; a long table takes very little space. */
CTX_TEST(times_are_small)
{
	enum { MANY = 100000 };
	static const struct opk_time two[] = { { 100, 110, 3 }, { 108, 120, 3 } };
	static const uint64_t wanted[] = { 3, 100, 10, (uint64_t)-2, 12 };
	static struct opk_time many[MANY];
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;
	opk_autofree void *data = NULL;
	size_t size;

	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct opk_time){ 7 + 10000 * i, 7 + 10000 * (i + 1), 0 };
	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add_times(writer, two, 2, sizeof(struct opk_time)));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "other", 5));
	ck_ok(ctx, opk_writer_add_times(writer, many, MANY, sizeof(struct opk_time)));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_read(&data, &size, ctx, file, 1));
	ck_assert_uint_eq(size, sizeof wanted);
	ck_assert_mem_eq(data, wanted, sizeof wanted);
	ck_assert_uint_eq(opk_file_section(file, 3)->plain_size, 8 + 16 * MANY);
	ck_assert_uint_lt(opk_file_section(file, 3)->stored_size, 16 * MANY / 200);
}

CTX_TEST(hostile_times)
{
	static const size_t sizes[] = { 0, 1, 7, 16, 17, 31, 32 };
	static const uint8_t zeros[32];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		const struct opk_time *got = NULL;
		freed(opk_file) *file = NULL;
		struct image image;
		size_t count = 7;

		begin_image(&image);
		put(&image, OPK_SECTION_DATA, "image", 5);
		put(&image, OPK_SECTION_TIMES, zeros, sizes[i]);
		put_end(&image);
		write_image(&image);
		file = open_file(ctx);
		ck_fails(ctx, opk_file_times(&got, &count, ctx, file), OPK_EINPUT,
		         "t.opk: section 2 (TIME)");
		ck_assert(!got && count == 7);
	}
}

/* ---- STAT ------------------------------------------------------------------------------- */

static const struct opk_drop drops[] = {
	{ "no memory", 3 },
	{ "too deep", UINT64_MAX },
	{ "", 1 },
};

CTX_TEST(stats_round_trip)
{
	static const struct opk_property run[][2] = { { { "a", "1" }, { "b", "2" } },
		                                      { { "b", "2" }, { "a", "3" } } };
	struct opk_stats first = { 100, 90, 3, drops, 2, 4, run[0], 2 };
	struct opk_stats second = { 7, 5, 2, drops + 1, 2, 8, run[1], 2 };
	const struct opk_stats *got, *again;
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_stats(writer, &first));
	ck_ok(ctx, opk_writer_add_stats(writer, &second));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_stats(&got, ctx, file));
	ck_assert_uint_eq(got->launches, 107);
	ck_assert_uint_eq(got->ranges, 95);
	ck_assert_uint_eq(got->depth, 3);
	ck_assert_uint_eq(got->activities, 12);
	ck_assert_uint_eq(got->drop_count, 3);
	for (size_t i = 0; i < COUNT(drops); i++) {
		ck_assert_str_eq(got->drops[i].reason, drops[i].reason);
		/* Counts of one reason are added, and sums do not wrap. */
		ck_assert_uint_eq(got->drops[i].count, drops[i].count);
	}
	/* The two don't agree on a. */
	ck_assert_uint_eq(got->run_count, 1);
	ck_assert_str_eq(got->run[0].name, "b");
	ck_assert_str_eq(got->run[0].value, "2");
	ck_ok(ctx, opk_file_stats(&again, ctx, file));
	ck_assert_ptr_eq(got, again);
}

CTX_TEST(no_sections)
{
	const struct opk_stats *stats = &(struct opk_stats){ 0 };
	const struct opk_time *got;
	freed(opk_file) *file = NULL;
	size_t count = 7;

	write_sample(ctx);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_stats(&stats, ctx, file));
	ck_assert_ptr_null(stats);
	ck_ok(ctx, opk_file_times(&got, &count, ctx, file));
	ck_assert_uint_eq(count, 0);
}

static const struct {
	struct here here;
	const char *text;
	const char *wanted; /* NULL: ignored */
} hostile_stats_rows[] = {
	{ HERE, "{}", NULL },
	{ HERE, "{\"launches\":-1,\"ranges\":\"2\",\"depth\":4294967296,\"drops\":{}}", NULL },
	{ HERE, "[]", "the counts are not an object" },
	{ HERE, "7", "the counts are not an object" },
	{ HERE, "{\"run\":{\"a\":1}}", "run: member a is of the wrong type" },
	{ HERE, "{\"run\":[]}", "member run is of the wrong type" },
	{ HERE, "{", "JSON, byte" },
};

CTX_TEST_EACH(hostile_stats, hostile_stats_rows)
{
	const struct opk_stats *stats = NULL;
	freed(opk_file) *file = NULL;
	struct image image;
	int code;

	begin_image(&image);
	put(&image, OPK_SECTION_STATS, row->text, strlen(row->text));
	put_end(&image);
	write_image(&image);
	file = open_file(ctx);
	code = opk_file_stats(&stats, ctx, file);
	ck_row_ends(row, ctx, code, row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
	ck_row(row, !code || strstr(errors_of(ctx), "section 1 (STAT)"), "%s", errors_of(ctx));
	ck_row(row,
	       code || (!stats->launches && !stats->ranges && !stats->depth && !stats->drop_count),
	       "counts of nothing");
}

/* The maximum number of reasons, and one more. */
CTX_TEST(too_many_reasons)
{
	for (int more = 0; more < 2; more++) {
		opk_autobuf struct opk_buf text = { 0 };
		const struct opk_stats *stats;
		freed(opk_file) *file = NULL;
		struct image image;

		opk_buf_add_text(&text, "{\"drops\":[0");
		/* An entry that is not an object counts as one without a reason. */
		for (int i = 0; i < 999 + more; i++)
			opk_buf_add_printf(&text, ",{\"reason\":\"r%d\",\"count\":1}", i);
		opk_buf_add_text(&text, "]}");
		begin_image(&image);
		put(&image, OPK_SECTION_STATS, text.data, text.size);
		put_end(&image);
		write_image(&image);
		file = open_file(ctx);
		ck_code(ctx, opk_file_stats(&stats, ctx, file), more ? OPK_EINPUT : OPK_OK);
	}
}

/* ---- segments --------------------------------------------------------------------------- */

/* A table that refers to the image `distance` sections before it. */
static void put_table(struct image *image, uint32_t type, uint32_t distance, const void *payload,
                      size_t size)
{
	struct opk_section section = {
		.type = type,
		.stored_size = size,
		.plain_size = size,
		.crc = opk_crc32(0, payload, size),
		.distance = distance,
		.linked_crc = crc_back(image, distance),
	};

	put_raw(image, &section, 0, payload, size);
}

/* Tables find their images in any order; rows are in the order of the images. */
CTX_TEST(order_means_nothing)
{
	static const char one[] = "[{\"launch\":1,\"pass\":2},{\"launch\":2,\"pass\":2}]";
	static const char two[] = "[{\"launch\":3,\"pass\":1}]";
	const struct opk_segment *segments;
	const struct opk_range *ranges;
	opk_autobuf struct opk_buf moments = { 0 };
	freed(opk_file) *file = NULL;
	struct image image;
	size_t count;

	opk_times_encode(&moments, times, 2);
	begin_image(&image);
	put(&image, OPK_SECTION_META, rotated_meta, sizeof rotated_meta - 1);
	put(&image, OPK_SECTION_DATA, "one", 3);
	put(&image, OPK_SECTION_DATA, "two", 3);
	put(&image, OPK_SECTION_DATA, "none", 4);
	put_table(&image, OPK_SECTION_RANGES, 2, two, sizeof two - 1);
	put_table(&image, OPK_SECTION_TIMES, 4, moments.data, moments.size);
	put_table(&image, OPK_SECTION_RANGES, 5, one, sizeof one - 1);
	put_end(&image);
	write_image(&image);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_segments(&segments, &count, ctx, file));
	ck_assert_uint_eq(count, 3);
	ck_assert(segments[0].image == 1 && segments[0].row_count == 2 && segments[0].pass == 2);
	ck_assert(segments[1].image == 2 && segments[1].row_count == 1 && segments[1].pass == 1);
	ck_assert(segments[2].image == 3 && segments[2].row_count == 0 && segments[2].pass == 0);
	ck_assert(segments[0].has_ranges && segments[0].has_times);
	ck_assert(segments[1].has_ranges && !segments[1].has_times && !segments[1].times);
	ck_assert(!segments[2].has_ranges && !segments[2].has_times && !segments[2].ranges);
	ck_assert_uint_eq(segments[0].ranges[1].launch, 2);
	ck_assert_uint_eq(segments[1].ranges[0].launch, 3);
	ck_assert_mem_eq(segments[0].times, times, 2 * sizeof *times);
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_uint_eq(count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(ranges[i].launch, i + 1);
}

/* Two tables of an image, after M, and their error. */
CTX_TEST(inconsistent_links)
{
	static const struct {
		struct here here;
		const char *first, *second;
		const char *wanted; /* NULL: valid */
	} rows[] = {
		{ HERE, "[{},{}]", NULL, NULL },
		{ HERE, "[]", NULL, "times of 2 samples, and the range table has 0 rows" },
		{ HERE, "[{}]", NULL, "times of 2 samples, and the range table has 1 rows" },
		{ HERE, "[{},{}]", "[{},{}]", "section 2 has another such table already" },
		{ HERE, "[{\"pass\":2},{\"pass\":2}]", NULL, NULL },
		{ HERE, "[{\"pass\":3},{\"pass\":3}]", NULL,
		  "a range is of pass 3, and there are 2" },
		{ HERE, "[{\"pass\":2},{\"pass\":1}]", NULL, "its ranges are of passes 2 and 1" },
	};
	opk_autobuf struct opk_buf moments = { 0 };

	opk_times_encode(&moments, times, 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_segment *segments;
		freed(opk_file) *file = NULL;
		struct image image;
		size_t count;
		int code;

		begin_image(&image);
		put(&image, OPK_SECTION_META, rotated_meta, sizeof rotated_meta - 1);
		put(&image, OPK_SECTION_DATA, "one", 3);
		put(&image, OPK_SECTION_RANGES, rows[i].first, strlen(rows[i].first));
		put(&image, OPK_SECTION_TIMES, moments.data, moments.size);
		if (rows[i].second)
			put(&image, OPK_SECTION_RANGES, rows[i].second, strlen(rows[i].second));
		put_end(&image);
		write_image(&image);
		file = open_file(ctx);
		code = opk_file_segments(&segments, &count, ctx, file);
		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "%d %s", code,
		       errors_of(ctx));
		ck_row(&rows[i],
		       !code
		               || (strstr(errors_of(ctx), rows[i].wanted)
		                   && strstr(errors_of(ctx), "t.opk: section ")),
		       "got %s", errors_of(ctx));
	}
}

/* ---- out of memory ---------------------------------------------------------------------- */

static int read_both(struct opk_ctx *ctx)
{
	const struct opk_stats *stats;
	const struct opk_time *got;
	freed(opk_file) *file = NULL;
	size_t count;

	TRY(opk_file_open(&file, ctx, path));
	TRY(opk_file_times(&got, &count, ctx, file));
	return opk_file_stats(&stats, ctx, file);
}

CTX_TEST(without_memory)
{
	static const struct opk_property fact = { "a", "1" };
	struct opk_stats stats = { 100, 90, 3, drops, 3, 0, &fact, 1 };
	struct opk_writer *writer;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add_times(writer, times, COUNT(times), sizeof(struct opk_time)));
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	for (long n = 0; is_short(ctx, n, read_both(ctx)); n++)
		;
}

SUITE(.set_up = make_path, .tear_down = remove_path);
