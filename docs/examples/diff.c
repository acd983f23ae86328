/* SPDX-License-Identifier: BSD-2-Clause */
/* diff BEFORE.opk AFTER.opk: what changed by more than noise, kernel by kernel. */
#include <offpeak.h>
#include <stdio.h>

/* The columns of OPK_DIFF_ROWS and OPK_DIFF_VALUES that are printed here. */
enum { NAME = 0, ROW = 0, METRIC, BEFORE, AFTER, CHANGE, VERDICT };

static void print_values(const struct opk_listing *rows, const struct opk_listing *values)
{
	for (size_t i = 0; i < opk_listing_count(values); i++) {
		const union opk_cell *of = opk_listing_get(values, i);
		const char *name = opk_listing_get(rows, of[ROW].uint)[NAME].string;

		printf("%s: %s: %.5g to %.5g (%s)\n", name, of[METRIC].string, of[BEFORE].number,
		       of[AFTER].number, of[VERDICT].string);
	}
}

static int print_diff(struct opk_ctx *ctx, const struct opk_diff *diff)
{
	struct opk_listing *rows = NULL, *values = NULL;
	int code = opk_diff_list(&rows, ctx, diff, OPK_DIFF_ROWS);

	if (!code)
		code = opk_diff_list(&values, ctx, diff, OPK_DIFF_VALUES);
	if (!code)
		print_values(rows, values);
	opk_listing_free(rows);
	opk_listing_free(values);
	return code;
}

static int compare_files(struct opk_ctx *ctx, const char *before, const char *after)
{
	struct opk_file *files[2] = { NULL, NULL };
	struct opk_diff *diff = NULL;
	int code = opk_file_open(&files[0], ctx, before);

	if (!code)
		code = opk_file_open(&files[1], ctx, after);
	if (!code)
		code = opk_diff_new(&diff, ctx, files, 1, 1, NULL);
	if (!code)
		code = print_diff(ctx, diff);
	opk_diff_free(diff);
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
