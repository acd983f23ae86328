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

/* Columns come in the order in which offpeak.h names them. */
enum { CHIP, RANGE, PM_SAMPLING, ARCHITECTURE, COMPUTE_CAPABILITY, PRODUCTS, METRICS };

static void print_chip(const union opk_cell *chip)
{
	printf("%-6s %-10s compute %-5s %5llu metrics%s\n", chip[CHIP].string,
	       chip[ARCHITECTURE].string, chip[COMPUTE_CAPABILITY].string,
	       (unsigned long long)chip[METRICS].optional.uint,
	       chip[PM_SAMPLING].boolean ? ", PM sampling" : "");
}

static int print_chips(struct opk_ctx *ctx)
{
	struct opk_listing *chips;
	int code = opk_chip_list(&chips, ctx, NULL, OPK_CHIP_FACTS | OPK_CHIP_COUNTS);

	if (code)
		return code;
	for (size_t i = 0; i < opk_listing_count(chips); i++)
		print_chip(opk_listing_get(chips, i));
	opk_listing_free(chips);
	return OPK_OK;
}

int main(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	/* Without this call the library ignores environment variables such as CUDA_HOME. */
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
