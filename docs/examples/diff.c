/* SPDX-License-Identifier: BSD-2-Clause */
/* diff BEFORE.opk AFTER.opk RULE...: fails if a rule is broken, such as "duration>5%". */
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
	struct opk_diff_options asked = OPK_INIT(asked);
	struct opk_file *files[2];
	enum { RULE, ROW, BROKEN, FOUND }; /* columns of the list */
	struct opk_listing *rules;
	struct opk_diff *diff;
	int count = 0;
	struct opk_ctx *ctx;

	if (argc < 4) {
		fprintf(stderr, "usage: diff BEFORE.opk AFTER.opk RULE...\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return OPK_ENOMEM;
	for (int i = 0; i < 2; i++)
		check(ctx, opk_file_open(&files[i], ctx, argv[1 + i]));
	asked.rules = (const char *const *)argv + 3;
	asked.rule_count = (size_t)argc - 3;
	check(ctx, opk_diff_new(&diff, ctx, files, 1, 1, &asked));
	check(ctx, opk_diff_list(&rules, ctx, diff, OPK_DIFF_RULES));
	for (size_t i = 0; i < opk_listing_count(rules); i++) {
		const union opk_cell *cells = opk_listing_get(rules, i);

		printf("%s: %s: %s: %s\n", cells[BROKEN].boolean ? "broken" : "kept",
		       cells[RULE].string, cells[ROW].string, cells[FOUND].string);
		count += cells[BROKEN].boolean;
	}
	opk_listing_free(rules);
	opk_diff_free(diff);
	opk_file_free(files[0]);
	opk_file_free(files[1]);
	opk_ctx_free(ctx);
	return count ? OPK_EFAILED : 0;
}
