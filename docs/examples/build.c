/* SPDX-License-Identifier: BSD-2-Clause */
/* build CHIP SET OUT.opk: plans a metric set on a chip and writes what a collector needs. */
#include <offpeak.h>
#include <stdio.h>

static int report(const struct opk_ctx *ctx, int code)
{
	for (size_t i = opk_error_count(ctx); i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	return code;
}

static int print_plan(struct opk_ctx *ctx, struct opk_plan *plan)
{
	enum { CHIP, PROFILER, SET, METRICS, PASSES, MISSING }; /* columns of the list */
	struct opk_listing *about;
	const union opk_cell *cells;
	size_t size;
	int code = opk_plan_list(&about, ctx, plan, OPK_PLAN_ABOUT);

	if (code)
		return code;
	cells = opk_listing_get(about, 0);
	opk_plan_config(plan, &size);
	printf("%s on %s: metrics %zu, passes %d, bytes of the config image %zu\n",
	       cells[SET].string, cells[CHIP].string, cells[METRICS].list.count,
	       (int)cells[PASSES].uint, size);
	for (size_t i = 0; i < cells[MISSING].list.count; i++)
		printf("not on this chip: %s\n", cells[MISSING].list.items[i]);
	opk_listing_free(about);
	return OPK_OK;
}

/* `spec` is what the offpeak tool takes: a shipped set, a YAML file, or metrics with commas. */
static int plan_set(struct opk_plan **out, struct opk_ctx *ctx, const char *chip, const char *spec)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_set *set;
	int code = opk_set_find_on(&set, ctx, spec, chip);

	if (code)
		return code;
	options.chip = chip;
	code = opk_plan_new(out, ctx, set, &options);
	opk_set_free(set); /* the plan does not need it */
	return code;
}

static int build(struct opk_ctx *ctx, const char *chip, const char *spec, const char *path)
{
	struct opk_plan *plan;
	int code = plan_set(&plan, ctx, chip, spec);

	if (code)
		return code;
	code = print_plan(ctx, plan);
	if (!code)
		code = opk_build(ctx, plan, NULL, path);
	opk_plan_free(plan);
	return code;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	if (argc != 4) {
		fprintf(stderr, "usage: build CHIP SET OUT.opk\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code;
	code = build(ctx, argv[1], argv[2], argv[3]);
	if (code)
		report(ctx, code);
	opk_ctx_free(ctx);
	return code;
}
