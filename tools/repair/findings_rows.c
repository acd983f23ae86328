/* SPDX-License-Identifier: BSD-2-Clause */
#include "repair/findings_rows.h"

#include <stdio.h>

int findings_begin(struct app *app)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING }, { "section", OPK_CELL_OPTIONAL },
		{ "type", OPK_CELL_STRING }, { "byte", OPK_CELL_UINT },
		{ "size", OPK_CELL_UINT },   { "status", OPK_CELL_STRING },
	};
	int code = app_begin_output(app, app_default_format(app));

	return code ? code
	            : opk_out_table(app->out, "findings", columns,
	                            sizeof columns / sizeof *columns);
}

/* "" of what is no section. */
static void type_name(char out[5], const struct opk_finding *finding)
{
	out[0] = '\0';
	if (finding->type)
		opk_section_type_name(out, finding->type);
}

int findings_print(struct app *app, const char *path, const struct opk_findings *findings,
                   const char *sound)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_findings_count(findings); i++) {
		const struct opk_finding *finding = opk_findings_get(findings, i);
		char type[5];

		type_name(type, finding);
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = path },
						     { .optional = { finding->section,
		                                                     finding->section != 0 } },
						     { .string = type },
						     { .uint = finding->byte },
						     { .uint = finding->size },
						     { .string = finding->problem ? finding->problem
		                                                                  : sound },
					     });
	}
	return code;
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
