/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak chips: what there is, and what each offers. */
#include "chip/door.h"
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

/* A number of metrics, absent where the chip lacks the profiler, or it can't be had. */
static int add_number(struct app_fields *fields, const char *name, struct app *app,
                      const struct opk_chip *chip, enum opk_profiler profiler,
                      int ask(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                              enum opk_profiler profiler))
{
	bool has = profiler == OPK_PROFILER_PM ? chip->pm_sampling : chip->range;
	size_t count = 0;
	int code = has ? ask(&count, app->ctx, chip, profiler) : OPK_OK;

	field_add(fields, name, OPK_CELL_OPTIONAL, cell_known(count, has && !code));
	return code;
}

/* Some versions of libcupti lack the function. */
static int unless_unknown(int code)
{
	return code == OPK_ENVIDIA ? OPK_OK : code;
}

static int add_details(struct app_fields *fields, struct app *app, const struct opk_chip *chip)
{
	const struct opk_chip_facts facts = opk_chip_get_facts(chip);
	bool device = false;
	int code;

	field_text(fields, "architecture", facts.architecture);
	field_text(fields, "compute_capability", facts.compute_capability);
	field_list(fields, "products", facts.products, facts.product_count);
	code = unless_unknown(add_number(fields, "metrics_per_pass", app, chip, OPK_PROFILER_RANGE,
	                                 opk_chip_metrics_per_pass));
	if (!code)
		code = unless_unknown(add_number(fields, "pm_metrics_per_pass", app, chip,
		                                 OPK_PROFILER_PM, opk_chip_metrics_per_pass));
	if (code)
		return code;
	/* All metrics of PM sampling count the whole device. */
	code = OPK_ENVIDIA;
	if (chip->range)
		code = opk_chip_device_level(&device, app->ctx, chip, OPK_PROFILER_RANGE);
	field_add(fields, "device_level", OPK_CELL_OPTIONAL_BOOL, cell_known(device, !code));
	return unless_unknown(code);
}

static int add_counts(struct app_fields *fields, struct app *app, const struct opk_chip *chip)
{
	int code = add_number(fields, "range_metrics", app, chip, OPK_PROFILER_RANGE,
	                      opk_chip_metric_count);

	return code ? code
	            : add_number(fields, "pm_metrics", app, chip, OPK_PROFILER_PM,
	                         opk_chip_metric_count);
}

static int describe(struct app_fields *fields, struct app *app, const struct chips_args *args,
                    const struct opk_chip *chip)
{
	int code = OPK_OK;

	fields->count = 0;
	field_text(fields, "chip", chip->name);
	field_flag(fields, "range", chip->range);
	field_flag(fields, "pm_sampling", chip->pm_sampling);
	if (args->details)
		code = add_details(fields, app, chip);
	if (!code && args->metrics_count)
		code = add_counts(fields, app, chip);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct chips_args *args = data;
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	struct app_fields fields = { 0 };
	int code = opk_chips_new(&chips, app->ctx);

	if (!code)
		code = app_begin_output(app);
	for (size_t i = 0; !code && i < opk_chips_count(chips); i++) {
		code = describe(&fields, app, args, opk_chips_get(chips, i));
		if (!code && !i)
			code = app_fields_table(app, "chips", &fields);
		if (!code)
			code = opk_out_row(app->out, fields.cells);
	}
	return code ? code : app_end_output(app);
}

const struct command chips_command = {
	.name = "chips",
	.synopsis = "",
	.summary = "list the chips that the NVIDIA library knows",
	.details =
		"For each chip: whether the range profiler and whether PM sampling knows it. Commands\n"
		"that take a chip also understand a product that has it (H100) and a compute\n"
		"capability (sm_90 or 90), unless several chips have it.\n\n"
		"--details adds what is known of the chip itself, with products that have it as\n"
		"examples, spelt without blanks, and how many metrics that the hardware counts fit\n"
		"one pass at most, of the range profiler and of PM sampling. device_level is whether\n"
		"the range profiler has metrics that count the whole device, not one program: those of\n"
		"PCIe, NVLink and the like, as 'offpeak metrics' shows in column scope; CUPTI 13.1 and\n"
		"later know. PM sampling always counts the whole device. --metrics-count adds the\n"
		"numbers of base metrics of both. What is not known is left empty.",
	.examples = {
		{ "chips", "all chips, and which profiler knows them" },
		{ "chips --details", "their architectures, products and what fits one pass" },
		{ "chips --metrics-count -o chips.csv", "how many metrics each has, as CSV" },
	},
	.options = specs,
	.args_size = sizeof(struct chips_args),
	.run = run,
};
