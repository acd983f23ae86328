/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections CODE and INSN: modules, counts of their instructions, and what is refused. */
#include <elf.h>
#include <inttypes.h>

#include "allocation.h"
#include "container/container.h"
#include "containers.h"
#include "cubins.h"

static const char sass_meta[] =
	"{\"kind\":\"recording\",\"chip\":\"GH100\",\"profiler\":\"sass\",\"metrics\":[\"a.sum\"]}";

static const char *const metrics[] = { "a.sum", "b \xc3\xa9", "zero" };
enum { METRICS = 3 };
static const struct opk_instruction rows[] = {
	{ .module = 0xd06011c0,
	  .function = "_Z1fv",
	  .offset = 16,
	  .launch = 3,
	  .launches = 4,
	  .device = 0,
	  .process = 77,
	  .rank = INT32_MAX - 1,
	  .host = "node",
	  .gpu = "GPU-1" },
	{ .module = UINT64_MAX,
	  .function = "_Z1gv",
	  .offset = UINT32_MAX,
	  .launch = UINT32_MAX,
	  .launches = UINT32_MAX,
	  .device = -1,
	  .process = UINT32_MAX,
	  .rank = -1 },
	{ .device = -1, .rank = -1 },
};
static const uint64_t values[COUNT(rows) * METRICS] = { 1, 2, 0, UINT64_MAX, 0, 0, 0, 5, 0 };
static const struct opk_instruction_table all = { metrics, METRICS, rows, COUNT(rows), values };

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static void check_same(const struct opk_instruction *got, const struct opk_instruction *wanted)
{
	struct opk_instruction a = *got, b = *wanted;

	ck_assert_str_eq(got->function, text_of(wanted->function));
	ck_assert_str_eq(text_of(got->name), text_of(wanted->name));
	ck_assert_str_eq(got->host, text_of(wanted->host));
	ck_assert_str_eq(got->gpu, text_of(wanted->gpu));
	a.function = a.name = a.host = a.gpu = NULL;
	b.function = b.name = b.host = b.gpu = NULL;
	ck_assert_mem_eq(&a, &b, sizeof a);
}

static struct opk_writer *begin_file(struct opk_ctx *ctx)
{
	struct opk_writer *writer;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, sass_meta, strlen(sass_meta)));
	return writer;
}

static void finish(struct opk_ctx *ctx, struct opk_writer *writer)
{
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
}

/* ---- counts of instructions */

/* Parts of the rows and of the metrics, down to none. */
CTX_TEST(round_trip)
{
	for (size_t count = 0; count <= COUNT(rows); count++)
		for (size_t used = 0; used <= METRICS; used += METRICS) {
			opk_autoinstructions struct opk_instruction_block block = { 0 };
			struct opk_instruction_table part = { metrics, used, rows, count, values };
			struct opk_writer *writer = begin_file(ctx);
			freed(opk_file) *file = NULL;

			ck_ok(ctx, opk_writer_add_instructions(writer, &part));
			finish(ctx, writer);
			file = open_file(ctx);
			ck_ok(ctx, opk_instruction_block_read(&block, ctx, file, 1));
			ck_assert_uint_eq(block.table.count, count);
			/* A metric is there although it counted nothing. */
			ck_assert_uint_eq(block.table.metric_count, used);
			for (size_t i = 0; i < used; i++)
				ck_assert_str_eq(block.table.metrics[i], metrics[i]);
			for (size_t i = 0; i < count; i++)
				check_same(&block.table.rows[i], &rows[i]);
			for (size_t i = 0; i < count * used; i++)
				ck_assert_uint_eq(block.table.values[i], values[i]);
		}
}

