/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of recordings as Arrow streams: types, nulls, ownership, errors. */
#include <errno.h>
#include <limits.h>
#include <math.h>

#include "allocation.h"
#include "eval/eval_inside.h"
#include "recordings.h"
#include "table/table_inside.h"

/* ---- streams ---------------------------------------------------------------------------- */

static struct opk_table *table_of(struct opk_ctx *ctx, const char *name,
                                  const struct opk_table_options *options)
{
	opk_autofree char *path = opk_strdup(in_folder(name));
	struct opk_table *table;

	ck_ok(ctx, opk_table_new(&table, ctx, (const char *const *)&path, 1, options));
	return table;
}

static void begin(struct ArrowArrayStream *stream, struct ArrowSchema *schema, struct opk_ctx *ctx,
                  const char *name, const struct opk_table_options *options)
{
	ck_assert_int_eq(opk_table_export_arrow(stream, table_of(ctx, name, options)), OPK_OK);
	ck_assert_int_eq(stream->get_schema(stream, schema), 0);
	ck_assert_ptr_null(stream->get_last_error(stream));
}

/* The only batch: nothing follows. */
static void read_all(struct ArrowArray *batch, struct ArrowArrayStream *stream)
{
	struct ArrowArray end;

	ck_assert_int_eq(stream->get_next(stream, batch), 0);
	ck_assert_int_eq(stream->get_next(stream, &end), 0);
	ck_assert_ptr_null(end.release);
}

static size_t column(const struct ArrowSchema *schema, const char *name)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (!strcmp(schema->children[i]->name, name))
			return (size_t)i;
	ck_abort_msg("no column %s", name);
	return 0;
}

static bool is_null(const struct ArrowArray *array, size_t row)
{
	const uint8_t *bits = array->buffers[0];

	ck_assert(bits || !array->null_count);
	return bits && !(bits[row / 8] >> row % 8 & 1);
}

/* A cell as text: "null", "nan", a number or a text. */
static const char *cell(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                        const char *name, size_t row)
{
	static char text[256];
	size_t at = column(schema, name);
	const struct ArrowArray *array = batch->children[at];
	const void *cells = array->buffers[1];

	if (is_null(array, row))
		return "null";
	switch (*schema->children[at]->format) {
	case 'g':
		snprintf(text, sizeof text, "%.17g", ((const double *)cells)[row]);
		break;
	case 'l':
		snprintf(text, sizeof text, "%jd", (intmax_t)((const int64_t *)cells)[row]);
		break;
	case 'b':
		return ((const uint8_t *)cells)[row / 8] >> row % 8 & 1 ? "true" : "false";
	default: {
		int32_t index = ((const int32_t *)cells)[row];
		const int32_t *offsets = array->dictionary->buffers[1];

		ck_assert_int_ge(index, 0);
		ck_assert_int_lt(index, array->dictionary->length);
		snprintf(text, sizeof text, "%.*s", (int)(offsets[index + 1] - offsets[index]),
		         (const char *)array->dictionary->buffers[2] + offsets[index]);
	}
	}
	return text;
}

/* The value of a key of Arrow's metadata; "" without it. */
static const char *metadata(const char *bytes, const char *wanted)
{
	static char text[2][256];
	int32_t count = 0, size;

	if (bytes)
		memcpy(&count, bytes, sizeof count);
	for (bytes += sizeof count; count > 0; count--) {
		for (size_t i = 0; i < 2; i++) {
			memcpy(&size, bytes, sizeof size);
			snprintf(text[i], sizeof *text, "%.*s", (int)size, bytes + sizeof size);
			bytes += sizeof size + (size_t)size;
		}
		if (!strcmp(text[0], wanted))
			return text[1];
	}
	return "";
}

static void end(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                struct ArrowArray *batch)
{
	batch->release(batch);
	ck_assert_ptr_null(batch->release);
	schema->release(schema);
	ck_assert_ptr_null(schema->release);
	stream->release(stream);
	ck_assert_ptr_null(stream->release);
}

/* ---- types ------------------------------------------------------------------------------ */

#define ck_cell(name, row, wanted) ck_assert_str_eq(cell(&schema, &batch, name, row), wanted)

