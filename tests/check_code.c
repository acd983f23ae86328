/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of code: launches, what was not counted, where code was inlined, and hostile modules. */
#include <elf.h>

#include "allocation.h"
#include "child/child.h"
#include "code/code_inside.h"
#include "containers.h"
#include "cubins.h"
#include "fake_nv.h"

static const char sass_meta[] =
	"{\"kind\":\"recording\",\"chip\":\"GH100\",\"profiler\":\"sass\",\"metrics\":[\"x__a\"],"
	"\"labels\":{\"x__a\":\"first\"}}";

/* A section with one row. */
struct part {
	const char *metric;
	uint64_t module;
	uint32_t offset, launches;
	uint64_t count;
	uint32_t interval;
	uint32_t process;
};

static struct opk_file *file_of(struct opk_ctx *ctx, const struct part *parts, size_t count)
{
	struct opk_writer *writer;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, sass_meta, strlen(sass_meta)));
	for (size_t i = 0; i < count; i++) {
		const struct opk_instruction row = { .module = parts[i].module,
			                             .function = "f",
			                             .name = "f",
			                             .offset = parts[i].offset,
			                             .launches = parts[i].launches,
			                             .process = parts[i].process,
			                             .device = -1,
			                             .rank = -1,
			                             .interval = parts[i].interval,
			                             .host = "",
			                             .gpu = "" };

		ck_ok(ctx, opk_writer_add_instructions(writer, &(struct opk_instruction_table){
								       &parts[i].metric, 1, &row, 1,
								       &parts[i].count }));
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	return open_file(ctx);
}

struct launches {
	struct here here;
	size_t count;
	struct part parts[4];
	enum opk_rows rows;
	uint64_t wanted;
};
static const struct launches launches[] = {
	{ HERE, 1, { { "x__a", 5, 0, 3, 1, 0, 0 } }, OPK_ROWS_INSTRUCTIONS, 3 },
	/* Launches counted one after the other. */
	{ HERE,
	  2,
	  { { "x__a", 5, 0, 3, 1, 0, 0 }, { "x__a", 5, 0, 4, 1, 0, 0 } },
	  OPK_ROWS_INSTRUCTIONS,
	  7 },
	/* The same launches, counted by two sets. */
	{ HERE,
	  2,
	  { { "x__a", 5, 0, 3, 1, 0, 0 }, { "x__b", 5, 0, 4, 1, 0, 0 } },
	  OPK_ROWS_INSTRUCTIONS,
	  4 },
	{ HERE,
	  4,
	  { { "x__a", 5, 0, 3, 1, 0, 0 },
	    { "x__b", 5, 0, 4, 1, 0, 0 },
	    { "x__a", 5, 0, 3, 1, 0, 0 },
	    { "x__b", 5, 0, 1, 1, 0, 0 } },
	  OPK_ROWS_INSTRUCTIONS,
	  6 },
	{ HERE,
	  2,
	  { { "x__a", 5, 0, 3, 1, 0, 0 }, { "x__a", 5, 16, 4, 1, 0, 0 } },
	  OPK_ROWS_FUNCTIONS,
	  4 },
	/* A line of two modules. */
	{ HERE,
	  2,
	  { { "x__a", 5, 0, 3, 1, 0, 0 }, { "x__a", 6, 0, 4, 1, 0, 0 } },
	  OPK_ROWS_LINES,
	  7 },
	{ HERE,
	  3,
	  { { "x__a", 5, 0, 3, 1, 0, 0 },
	    { "x__a", 6, 0, 4, 1, 0, 0 },
	    { "x__a", 6, 16, 5, 1, 0, 0 } },
	  OPK_ROWS_LINES,
	  8 },
	{ HERE,
	  2,
	  { { "x__a", 5, 0, UINT32_MAX, 1, 0, 0 }, { "x__a", 5, 0, UINT32_MAX, 1, 0, 0 } },
	  OPK_ROWS_FUNCTIONS,
	  2 * (uint64_t)UINT32_MAX },
};

/* A row of samples; one without samples only says how often the function was launched. */
#define SAMPLED(module, offset, launches, count, process)                                          \
	{                                                                                          \
		"smsp__pcsamp_sample_count", module, offset, launches, count, 0, process           \
	}