/* The layout, byte by byte: columns of zeros are left out, but those with names. */
TEST(layout)
{
	static const struct opk_instruction two[] = {
		{ .module = 5, .function = "f", .offset = 16, .device = -1, .rank = -1 },
		{ .module = 5, .function = "f", .offset = 32, .device = -1, .rank = -1 },
	};
	static const uint64_t counts[] = { 7, 0, 8, 0 };
	static const char *const names[] = { "n", "z" };
	opk_autobuf struct opk_buf wanted = { 0 }, got = { 0 };

	for (size_t i = 0; i < 14; i++)
		opk_buf_add_u32(&wanted, (const uint32_t[]){ 2, 5, 3, 6, 1, 8, 2, 4, 3, 4, 0x10002,
		                                             8, 0x10003, 8 }[i]);
	for (size_t i = 0; i < 2; i++)
		opk_buf_add_u64(&wanted, 5);
	for (size_t i = 0; i < 4; i++) /* functions, then offsets */
		opk_buf_add_u32(&wanted, (const uint32_t[]){ 1, 1, 16, 32 }[i]);
	for (size_t i = 0; i < 4; i++) /* n, then z */
		opk_buf_add_u64(&wanted, (const uint64_t[]){ 7, 8, 0, 0 }[i]);
	opk_buf_add(&wanted, "f\0n\0z", 6);
	opk_instructions_encode(&got, &(struct opk_instruction_table){ names, 2, two, 2, counts });
	ck_assert_uint_eq(got.size, wanted.size);
	ck_assert_mem_eq(got.data, wanted.data, got.size);
}

/* A section of these words, followed by these texts. */
struct hostile {
	struct here here;
	size_t word_count;
	uint32_t words[16];
	size_t text_size;
	const char *texts;
	const char *wanted; /* NULL: `count` rows with `metrics` metrics */
	size_t count, metrics;
};
static const struct hostile hostile[] = {
	{ HERE, 0, { 0 }, 0, "", "the records' lengths disagree", 0, 0 },
	{ HERE, 4, { 0, 0, 0, 0 }, 0, "", NULL, 0, 0 },
	{ HERE, 4, { 0, 0, 0, 0 }, 1, "", "the records' lengths disagree", 0, 0 },
	{ HERE, 4, { 7, 0, 0, 0 }, 0, "", NULL, 7, 0 },
	{ HERE, 7, { 1, 1, 0, 0, 3, 4, 16 }, 0, "", NULL, 1, 0 },
	{ HERE, 8, { 1, 1, 0, 0, 1, 8, 16, 0 }, 0, "", NULL, 1, 0 },
	/* Columns that are not known yet are skipped: also the one just before the names. */
	{ HERE, 11, { 1, 2, 0, 0, 99, 8, 3, 4, 7, 7, 2 }, 0, "", NULL, 1, 0 },
	{ HERE, 8, { 1, 1, 0, 0, 0x10000, 8, 7, 7 }, 0, "", NULL, 1, 0 },
	/* Widths, and columns that are there twice. */
	{ HERE, 7, { 1, 1, 0, 0, 1, 4, 1 }, 0, "", "column 1 of the records", 0, 0 },
	{ HERE, 8, { 1, 1, 0, 0, 3, 8, 1, 0 }, 0, "", "twice, or of 8 bytes", 0, 0 },
	{ HERE, 7, { 1, 1, 0, 0, 99, 5, 1 }, 0, "", "twice, or of 5 bytes", 0, 0 },
	{ HERE, 10, { 1, 2, 0, 0, 3, 4, 3, 4, 1, 1 }, 0, "", "twice, or of 4 bytes", 0, 0 },
	{ HERE, 6, { 1, 1, 0, 0, 3, 4 }, 0, "", "the records' lengths disagree", 0, 0 },
	{ HERE, 7, { 1, 4097, 0, 0, 3, 4, 1 }, 0, "", "4097 columns: at most 4096", 0, 0 },
	{ HERE, 6, { UINT32_MAX, 1, 0, 0, 3, 4 }, 0, "", "the records' lengths disagree", 0, 0 },
	{ HERE, 4, { UINT32_MAX, 0, 0, 0 }, 0, "", "and those of a file of this size", 0, 0 },
	/* Columns with names. */
	{ HERE, 8, { 1, 1, 1, 2, 0x10001, 8, 7, 0 }, 2, "n", NULL, 1, 1 },
	{ HERE, 6, { 0, 1, 1, 2, 0x10001, 8 }, 2, "n", NULL, 0, 1 },
	{ HERE, 8, { 1, 1, 1, 2, 0x10002, 8, 7, 0 }, 2, "n", "column 65538", 0, 0 },
	{ HERE, 7, { 1, 1, 1, 2, 0x10001, 4, 7 }, 2, "n", "twice, or of 4 bytes", 0, 0 },
	{ HERE, 8, { 1, 1, 0, 0, UINT32_MAX, 8, 7, 0 }, 0, "", "column 4294967295", 0, 0 },
	{ HERE,
	  12,
	  { 1, 2, 1, 2, 0x10001, 8, 0x10001, 8, 7, 0, 7, 0 },
	  2,
	  "n",
	  "the values of n are there twice",
	  0,
	  0 },
	{ HERE,
	  12,
	  { 1, 2, 2, 4, 0x10001, 8, 0x10002, 8, 7, 0, 7, 0 },
	  4,
	  "n\0n",
	  "the values of n are there twice",
	  0,
	  0 },
	/* Texts. */
	{ HERE, 7, { 1, 1, 1, 2, 2, 4, 1 }, 2, "f", NULL, 1, 0 },
	{ HERE, 7, { 1, 1, 1, 2, 2, 4, 2 }, 2, "f", "it names a text that is not there", 0, 0 },
	{ HERE, 7, { 1, 1, 1, 1, 2, 4, 1 }, 1, "f", "text 1 of the records is not UTF-8", 0, 0 },
	{ HERE, 8, { 1, 1, 1, 2, 0x10001, 8, 7, 0 }, 2, "\xff", "is not UTF-8", 0, 0 },
	{ HERE, 7, { 1, 1, 1, 3, 2, 4, 1 }, 3, "f\0", "the records' lengths disagree", 0, 0 },
	/* Devices and ranks. */
	{ HERE, 7, { 1, 1, 0, 0, 6, 4, 0x7fffffff }, 0, "", NULL, 1, 0 },
	{ HERE,
	  7,
	  { 1, 1, 0, 0, 8, 4, 0x80000000 },
	  0,
	  "",
	  "device or rank is out of range",
	  0,
	  0 },
};

