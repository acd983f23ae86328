/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak verify and offpeak recover: find damage in containers, and save what is intact. */
#include <string.h>

#include "commands.h"
#include "common/args.h"

/* ---- findings: one table, and one way to explain them */

/* Begins the table, with a row per finding. */
static void findings_table(struct app *app)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING }, { "section", OPK_CELL_OPTIONAL },
		{ "type", OPK_CELL_STRING }, { "byte", OPK_CELL_UINT },
		{ "size", OPK_CELL_UINT },   { "status", OPK_CELL_STRING },
	};

	app_table(app, "findings", columns);
}

/* Cells of a finding: opk_verify() */
enum { SECTION, TYPE, BYTE, SIZE, PROBLEM };

/* `sound` is the status of sections without a problem. */
static void findings_print(struct app *app, const char *path, const struct opk_listing *findings,
                           const char *sound)
{
	for (size_t i = 0; i < opk_listing_count(findings); i++) {
		const union opk_cell *finding = opk_listing_get(findings, i);
		const char *problem = finding[PROBLEM].string;
		uint64_t section = finding[SECTION].uint;

		app_row(app, cell_text(path), cell_known(section, section != 0), finding[TYPE],
		        finding[BYTE], finding[SIZE], cell_text(problem ? problem : sound));
	}
}

static size_t findings_problems(const struct opk_listing *findings)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_listing_count(findings); i++)
		count += opk_listing_get(findings, i)[PROBLEM].string != NULL;
	return count;
}

/* Prints each problem on stderr, indented like the causes of a message. */
static void findings_explain(const struct opk_listing *findings)
{
	enum { MOST = 20 };
	size_t left = findings_problems(findings), shown = 0;

	for (size_t i = 0; i < opk_listing_count(findings) && shown < MOST; i++) {
		const union opk_cell *finding = opk_listing_get(findings, i);
		uintmax_t section = finding[SECTION].uint, byte = finding[BYTE].uint;
		char place[96];

		if (!finding[PROBLEM].string)
			continue;
		if (section)
			snprintf(place, sizeof place, "  section %ju (%s) at byte %ju: ", section,
			         finding[TYPE].string, byte);
		else
			snprintf(place, sizeof place, "  byte %ju: ", byte);
		app_print_cause(place, finding[PROBLEM].string);
		shown++;
	}
	if (left > shown)
		fprintf(stderr, "  and %zu more, which the table has\n", left - shown);
}

/* ---- verify */

struct verify_args {
	bool deep;
};

static const struct option_spec specs[] = {
	{ "deep", 0, NULL, "evaluate every range, too, and compare modules with their CRCs",
	  OPTION_FLAG, offsetof(struct verify_args, deep) },
	TIMEOUT_OPTION,
	{ 0 },
};

/* The result for one file: its findings, or why it has none. */
struct verdict {
	struct opk_listing *findings;
	char *refused;
};

static int verify(struct app *app, const struct verify_args *args, const char *path,
                  struct verdict *verdict)
{
	struct opk_verify_options options = OPK_INIT(options);
	int code;

	options.deep = args->deep;
	code = opk_verify(&verdict->findings, app->ctx, path, &options);
	if (code != OPK_EINPUT)
		return code;
	verdict->refused = opk_strdup(opk_error_message(app->ctx, 0));
	return verdict->refused ? OPK_OK : app_nomem(app);
}

/* The reason beside the file's name; people read it below the table. */
static const char *reason_of(const struct app *app, const char *path, const char *refused)
{
	size_t length = strlen(path);

	if (app_shows_table(app))
		return "can't be read";
	return !strncmp(refused, path, length) && !strncmp(refused + length, ": ", 2)
	               ? refused + length + 2
	               : refused;
}

static int print(struct app *app, const struct verdict *verdicts)
{
	TRY(app_begin_output(app));
	findings_table(app);
	for (size_t i = 0; i < app->argument_count; i++) {
		const char *path = app->arguments[i];

		if (verdicts[i].findings)
			findings_print(app, path, verdicts[i].findings, "ok");
		else
			app_row(app, cell_text(path), cell_known(0, false), cell_text(""),
			        cell_number(0), cell_number(0),
			        cell_text(reason_of(app, path, verdicts[i].refused)));
	}
	return app_end_output(app);
}

