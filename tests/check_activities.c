/* SPDX-License-Identifier: BSD-2-Clause */
/* The KERN sections: activities, their columns, and what is refused. */
#include <inttypes.h>

#include "allocation.h"
#include "container/container.h"
#include "containers.h"

#define TRACE_META                                                                                 \
	"{\"kind\":\"recording\",\"chip\":\"GH100\",\"profiler\":\"pm\",\"mode\":\"trace\","       \
	"\"metrics\":[]"
static const char trace_meta[] = TRACE_META "}";

static const struct opk_activity records[] = {
	{ .kind = OPK_ACTIVITY_KERNEL,
	  .device = 3,
	  .name = "ns::scale<float>(float *)",
	  .symbol = "_Z5scale",
	  .start_ns = 1000000000000000007,
	  .end_ns = 1000000000000000011,
	  .stream = 7,
	  .graph_node = 1ull << 40,
	  .context = 1,
	  .correlation = 4000000000u,
	  .grid = { 1, 2, 3 },
	  .block = { 4, 5, 6 },
	  .registers = 7,
	  .static_shared_bytes = 8,
	  .shared_bytes = 9,
	  .process = 10,
	  .rank = 0,
	  .host = "node",
	  .gpu = "GPU-1",
	  .cluster = { 2, 3, 4 },
	  .carveout_plus_1 = 51 },
	{ .kind = OPK_ACTIVITY_COPY,
	  .name = "memcpy HtoD",
	  .start_ns = 5, /* before the previous record */
	  .end_ns = 5,
	  .bytes = UINT64_MAX,
	  .device = INT32_MAX - 1,
	  .rank = -1 },
	{ .kind = OPK_ACTIVITY_RANGE,
	  .name = "step \xc3\xa9",
	  .start_ns = 0,
	  .end_ns = UINT64_MAX,
	  .thread = 77,
	  .device = -1,
	  .rank = -1 },
	{ .kind = OPK_ACTIVITY_CALL,
	  .name = "cudaLaunchKernel",
	  .start_ns = 6,
	  .end_ns = 8,
	  .thread = 77,
	  .correlation = 4000000000u,
	  .external = UINT64_MAX,
	  .device = -1,
	  .rank = -1 },
	{ .kind = OPK_ACTIVITY_SET, .device = -1, .rank = -1 },
};

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static void check_same(const struct opk_activity *got, const struct opk_activity *wanted)
{
	struct opk_activity a = *got, b = *wanted;

	ck_assert_str_eq(got->name, text_of(wanted->name));
	ck_assert_str_eq(got->symbol, text_of(wanted->symbol));
	ck_assert_str_eq(got->host, text_of(wanted->host));
	ck_assert_str_eq(got->gpu, text_of(wanted->gpu));
	a.name = a.symbol = a.host = a.gpu = b.name = b.symbol = b.host = b.gpu = NULL;
	ck_assert_mem_eq(&a, &b, sizeof a);
}

static struct opk_writer *begin(struct opk_ctx *ctx, const char *meta)
{
	struct opk_writer *writer;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, meta, strlen(meta)));
	return writer;
}

static void finish(struct opk_ctx *ctx, struct opk_writer *writer)
{
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
}

/* In one section, in two, and in an empty one. */
CTX_TEST(round_trip)
{
	for (size_t first = 0; first <= COUNT(records); first++) {
		struct opk_writer *writer = begin(ctx, trace_meta);
		const struct opk_activity *got, *again;
		freed(opk_file) *file = NULL;
		size_t count;

		ck_ok(ctx, opk_writer_add_activities(writer, records, first));
		ck_ok(ctx,
		      opk_writer_add_activities(writer, records + first, COUNT(records) - first));
		finish(ctx, writer);
		file = open_file(ctx);
		ck_ok(ctx, opk_file_activities(&got, &count, ctx, file));
		ck_assert_uint_eq(count, COUNT(records));
		for (size_t i = 0; i < count; i++)
			check_same(&got[i], &records[i]);
		ck_ok(ctx, opk_file_activities(&again, &count, ctx, file));
		ck_assert_ptr_eq(got, again);
	}
}

