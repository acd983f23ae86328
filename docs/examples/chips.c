/* SPDX-License-Identifier: BSD-2-Clause */
/* chips: the chips that libcupti knows, and how many metrics the range profiler has on each. */
#include <offpeak.h>
#include <stdio.h>

/* The causes of a failure, the outermost first, as the offpeak tool prints them. */
static int report(const struct opk_ctx *ctx, int code)
{
	for (size_t i = opk_error_count(ctx); i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	return code;
}

static int print_chip(struct opk_ctx *ctx, const struct opk_chip *chip)
{
	struct opk_chip_facts facts = opk_chip_get_facts(chip);
	size_t metrics = 0;
	int code = OPK_OK;

	if (chip->range)
		code = opk_chip_metric_count(&metrics, ctx, chip, OPK_PROFILER_RANGE);
	if (code)
		return code;
	printf("%-6s %-10s compute %-5s %5zu metrics%s\n", chip->name, facts.architecture,
	       facts.compute_capability, metrics, chip->pm_sampling ? ", PM sampling" : "");
	return OPK_OK;
}

static int print_chips(struct opk_ctx *ctx)
{
	struct opk_chips *chips;
	int code = opk_chips_new(&chips, ctx);

	if (code)
		return code;
	for (size_t i = 0; !code && i < opk_chips_count(chips); i++)
		code = print_chip(ctx, opk_chips_get(chips, i));
	opk_chips_free(chips);
	return code;
}

int main(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	/* Without this the library looks at no variable, so neither at CUDA_HOME. */
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code; /* out of memory: there is no context that could have a message */
	code = print_chips(ctx);
	if (code)
		report(ctx, code);
	opk_ctx_free(ctx);
	return code;
}