static bool has_sound(const struct opk_listing *findings, const char *type)
{
	for (size_t i = 0; i < opk_listing_count(findings); i++) {
		const union opk_cell *finding = opk_listing_get(findings, i);

		if (finding[SECTION].uint && !finding[PROBLEM].string
		    && !strcmp(finding[TYPE].string, type))
			return true;
	}
	return false;
}

/* Without metadata or an intact image nothing can be recovered. */
static bool is_worth_recovering(const struct opk_listing *findings)
{
	return has_sound(findings, "META") && has_sound(findings, "DATA");
}

/* Reports what is wrong with a file on stderr; returns the exit code. */
static int judge(struct app *app, const char *path, const struct verdict *verdict)
{
	size_t problems = verdict->findings ? findings_problems(verdict->findings) : 0;

	if (!verdict->refused && !problems)
		return OPK_OK;
	if (verdict->refused)
		return app_fail(app, opk_fail(app->ctx, OPK_EINPUT, "%s", verdict->refused));
	app_fail(app, app_error(app, OPK_EINPUT, "%s: %zu problem%s%s", path, problems,
	                        problems == 1 ? "" : "s",
	                        is_worth_recovering(verdict->findings)
	                                ? "; 'offpeak recover' keeps what is whole of a recording"
	                                : ""));
	findings_explain(verdict->findings);
	return OPK_EINPUT;
}

static int run_verify(struct app *app, void *data)
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
		opk_listing_free(verdicts[i].findings);
		free(verdicts[i].refused);
	}
	return code;
}

const struct command verify_command = {
	.name = "verify",
	.synopsis = "FILE.opk...",
	.summary = "check files: checksums, sections, and whether their tables agree",
	.details =
		"A row for each section, with its place in the file and ok or what is wrong; others for\n"
		"bytes that are not a section. After damage it goes on at the next section header. --deep\n"
		"evaluates every range besides, in a child process, and compares modules that were kept\n"
		"whole with their CRCs. It needs NVIDIA's libraries; all else needs none. Values that bake\n"
		"wrote are compared with the images where the same CUPTI is here; a note says what\n"
		"was not compared. The exit code is 4 where anything is wrong.",
	.examples = {
		{ "verify run.opk", "whether every section is whole" },
		{ "verify run.opk pm.opk --deep", "whether all of it evaluates, too" },
		{ "verify run.opk -o verdict.csv", "a row a section" },
	},
	.options = specs,
	.args_size = sizeof(struct verify_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run_verify,
};

/* ---- recover */

static int run_recover(struct app *app, void *data)
{
	opk_auto(opk_listing) struct opk_listing *findings = NULL;
	const char *from = app->arguments[0], *to = app->output;
	int code = check_given(app, "recover", "TORN.opk", "-o OUT.opk");

	(void)data;
	if (!code)
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
	.summary = "make a complete recording of the intact parts of a damaged or cut-off one",
	.details =
		"Keeps every section whose header and checksum are right, wherever it is found. Each table\n"
		"names its image, so that no launch or time gets to another range's values. An image whose\n"
		"rows are lost keeps its ranges, without launches. With libcupti it finds out how many ranges\n"
		"an image has, too: a table with a row too many or too few is lost, though its checksum is\n"
		"right. The table says of each section whether it was kept, and 'info OUT.opk' shows the\n"
		"losses among the drops. TORN.opk stays as it is.",
	.examples = {
		{ "recover torn.opk -o whole.opk",
		  "what is whole of a recording that was cut off" },
		{ "recover torn.opk -o whole.opk --format json", "each section, kept or lost" },
		{ "recover run.opk -o copy.opk", "of a whole one: a copy" },
	},
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_FILE,
	.writes = OPK_OUTPUT_RECOVERED,
	.run = run_recover,
};