/* The host's clock was set back during the run: the section stays readable. */
CTX_TEST(backwards)
{
	const struct opk_activity odd = { .kind = OPK_ACTIVITY_RANGE, .start_ns = 9, .end_ns = 7 };
	struct opk_writer *writer = begin(ctx, trace_meta);
	const struct opk_activity *got;
	freed(opk_file) *file = NULL;
	size_t count;

	ck_ok(ctx, opk_writer_add_activities(writer, &odd, 1));
	finish(ctx, writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_activities(&got, &count, ctx, file));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(got->start_ns, 9);
	ck_assert_uint_eq(got->end_ns, 9);
}

/* Kernel names are normalized, range names are not; invalid UTF-8 is replaced. */
CTX_TEST(names)
{
	const struct opk_activity odd[] = {
		{ .kind = OPK_ACTIVITY_KERNEL, .name = "f(float const*)", .device = -1 },
		{ .kind = OPK_ACTIVITY_RANGE, .name = "f(float const*)", .device = -1 },
		{ .kind = OPK_ACTIVITY_RANGE, .name = "a\xff", .device = -1 },
	};
	struct opk_writer *writer = begin(ctx, trace_meta);
	const struct opk_activity *got;
	freed(opk_file) *file = NULL;
	size_t count;

	ck_ok(ctx, opk_writer_add_activities(writer, odd, COUNT(odd)));
	finish(ctx, writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_activities(&got, &count, ctx, file));
	ck_assert_uint_eq(count, COUNT(odd));
	ck_assert_str_eq(got[0].name, "f(const float *)");
	ck_assert_str_eq(got[1].name, "f(float const*)");
	ck_assert_str_eq(got[2].name, "a\xef\xbf\xbd");
}

/* The layout, byte by byte. */
TEST(layout)
{
	const struct opk_activity two[] = {
		{ .kind = OPK_ACTIVITY_SET,
		  .name = "m",
		  .start_ns = 100,
		  .end_ns = 110,
		  .rank = -1 },
		{ .kind = OPK_ACTIVITY_SET, .name = "m", .start_ns = 90, .end_ns = 90, .rank = -1 },
	};
	opk_autobuf struct opk_buf wanted = { 0 }, got = { 0 };

	for (size_t i = 0; i < 4; i++)
		opk_buf_add_u32(&wanted, (const uint32_t[]){ 2, 5, 1, 2 }[i]);
	for (size_t i = 0; i < 10; i++)
		opk_buf_add_u32(&wanted, (const uint32_t[]){ 1, 4, 2, 4, 4, 8, 5, 8, 6, 4 }[i]);
	for (size_t i = 0; i < 4; i++) /* kinds, then names */
		opk_buf_add_u32(&wanted, (const uint32_t[]){ 3, 3, 1, 1 }[i]);
	for (size_t i = 0; i < 4; i++) /* starts, then lengths */
		opk_buf_add_u64(&wanted, (const uint64_t[]){ 100, (uint64_t)-10, 10, 0 }[i]);
	for (size_t i = 0; i < 2; i++) /* devices */
		opk_buf_add_u32(&wanted, 1);
	opk_buf_add(&wanted, "m", 2);
	opk_activities_encode(&got, two, 2);
	ck_assert_uint_eq(got.size, wanted.size);
	ck_assert_mem_eq(got.data, wanted.data, got.size);
}