/* A file with this one section after the metadata. */
static struct opk_file *file_with(struct opk_ctx *ctx, uint32_t type, const void *data, size_t size)
{
	struct image image;

	begin_image(&image);
	put(&image, OPK_SECTION_META, sass_meta, sizeof sass_meta - 1);
	put(&image, type, data, size);
	put_end(&image);
	write_image(&image);
	return open_file(ctx);
}

CTX_TEST_EACH(hostile_sections, hostile)
{
	opk_autoinstructions struct opk_instruction_block block = { 0 };
	opk_autobuf struct opk_buf payload = { 0 };
	freed(opk_listing) *findings = NULL;
	freed(opk_file) *file = NULL;
	int code;

	for (size_t i = 0; i < row->word_count; i++)
		opk_buf_add_u32(&payload, row->words[i]);
	opk_buf_add(&payload, row->texts, row->text_size);
	file = file_with(ctx, OPK_SECTION_INSTRUCTIONS, payload.data, payload.size);
	code = opk_instruction_block_read(&block, ctx, file, 1);
	ck_row_ends(row, ctx, code, row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
	ck_row(row, !code || strstr(errors_of(ctx), "t.opk: section 2 (INSN)"), "got %s",
	       errors_of(ctx));
	ck_row(row,
	       code
	               || (block.table.count == row->count
	                   && block.table.metric_count == row->metrics),
	       "%zu, %zu", block.table.count, block.table.metric_count);
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_row(row, !finding_of(findings, 1).problem == !row->wanted, "verify differs");
}

/* Zeros deflate to almost nothing: what rows take in memory is bounded by the file's size. */
CTX_TEST(too_many)
{
	enum { MANY = 2000000 };
	opk_autofree struct opk_instruction *many = opk_alloc_array(MANY, sizeof *many);
	opk_autofree uint64_t *counts = opk_alloc_array(MANY, sizeof *counts);
	const struct opk_instruction_table tables[] = { { metrics, 0, many, MANY, NULL },
		                                        { metrics, 1, many, MANY, counts } };
	static const int codes[] = { OPK_OK, OPK_EINPUT };

	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct opk_instruction){ .device = -1, .rank = -1 };
	for (size_t i = 0; i < 2; i++) {
		opk_autoinstructions struct opk_instruction_block block = { 0 };
		struct opk_writer *writer = begin_file(ctx);
		freed(opk_file) *file = NULL;

		ck_ok(ctx, opk_writer_add_instructions(writer, &tables[i]));
		finish(ctx, writer);
		file = open_file(ctx);
		ck_code(ctx, opk_instruction_block_read(&block, ctx, file, 1), codes[i]);
	}
}