FAKE_TEST(ranges)
{
	static const char *const columns[] = {
		"range",  "name",        "kernel", "grid",   "block",
		"device", "duration_ns", names[0], names[1], names[2]
	};
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	put("in.opk", &(struct recording){ .ranges = plain });
	begin(&stream, &schema, ctx, "in.opk", NULL);
	ck_assert_str_eq(schema.format, "+s");
	ck_assert_str_eq(metadata(schema.metadata, "chip"), "FA100");
	ck_assert_str_eq(metadata(schema.metadata, "profiler"), "range");
	ck_assert_str_eq(metadata(schema.metadata, "offpeak"), opk_version());
	ck_assert_int_eq(schema.n_children, COUNT(columns));
	for (size_t i = 0; i < COUNT(columns); i++)
		ck_assert_str_eq(schema.children[i]->name, columns[i]);
	ck_assert_str_eq(schema.children[0]->format, "l");
	ck_assert_str_eq(schema.children[1]->format, "i");
	ck_assert_str_eq(schema.children[1]->dictionary->format, "u");
	ck_assert_str_eq(schema.children[7]->format, "g");
	ck_assert_str_ne(metadata(schema.children[7]->metadata, "unit"), "");
	ck_assert_ptr_null(schema.children[0]->metadata);
	read_all(&batch, &stream);
	ck_assert_int_eq(batch.length, 2 * RANGES);
	ck_cell("range", 5, "5");
	ck_cell("name", 4, "r4");
	ck_cell("kernel", 3, "x");
	ck_cell("kernel", 4, "y");
	ck_cell("grid", 0, "2x1x1");
	ck_cell("duration_ns", 0, "10");
	ck_cell(names[1], 2, "201.5");
	/* Two different texts in six rows. */
	ck_assert_int_eq(batch.children[2]->dictionary->length, 2);
	end(&stream, &schema, &batch);
}

/* A range has the metrics of its pass; other metrics were not collected in it. */
FAKE_TEST(not_collected)
{
	struct opk_table_options options = OPK_INIT(options);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	put("in.opk", &(struct recording){ .ranges = rotated, .join = "kernel" });
	options.rows = OPK_ROWS_SINGLE;
	begin(&stream, &schema, ctx, "in.opk", &options);
	read_all(&batch, &stream);
	ck_assert_int_eq(batch.length, 2 * RANGES);
	ck_cell(names[0], 0, "0.5");
	ck_cell(names[1], 0, "null");
	ck_cell(names[0], 3, "null");
	ck_cell(names[1], 3, "0.5");
	ck_assert_int_eq(batch.children[column(&schema, names[0])]->null_count, RANGES);
	end(&stream, &schema, &batch);

	options.rows = OPK_ROWS_RECORDED;
	begin(&stream, &schema, ctx, "in.opk", &options);
	read_all(&batch, &stream);
	ck_assert_int_eq(batch.length, 2);
	ck_cell("launches", 0, "4");
	ck_cell("launches_min", 0, "2");
	ck_assert_int_eq(batch.children[column(&schema, names[1])]->null_count, 0);
	end(&stream, &schema, &batch);
}

/* A value that CUPTI could not compute is NaN, not null. */
FAKE_TEST(not_a_number)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	put("in.opk", &(struct recording){ .ranges = plain });
	fake.evaluate_at = 1;
	fake.nan_or_inf = (double)NAN;
	begin(&stream, &schema, ctx, "in.opk", NULL);
	read_all(&batch, &stream);
	ck_cell(names[0], 1, "nan");
	ck_assert_int_eq(batch.children[column(&schema, names[0])]->null_count, 0);
	end(&stream, &schema, &batch);
}

FAKE_TEST(chosen_columns)
{
	const char *const columns[] = { names[2], "rank", "file", "symbol", "index" };
	const char *const where[] = { "kernel=y" };
	struct opk_eval_options eval = OPK_INIT(eval);
	struct opk_table_options options = OPK_INIT(options);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	put("in.opk", &(struct recording){ .ranges = plain });
	options.columns = columns;
	options.column_count = COUNT(columns);
	eval.where = where;
	eval.where_count = 1;
	options.eval = &eval;
	begin(&stream, &schema, ctx, "in.opk", &options);
	ck_assert_int_eq(schema.n_children, COUNT(columns));
	for (size_t i = 0; i < COUNT(columns); i++)
		ck_assert_str_eq(schema.children[i]->name, columns[i]);
	read_all(&batch, &stream);
	ck_assert_int_eq(batch.length, 2);
	ck_cell("index", 1, "4");
	ck_cell("rank", 0, "null");
	ck_cell("symbol", 0, "null");
	ck_cell("file", 0, in_folder("in.opk"));
	/* CUPTI was asked for this metric first: no other was evaluated. */
	ck_cell(names[2], 0, "100.5");
	end(&stream, &schema, &batch);
}

