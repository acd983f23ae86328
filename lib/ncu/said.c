/* SPDX-License-Identifier: BSD-2-Clause */
/* What ncu itself says between tables, and what files without one are. */
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "ncu/report.h"

enum { MAX_SAID = 300 };

/* Keeps a line of ncu, if it is the first one. */
static int take_line(struct opk_ncu_line *out, const struct opk_csv *csv)
{
	const char *text = csv->text + csv->at;
	size_t left = csv->size - csv->at, size = left < MAX_SAID ? left : MAX_SAID;
	const char *end = memchr(text, '\n', size);
	opk_autofree char *line = NULL;

	if (out->text)
		return OPK_OK;
	line = opk_strndup(text, end ? (size_t)(end - text) : size);
	if (!line)
		return opk_nomem(csv->ctx, "a report");
	line[strcspn(line, "\r")] = '\0';
	out->text = opk_utf8_repair(line);
	out->line = csv->line;
	return out->text ? OPK_OK : opk_nomem(csv->ctx, "a report");
}

int opk_ncu_skip_line(struct opk_ncu_said *said, struct opk_csv *csv)
{
	if (opk_csv_begins(csv, "==ERROR=="))
		TRY(take_line(&said->error, csv));
	else if (opk_csv_begins(csv, "==WARNING=="))
		TRY(take_line(&said->warning, csv));
	opk_csv_skip_line(csv);
	return OPK_OK;
}

int opk_ncu_fail_empty(const struct opk_csv *csv, const struct opk_ncu_said *said,
                       const char *problem)
{
	const struct opk_ncu_line *why = said->error.text ? &said->error : &said->warning;

	if (!why->text)
		return opk_fail(csv->ctx, OPK_EINPUT, "%s: %s", csv->name, problem);
	return opk_csv_fail(csv, why->line, "%s; ncu says: %s", problem, why->text);
}

/* Other outputs of Nsight Compute, which people may try. */
int opk_ncu_fail_without_table(const struct opk_csv *csv, const struct opk_ncu_said *said)
{
	static const struct {
		const char *mark, *what;
	} others[] = {
		{ "\"Invocations\",",
		  "a summary of several launches, which has no values of each" },
		{ "\"Address Space\"", "of the page source" },
		{ "\"Source\",", "of the page source" },
		{ "\"ID\";", "separated by ';', where ncu writes ','" },
	};

	if (opk_ends(csv->name, ".ncu-rep"))
		return opk_fail(csv->ctx, OPK_EINPUT,
		                "%s: this is a report in Nsight Compute's own form: ncu prints its "
		                "raw page in CSV, which can be read",
		                csv->name);
	if (opk_csv_begins(csv, "\xff\xfe"))
		return opk_fail(
			csv->ctx, OPK_EINPUT,
			"%s: this is UTF-16, as some shells write files; it has to be UTF-8",
			csv->name);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (memmem(csv->text, csv->size, others[i].mark, strlen(others[i].mark)))
			return opk_fail(csv->ctx, OPK_EINPUT, "%s: this is %s", csv->name,
			                others[i].what);
	return opk_ncu_fail_empty(
		csv, said, "no line begins with \"ID\", as a table of Nsight Compute in CSV does");
}
