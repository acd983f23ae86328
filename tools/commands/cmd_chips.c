/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

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

enum { NAMES = 3, DETAILS = 6, COUNTS = 2, MAX_COLUMNS = NAMES + DETAILS + COUNTS };

static const struct opk_column names[NAMES] = {
	{ "chip", OPK_CELL_STRING },
	{ "range", OPK_CELL_BOOL },
	{ "pm_sampling", OPK_CELL_BOOL },
};

static const struct opk_column details[DETAILS] = {
	{ "architecture", OPK_CELL_STRING },
	{ "compute_capability", OPK_CELL_STRING },
	{ "products", OPK_CELL_LIST },
	{ "metrics_per_pass", OPK_CELL_OPTIONAL },
	{ "pm_metrics_per_pass", OPK_CELL_OPTIONAL },
	{ "device_level", OPK_CELL_OPTIONAL_BOOL },
};

static const struct opk_column counts[COUNTS] = {
	{ "range_metrics", OPK_CELL_OPTIONAL },
	{ "pm_metrics", OPK_CELL_OPTIONAL },
};

static size_t add_columns(struct opk_column *out, size_t count, const struct opk_column *columns,
                          size_t more)
{
	for (size_t i = 0; i < more; i++)
		out[count++] = columns[i];
	return count;
}

static size_t make_columns(struct opk_column *out, const struct chips_args *args)
{
	size_t count = add_columns(out, 0, names, NAMES);

	if (args->details)
		count = add_columns(out, count, details, DETAILS);
	if (args->metrics_count)
		count = add_columns(out, count, counts, COUNTS);
	return count;
}

static bool has_profiler(const struct opk_chip *chip, enum opk_profiler profiler)
{
	return profiler == OPK_PROFILER_PM ? chip->pm_sampling : chip->range;
}

/* Absent where the chip lacks the profiler, or libcupti the function. */
static int fill_per_pass(union opk_cell *cell, struct app *app, const struct opk_chip *chip,
                         enum opk_profiler profiler)
{
	size_t count = 0;
	int code;

	cell->optional.known = false;
	if (!has_profiler(chip, profiler))
		return OPK_OK;
	code = opk_chip_metrics_per_pass(&count, app->ctx, chip, profiler);
	if (code == OPK_ENVIDIA)
		return OPK_OK;
	cell->optional.known = true;
	cell->optional.uint = count;
	return code;
}

/* Absent likewise. Of PM sampling all metrics count the whole device. */
static int fill_device_level(union opk_cell *cell, struct app *app, const struct opk_chip *chip)
{
	bool device = false;
	int code = OPK_ENVIDIA;

	if (chip->range)
		code = opk_chip_device_level(&device, app->ctx, chip, OPK_PROFILER_RANGE);
	cell->optional.known = !code;
	cell->optional.uint = device;
	return code == OPK_ENVIDIA ? OPK_OK : code;
}

static int fill_details(union opk_cell *cells, struct app *app, const struct opk_chip *chip)
{
	const struct opk_chip_facts facts = opk_chip_get_facts(chip);
	int code;

	cells[0].string = facts.architecture;
	cells[1].string = facts.compute_capability;
	cells[2].list.items = facts.products;
	cells[2].list.count = facts.product_count;
	code = fill_per_pass(&cells[3], app, chip, OPK_PROFILER_RANGE);
	if (!code)
		code = fill_per_pass(&cells[4], app, chip, OPK_PROFILER_PM);
	return code ? code : fill_device_level(&cells[5], app, chip);
}

static int fill_count(union opk_cell *cell, struct app *app, const struct opk_chip *chip,
                      enum opk_profiler profiler)
{
	size_t count = 0;
	int code = OPK_OK;

	cell->optional.known = has_profiler(chip, profiler);
	if (cell->optional.known)
		code = opk_chip_metric_count(&count, app->ctx, chip, profiler);
	cell->optional.uint = count;
	return code;
}

static int print_chip(struct app *app, const struct chips_args *args, const struct opk_chip *chip)
{
	union opk_cell cells[MAX_COLUMNS] = {
		{ .string = chip->name },
		{ .boolean = chip->range },
		{ .boolean = chip->pm_sampling },
	};
	union opk_cell *next = cells + NAMES;
	int code = OPK_OK;

	if (args->details) {
		code = fill_details(next, app, chip);
		next += DETAILS;
	}
	if (!code && args->metrics_count) {
		code = fill_count(&next[0], app, chip, OPK_PROFILER_RANGE);
		if (!code)
			code = fill_count(&next[1], app, chip, OPK_PROFILER_PM);
	}
	return code ? code : opk_out_row(app->out, cells);
}

static int run(struct app *app, void *data)
{
	const struct chips_args *args = data;
	struct opk_column columns[MAX_COLUMNS];
	struct opk_chips *chips;
	int code = opk_chips_new(&chips, app->ctx);

	if (code)
		return app_fail(app, code);
	code = app_begin_output(app, app_default_format(app));
	if (!code) {
		code = opk_out_table(app->out, "chips", columns, make_columns(columns, args));
		for (size_t i = 0; !code && i < opk_chips_count(chips); i++)
			code = print_chip(app, args, opk_chips_get(chips, i));
		code = app_end_output(app, code);
	}
	opk_chips_free(chips);
	return code;
}

const struct command chips_command = {
	.name = "chips",
	.synopsis = "[OPTIONS]",
	.summary = "list the chips that the NVIDIA library knows",
	.details =
		"For each chip: whether the range profiler and whether PM sampling knows it.\n\n"
		"--details adds what is known of the chip itself, with products that have it as\n"
		"examples, spelt without blanks, and how many metrics that the hardware counts fit\n"
		"one pass at most, of the range profiler and of PM sampling. device_level is whether\n"
		"the range profiler has metrics that count the whole device, not one program: those of\n"
		"PCIe, NVLink and the like, as 'offpeak metrics' shows in column scope; CUPTI 13.1 and\n"
		"later tell. PM sampling counts the whole device always. --metrics-count adds the\n"
		"numbers of base metrics of both. What is not known is left empty.",
	.options = specs,
	.args_size = sizeof(struct chips_args),
	.run = run,
};