FAKE_TEST(samples)
{
	const char *const columns[] = { "spans_earlier", "sample", "start_ns", names[0] };
	struct opk_table_options options = OPK_INIT(options);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	fake.image_is_pm = true;
	put("in.opk", &(struct recording){ .samples = true });
	options.columns = columns;
	options.column_count = COUNT(columns);
	options.keep_first_sample = true;
	begin(&stream, &schema, ctx, "in.opk", &options);
	ck_assert_str_eq(schema.children[0]->format, "b");
	read_all(&batch, &stream);
	ck_cell("spans_earlier", 0, "true");
	ck_cell("spans_earlier", 1, "false");
	ck_cell("start_ns", 2, "3");
	end(&stream, &schema, &batch);

	options.keep_first_sample = false;
	begin(&stream, &schema, ctx, "in.opk", &options);
	read_all(&batch, &stream);
	ck_cell("sample", 0, "1");
	ck_cell("spans_earlier", 0, "false");
	end(&stream, &schema, &batch);
}

/* ---- activities: many rows, texts that are not UTF-8 -------------------------------------- */

enum { LAUNCHES = 150000 };

static void put_launches(const char *name)
{
	static const struct opk_meta meta = {
		.kind = "recording", .chip = "FA100", .profiler = OPK_PROFILER_PM, .mode = "trace"
	};
	opk_autofree struct opk_activity *ran = opk_alloc_array(LAUNCHES, sizeof *ran);
	freed(opk_ctx) *ctx = fake_ctx();
	freed(opk_writer) *writer = NULL;

	for (uint64_t i = 0; i < LAUNCHES; i++)
		ran[i] = (struct opk_activity){
			.kind = i % 3 ? OPK_ACTIVITY_KERNEL : OPK_ACTIVITY_COPY,
			.name = i % 3 == 1 ? "gemm"
			        : i % 3    ? "re\xfflu"
			                   : "memcpy",
			.start_ns = 1000 + 10 * i,
			.end_ns = 1005 + 10 * i,
			.bytes = i % 3 ? 0
			         : i   ? i
			               : UINT64_MAX,
			.rank = -1,
			.stream = 7,
			.context = 1,
			.process = 10,
			.host = "node",
			.gpu = "GPU-1",
		};
	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add_activities(writer, ran, LAUNCHES));
	ck_ok(ctx, opk_writer_finish(writer));
}

CTX_TEST(batches)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	uint64_t rows = 0;
	size_t count = 0;

	put_launches("in.opk");
	begin(&stream, &schema, ctx, "in.opk", NULL);
	while (!stream.get_next(&stream, &batch) && batch.release) {
		const int64_t *starts = batch.children[column(&schema, "start_ns")]->buffers[1];

		for (size_t i = 0; i < (size_t)batch.length; i++, rows++) {
			ck_assert_int_eq(starts[i], (int64_t)(1000 + 10 * rows));
			if (rows % 1000)
				continue;
			ck_cell("kind", i, rows % 3 ? "kernel" : "copy");
			ck_cell("kernel", i,
			        rows % 3 == 1 ? "gemm"
			        : rows % 3    ? "re\xef\xbf\xbdlu"
			                      : "memcpy");
			/* The first one has more than fits. */
			if (rows % 3 || !rows)
				ck_cell("bytes", i, "null");
			else
				ck_assert_uint_eq(strtoull(cell(&schema, &batch, "bytes", i), NULL,
				                           10),
				                  rows);
		}
		count++;
		batch.release(&batch);
	}
	ck_assert_uint_eq(rows, LAUNCHES);
	ck_assert_uint_ge(count, 3);
	schema.release(&schema);
	stream.release(&stream);
}

/* ---- ownership -------------------------------------------------------------------------- */

