/* SPDX-License-Identifier: BSD-2-Clause */
/* build CHIP SET OUT.opk: plans a metric set on a chip and writes what a collector needs. */
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
	struct opk_plan_options asked = OPK_INIT(asked);
	enum { CHIP, PROFILER, SET, METRICS, PASSES, MISSING }; /* columns of the list */
	const union opk_cell *cells;
	struct opk_listing *about;
	struct opk_plan *plan;
	struct opk_set *set;
	struct opk_ctx *ctx;

	if (argc != 4) {
		fprintf(stderr, "usage: build CHIP SET OUT.opk\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return OPK_ENOMEM;
	/* As for the tool: a shipped set, a YAML file, or metrics with commas. */
	check(ctx, opk_set_find_on(&set, ctx, argv[2], argv[1]));
	asked.chip = argv[1];
	check(ctx, opk_plan_new(&plan, ctx, set, &asked));
	opk_set_free(set); /* the plan does not need it */
	check(ctx, opk_plan_list(&about, ctx, plan, OPK_PLAN_ABOUT));
	cells = opk_listing_get(about, 0);
	printf("%s on %s: metrics %zu, passes %d\n", cells[SET].string, cells[CHIP].string,
	       cells[METRICS].list.count, (int)cells[PASSES].uint);
	for (size_t i = 0; i < cells[MISSING].list.count; i++)
		printf("not on this chip: %s\n", cells[MISSING].list.items[i]);
	check(ctx, opk_build(ctx, plan, NULL, argv[3]));
	opk_listing_free(about);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
	return 0;
}