static const struct launches sampled[] = {
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 16, 0, 9, 1) }, OPK_ROWS_INSTRUCTIONS, 3 },
	/* Two contexts of a process. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 0, 4, 9, 1) }, OPK_ROWS_FUNCTIONS, 7 },
	/* Recorded by two releases, whose lists of reasons differ. */
	{ HERE,
	  2,
	  { SAMPLED(5, 0, 3, 9, 1), { "smsp__pcsamp_warps_issue_stalled_wait", 5, 0, 4, 9, 0, 1 } },
	  OPK_ROWS_FUNCTIONS,
	  7 },
	/* Each row says it. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 16, 3, 9, 1) }, OPK_ROWS_FUNCTIONS, 3 },
	/* Two processes, which say it at different instructions, or without samples. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 16, 4, 9, 2) }, OPK_ROWS_FUNCTIONS, 7 },
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 0, 4, 0, 2) }, OPK_ROWS_FUNCTIONS, 7 },
	/* A process that was killed had launched it, or may have. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 16, 0, 9, 2) }, OPK_ROWS_FUNCTIONS, 0 },
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(6, 0, 0, 9, 2) }, OPK_ROWS_FUNCTIONS, 0 },
	/* A process that knows other launches. */
	{ HERE,
	  3,
	  { SAMPLED(5, 0, 3, 9, 1), SAMPLED(5, 0, 0, 9, 2), SAMPLED(6, 0, 4, 9, 2) },
	  OPK_ROWS_FUNCTIONS,
	  0 },
	{ HERE,
	  3,
	  { SAMPLED(5, 0, 3, 9, 1), SAMPLED(6, 0, 0, 9, 2), SAMPLED(7, 0, 4, 9, 2) },
	  OPK_ROWS_FUNCTIONS,
	  3 },
	/* It was launched where it has no samples, so its module is not known there. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(0, 0, 4, 0, 2) }, OPK_ROWS_FUNCTIONS, 0 },
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(0, 0, 4, 9, 2) }, OPK_ROWS_FUNCTIONS, 4 },
	/* A line of two modules, of which one may not know. */
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(6, 0, 4, 9, 1) }, OPK_ROWS_LINES, 7 },
	{ HERE, 2, { SAMPLED(5, 0, 3, 9, 1), SAMPLED(6, 0, 0, 9, 1) }, OPK_ROWS_LINES, 0 },
};

static void check_launches(struct opk_ctx *ctx, const struct launches *row)
{
	freed(opk_file) *file = file_of(ctx, row->parts, row->count);
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *first;

	ck_ok(ctx, opk_code_eval(&evaluation, ctx, file, NULL, row->rows));
	ck_ok(ctx, opk_evaluation_next(&first, ctx, evaluation));
	ck_row(row, first && first->code->launches == row->wanted, "%ju launches",
	       first ? (uintmax_t)first->code->launches : 0);
}

CTX_TEST_EACH(launches_are_counted_once, launches)
{
	check_launches(ctx, row);
}

CTX_TEST_EACH(launches_of_samples_are_all_or_unknown, sampled)
{
	check_launches(ctx, row);
}

/* What no section has for a row is unknown, not NaN; all metrics are shown, not the set's alone. */
CTX_TEST(not_counted)
{
	static const struct part parts[] = { { "x__a", 5, 0, 1, 8, 0, 0 },
		                             { "x__b", 5, 16, 1, 9, 0, 0 } };
	freed(opk_file) *file = file_of(ctx, parts, COUNT(parts));
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;

	ck_ok(ctx, opk_code_eval(&evaluation, ctx, file, NULL, OPK_ROWS_INSTRUCTIONS));
	ck_assert_uint_eq(opk_evaluation_metric_count(evaluation), 2);
	ck_assert_uint_eq(opk_evaluation_column_count(evaluation), 2);
	ck_assert_str_eq(opk_evaluation_column(evaluation, 0), "first");
	ck_assert_str_eq(opk_evaluation_column(evaluation, 1), "x__b");
	/* Names outlive what was read. */
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(opk_evaluation_columns(evaluation)->metrics[i], parts[i].metric);
	for (size_t i = 0; i < COUNT(parts); i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert(row->measured[i] && !row->measured[1 - i]);
		ck_assert(isnan(row->values[1 - i]));
		ck_assert(row->values[i] == (double)parts[i].count);
	}
}

