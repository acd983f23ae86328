/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings of verify and recover: one table, and one way to explain them. */
#include "repair/findings_rows.h"

void findings_table(struct app *app)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING }, { "section", OPK_CELL_OPTIONAL },
		{ "type", OPK_CELL_STRING }, { "byte", OPK_CELL_UINT },
		{ "size", OPK_CELL_UINT },   { "status", OPK_CELL_STRING },
	};

	app_table(app, "findings", columns);
}

/* "" of what is no section. */
static void type_name(char out[5], const struct opk_finding *finding)
{
	out[0] = '\0';
	if (finding->type)
		opk_section_type_name(out, finding->type);
}

void findings_print(struct app *app, const char *path, const struct opk_findings *findings,
                    const char *sound)
{
	for (size_t i = 0; i < opk_findings_count(findings); i++) {
		const struct opk_finding *finding = opk_findings_get(findings, i);
		char type[5];

		type_name(type, finding);
		app_row(app, cell_text(path), cell_known(finding->section, finding->section != 0),
		        cell_text(type), cell_number(finding->byte), cell_number(finding->size),
		        cell_text(finding->problem ? finding->problem : sound));
	}
}

size_t findings_problems(const struct opk_findings *findings)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_findings_count(findings); i++)
		count += opk_findings_get(findings, i)->problem != NULL;
	return count;
}

void findings_explain(const struct opk_findings *findings)
{
	enum { MOST = 20 };
	size_t left = findings_problems(findings), told = 0;

	for (size_t i = 0; i < opk_findings_count(findings) && told < MOST; i++) {
		const struct opk_finding *finding = opk_findings_get(findings, i);
		char place[96], type[5];

		if (!finding->problem)
			continue;
		type_name(type, finding);
		if (finding->section)
			snprintf(place, sizeof place,
			         "  section %zu (%s) at byte %ju: ", finding->section, type,
			         (uintmax_t)finding->byte);
		else
			snprintf(place, sizeof place, "  byte %ju: ", (uintmax_t)finding->byte);
		app_print_cause(place, finding->problem);
		told++;
	}
	if (left > told)
		fprintf(stderr, "  and %zu more, which the table has\n", left - told);
}
