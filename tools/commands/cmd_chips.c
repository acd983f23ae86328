/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak chips: lists chips, and what each offers. */
#include "commands.h"

struct chips_args {
	bool details, metrics_count;
};

static const struct option_spec specs[] = {
	{ "details", 0, NULL, "architecture, compute capability, products, what fits a pass, scope",
	  OPTION_FLAG, offsetof(struct chips_args, details) },
	{ "metrics-count", 0, NULL, "how many base metrics each has", OPTION_FLAG,
	  offsetof(struct chips_args, metrics_count) },
	{ 0 },
};

static int run(struct app *app, void *data)
{
	const struct chips_args *args = data;
	opk_auto(opk_listing) struct opk_listing *chips = NULL;
	const char *chip = app->arguments[0];
	unsigned columns = (args->details ? OPK_CHIP_FACTS | OPK_CHIP_LIMITS : 0)
	                   | (args->metrics_count ? OPK_CHIP_COUNTS : 0);

	TRY(opk_chip_list(&chips, app->ctx, chip, chip ? columns | OPK_CHIP_FACTS : columns));
	TRY(app_begin_output(app));
	TRY(app_list(app, "chips", opk_take(chips)));
	return app_end_output(app);
}

const struct command chips_command = {
	.name = "chips",
	.synopsis = "[CHIP]",
	.summary = "list the chips that the NVIDIA library knows, or find one",
	.details =
		"For each chip: whether the range profiler and whether PM sampling knows it, and whether it\n"
		"has metrics of instructions (profilers sass and pc). Commands\n"
		"that take a chip also understand a product that has it (H100) and a compute\n"
		"capability (sm_90 or 90), unless several chips have it. With such a word only that chip\n"
		"is listed, with its architecture, compute capability and products.\n\n"
		"--details adds what is known of the chip itself, with products that have it as\n"
		"examples, spelt without blanks, and how many metrics that the hardware counts fit\n"
		"one pass at most, of the range profiler and of PM sampling. device_level is whether\n"
		"the range profiler has metrics that count the whole device, not one program: those of\n"
		"PCIe, NVLink and the like, as 'offpeak metrics' shows in column scope; CUPTI 13.1 and\n"
		"later know. PM sampling always counts the whole device. --metrics-count adds the\n"
		"numbers of base metrics of both. What is not known is left empty.",
	.examples = {
		{ "chips --details", "all chips, their products and what fits one pass" },
		{ "chips B200", "the chip of a product" },
		{ "chips --metrics-count -o chips.csv", "how many metrics each has, as CSV" },
	},
	.options = specs,
	.args_size = sizeof(struct chips_args),
	.max_arguments = 1,
	.run = run,
};