/* Rows get what the facts of their file say, if they do not say it themselves. */
CTX_TEST(placed)
{
	static const struct opk_property run[] = { { "hostname", "h" },
		                                   { "device.1.uuid", "GPU-2" },
		                                   { "process", "12" },
		                                   { "env.RANK", "3" } };
	const struct opk_meta meta = { .run = run, .run_count = COUNT(run) };
	struct opk_instruction given[] = {
		{ .device = 1, .rank = -1, .function = "", .host = "", .gpu = "" },
		{ .device = 0, .rank = 0, .process = 5, .function = "", .host = "", .gpu = "" },
		{ .device = 1, .rank = -1, .function = "", .host = "x", .gpu = "" },
	};

	(void)ctx;
	opk_instructions_place(given, COUNT(given), &meta);
	check_same(&given[0],
	           &(struct opk_instruction){
			   .device = 1, .rank = 3, .process = 12, .host = "h", .gpu = "GPU-2" });
	check_same(&given[1],
	           &(struct opk_instruction){ .device = 0, .rank = 0, .process = 5, .host = "h" });
	check_same(&given[2], &(struct opk_instruction){ .device = 1, .rank = -1, .host = "x" });
}

/* Recordings of two runs: the same counts, on hosts of these names. */
static int merge_runs(struct opk_ctx *ctx, const char *const hosts[2])
{
	char paths[2][96];
	const char *const parts[] = { paths[0], paths[1] };
	const struct opk_instruction row = { .module = 5, .function = "f", .rank = -1 };
	const uint64_t count = 7;
	int code;

	for (size_t i = 0; i < 2; i++) {
		struct opk_writer *writer;
		char meta[256];

		snprintf(meta, sizeof meta,
		         "%.*s,\"run\":{\"hostname\":\"%s\",\"process\":\"%zu\"}}",
		         (int)sizeof sass_meta - 2, sass_meta, hosts[i], 3 + i);
		snprintf(paths[i], sizeof paths[i], "%s/%zu.opk", folder, i);
		ck_ok(ctx, opk_writer_new(&writer, ctx, paths[i]));
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, meta, strlen(meta)));
		ck_ok(ctx,
		      opk_writer_add_instructions(writer, &(struct opk_instruction_table){
								  metrics, 1, &row, 1, &count }));
		finish(ctx, writer);
	}
	/* Other runs may count the same, so no note says that these are one. */
	code = opk_merge(ctx, parts, 2, NULL, path);
	unlink(paths[0]);
	unlink(paths[1]);
	return code;
}

/* Rows get the host and process of their own file, if hosts differ. */
CTX_TEST(merged)
{
	static const char *const hosts[][2] = { { "one", "two" }, { "one", "one" } };

	for (size_t i = 0; i < COUNT(hosts); i++) {
		freed(opk_file) *file = NULL;

		unlink(path);
		ck_ok(ctx, merge_runs(ctx, hosts[i]));
		file = open_file(ctx);
		ck_assert_uint_eq(opk_file_section_count(file), 3);
		for (size_t j = 0; j < 2; j++) {
			opk_autoinstructions struct opk_instruction_block block = { 0 };

			ck_ok(ctx, opk_instruction_block_read(&block, ctx, file, 1 + j));
			ck_assert_uint_eq(block.table.count, 1);
			ck_assert_uint_eq(*block.values, 7);
			ck_assert_str_eq(block.rows->host, i ? "" : hosts[i][j]);
			ck_assert_uint_eq(block.rows->process, i ? 0 : 3 + j);
		}
	}
}