/* The context is freed first, then a batch, a schema, the stream; columns moved out stay valid. */
TEST(moved_columns)
{
	struct opk_ctx *ctx = fake_ctx();
	struct ArrowArrayStream stream;
	struct ArrowSchema schema, field;
	struct ArrowArray batch, moved;

	put("in.opk", &(struct recording){ .ranges = plain });
	begin(&stream, &schema, ctx, "in.opk", NULL);
	opk_ctx_free(ctx);
	read_all(&batch, &stream);
	moved = *batch.children[2];
	batch.children[2]->release = NULL;
	field = *schema.children[7];
	schema.children[7]->release = NULL;
	end(&stream, &schema, &batch);
	ck_assert_int_eq(moved.length, 2 * RANGES);
	ck_assert_int_eq(((const int32_t *)moved.buffers[1])[4], 1);
	ck_assert_mem_eq(moved.dictionary->buffers[2], "xy", 2);
	ck_assert_str_eq(field.name, names[0]);
	moved.release(&moved);
	ck_assert_ptr_null(moved.release);
	field.release(&field);
	ck_assert_ptr_null(field.release);
}

/* A stream that was never read, and one that was partly read. */
CTX_TEST(early_release)
{
	struct ArrowArrayStream stream;
	struct ArrowArray batch;

	put_launches("in.opk");
	for (int read = 0; read < 2; read++) {
		ck_assert_int_eq(opk_table_export_arrow(&stream, table_of(ctx, "in.opk", NULL)),
		                 OPK_OK);
		if (read)
			ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
		stream.release(&stream);
		ck_assert_ptr_null(stream.release);
	}
	batch.release(&batch);
}

/* ---- failures --------------------------------------------------------------------------- */

static const struct {
	int line;
	const char *column, *where;
	const char *error;
} refused_rows[] = {
	{ __LINE__, "kernle", NULL, "has no column 'kernle', did you mean kernel?" },
	{ __LINE__, "fake__x.sum", NULL, "no metric 'fake__x.sum'" },
	{ __LINE__, NULL, "kernel", "kernel" },
};

FAKE_TEST_EACH(refused, refused_rows)
{
	struct opk_eval_options eval = OPTIONS(eval, .where = &row->where,
	                                       .where_count = row->where != NULL);
	struct opk_table_options options = OPTIONS(options, .columns = &row->column,
	                                           .column_count = row->column != NULL,
	                                           .eval = &eval);
	struct opk_table *table = NULL;
	const char *path;
	int code;

	put("in.opk", &(struct recording){ .ranges = plain });
	put("samples.opk", &(struct recording){ .samples = true });
	path = in_folder("in.opk");
	code = opk_table_new(&table, ctx, &path, 1, &options);
	ck_assert_msg(code == OPK_EUSAGE, "line %d: %d", row->line, code);
	ck_assert_msg(strstr(errors_of(ctx), row->error), "line %d: %s", row->line, errors_of(ctx));
	ck_assert_ptr_null(table);
}

FAKE_TEST(not_one_table)
{
	opk_autofree char *first = NULL, *second = NULL;
	freed(opk_table) *table = NULL;

	put("in.opk", &(struct recording){ .ranges = plain });
	put("samples.opk", &(struct recording){ .samples = true });
	first = opk_strdup(in_folder("in.opk"));
	second = opk_strdup(in_folder("samples.opk"));
	ck_assert_int_eq(opk_table_new(&table, ctx, (const char *const[]){ first, second }, 2,
	                               NULL),
	                 OPK_EUSAGE);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "PM samples"));
	ck_assert_int_eq(opk_table_new(&table, ctx, NULL, 0, NULL), OPK_EUSAGE);
	ctx->log = NULL; /* a note says that it counts twice */
	ck_ok(ctx, opk_table_new(&table, ctx, (const char *const[]){ first, first }, 2, NULL));
	ck_assert_str_eq(opk_table_get_column(table, 2)->header.name, "file");
}

/* Reads the remaining rows; `first` is the beginning of the next row. */
static size_t read_rest(uint64_t *first, struct opk_table *table)
{
	const union opk_cell *row;
	const bool *known;
	size_t count = 0;

	while (!opk_table_next(&row, &known, table) && row)
		if (!count++)
			*first = row[0].uint;
	return count;
}

/* From the last range or key group to the first: each has its own rows again. */
static void check_places(struct opk_ctx *ctx, struct opk_table *table)
{
	struct opk_table_place places[64];
	char kept[64][64];
	const struct opk_table_source *source;
	const union opk_cell *row;
	const bool *known;
	size_t count = 0;

	opk_table_rewind(table);
	while (!opk_table_next_source(&source, table) && source) {
		ck_assert_uint_lt(count, 64);
		snprintf(kept[count], sizeof *kept, "%s", source->row.name);
		places[count++] = source->place;
	}
	ck_assert_uint_gt(count, 1);
	while (count-- > 0) {
		ck_ok(ctx, opk_table_go_to(&source, table, &places[count]));
		ck_assert_str_eq(source->row.name, kept[count]);
		ck_ok(ctx, opk_table_next(&row, &known, table));
		ck_assert_str_eq(row[1].string, kept[count]);
	}
}

