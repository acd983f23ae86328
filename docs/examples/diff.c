/* SPDX-License-Identifier: BSD-2-Clause */
/* diff BEFORE.opk AFTER.opk: what changed by more than noise, kernel by kernel. */
#include <offpeak.h>
#include <stdio.h>
#include <stdlib.h>

static void print_row(const struct opk_diff *diff, const struct opk_diff_row *row)
{
	char *name = opk_diff_row_name(diff, row, NULL); /* kernel and launch shape */

	printf("%s\n", name ? name : "(out of memory)");
	free(name);
	for (size_t i = 0; i < opk_diff_column_count(diff); i++) {
		struct opk_diff_column column = opk_diff_get_column(diff, i);
		const struct opk_diff_value *value = &row->values[i];

		if (column.shown)
			printf("  %s: %.5g to %.5g %s (%s)\n", column.name, value->before.value,
			       value->after.value, column.unit, opk_verdict_name(value->verdict));
	}
}

static int compare(struct opk_ctx *ctx, struct opk_file *before, struct opk_file *after)
{
	struct opk_diff *diff;
	int code = opk_diff_new(&diff, ctx, &before, 1, &after, 1, NULL);

	if (code)
		return code;
	for (size_t i = 0; i < opk_diff_count(diff); i++)
		print_row(diff, opk_diff_get(diff, i));
	for (size_t i = 0; i < opk_diff_unmatched_count(diff); i++)
		print_row(diff, opk_diff_get_unmatched(diff, i)); /* nan on the other side */
	opk_diff_free(diff);
	return OPK_OK;
}

static int compare_files(struct opk_ctx *ctx, const char *before, const char *after)
{
	struct opk_file *files[2] = { NULL, NULL };
	int code = opk_file_open(&files[0], ctx, before);

	if (!code)
		code = opk_file_open(&files[1], ctx, after);
	if (!code)
		code = compare(ctx, files[0], files[1]);
	opk_file_free(files[0]);
	opk_file_free(files[1]);
	return code;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	if (argc != 3) {
		fprintf(stderr, "usage: diff BEFORE.opk AFTER.opk\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code;
	code = compare_files(ctx, argv[1], argv[2]);
	for (size_t i = code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	opk_ctx_free(ctx);
	return code;
}
