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

static struct opk_strlist take(struct opk_strlist *list)
{
	struct opk_strlist taken = *list;

	*list = (struct opk_strlist){ 0 };
	return taken;
}

/* Takes names over from the report and its values. */
static void describe(struct opk_ncu_imported *out, struct opk_ncu_report *report,
                     struct opk_ncu_values *values)
{
	const struct opk_printed *printed = &report->printed;

	out->launches = report->launches.rows.count;
	out->metrics = values->metric_count;
	out->decimal_comma = printed->comma_line;
	out->open_line = printed->comma_line || printed->point_line ? 0 : printed->open_line;
	out->error_line = report->error.line;
	out->error = opk_take(report->error.text);
	out->labels = take(&report->labels);
	out->texts = take(&values->texts);
	out->odd = take(&values->odd);
	out->sampled = take(&report->sampled);
}

void opk_ncu_imported_clear(struct opk_ncu_imported *imported)
{
	opk_strlist_clear(&imported->labels);
	opk_strlist_clear(&imported->texts);
	opk_strlist_clear(&imported->odd);
	opk_strlist_clear(&imported->sampled);
	opk_strlist_clear(&imported->other_gpus);
	opk_strlist_clear(&imported->unknown_gpus);
	free(imported->error);
	*imported = (struct opk_ncu_imported){ 0 };
}

int opk_ncu_import(struct opk_ncu_imported *out, struct opk_ctx *ctx, const char *report_path,
                   const char *wanted_chip, const char *path)
{
	opk_auto(opk_ncu_report) struct opk_ncu_report *report = NULL;
	opk_autoncuvalues struct opk_ncu_values values = { 0 };
	const char *chip = NULL;
	int code;

	if (wanted_chip)
		TRY(opk_chip_named(&chip, ctx, wanted_chip));
	TRY(opk_check_output(ctx, path, OPK_OUTPUT_IMPORTED));
	TRY(opk_ncu_report_read(&report, ctx, report_path));
	code = opk_ncu_choose_chip(&chip, out, ctx, report);
	out->needs_chip = code == OPK_EUSAGE && !wanted_chip;
	if (code)
		return code;
	TRY(opk_ncu_values_init(&values, ctx, report));
	describe(out, report, &values);
	if (!values.metric_count)
		return opk_fail(ctx, OPK_EFAILED, "%s: there is no metric with a value in it",
		                report_path);
	return write_recording(ctx, report, &values, chip, report_path, path);
}