/* Single ranges, a row for each value, key groups. */
FAKE_TEST(read_again)
{
	struct opk_table_options options[3] = { OPK_INIT(*options), OPK_INIT(*options),
		                                OPK_INIT(*options) };

	options[1].is_long = true;
	options[2].aggregate = "kernel";
	put("in.opk", &(struct recording){ .ranges = plain });
	for (size_t i = 0; i < 3; i++) {
		freed(opk_table) *table = table_of(ctx, "in.opk", &options[i]);
		const union opk_cell *row;
		const bool *known;
		uint64_t first = 0, again = 1;
		size_t all = read_rest(&first, table);

		ck_assert_uint_gt(all, 1);
		opk_table_rewind(table);
		ck_ok(ctx, opk_table_next(&row, &known, table));
		opk_table_rewind(table);
		ck_assert_uint_eq(read_rest(&again, table), all);
		ck_assert_uint_eq(again, first);
		check_places(ctx, table);
	}
}

/* Some rows were read before the result of the evaluation proved damaged. */
FAKE_TEST(error_in_mid_stream)
{
	const struct opk_table_source *source = NULL;
	const union opk_cell *row;
	const bool *known;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch = { 0 };
	struct opk_table *table;
	int code;

	put("in.opk", &(struct recording){ .ranges = plain });
	table = table_of(ctx, "in.opk", NULL);
	ck_assert_int_eq(opk_table_next(&row, &known, table), OPK_OK);
	ck_assert_ptr_nonnull(row);
	table->inputs->evaluation->segment_count = 1;
	/* After a failure, earlier rows can still be read. */
	while (!(code = opk_table_next_source(&source, table)))
		ck_assert_ptr_nonnull(source);
	ck_assert_int_eq(code, OPK_EINPUT);
	ck_assert_ptr_nonnull(source);
	opk_table_rewind(table);
	while (!(code = opk_table_next(&row, &known, table)))
		ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(code, OPK_EINPUT);
	ck_assert_ptr_nonnull(row);
	opk_table_rewind(table);
	ck_assert_int_eq(opk_table_next(&row, &known, table), OPK_OK);
	ck_assert_int_eq(opk_table_export_arrow(&stream, table), OPK_OK);
	ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(stream.get_next(&stream, &batch), EIO);
		ck_assert_ptr_null(batch.release);
		ck_assert_ptr_nonnull(
			strstr(stream.get_last_error(&stream), "damaged\ncan't read"));
	}
	schema.release(&schema);
	stream.release(&stream);
}

/* Each allocation in turn fails: an error, and nothing leaks. */
static int try_all(struct opk_ctx *ctx, const char *path)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	struct opk_table *table;
	int code = opk_table_new(&table, ctx, &path, 1, NULL);

	if (code)
		return code;
	code = opk_table_export_arrow(&stream, table);
	if (code) {
		opk_table_free(table);
		return code;
	}
	code = stream.get_schema(&stream, &schema);
	if (!code)
		schema.release(&schema);
	if (!code)
		code = stream.get_next(&stream, &batch);
	if (!code)
		batch.release(&batch);
	else
		ck_assert_ptr_nonnull(strstr(stream.get_last_error(&stream), "out of memory"));
	stream.release(&stream);
	ck_assert(!code || code == ENOMEM || code == EIO);
	return code ? OPK_ENOMEM : OPK_OK;
}

FAKE_TEST(out_of_memory)
{
	opk_autofree char *path = NULL;
	int code;
	long i = 0;

	put("in.opk", &(struct recording){ .ranges = plain });
	path = opk_strdup(in_folder("in.opk"));
	do {
		fail_allocation(i++);
		code = try_all(ctx, path);
		/* This counts the allocations of the evaluating child. */
		allocation_failed();
		ck_assert_msg(code == OPK_OK || code == OPK_ENOMEM, "allocation %ld: %d: %s", i,
		              code, errors_of(ctx));
	} while (code);
	ck_assert_int_gt(i, 50);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
