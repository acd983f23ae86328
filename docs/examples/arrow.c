/* SPDX-License-Identifier: BSD-2-Clause */
/* arrow RUN.opk...: recordings as one stream of Arrow's, for nanoarrow, Arrow C++ or Polars. */
#include <inttypes.h>
#include <offpeak.h>
#include <stdio.h>

static int report(const struct opk_ctx *ctx, int code)
{
	for (size_t i = opk_error_count(ctx); i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	return code;
}

static int print_schema(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;

	if (stream->get_schema(stream, &schema))
		return -1;
	for (int64_t i = 0; i < schema.n_children; i++)
		printf("%s: %s%s\n", schema.children[i]->name, schema.children[i]->format,
		       schema.children[i]->dictionary ? " into a dictionary" : "");
	schema.release(&schema);
	return 0;
}

static int print_batches(struct ArrowArrayStream *stream)
{
	struct ArrowArray batch;
	int error;

	/* An array that is released already is the end of the stream. */
	while (!(error = stream->get_next(stream, &batch)) && batch.release) {
		printf("a batch of %" PRId64 " rows\n", batch.length);
		batch.release(&batch);
	}
	return error;
}

static int print_stream(struct opk_ctx *ctx, const char *const *paths, size_t count)
{
	struct ArrowArrayStream stream;
	struct opk_table *table;
	int code = opk_table_new(&table, ctx, paths, count, NULL);

	if (code)
		return report(ctx, code);
	code = opk_table_export_arrow(&stream, table);
	if (code) { /* out of memory: the stream did not take the table over */
		opk_table_free(table);
		return code;
	}
	code = print_schema(&stream) || print_batches(&stream) ? OPK_EFAILED : OPK_OK;
	if (code && stream.get_last_error(&stream))
		fprintf(stderr, "%s\n", stream.get_last_error(&stream));
	stream.release(&stream);
	return code;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	if (argc < 2) {
		fprintf(stderr, "usage: arrow RUN.opk...\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code;
	code = print_stream(ctx, (const char *const *)argv + 1, (size_t)argc - 1);
	opk_ctx_free(ctx);
	return code;
}