/* ---- modules */

static const struct {
	struct here here;
	uint64_t size; /* as the section says */
	uint32_t flags;
	size_t length; /* of the section */
	const char *wanted;
} module_rows[] = {
	{ HERE, 3, 1, 27, NULL },
	{ HERE, 3, 0, 27, NULL },
	{ HERE, 0, 1, 24, NULL },
	{ HERE, 3, UINT32_MAX, 27, NULL }, /* flags of later versions */
	{ HERE, 3, 1, 26, "the module's lengths disagree" },
	{ HERE, 2, 1, 27, "the module's lengths disagree" },
	{ HERE, UINT64_MAX, 1, 27, "the module's lengths disagree" },
	{ HERE, 0, 1, 23, "the module's lengths disagree" },
	{ HERE, 0, 1, 0, "the module's lengths disagree" },
};

CTX_TEST_EACH(modules, module_rows)
{
	opk_autobuf struct opk_buf payload = { 0 };
	freed(opk_listing) *findings = NULL;
	freed(opk_file) *file = NULL;
	opk_autofree void *data = NULL;
	struct opk_module module;
	int code;

	opk_buf_add_u64(&payload, 0x123456789abull);
	opk_buf_add_u64(&payload, row->size);
	opk_buf_add_u32(&payload, row->flags);
	opk_buf_add_u32(&payload, 0);
	opk_buf_add(&payload, "abc", 3);
	file = file_with(ctx, OPK_SECTION_CODE, payload.data, row->length);
	code = opk_module_read(&module, &data, ctx, file, 1);
	ck_row_ends(row, ctx, code, row->wanted ? OPK_EINPUT : OPK_OK, row->wanted);
	if (!code) {
		ck_row(row, module.crc == 0x123456789abull && module.size == row->size, "%ju",
		       (uintmax_t)module.size);
		ck_row(row, module.has_code == (row->flags & 1), "flags");
		ck_row(row, !memcmp(module.data, "abc", module.size), "data");
	}
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_row(row, !finding_of(findings, 1).problem == !row->wanted, "verify differs");
}

/* What a file with all sections says of its modules and functions, or why that fails. */
static int list_all(struct opk_ctx *ctx)
{
	freed(opk_listing) *code = NULL, *functions = NULL;
	freed(opk_file) *file = NULL;
	int status = opk_file_open(&file, ctx, path);

	if (!status)
		status = opk_file_list(&code, ctx, file, OPK_FILE_CODE);
	return status ? status : opk_file_list(&functions, ctx, file, OPK_FILE_FUNCTIONS);
}

/* A file with the cubin, and counts of two of its functions. */
static void write_whole(struct opk_ctx *ctx)
{
	struct opk_writer *writer = begin_file(ctx);
	size_t size;
	opk_autofree void *cubin = load_cubin(&size);
	const struct opk_module module = { CUBIN_CRC, size, true, cubin };

	ck_ok(ctx, opk_writer_add_module(writer, &module));
	ck_ok(ctx, opk_writer_add_instructions(writer, &all));
	add_histogram(ctx, writer);
	finish(ctx, writer);
}

/* module|size|code|lines|functions|ran */
static void check_module(const struct opk_listing *rows_of, size_t i, const char *name, bool code,
                         size_t functions, uint64_t ran)
{
	const union opk_cell *cells = opk_listing_get(rows_of, i);

	ck_assert_str_eq(cells[0].string, name);
	ck_assert_int_eq(cells[3].boolean, code);
	ck_assert_uint_eq(cells[5].optional.known ? cells[5].optional.uint : 0, functions);
	ck_assert_uint_eq(cells[6].uint, ran);
}

