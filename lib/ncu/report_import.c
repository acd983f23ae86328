/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a report as a recording that has values and no images. */
#include <stdio.h>
#include <string.h>

#include "baked/baked.h"
#include "base/ascii.h"
#include "chip/chip.h"
#include "config.h"
#include "ncu/door.h"
#include "ncu/values.h"

/* A range table is JSON of a limited size: so much text, before quotes and names of members. */
enum { TEXT_OF_TABLE = 4 << 20, TEXT_OF_ROW = 400 };

/* ---- the chip */

static const char *device_name(const struct opk_ncu_values *values, size_t device)
{
	char fact[40];
	size_t number;

	snprintf(fact, sizeof fact, "device.%zu.name", device);
	return opk_index_find(&number, &values->fact_names, fact)
	               ? values->facts.items[number].value
	               : "";
}

static bool has_capability(size_t chip, const char *capability)
{
	return !strcmp(opk_chip_known_facts(chip).compute_capability, capability);
}

static int fail_ambiguous(struct opk_ctx *ctx, const char *capability, size_t found)
{
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; opk_chip_known(i); i++)
		if (has_capability(i, capability))
			opk_buf_add_printf(&text, "%s%s", text.size ? ", " : "", opk_chip_known(i));
	opk_buf_add(&text, "", 1);
	if (text.failed)
		return opk_nomem(ctx, "a message");
	return opk_fail(ctx, OPK_EFAILED,
	                found ? "compute capability %s is that of several chips, %s: name the chip"
	                      : "no chip is known for compute capability %s%s: name the chip",
	                capability, (const char *)text.data);
}

/* The only chip with this compute capability, or the one that the device's name means. */
static int chip_of_device(const char **out, struct opk_ctx *ctx, const char *capability,
                          const char *device)
{
	opk_chip_mask meant = opk_chips_meant(device);
	const char *only = NULL;
	size_t found = 0;

	*out = NULL;
	for (size_t i = 0; opk_chip_known(i); i++) {
		if (!has_capability(i, capability))
			continue;
		found++;
		only = opk_chip_known(i);
		if (meant >> i & 1)
			*out = only;
	}
	if (!*out && found == 1)
		*out = only;
	return *out ? OPK_OK : fail_ambiguous(ctx, capability, found);
}

/* The chip that the user names must have the compute capability of each device. */
static int check_chip(struct opk_ctx *ctx, const struct opk_ncu_report *report,
                      const struct opk_ncu_values *values, const char *chip)
{
	const char *known = opk_chip_get_facts(chip).compute_capability;

	for (size_t i = 0; *known && i < report->capabilities.count; i++) {
		const char *capability = report->capabilities.items[i];
		const char *name = device_name(values, i);

		if (capability && !opk_chip_is_meant(chip, capability))
			return opk_fail(ctx, OPK_EUSAGE,
			                "the report says that device %zu%s%s%s has compute "
			                "capability %s, and %s has %s",
			                i, *name ? " (" : "", name, *name ? ")" : "", capability,
			                chip, known);
	}
	return OPK_OK;
}

/* All devices have to be of one chip. */
static int find_chip(const char **out, struct opk_ctx *ctx, const struct opk_ncu_report *report,
                     const struct opk_ncu_values *values)
{
	*out = NULL;
	for (size_t i = 0; i < report->capabilities.count; i++) {
		const char *chip;

		if (!report->capabilities.items[i])
			continue;
		TRY(chip_of_device(&chip, ctx, report->capabilities.items[i],
		                   device_name(values, i)));
		if (*out && strcmp(*out, chip) != 0)
			return opk_fail(ctx, OPK_EINPUT,
			                "devices of several chips, %s and %s: a recording has one",
			                *out, chip);
		*out = chip;
	}
	return *out ? OPK_OK
	            : opk_fail(ctx, OPK_EFAILED,
	                       "the report does not say compute capabilities: name the chip");
}

/* ---- the recording */

static struct opk_meta meta_of(const struct opk_ncu_values *values, const char *chip,
                               const char *source)
{
	return (struct opk_meta){
		.kind = "recording",
		.generator = "offpeak " PACKAGE_VERSION,
		.chip = chip,
		.profiler = OPK_PROFILER_RANGE,
		.metrics = values->names,
		.metric_count = values->metric_count,
		.passes = 1,
		.keep_instances = true,
		.mode = "kernel",
		.source = opk_base_name(source),
		.run = values->facts.items,
		.run_count = values->facts.count,
	};
}

