/* SPDX-License-Identifier: BSD-2-Clause */

#include "commands.h"

static int print_features(struct app *app)
{
	static const struct opk_column columns[] = {
		{ "feature", OPK_CELL_STRING },
		{ "available", OPK_CELL_BOOL },
		{ "missing", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};
	const struct opk_feature *feature;
	int code = opk_out_table(app->out, "features", columns, 4);

	for (size_t i = 0; !code && (feature = opk_feature(app->ctx, i)); i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = feature->name },
						     { .boolean = feature->available },
						     { .string = feature->missing },
						     { .string = feature->description },
					     });
	return code;
}

static int print_tried(struct app *app)
{
	static const struct opk_column columns[] = { { "tried", OPK_CELL_STRING } };
	const char *path;
	int code = opk_out_table(app->out, "tried", columns, 1);

	for (size_t i = 0; !code && (path = opk_nvidia_tried(app->ctx, i)); i++)
		code = opk_out_row(app->out, (union opk_cell[]){ { .string = path } });
	return code;
}

static int print(struct app *app, const struct opk_nvidia_info *info)
{
	static const struct opk_column columns[] = {
		{ "offpeak", OPK_CELL_STRING },
		{ "libcupti", OPK_CELL_STRING },
		{ "libnvperf_host", OPK_CELL_STRING },
		{ "cupti_version", OPK_CELL_UINT },
	};
	int code = opk_out_record(
		app->out, columns,
		(union opk_cell[]){
			{ .string = opk_version() },
			{ .string = info->cupti_path ? info->cupti_path : "not found" },
			{ .string = info->nvperf_host_path ? info->nvperf_host_path : "not found" },
			{ .uint = info->cupti_version },
		},
		4);

	if (!code)
		code = print_features(app);
	return code ? code : print_tried(app);
}

static int run(struct app *app, void *args)
{
	struct opk_nvidia_info info;
	int found = opk_nvidia_info(&info, app->ctx);
	int code;

	(void)args;
	if (found)
		found = app_fail(app, found);
	code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = app_end_output(app, print(app, &info));
	return found ? found : code;
}

const struct command doctor_command = {
	.name = "doctor",
	.synopsis = "[--format FORMAT]",
	.summary = "show which NVIDIA libraries were found where, and what works with them",
	.details =
		"Features whose symbol is missing are listed with it. The last table tells every\n"
		"file that was tried, in order. Exit code 3 where libcupti is missing.",
	.run = run,
};