/* Samples of a longer interval count for more; their order does not matter. */
CTX_TEST(intervals)
{
	static const struct part parts[] = { { "x__a", 5, 0, 0, 3, 15, 0 },
		                             { "x__a", 5, 0, 0, 100, 12, 0 },
		                             { "x__a", 5, 0, 0, 1, 13, 0 },
		                             { "x__a", 5, 16, 0, 7, 15, 0 },
		                             { "x__b", 5, 16, 0, 9, 0, 0 } };
	static const double wanted[][2] = { { 3 * 8 + 100 + 2, 0 }, { 7 * 8, 9 } };
	freed(opk_file) *file = file_of(ctx, parts, COUNT(parts));
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;

	ck_ok(ctx, opk_code_eval(&evaluation, ctx, file, NULL, OPK_ROWS_INSTRUCTIONS));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert(row->values[0] == wanted[i][0]);
		ck_assert(i ? row->values[1] == wanted[i][1] : isnan(row->values[1]));
	}
}

/* A set's own label stays. */
CTX_TEST(labels)
{
	static const struct part part = { "x__a", 5, 0, 1, 8, 0, 0 };
	freed(opk_file) *file = file_of(ctx, &part, 1);
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, opk_code_eval(&evaluation, ctx, file, NULL, OPK_ROWS_INSTRUCTIONS));
	ck_assert_str_eq(opk_evaluation_column(evaluation, 0), "first");
}

/* Only rows of code have places in code: names of facts that other rows may have as labels. */
CTX_TEST(facts_of_code)
{
	static const char *const names[] = { "module", "function", "offset",
		                             "source", "line",     "addresses" };
	enum opk_fact fact;

	(void)ctx;
	for (size_t i = 0; i < COUNT(names); i++) {
		ck_assert(opk_fact_find(&fact, names[i], OPK_PROFILER_SASS));
		ck_assert(!opk_fact_find(&fact, names[i], OPK_PROFILER_RANGE));
		ck_assert(!opk_fact_find(&fact, names[i], OPK_PROFILER_PM));
	}
	ck_assert(!opk_fact_find(&fact, "grid", OPK_PROFILER_SASS));
}

/* ---- where code was inlined ------------------------------------------------------------------ */

/* The module of a shipped recording. */
static void read_shipped(struct opk_module *module, void **data, struct opk_ctx *ctx)
{
	static const char name[] = TEST_SOURCE_DIR "/../data/recordings/gh100-source.opk";
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, name));
	ck_ok(ctx, opk_module_read(module, data, ctx, file,
	                           (size_t)opk_file_find(file, OPK_SECTION_CODE)));
}

/* The number of addresses whose line was inlined. */
static size_t count_inlined(struct opk_ctx *ctx, const void *data, size_t size)
{
	__attribute__((cleanup(opk_line_table_clear))) struct opk_line_table table = { 0 };
	struct opk_line_frame frames[OPK_MOST_FRAMES];
	struct opk_cubin_function function;
	struct opk_cubin cubin;
	size_t at = 0, count = 0;

	if (opk_cubin_init(&cubin, ctx, data, size)) {
		opk_clear_errors(ctx);
		return 0;
	}
	ck_ok(ctx, opk_line_table_read(&table, ctx, &cubin));
	while (opk_cubin_next_function(&function, &cubin, &at))
		for (uint64_t i = 0; i < function.size && i < 4096; i += 16)
			count += opk_line_table_find(frames, &table, function.section,
			                             function.offset + i)
			         > 1;
	return count;
}

CTX_TEST(inlined)
{
	opk_autofree void *data = NULL;
	struct opk_module module;

	read_shipped(&module, &data, ctx);
	ck_assert_uint_eq(count_inlined(ctx, module.data, module.size), 2);
}

/* A line table may be any bytes. */
CTX_TEST(hostile_lines)
{
	opk_autofree void *data = NULL;
	opk_autofree uint8_t *copy = NULL;
	struct opk_cubin_section lines;
	struct opk_module module;
	struct opk_cubin cubin;
	uint32_t seed = 1;

	read_shipped(&module, &data, ctx);
	copy = opk_alloc_array(module.size, 1);
	ck_ok(ctx, opk_cubin_init(&cubin, ctx, module.data, module.size));
	ck_assert(opk_cubin_find(&lines, &cubin, ".debug_line"));
	for (size_t n = 0; n < 2000; n++) {
		memcpy(copy, module.data, module.size);
		for (size_t i = 0; i < 1 + n % 8; i++) {
			seed = seed * 1664525 + 1013904223;
			copy[(size_t)(lines.data - (const uint8_t *)module.data)
			     + (seed >> 8) % lines.size] = (uint8_t)(seed >> 3);
		}
		count_inlined(ctx, copy, module.size);
	}
}

