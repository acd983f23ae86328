/* SPDX-License-Identifier: BSD-2-Clause */
/* arrow RUN.opk...: recordings as one stream of Arrow's, for nanoarrow, Arrow C++ or Polars. */
#include <inttypes.h>
#include <offpeak.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with a call's error, the outermost cause first, as the offpeak tool prints it. */
static void check(const struct opk_ctx *ctx, int code)
{
	for (size_t i = code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	if (code)
		exit(code);
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	struct opk_table *table;
	struct opk_ctx *ctx;
	int error;

	if (argc < 2) {
		fprintf(stderr, "usage: arrow RUN.opk...\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return OPK_ENOMEM;
	check(ctx,
	      opk_table_new(&table, ctx, (const char *const *)argv + 1, (size_t)argc - 1, NULL));
	/* The stream takes the table over. */
	if (opk_table_export_arrow(&stream, table) || stream.get_schema(&stream, &schema))
		return OPK_ENOMEM;
	for (int64_t i = 0; i < schema.n_children; i++)
		printf("%s: %s%s\n", schema.children[i]->name, schema.children[i]->format,
		       schema.children[i]->dictionary ? " into a dictionary" : "");
	schema.release(&schema);
	/* An array that is released already is the end of the stream. */
	while (!(error = stream.get_next(&stream, &batch)) && batch.release) {
		printf("a batch of %" PRId64 " rows\n", batch.length);
		batch.release(&batch);
	}
	if (error && stream.get_last_error(&stream))
		fprintf(stderr, "%s\n", stream.get_last_error(&stream));
	stream.release(&stream);
	opk_ctx_free(ctx);
	return error ? OPK_EFAILED : 0;
}