CTX_TEST(lists)
{
	freed(opk_listing) *code = NULL, *functions = NULL;
	freed(opk_file) *file = NULL;
	bool found = false;

	write_whole(ctx);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_list(&code, ctx, file, OPK_FILE_CODE));
	ck_assert_uint_eq(opk_listing_count(code), 3);
	check_module(code, 0, "d06011c0", true, CUBIN_FUNCTIONS, 2);
	ck_assert_uint_eq(opk_listing_get(code, 0)[1].optional.uint, 16264);
	ck_assert(opk_listing_get(code, 0)[4].boolean);
	/* Modules that are not in the file. */
	check_module(code, 1, "ffffffffffffffff", false, 0, 1);
	check_module(code, 2, "00000000", false, 0, 1);
	ck_assert(!opk_listing_get(code, 1)[1].optional.known);
	ck_ok(ctx, opk_file_list(&functions, ctx, file, OPK_FILE_FUNCTIONS));
	ck_assert_uint_eq(opk_listing_count(functions), CUBIN_FUNCTIONS + 3);
	for (size_t i = 0; i < opk_listing_count(functions); i++) {
		const union opk_cell *cells = opk_listing_get(functions, i);
		bool is = !strcmp(cells[2].string, HISTOGRAM);

		found |= is;
		ck_assert(!is || (cells[3].optional.uint && cells[4].uint == HISTOGRAM_COUNTED));
	}
	ck_assert(found);
}

/* ---- cubins */

static size_t list_functions(struct opk_cubin_function *out, size_t most,
                             const struct opk_cubin *cubin)
{
	size_t at = 0, count = 0;

	while (count < most && opk_cubin_next_function(&out[count], cubin, &at))
		count++;
	return count;
}

/* Names, sizes and lines stay, and no byte of code. */
CTX_TEST(code_is_removed)
{
	struct opk_cubin_function before[8], after[8];
	struct opk_cubin whole, removed;
	struct opk_cubin_section lines, kept, code;
	size_t size;
	opk_autofree void *original = load_cubin(&size), *data = load_cubin(&size),
			  *again = load_cubin(&size);

	ck_ok(ctx, opk_cubin_remove_code(ctx, data, size));
	ck_ok(ctx, opk_cubin_init(&whole, ctx, original, size));
	ck_ok(ctx, opk_cubin_init(&removed, ctx, data, size));
	ck_assert_uint_eq(list_functions(before, 8, &whole), CUBIN_FUNCTIONS);
	ck_assert_uint_eq(list_functions(after, 8, &removed), CUBIN_FUNCTIONS);
	for (size_t i = 0; i < CUBIN_FUNCTIONS; i++) {
		ck_assert_str_eq(before[i].name, after[i].name);
		ck_assert_uint_eq(before[i].size, after[i].size);
		ck_assert(opk_cubin_section(&code, &removed, after[i].section));
		ck_assert(!strncmp(code.name, ".text.", 6));
		for (size_t j = 0; j < code.size; j++)
			ck_assert_uint_eq(code.data[j], 0);
	}
	ck_assert(opk_cubin_find(&lines, &whole, ".debug_line") && lines.size);
	ck_assert(opk_cubin_find(&kept, &removed, ".debug_line"));
	ck_assert_mem_eq(lines.data, kept.data, lines.size);
	/* Once more changes nothing. */
	memcpy(again, data, size);
	ck_ok(ctx, opk_cubin_remove_code(ctx, again, size));
	ck_assert_mem_eq(again, data, size);
}

/* All that is done with a module's bytes. */
static void use(struct opk_ctx *ctx, const void *data, size_t size)
{
	opk_autofree void *exact = malloc(size ? size : 1);
	struct opk_cubin_function function;
	struct opk_cubin_section section;
	struct opk_cubin cubin;
	struct opk_errors_mark mark;
	size_t at = 0;

	opk_errors_mark(&mark, ctx);
	ck_assert(exact);
	memcpy(exact, data, size);
	if (!opk_cubin_init(&cubin, ctx, exact, size)) {
		opk_cubin_find(&section, &cubin, ".debug_line");
		while (opk_cubin_next_function(&function, &cubin, &at))
			ck_assert_uint_lt(strlen(function.name), size);
	}
	opk_cubin_remove_code(ctx, exact, size);
	opk_errors_rewind(ctx, &mark);
}

CTX_TEST(truncated_cubins)
{
	size_t size;
	opk_autofree void *cubin = load_cubin(&size);

	for (size_t length = 0; length < size; length++)
		use(ctx, cubin, length);
}