/* A training's kernels, repeated: a few bytes for each. */
CTX_TEST(they_are_small)
{
	enum { MANY = 100000, KERNELS = 192 };
	opk_autofree struct opk_activity *many = opk_alloc_array(MANY, sizeof *many);
	struct opk_writer *writer = begin(ctx, trace_meta);
	freed(opk_file) *file = NULL;
	char kernel_names[KERNELS][24];

	for (size_t i = 0; i < KERNELS; i++)
		snprintf(kernel_names[i], sizeof *kernel_names, "kernel_%zu(float *)", i);
	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct opk_activity){
			.kind = OPK_ACTIVITY_KERNEL,
			.name = kernel_names[i % KERNELS],
			.symbol = kernel_names[i % KERNELS],
			.start_ns = 1000000 + 40000 * i + i * i % 999,
			.end_ns = 1000000 + 40000 * i + 9000 + i * i % 777,
			.correlation = (uint32_t)(3 * i),
			.grid = { (uint32_t)(i % KERNELS), 1, 1 },
			.block = { 256, 1, 1 },
			.registers = 32,
			.context = 1,
			.stream = 7,
			.process = 12345,
		};
	ck_ok(ctx, opk_writer_add_activities(writer, many, MANY));
	finish(ctx, writer);
	file = open_file(ctx);
	ck_assert_uint_lt(opk_file_section(file, 1)->stored_size, 12 * MANY);
}

