/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak doctor: finds NVIDIA's libraries, and what works with them. */
#include "commands.h"

struct doctor_args {
	unsigned table;
};

#define TABLES "summary|features|tried"

static const struct option_spec specs[] = {
	{ "table", 0, TABLES, "print this table alone, instead of all", OPTION_WORD,
	  offsetof(struct doctor_args, table) },
	{ 0 },
};

static int print_list(struct app *app, const char *name, enum opk_nvidia_list which)
{
	struct opk_listing *rows;

	TRY(opk_nvidia_list(&rows, app->ctx, which));
	return app_list(app, name, rows);
}

static int print(struct app *app, const struct opk_nvidia_info *info)
{
	struct app_fields fields = { 0 };

	TRY(app_begin_output(app));
	field_text(&fields, "offpeak", opk_version());
	field_text(&fields, "libcupti", info->cupti_path ? info->cupti_path : "not found");
	field_text(&fields, "libnvperf_host",
	           info->nvperf_host_path ? info->nvperf_host_path : "not found");
	field_number(&fields, "cupti_version", info->cupti_version);
	field_text(&fields, "libnvperf_host_version", info->nvperf_host_version);
	field_text(&fields, "libcuda",
	           info->libcuda_path    ? info->libcuda_path
	           : info->needs_libcuda ? "none that serves"
	                                 : "not needed");
	field_text(&fields, "nvdisasm", info->nvdisasm_path ? info->nvdisasm_path : "not found");
	app_record(app, &fields);
	TRY(print_list(app, "features", OPK_NVIDIA_FEATURES));
	TRY(print_list(app, "tried", OPK_NVIDIA_TRIED));
	return app_end_output(app);
}

static int run(struct app *app, void *data)
{
	const struct doctor_args *args = data;
	struct opk_nvidia_info info = OPK_INIT(info);
	int found = opk_nvidia_get_info(&info, app->ctx), code;

	if (found)
		found = app_fail(app, found);
	code = app_choose_table(app, TABLES, args->table, NULL);
	if (!code)
		code = print(app, &info);
	if (code)
		code = app_fail(app, code);
	/* A note explains it. */
	if (!found && info.mixed)
		found = app_error(app, OPK_ENVIDIA,
		                  "libcupti and libnvperf_host are of different releases");
	return found ? found : code;
}

const struct command doctor_command = {
	.name = "doctor",
	.synopsis = "",
	.summary = "show which NVIDIA libraries were found where, and what works with them",
	.details = "Without nvdisasm, rows of instructions have no SASS text: it is in the CUDA toolkit and\n"
		   "in the Python package nvidia-cuda-nvdisasm, and is also found in PATH.\n"
		   "\n"
		   "Features whose symbol is missing are listed with it. The last table has every\n"
		   "file that was tried, in order. Exit code 3 where libcupti is missing, or is not of the\n"
		   "release that libnvperf_host is of: values and units of such a pair may be wrong.",
	.examples = {
		{ "doctor", "what was found, and what works with it" },
		{ "doctor --cuda cuda", "with the libraries in this folder only" },
		{ "doctor --format json", "for a bug report" },
	},
	.options = specs,
	.args_size = sizeof(struct doctor_args),
	.run = run,
};