/* Every byte of headers, names and symbols, in several ways. */
CTX_TEST(flipped_bytes)
{
	static const uint8_t flips[] = { 0xff, 0x80, 0x01 };
	size_t size, step = is_long() ? 1 : 7;
	opk_autofree uint8_t *cubin = load_cubin(&size);

	for (size_t i = 0; i < size; i += i < 64 ? 1 : step)
		for (size_t j = 0; j < COUNT(flips); j++) {
			cubin[i] ^= flips[j];
			use(ctx, cubin, size);
			cubin[i] ^= flips[j];
		}
}

CTX_TEST(no_cubins)
{
	static const char *const texts[] = { "", "x",
		                             "\x7f"
		                             "ELF" };
	struct opk_cubin cubin;

	for (size_t i = 0; i < COUNT(texts); i++)
		ck_code(ctx, opk_cubin_init(&cubin, ctx, texts[i], strlen(texts[i])), OPK_EINPUT);
}

/* Its names have no bytes: then sections have no names, and it has no functions. */
CTX_TEST(names_without_bytes)
{
	struct opk_cubin_function function;
	struct opk_cubin_section section;
	struct opk_cubin cubin;
	size_t size, at = 0;
	opk_autofree uint8_t *data = load_cubin(&size);
	Elf64_Ehdr header;
	uint32_t type = SHT_NOBITS;

	memcpy(&header, data, sizeof header);
	memcpy(data + header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr)
	               + offsetof(Elf64_Shdr, sh_type),
	       &type, sizeof type);
	ck_ok(ctx, opk_cubin_init(&cubin, ctx, data, size));
	ck_assert(opk_cubin_section(&section, &cubin, 3));
	ck_assert_str_eq(section.name, "");
	ck_assert(!opk_cubin_next_function(&function, &cubin, &at));
}

/* ---- a module once */

static struct opk_file *file_of_modules(struct opk_ctx *ctx, const struct opk_module *given,
                                        size_t count)
{
	struct opk_writer *writer = begin_file(ctx);

	for (size_t i = 0; i < count; i++)
		ck_ok(ctx, opk_writer_add_module(writer, &given[i]));
	finish(ctx, writer);
	return open_file(ctx);
}

/* The first one stays, unless a later one has code. */
CTX_TEST(kept_once)
{
	static const struct opk_module first[] = { { 1, 0, false, NULL },
		                                   { 2, 0, true, NULL },
		                                   { 3, 0, false, NULL },
		                                   { 3, 0, false, NULL } };
	static const struct opk_module second[] = { { 2, 0, true, NULL },
		                                    { 1, 0, true, NULL },
		                                    { 4, 0, false, NULL },
		                                    { 1, 0, true, NULL } };
	static const bool kept[2][4] = { { false, true, true, false },
		                         { false, true, true, false } };
	opk_automodules struct opk_modules modules_of = { 0 };
	freed(opk_file) *file = file_of_modules(ctx, first, 4);
	freed(opk_file) *other = NULL;

	ck_ok(ctx, opk_modules_add(&modules_of, ctx, file, 0));
	other = file_of_modules(ctx, second, 4);
	ck_ok(ctx, opk_modules_add(&modules_of, ctx, other, 1));
	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(opk_modules_keep(&modules_of, i / 4, 1 + i % 4),
		                 kept[i / 4][i % 4]);
	ck_assert(!opk_modules_keep(&modules_of, 0, 0));
	ck_assert(!opk_modules_keep(&modules_of, 2, 1));
}

/* ---- memory */

static int write_again(struct opk_ctx *ctx)
{
	freed(opk_writer) *writer = NULL;
	int code = opk_writer_new(&writer, ctx, path);

	return code ? code : opk_writer_add_instructions(writer, &all);
}

CTX_TEST(without_memory)
{
	static int (*const work[])(struct opk_ctx *) = { list_all, write_again };

	write_whole(ctx);
	for (size_t i = 0; i < COUNT(work); i++)
		for (long n = 0; is_short(ctx, n, work[i](ctx)); n++)
			;
}

SUITE(.set_up = make_path, .tear_down = remove_path);