/* ---- which function has which lines ---------------------------------------------------------- */

#define SCALE "_Z5scalePffi"
#define UNRELATED "which function has which lines is not in the module"

struct related {
	struct here here;
	const char *cubin;
	const char *without; /* a section that becomes zeros; NULL: none */
	const char *function;
	uint32_t offset;
	const char *error;     /* of reading the table; NULL: there is none */
	size_t count;          /* of frames at the offset */
	uint32_t inner, outer; /* their lines, the innermost and the outermost one */
};
static const struct related related[] = {
	{ HERE, "insn.cubin", NULL, HISTOGRAM, 0, NULL, 1, 7, 7 },
	{ HERE, "scale.cubin", NULL, SCALE, 208, NULL, 1, 7, 7 },
	/* Its first function has other lines. */
	{ HERE, "lines-75.cubin", NULL, SCALE, 16, NULL, 1, 8, 8 },
	{ HERE, "lines-75.cubin", NULL, SCALE, 192, NULL, 2, 3, 12 },
	{ HERE, "lines-75.cubin", NULL, "_Z5shiftPffi", 16, NULL, 1, 17, 17 },
	{ HERE, "lines-86.cubin", NULL, SCALE, 16, NULL, 1, 8, 8 },
	{ HERE, "lines-86.cubin", NULL, SCALE, 192, NULL, 2, 3, 12 },
	{ HERE, "lines-moved-86.cubin", NULL, SCALE, 192, NULL, 2, 8, 17 },
	/* As modules without code were recorded early on. */
	{ HERE, "lines-86.cubin", ".rel.debug_line", SCALE, 16, UNRELATED, 0, 0, 0 },
	{ HERE, "insn.cubin", ".rela.debug_line", HISTOGRAM, 0, UNRELATED, 0, 0, 0 },
	/* One function can only have the lines that there are. */
	{ HERE, "scale.cubin", ".rela.debug_line", SCALE, 208, NULL, 1, 7, 7 },
};

static void zero_section(struct opk_ctx *ctx, uint8_t *data, size_t size, const char *name)
{
	struct opk_cubin_section section;
	struct opk_cubin cubin;

	ck_ok(ctx, opk_cubin_init(&cubin, ctx, data, size));
	ck_assert(opk_cubin_find(&section, &cubin, name));
	memset(data + (section.data - data), 0, section.size);
}

static void check_related(struct opk_ctx *ctx, const struct related *row, const void *data,
                          size_t size)
{
	__attribute__((cleanup(opk_line_table_clear))) struct opk_line_table table = { 0 };
	struct opk_line_frame frames[OPK_MOST_FRAMES];
	struct opk_cubin_function function;
	struct opk_cubin cubin;
	size_t count;

	ck_ok(ctx, opk_cubin_init(&cubin, ctx, data, size));
	if (row->error) {
		ck_fails(ctx, opk_line_table_read(&table, ctx, &cubin), OPK_EINPUT, row->error);
		opk_clear_errors(ctx);
		return;
	}
	ck_ok(ctx, opk_line_table_read(&table, ctx, &cubin));
	function = opk_cubin_function_named(&cubin, row->function);
	count = opk_line_table_find(frames, &table, function.section,
	                            function.offset + row->offset);
	ck_row(row, count == row->count, "%zu frames", count);
	ck_row(row, frames[0].line == row->inner && frames[count - 1].line == row->outer,
	       "lines %u and %u", frames[0].line, frames[count - 1].line);
}

TEST_EACH(lines_of_functions, related)
{
	freed(opk_ctx) *ctx = new_ctx();
	size_t size;
	opk_autofree uint8_t *data = load_cubin_of(row->cubin, &size);

	if (row->without)
		zero_section(ctx, data, size, row->without);
	check_related(ctx, row, data, size);
	ck_ok(ctx, opk_cubin_remove_code(ctx, data, size));
	check_related(ctx, row, data, size);
}

/* ---- hostile modules ------------------------------------------------------------------------- */

enum { HISTOGRAM_ROWS = 32, MOST_MS = 20000 };