/* A file with a section of these words, followed by these texts. */
struct hostile {
	struct here here;
	size_t word_count;
	uint32_t words[16];
	size_t text_size;
	const char *texts;
	const char *wanted; /* NULL: as many records as `count` */
	size_t count;
};
static const struct hostile hostile[] = {
	{ HERE, 0, { 0 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 3, { 0, 0, 0 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 4, { 0, 0, 0, 0 }, 0, "", NULL, 0 },
	{ HERE, 4, { 0, 0, 0, 0 }, 1, "", "the records' lengths disagree", 0 },
	{ HERE, 4, { 7, 0, 0, 0 }, 0, "", NULL, 0 }, /* an invalid kind */
	{ HERE, 7, { 1, 1, 0, 0, 1, 4, 1 }, 0, "", NULL, 1 },
	{ HERE, 7, { 1, 1, 0, 0, 1, 4, 4 }, 0, "", NULL, 1 },
	{ HERE, 7, { 1, 1, 0, 0, 1, 4, 5 }, 0, "", NULL, 1 },
	{ HERE, 7, { 1, 1, 0, 0, 1, 4, 6 }, 0, "", NULL, 0 }, /* a kind of a later version */
	{ HERE, 7, { 1, 1, 0, 0, 99, 4, 5 }, 0, "", NULL, 0 },
	/* A column that is not known yet is skipped. */
	{ HERE, 11, { 1, 2, 0, 0, 99, 8, 1, 4, 7, 7, 2 }, 0, "", NULL, 1 },
	{ HERE, 6, { 1, 1, 0, 0, 1, 4 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 8, { 1, 1, 0, 0, 1, 4, 1, 0 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 8, { 1, 1, 0, 0, 1, 8, 1, 0 }, 0, "", "is there twice, or of 8 bytes", 0 },
	{ HERE, 7, { 1, 1, 0, 0, 99, 5, 1 }, 0, "", "is there twice, or of 5 bytes", 0 },
	{ HERE, 10, { 1, 2, 0, 0, 1, 4, 1, 4, 1, 1 }, 0, "", "is there twice, or of 4 bytes", 0 },
	{ HERE, 7, { 1, 65, 0, 0, 1, 4, 1 }, 0, "", "records with 65 columns: at most 64", 0 },
	{ HERE, 7, { 1, UINT32_MAX, 0, 0, 1, 4, 1 }, 0, "", "columns: at most 64", 0 },
	{ HERE, 7, { UINT32_MAX, 1, 0, 0, 1, 4, 1 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 4, { UINT32_MAX, 0, 0, 0 }, 0, "", "would take 1099511627520 bytes", 0 },
	{ HERE, 4, { 1, 0, UINT32_MAX, 0 }, 0, "", "the records' lengths disagree", 0 },
	{ HERE, 4, { 1, 0, 0, UINT32_MAX }, 0, "", "the records' lengths disagree", 0 },
	/* Texts. */
	{ HERE, 7, { 1, 1, 1, 2, 2, 4, 1 }, 2, "k", NULL, 0 },
	{ HERE, 7, { 1, 1, 1, 2, 2, 4, 2 }, 2, "k", "it names a text that is not there", 0 },
	{ HERE, 7, { 1, 1, 2, 2, 2, 4, 1 }, 2, "k", "text 2 of the records", 0 },
	{ HERE, 7, { 1, 1, 2, 2, 2, 4, 2 }, 2, "\0", NULL, 0 },
	{ HERE, 7, { 1, 1, 1, 3, 2, 4, 1 }, 3, "k\0", "the records' lengths disagree", 0 },
	{ HERE, 7, { 1, 1, 1, 1, 2, 4, 1 }, 1, "k", "text 1 of the records is not UTF-8", 0 },
	{ HERE, 7, { 1, 1, 1, 2, 2, 4, 1 }, 2, "\xff", "text 1 of the records is not UTF-8", 0 },
	/* Times: a start, and a length that overflows. */
	{ HERE,
	  12,
	  { 1, 2, 0, 0, 4, 8, 5, 8, 1, 0, UINT32_MAX, UINT32_MAX },
	  0,
	  "",
	  "it ends before it starts",
	  0 },
	{ HERE, 12, { 1, 2, 0, 0, 4, 8, 5, 8, 0, 0, UINT32_MAX, UINT32_MAX }, 0, "", NULL, 0 },
	{ HERE, 7, { 1, 1, 0, 0, 6, 4, 0x7fffffff }, 0, "", NULL, 0 },
	{ HERE, 7, { 1, 1, 0, 0, 6, 4, 0x80000000 }, 0, "", "device or rank is out of range", 0 },
};

static void put_words(struct opk_buf *out, const struct hostile *row)
{
	for (size_t i = 0; i < row->word_count; i++)
		opk_buf_add_u32(out, row->words[i]);
	opk_buf_add(out, row->texts, row->text_size);
}

CTX_TEST_EACH(hostile_sections, hostile)
{
	opk_autobuf struct opk_buf payload = { 0 };
	const struct opk_activity *got = NULL;
	freed(opk_listing) *findings = NULL;
	struct opk_file *file;
	struct image image;
	size_t count = 77;
	int code;

	put_words(&payload, row);
	begin_image(&image);
	put(&image, OPK_SECTION_META, trace_meta, sizeof trace_meta - 1);
	put(&image, OPK_SECTION_ACTIVITIES, payload.data, payload.size);
	put_end(&image);
	write_image(&image);
	file = open_file(ctx);
	code = opk_file_activities(&got, &count, ctx, file);
	ck_row_ends(row, ctx, code, row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
	ck_row(row, !code || strstr(errors_of(ctx), "t.opk: section 2 (KERN)"), "got %s",
	       errors_of(ctx));
	ck_row(row, count == (code ? 77 : row->count), "%zu", count);
	opk_file_free(file);
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_row(row, !finding_of(findings, 1).problem == !row->wanted, "verify differs");
}

/* A column of zeros deflates to almost nothing: its unpacked size is bounded by the file's size. */
CTX_TEST(too_many)
{
	enum { MANY = 1 << 20 };
	opk_autofree struct opk_activity *many = opk_alloc_array(MANY, sizeof *many);
	struct opk_writer *writer = begin(ctx, trace_meta);
	const struct opk_activity *got;
	freed(opk_file) *file = NULL;
	size_t count;

	ck_ok(ctx, opk_writer_add_activities(writer, many, MANY));
	finish(ctx, writer);
	file = open_file(ctx);
	ck_fails(ctx, opk_file_activities(&got, &count, ctx, file), OPK_EINPUT,
	         "would take 268435456 bytes");
}

/* One long name counts once in a file, but often in paths of ranges inside each other. */
CTX_TEST(long_paths)
{
	enum { DEEP = 20, LENGTH = 1 << 20 };
	struct opk_activity ranges[DEEP];
	opk_autofree char *name = opk_alloc(LENGTH + 1);
	struct opk_writer *writer = begin(ctx, trace_meta);
	struct opk_listing *rows = NULL;
	freed(opk_file) *file = NULL;

	memset(name, 'a', LENGTH);
	for (uint64_t i = 0; i < DEEP; i++)
		ranges[i] = (struct opk_activity){ .kind = OPK_ACTIVITY_RANGE,
			                           .device = -1,
			                           .rank = -1,
			                           .start_ns = i,
			                           .end_ns = 100 - i,
			                           .name = name };
	ck_ok(ctx, opk_writer_add_activities(writer, ranges, DEEP));
	finish(ctx, writer);
	file = open_file(ctx);
	ck_fails(ctx, opk_file_list(&rows, ctx, file, OPK_FILE_NVTX), OPK_EINPUT,
	         "t.opk: the paths of its NVTX ranges are too long for a file of this size");
}

static const struct {
	struct here here;
	const char *meta;
	int code;
} meta_of_a_trace_rows[] = {
	{ HERE, TRACE_META "}", OPK_OK },
	{ HERE, "{\"chip\":\"GH100\",\"profiler\":\"pm\",\"metrics\":[]}", OPK_EINPUT },
	{ HERE, "{\"chip\":\"GH100\",\"profiler\":\"pm\",\"mode\":\"sampling\"}", OPK_EINPUT },
};

/* Without metrics there are only activities. */
CTX_TEST_EACH(meta_of_a_trace, meta_of_a_trace_rows)
{
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	finish(ctx, begin(ctx, row->meta));
	file = open_file(ctx);
	ck_row(row, opk_file_meta(&meta, ctx, file) == row->code, "%s", errors_of(ctx));
	ck_row(row, row->code || !meta->metric_count, "metrics");
}

/* Records get the host and GPU from the facts of their own file. */
CTX_TEST(merged)
{
	static const char *const hosts[] = { "one", "two" };
	const struct opk_activity *got;
	struct opk_activity record = { .kind = OPK_ACTIVITY_KERNEL, .name = "k", .rank = -1 };
	char paths[2][96];
	const char *const parts[] = { paths[0], paths[1] };
	freed(opk_file) *file = NULL;
	size_t count;

	for (size_t i = 0; i < 2; i++) {
		char meta[256];
		struct opk_writer *writer;

		snprintf(meta, sizeof meta,
		         TRACE_META ",\"run\":{\"hostname\":\"%s\",\"device.0.pci\":\"%zu\"}}",
		         hosts[i], i);
		writer = begin(ctx, meta);
		record.correlation = (uint32_t)i;
		ck_ok(ctx, opk_writer_add_activities(writer, &record, 1));
		finish(ctx, writer);
		snprintf(paths[i], sizeof paths[i], "%s/%zu.opk", folder, i);
		ck_assert_int_eq(rename(path, paths[i]), 0);
	}
	ck_ok(ctx, opk_merge(ctx, parts, 2, NULL, path));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_activities(&got, &count, ctx, file));
	ck_assert_uint_eq(count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(got[i].host, hosts[i]);
		ck_assert_str_eq(got[i].gpu, i ? "1" : "0");
		ck_assert_uint_eq(got[i].correlation, i);
		unlink(paths[i]);
	}
}

static int read_again(struct opk_ctx *ctx)
{
	const struct opk_activity *got;
	freed(opk_file) *file = NULL;
	size_t count;
	int code = opk_file_open(&file, ctx, path);

	if (code)
		return code;
	code = opk_file_activities(&got, &count, ctx, file);
	return code;
}

static int write_again(struct opk_ctx *ctx)
{
	freed(opk_writer) *writer = NULL;
	int code = opk_writer_new(&writer, ctx, path);

	if (code)
		return code;
	code = opk_writer_add_activities(writer, records, COUNT(records));
	return code;
}

CTX_TEST(without_memory)
{
	static int (*const work[])(struct opk_ctx *) = { read_again, write_again };
	struct opk_writer *writer = begin(ctx, trace_meta);

	ck_ok(ctx, opk_writer_add_activities(writer, records, COUNT(records)));
	finish(ctx, writer);
	for (size_t i = 0; i < COUNT(work); i++)
		for (long n = 0; is_short(ctx, n, work[i](ctx)); n++)
			;
}

SUITE(.set_up = make_path, .tear_down = remove_path);
