/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of instructions: data/sass_metrics.tsv and data/pc_metrics.tsv. CUPTI names them only on
 * a machine with a GPU. A name is complete without a rollup, and one configuration takes them all.
 */
#include "chip/chip.h"

#include <string.h>

#include "chip/door.h"

/* A row of a file; the chip "*" means all chips with SASS metrics. */
struct row {
	const char *chip, *metric, *description;
};

struct file {
	char *text, *path;
	struct row *rows;
	size_t count, capacity;
};

static void file_clear(struct file *file)
{
	free(file->text);
	free(file->path);
	free(file->rows);
}

#define autofile __attribute__((cleanup(file_clear)))

static const char *name_of(enum opk_profiler profiler)
{
	return profiler == OPK_PROFILER_SASS ? "sass_metrics.tsv" : "pc_metrics.tsv";
}

static bool cut_line(struct row *row, char *line)
{
	row->chip = strsep(&line, "\t");
	row->metric = strsep(&line, "\t");
	row->description = line;
	return line && *row->chip && *row->metric && !strchr(line, '\t');
}

static int add_line(struct file *file, struct opk_ctx *ctx, char *line, size_t number)
{
	struct row *row;

	line[strcspn(line, "\r")] = '\0';
	if (!*line || *line == '#')
		return OPK_OK;
	row = opk_append(&file->rows, &file->capacity, &file->count, sizeof *row);
	if (!row)
		return opk_nomem(ctx, "metrics of instructions");
	return cut_line(row, line)
	               ? OPK_OK
	               : opk_fail(
			       ctx, OPK_EINPUT,
			       "%s:%zu: not a chip, a metric and a description with tabs between",
			       file->path, number);
}

static int read_file(struct file *file, struct opk_ctx *ctx, enum opk_profiler profiler)
{
	size_t number = 0;
	char *rest;

	TRY(opk_data_file(&file->text, &file->path, ctx, name_of(profiler)));
	if (!file->text)
		return opk_fail(ctx, OPK_EFAILED,
		                "%s is not installed: it lists the metrics of profiler %s",
		                file->path, opk_profiler_name(profiler));
	rest = file->text;
	for (char *line; (line = strsep(&rest, "\n"));)
		TRY(add_line(file, ctx, line, ++number));
	return OPK_OK;
}

/* ---- chips */

static bool is_of(const struct row *row, const char *chip)
{
	return !strcmp(row->chip, "*") || !strcmp(row->chip, chip);
}

static bool has_metric(const struct file *file, const char *chip, const char *metric)
{
	for (size_t i = 0; i < file->count; i++)
		if (is_of(&file->rows[i], chip) && !strcmp(file->rows[i].metric, metric))
			return true;
	return false;
}

int opk_code_chips(struct opk_strlist *out, struct opk_ctx *ctx)
{
	autofile struct file file = { 0 };
	const char *last = "";

	TRY(read_file(&file, ctx, OPK_PROFILER_SASS));
	for (size_t i = 0; i < file.count; last = file.rows[i++].chip)
		if (strcmp(last, file.rows[i].chip) && !opk_strlist_contains(out, file.rows[i].chip)
		    && !opk_strlist_add(out, file.rows[i].chip))
			return opk_nomem(ctx, "chips");
	return OPK_OK;
}

int opk_code_chips_with(struct opk_strlist *out, struct opk_ctx *ctx, enum opk_profiler profiler,
                        const char *metric)
{
	autofile struct file file = { 0 };
	opk_autostrlist struct opk_strlist chips = { 0 };

	TRY(opk_code_chips(&chips, ctx));
	TRY(read_file(&file, ctx, profiler));
	for (size_t i = 0; i < chips.count; i++)
		if (has_metric(&file, chips.items[i], metric)
		    && !opk_strlist_add(out, chips.items[i]))
			return opk_nomem(ctx, "chips");
	return OPK_OK;
}

int opk_code_profiler_of(bool *found, enum opk_profiler *out, struct opk_ctx *ctx, const char *chip,
                         const char *name)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	*out = OPK_PROFILER_SASS;
	TRY(opk_code_chips_with(&chips, ctx, *out, name));
	if (!chips.count) {
		*out = OPK_PROFILER_PC;
		TRY(opk_code_chips_with(&chips, ctx, *out, name));
	}
	*found = opk_strlist_contains(&chips, chip);
	return OPK_OK;
}

/* ---- a catalog */

/* Units of such counts, of a catalog and of values; the first text in the metric's name decides. */
static const struct {
	const char *text, *unit, *of_values;
} units[] = {
	{ "pcsamp", "sample", "samples" },
	{ "inst_executed", "instruction", "instructions" },
	{ "branch", "branch_target", "branch_targets" },
	{ "sectors", "l2_sector", "l2_sectors" },
	{ "tags", "l1tex_tag", "l1tex_tags" },
	{ "wavefronts", "l1tex_wavefront", "l1tex_wavefronts" },
};

enum { UNITS = sizeof units / sizeof *units };

static size_t find_unit(const char *metric)
{
	size_t i = 0;

	while (i < UNITS && !strstr(metric, units[i].text))
		i++;
	return i;
}

const char *opk_code_unit(const char *metric)
{
	size_t i = find_unit(metric);

	return i < UNITS ? units[i].of_values : "";
}

static const char *unit_of(const char *metric)
{
	size_t i = find_unit(metric);

	return i < UNITS ? units[i].unit : "";
}

/* The base name is the full name: its only submetric has no suffix. */
static bool fill_base(struct opk_catalog *catalog, struct opk_base_record *base,
                      const struct row *row)
{
	struct opk_catalog_table *table = &catalog->table;
	opk_autofree char *hw_unit = opk_strndup(row->metric, strcspn(row->metric, "_"));
	struct opk_sub_record sub = { .passes = 1 };

	sub.method = catalog->profiler == OPK_PROFILER_SASS ? OPK_METHOD_SASS : OPK_METHOD_HARDWARE;
	base->type = OPK_COUNTER;
	base->scope = OPK_SCOPE_CONTEXT;
	if (!hw_unit || !opk_catalog_table_text(&base->name, table, row->metric)
	    || !opk_catalog_table_text(&base->hw_unit, table, hw_unit)
	    || !opk_catalog_table_text(&base->dim_unit, table, unit_of(row->metric))
	    || !opk_catalog_table_text(&base->description, table, row->description))
		return false;
	sub.dim_unit = base->dim_unit;
	return opk_catalog_table_add(table, base, &sub);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->metric, ((const struct row *)b)->metric);
}

/* Keeps the rows of the chip, by name. */
static void choose(struct file *file, const char *chip)
{
	size_t count = file->count;

	file->count = 0;
	for (size_t i = 0; i < count; i++)
		if (is_of(&file->rows[i], chip))
			file->rows[file->count++] = file->rows[i];
	if (file->count)
		qsort(file->rows, file->count, sizeof *file->rows, compare);
}

int opk_catalog_fill_code(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip)
{
	autofile struct file file = { 0 };

	TRY(opk_chip_resolve_for(&catalog->chip, ctx, chip, catalog->profiler));
	TRY(read_file(&file, ctx, catalog->profiler));
	choose(&file, catalog->chip);
	if (!opk_catalog_table_init(&catalog->table, file.count))
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; i < file.count; i++)
		if (!fill_base(catalog, &catalog->table.bases[i], &file.rows[i]))
			return opk_nomem(ctx, "metrics");
	catalog->complete = true;
	return OPK_OK;
}