/* A count of each instruction of the histogram in this module. */
static void write_module(struct opk_ctx *ctx, const void *data, size_t size)
{
	static const char *const metric = "x__a";
	struct opk_instruction rows[HISTOGRAM_ROWS];
	uint64_t counts[HISTOGRAM_ROWS];
	freed(opk_writer) *writer = NULL;

	for (uint32_t i = 0; i < HISTOGRAM_ROWS; i++) {
		counts[i] = 1;
		rows[i] = (struct opk_instruction){ .module = CUBIN_CRC,
			                            .function = HISTOGRAM,
			                            .offset = 16 * i,
			                            .launches = 1,
			                            .rank = -1 };
	}
	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, sass_meta, strlen(sass_meta)));
	ck_ok(ctx,
	      opk_writer_add_module(writer, &(struct opk_module){ CUBIN_CRC, size, true, data }));
	ck_ok(ctx, opk_writer_add_instructions(writer,
	                                       &(struct opk_instruction_table){
						       &metric, 1, rows, HISTOGRAM_ROWS, counts }));
	ck_ok(ctx, opk_writer_finish(writer));
}

struct mutation {
	struct here here;
	size_t length;       /* what is left of the module; 0: all */
	const char *section; /* its bytes from `from` on are those of `fill`, again and again */
	size_t from;
	const char *fill;
	size_t fill_size;
};
#define FILL(text) text, sizeof(text) - 1
static const struct mutation mutations[] = {
	{ HERE, 1, NULL, 0, FILL("") },
	{ HERE, 64, NULL, 0, FILL("") },
	{ HERE, 5000, NULL, 0, FILL("") },
	{ HERE, 16263, NULL, 0, FILL("") },
	/* Lengths, and numbers without an end. */
	{ HERE, 0, ".debug_line", 0, FILL("\xff") },
	{ HERE, 0, ".debug_line", 10, FILL("\xff") },
	{ HERE, 0, ".debug_line", 30, FILL("\x80") },
	/* Names without an end, of files and of functions. */
	{ HERE, 0, ".debug_line", 26, FILL("x") },
	{ HERE, 0, ".strtab", 0, FILL("x") },
	{ HERE, 0, ".shstrtab", 0, FILL("x") },
	/* Rows that are inlined at themselves, at each other, and far away. */
	{ HERE, 0, ".debug_line", 200, FILL("\0\2\x90\1\1") },
	{ HERE, 0, ".debug_line", 200, FILL("\0\2\x90\2\1\0\2\x90\1\1") },
	{ HERE, 0, ".debug_line", 200, FILL("\0\5\x90\xff\xff\xff\x7f\1") },
	{ HERE, 0, ".debug_line", 200, FILL("\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1") },
	{ HERE, 0, ".rela.debug_line", 0, FILL("\xff") },
	{ HERE, 0, ".rela.debug_line", 0, FILL("\0") },
	{ HERE, 0, ".rela.debug_line", 0, FILL("\1\0\0\0") },
	{ HERE, 0, ".symtab", 0, FILL("\xff") },
	{ HERE, 0, ".symtab", 24, FILL("\1") },
};

static size_t mutate(struct opk_ctx *ctx, uint8_t *data, size_t size,
                     const struct mutation *mutation)
{
	struct opk_cubin_section section;
	struct opk_cubin cubin;
	size_t at;

	if (!mutation->section)
		return mutation->length;
	ck_ok(ctx, opk_cubin_init(&cubin, ctx, data, size));
	ck_assert(opk_cubin_find(&section, &cubin, mutation->section));
	at = (size_t)(section.data - data);
	for (size_t i = mutation->from; i < section.size; i++)
		data[at + i] = (uint8_t)mutation->fill[(i - mutation->from) % mutation->fill_size];
	return size;
}

static void keep_note(void *data, const char *message)
{
	snprintf(data, 256, "%s", message);
}

static struct opk_ctx *noting_ctx(char note[256])
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_ctx *ctx;

	options.log = keep_note;
	options.log_data = note;
	ck_assert(!opk_ctx_new(&ctx, &options));
	return ctx;
}

/* Its lines may be unknown; its counts stay, and it does not take long. */
static void check_counts(struct opk_ctx *ctx)
{
	/* Whether there is a disassembler does not matter here. */
	const struct opk_eval_inside inside = { .without_sass = true };
	struct opk_eval_options options = OPK_INIT(options);
	int64_t start = opk_now_ms();
	freed(opk_file) *file = open_file(ctx);
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;
	size_t count = 0;

	options.inside = &inside;
	ck_ok(ctx, opk_code_eval(&evaluation, ctx, file, &options, OPK_ROWS_INSTRUCTIONS));
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	for (; row; count++)
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_uint_eq(count, HISTOGRAM_ROWS);
	ck_assert_int_lt(opk_now_ms() - start, MOST_MS);
}

