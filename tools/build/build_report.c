/* SPDX-License-Identifier: BSD-2-Clause */
#include "build/build_report.h"

#include "common/plan_args.h"

enum { COLUMNS = 9 };

/* How the set was packed: read from what was written. */
static int count_groups(struct app *app, size_t *groups, size_t *ungrouped, const char *path)
{
	const struct opk_meta *meta;
	struct opk_file *file;
	int code = opk_file_open(&file, app->ctx, path);

	if (code)
		return app_fail(app, code);
	code = opk_file_meta(&meta, app->ctx, file);
	if (!code) {
		*groups = meta->group_count;
		*ungrouped = meta->metric_count;
		for (size_t i = 0; i < meta->group_count; i++)
			*ungrouped -= meta->groups[i].metric_count;
	}
	opk_file_free(file);
	return code ? app_fail(app, code) : OPK_OK;
}

static const struct opk_column common[] = {
	{ "file", OPK_CELL_STRING }, { "chip", OPK_CELL_STRING },  { "profiler", OPK_CELL_STRING },
	{ "set", OPK_CELL_STRING },  { "metrics", OPK_CELL_UINT }, { "passes", OPK_CELL_UINT },
	{ "groups", OPK_CELL_UINT },
};
enum { COMMON = sizeof common / sizeof *common };

static int fill(struct app *app, union opk_cell *cells, size_t *ungrouped,
                const struct opk_plan *plan, const char *path)
{
	size_t groups = 0;
	int code = count_groups(app, &groups, ungrouped, path);

	cells[0].string = path;
	cells[1].string = opk_plan_chip(plan);
	cells[2].string = opk_profiler_name(opk_plan_profiler(plan));
	cells[3].string = opk_plan_set_name(plan);
	cells[4].uint = opk_plan_metric_count(plan);
	cells[5].uint = opk_plan_passes(plan);
	cells[6].uint = groups;
	return code;
}

/* -o names the containers here, not this report. */
static int begin(struct app *app)
{
	app->output = NULL;
	return app_begin_output(app, app_default_format(app));
}

int build_report(struct app *app, const struct opk_plan *plan, const char *path, bool grouped)
{
	struct opk_column columns[COLUMNS];
	union opk_cell cells[COLUMNS];
	size_t ungrouped = 0, sample_bytes = 0, count = COMMON;
	int code = fill(app, cells, &ungrouped, plan, path);

	for (size_t i = 0; i < COMMON; i++)
		columns[i] = common[i];
	/* One of these at most: sampling has a single pass, and so no groups. */
	if (grouped && ungrouped) {
		columns[count] = (struct opk_column){ "ungrouped", OPK_CELL_UINT };
		cells[count++].uint = ungrouped;
	} else if (plan_sample_bytes(app, plan, &sample_bytes)) {
		columns[count] = (struct opk_column){ "sample_bytes", OPK_CELL_UINT };
		cells[count++].uint = sample_bytes;
	}
	if (opk_plan_left_out_count(plan)) {
		columns[count] = (struct opk_column){ "left_out", OPK_CELL_UINT };
		cells[count++].uint = opk_plan_left_out_count(plan);
	}
	if (!code)
		code = begin(app);
	if (code)
		return code;
	return app_end_output(app, opk_out_record(app->out, columns, cells, count));
}

int build_report_split(struct app *app, const struct opk_plan_split *split, char *const *paths,
                       bool grouped)
{
	struct opk_column columns[COLUMNS];
	size_t sample_bytes, count = COMMON;
	int code = begin(app);

	if (code)
		return code;
	for (size_t i = 0; i < COMMON; i++)
		columns[i] = common[i];
	if (plan_sample_bytes(app, opk_plan_split_get(split, 0), &sample_bytes))
		columns[count++] = (struct opk_column){ "sample_bytes", OPK_CELL_UINT };
	else if (grouped)
		columns[count++] = (struct opk_column){ "ungrouped", OPK_CELL_UINT };
	code = opk_out_table(app->out, "files", columns, count);
	for (size_t i = 0; !code && i < opk_plan_split_count(split); i++) {
		const struct opk_plan *plan = opk_plan_split_get(split, i);
		union opk_cell cells[COLUMNS];
		size_t ungrouped = 0;

		code = fill(app, cells, &ungrouped, plan, paths[i]);
		/* What has one pass needs no groups. */
		cells[COMMON].uint = opk_plan_passes(plan) > 1 ? ungrouped : 0;
		if (plan_sample_bytes(app, plan, &sample_bytes))
			cells[COMMON].uint = sample_bytes;
		if (!code)
			code = opk_out_row(app->out, cells);
	}
	return app_end_output(app, code);
}
