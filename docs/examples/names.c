/* SPDX-License-Identifier: BSD-2-Clause */
/* names CHIP [PATTERN]: the metrics of a chip: "names GH100 'dram__*'". */
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
	struct opk_metric_list_options asked = OPK_INIT(asked);
	enum { METRIC, TYPE, HW_UNIT, DIM_UNIT, DESCRIPTION }; /* columns of the list */
	struct opk_listing *metrics;
	struct opk_ctx *ctx;

	if (argc < 2) {
		fprintf(stderr, "usage: names CHIP [PATTERN]\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return OPK_ENOMEM;
	asked.globs = (const char *const *)argv + 2;
	asked.glob_count = (size_t)argc - 2;
	check(ctx, opk_metric_list(&metrics, ctx, argv[1], OPK_PROFILER_RANGE, &asked));
	for (size_t i = 0; i < opk_listing_count(metrics); i++) {
		const union opk_cell *cells = opk_listing_get(metrics, i);

		printf("%-50s %-10s %s\n", cells[METRIC].string, cells[TYPE].string,
		       cells[DESCRIPTION].string);
	}
	opk_listing_free(metrics);
	opk_ctx_free(ctx);
	return 0;
}
