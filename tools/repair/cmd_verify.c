/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak verify: what is wrong with containers. */
#include "commands.h"
#include "common/args.h"
#include "repair/findings_rows.h"

struct verify_args {
	bool deep;
	uint64_t timeout;
};

static const struct option_spec specs[] = {
	{ "deep", 0, NULL, "evaluate every range, too", OPTION_FLAG,
	  offsetof(struct verify_args, deep) },
	TIMEOUT_OPTION(struct verify_args, timeout),
	{ 0 },
};

/* What became of one file: its findings, or why it has none. */
struct verdict {
	struct opk_findings *findings;
	char *refused;
};

static int verify(struct app *app, const struct verify_args *args, const char *path,
                  struct verdict *verdict)
{
	struct opk_verify_options options = OPK_INIT(options);
	int code;

	options.deep = args->deep;
	options.timeout_s = timeout_of(args->timeout);
	options.progress = app_progress;
	code = opk_verify(&verdict->findings, app->ctx, path, &options);
	app_progress_end();
	if (code != OPK_EINPUT)
		return code;
	verdict->refused = opk_strdup(opk_error_message(app->ctx, 0));
	return verdict->refused ? OPK_OK : app_nomem(app);
}

static int print(struct app *app, const struct verdict *verdicts)
{
	int code = app_begin_output(app);

	if (code)
		return code;
	findings_table(app);
	for (size_t i = 0; i < app->argument_count; i++) {
		const char *path = app->arguments[i];

		if (verdicts[i].findings)
			findings_print(app, path, verdicts[i].findings, "ok");
		else
			app_row(app, cell_text(path), cell_known(0, false), cell_text(""),
			        cell_number(0), cell_number(0), cell_text(verdicts[i].refused));
	}
	return app_end_output(app);
}

/* What is wrong with one file, on stderr; the exit code for it. */
static int judge(struct app *app, const char *path, const struct verdict *verdict)
{
	size_t problems = verdict->findings ? findings_problems(verdict->findings) : 0;

	if (!verdict->refused && !problems)
		return OPK_OK;
	if (verdict->refused)
		return app_fail(app, opk_fail(app->ctx, OPK_EINPUT, "%s", verdict->refused));
	app_fail(app, app_error(app, OPK_EINPUT,
	                        "%s: %zu problem%s; 'offpeak recover' keeps what is whole of a "
	                        "recording",
	                        path, problems, problems == 1 ? "" : "s"));
	findings_explain(verdict->findings);
	return OPK_EINPUT;
}

static int run(struct app *app, void *data)
{
	opk_autofree struct verdict *verdicts = NULL;
	int code = OPK_OK;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE, "verify: FILE.opk... is needed");
	verdicts = opk_alloc_array(app->argument_count, sizeof *verdicts);
	if (!verdicts)
		return app_nomem(app);
	for (size_t i = 0; !code && i < app->argument_count; i++)
		code = verify(app, data, app->arguments[i], &verdicts[i]);
	if (!code)
		code = print(app, verdicts);
	for (size_t i = 0; i < app->argument_count; i++) {
		if (code == OPK_OK || code == OPK_EINPUT)
			code |= judge(app, app->arguments[i], &verdicts[i]);
		opk_findings_free(verdicts[i].findings);
		free(verdicts[i].refused);
	}
	return code;
}

const struct command verify_command = {
	.name = "verify",
	.synopsis = "FILE.opk... [--deep]",
	.summary = "check containers: checksums, sections, tables and what they say of each other",
	.details =
		"A row for each section, with its place in the file and ok or what is wrong; others for\n"
		"bytes that are no section. Behind damage it goes on at the next section header. --deep\n"
		"evaluates every range besides, in a child process, and needs NVIDIA's libraries; all else\n"
		"needs none. The exit code is 4 where anything is wrong.",
	.options = specs,
	.args_size = sizeof(struct verify_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
