/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak recover: what is whole of a torn recording. */
#include "commands.h"
#include "repair/findings_rows.h"

static int run(struct app *app, void *data)
{
	opk_auto(opk_findings) struct opk_findings *findings = NULL;
	const char *from = app->arguments[0], *to = app->output;
	int code;

	(void)data;
	if (app->argument_count != 1 || !to)
		return app_error(app, OPK_EUSAGE, "recover: TORN.opk and -o OUT.opk are needed");
	code = opk_recover(&findings, app->ctx, from, to);
	if (!code)
		code = app_begin_report(app);
	if (code)
		return code;
	findings_table(app);
	findings_print(app, from, findings, "kept");
	code = app_end_output(app);
	if (code)
		return code;
	if (!findings_problems(findings))
		app_note("%s: whole; %s is a copy", from, to);
	else
		app_note("%s: what is whole of it is in %s; lost or left out:", from, to);
	findings_explain(findings);
	return OPK_OK;
}

const struct command recover_command = {
	.name = "recover",
	.synopsis = "TORN.opk -o OUT.opk",
	.summary = "make a complete recording of what is whole in a damaged or cut-off one",
	.details =
		"Keeps every section whose header and checksum are right, wherever it is found, as long as\n"
		"its rows are: no launch or time comes to stand beside another range's values. Images whose\n"
		"rows are lost keep their ranges, without launches, where NVIDIA's libraries can count them.\n"
		"The table tells of each section whether it was kept; info shows the losses among the drops\n"
		"of OUT.opk. TORN.opk stays as it is.",
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