/* A path of a megabyte for each instruction would fill the disk. */
FAKE_TEST(long_paths)
{
	char note[256] = "";
	size_t size;
	opk_autofree void *data = load_cubin(&size);

	ctx->log = keep_note;
	ctx->log_data = note;
	fake.path_length = 1 << 20;
	write_module(ctx, data, size);
	check_counts(ctx);
	ck_assert_str_eq(note,
	                 "lines of module d06011c0 are unknown: paths of source files are too "
	                 "long");
}

/* CUPTI gives all functions the lines of one. */
FAKE_TEST(unrelated_lines)
{
	char note[256] = "";
	size_t size;
	opk_autofree void *data = load_cubin(&size);

	ctx->log = keep_note;
	ctx->log_data = note;
	zero_section(ctx, data, size, ".rela.debug_line");
	write_module(ctx, data, size);
	check_counts(ctx);
	ck_assert_msg(strstr(note, "lines of module d06011c0 are unknown: " UNRELATED), "%s", note);
}

/* A copy, with so many more bytes at the end of its line table, each of which is a row. */
static uint8_t *with_rows(struct opk_ctx *ctx, size_t *size, size_t more)
{
	opk_autofree uint8_t *data = load_cubin(size);
	struct opk_cubin_section lines;
	struct opk_cubin cubin;
	uint8_t *out = malloc(2 * *size + more);
	uint32_t length;
	Elf64_Shdr header;
	size_t i = 0;

	ck_assert(out);
	ck_ok(ctx, opk_cubin_init(&cubin, ctx, data, *size));
	while (!opk_cubin_section(&lines, &cubin, i) || strcmp(lines.name, ".debug_line"))
		i++;
	memcpy(out, data, *size);
	memcpy(out + *size, lines.data, lines.size);
	memset(out + *size + lines.size, 0xff, more);
	length = (uint32_t)(lines.size - sizeof length + more);
	memcpy(out + *size, &length, sizeof length);
	memcpy(&header, out + cubin.table + i * sizeof header, sizeof header);
	header.sh_offset = *size;
	header.sh_size = lines.size + more;
	memcpy(out + cubin.table + i * sizeof header, &header, sizeof header);
	*size += lines.size + more;
	return out;
}

/* A module of some kilobytes, deflated, must not fill the memory. */
CTX_TEST(too_many_rows)
{
	__attribute__((cleanup(opk_line_table_clear))) struct opk_line_table table = { 0 };
	size_t size, more = 1 << 20;
	opk_autofree uint8_t *few = with_rows(ctx, &size, 1000);
	opk_autofree uint8_t *many = NULL;
	struct opk_cubin cubin;

	ck_ok(ctx, opk_cubin_init(&cubin, ctx, few, size));
	ck_ok(ctx, opk_line_table_read(&table, ctx, &cubin));
	ck_assert_uint_gt(table.rows.count, 1000);
	opk_line_table_clear(&table);
	table = (struct opk_line_table){ 0 };
	many = with_rows(ctx, &size, more);
	ck_ok(ctx, opk_cubin_init(&cubin, ctx, many, size));
	ck_fails(ctx, opk_line_table_read(&table, ctx, &cubin), OPK_EINPUT, "more than 133");
	ck_assert_uint_le(table.rows.count, size / 8);
}

static pid_t with_memory;

static void *only_in_parent(void *old, size_t size)
{
	return getpid() == with_memory ? realloc(old, size) : NULL;
}

/* A child without memory leaves lines unknown, and the counts stay. */
CTX_TEST(short_of_memory)
{
	char note[256] = "";
	size_t size;
	opk_autofree void *data = load_cubin(&size);

	ctx->log = keep_note;
	ctx->log_data = note;
	write_module(ctx, data, size);
	with_memory = getpid();
	opk_set_realloc(only_in_parent);
	check_counts(ctx);
	opk_set_realloc(NULL);
	ck_assert_msg(strstr(note, "lines of module d06011c0 are unknown: out of memory"), "%s",
	              note);
}

TEST_EACH(hostile_modules, mutations)
{
	char note[256] = "";
	freed(opk_ctx) *ctx = noting_ctx(note);
	size_t size;
	opk_autofree uint8_t *data = load_cubin(&size);

	size = mutate(ctx, data, size, row);
	write_module(ctx, data, size);
	check_counts(ctx);
}

SUITE(.set_up = make_path, .tear_down = remove_path);