/* How many rows fit a table. */
static size_t rows_of_table(const struct opk_range *rows, size_t count)
{
	size_t text = 0, i = 0;

	for (; i < count && (!i || text < TEXT_OF_TABLE); i++)
		text += strlen(rows[i].kernel) + strlen(rows[i].nvtx) + strlen(rows[i].host)
		        + TEXT_OF_ROW;
	return i;
}

static int add_values(struct opk_writer *writer, struct opk_ctx *ctx,
                      const struct opk_ncu_report *report, const struct opk_ncu_values *values)
{
	const struct opk_range *rows = report->launches.rows.items;
	size_t count = report->launches.rows.count;
	struct opk_given_values given = {
		.metrics = values->names,
		.units = values->units,
		.metric_count = values->metric_count,
		.row_count = count,
		.values = values->values,
		.generator = "Nsight Compute",
	};
	OPK_LIST(struct opk_baked_image) tables = { 0 };
	int code = OPK_OK;

	for (size_t at = 0; !code && at < count; at += tables.items[tables.count - 1].rows) {
		struct opk_baked_image *table = opk_list_add(&tables);

		if (!table) {
			code = opk_nomem(ctx, "a report");
			break;
		}
		*table = (struct opk_baked_image){ .rows = rows_of_table(rows + at, count - at) };
		code = opk_writer_add_place(writer, 0, (uint32_t)tables.count - 1);
		if (!code)
			code = opk_writer_add_ranges(writer, rows + at, table->rows, sizeof *rows);
	}
	given.images = tables.items;
	given.image_count = tables.count;
	if (!code)
		code = opk_writer_add_given_values(writer, ctx, &given);
	free(tables.items);
	return code;
}

static int write_recording(struct opk_ctx *ctx, const struct opk_ncu_report *report,
                           const struct opk_ncu_values *values, const char *chip,
                           const char *source, const char *path)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	struct opk_meta meta = meta_of(values, chip, source);

	TRY(opk_writer_new_made(&writer, ctx, path, OPK_OUTPUT_IMPORTED));
	TRY(opk_writer_add_meta(writer, &meta));
	TRY(add_values(writer, ctx, report, values));
	return opk_writer_finish(writer);
}

/* ---- what is said about it */

static bool copy_names(struct opk_strlist *to, const struct opk_strlist *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (!opk_strlist_add(to, from->items[i]))
			return false;
	return true;
}

static int describe(struct opk_ncu_imported *out, struct opk_ctx *ctx,
                    const struct opk_ncu_report *report, const struct opk_ncu_values *values)
{
	const struct opk_printed *printed = &report->printed;

	out->launches = report->launches.rows.count;
	out->metrics = values->metric_count;
	out->decimal_comma = printed->comma_line;
	out->open_line = printed->comma_line || printed->point_line ? 0 : printed->open_line;
	out->error_line = report->error.line;
	out->error = report->error.text ? opk_strdup(report->error.text) : NULL;
	if (report->error.text && !out->error)
		return opk_nomem(ctx, "a report");
	return copy_names(&out->labels, &report->labels) && copy_names(&out->texts, &values->texts)
	                       && copy_names(&out->sampled, &report->sampled)
	               ? OPK_OK
	               : opk_nomem(ctx, "a report");
}

void opk_ncu_imported_clear(struct opk_ncu_imported *imported)
{
	opk_strlist_clear(&imported->labels);
	opk_strlist_clear(&imported->texts);
	opk_strlist_clear(&imported->sampled);
	free(imported->error);
	*imported = (struct opk_ncu_imported){ 0 };
}

int opk_ncu_import(struct opk_ncu_imported *out, struct opk_ctx *ctx, const char *report_path,
                   const char *wanted_chip, const char *path)
{
	opk_auto(opk_ncu_report) struct opk_ncu_report *report = NULL;
	opk_autoncuvalues struct opk_ncu_values values = { 0 };
	const char *chip = NULL;

	if (wanted_chip)
		TRY(opk_chip_named(&chip, ctx, wanted_chip));
	TRY(opk_check_output(ctx, path, OPK_OUTPUT_IMPORTED));
	TRY(opk_ncu_report_read(&report, ctx, report_path));
	TRY(opk_ncu_values_init(&values, ctx, report));
	TRY(describe(out, ctx, report, &values));
	if (!values.metric_count)
		return opk_fail(ctx, OPK_EFAILED, "%s: there is no metric with a value in it",
		                report_path);
	if (chip)
		TRY(check_chip(ctx, report, &values, chip));
	else
		TRY(find_chip(&chip, ctx, report, &values));
	return write_recording(ctx, report, &values, chip, report_path, path);
}
