/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads records of CSV (RFC 4180) in place. */
#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"
#include "ncu/report.h"

/* ncu has some thousand metrics at most, in a row with all of them. */
enum { MAX_CELLS = 20000, MAX_CELL = 1 << 20 };

int opk_csv_fail(const struct opk_csv *csv, size_t line, const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	return !text ? opk_nomem(csv->ctx, "a message")
	             : opk_fail(csv->ctx, OPK_EINPUT, "%s:%zu: %s", csv->name, line, text);
}

static char next(const struct opk_csv *csv)
{
	return csv->at < csv->size ? csv->text[csv->at] : '\0';
}

static bool at_end(const struct opk_csv *csv)
{
	return csv->at >= csv->size;
}

/* Moves after the end of a line, of either kind. */
static void take_end(struct opk_csv *csv)
{
	csv->at += next(csv) == '\r';
	if (next(csv) == '\n') {
		csv->at++;
		csv->line++;
	}
}

bool opk_csv_begins(const struct opk_csv *csv, const char *text)
{
	size_t size = strlen(text);

	return csv->size - csv->at >= size && !memcmp(csv->text + csv->at, text, size);
}

void opk_csv_skip_line(struct opk_csv *csv)
{
	while (!at_end(csv) && next(csv) != '\n')
		csv->at++;
	take_end(csv);
}

/* Moves a quoted cell's text over its quotes; *end is where the text ends. */
static int take_quoted(struct opk_csv *csv, char **end, size_t line)
{
	char *to = csv->text + csv->at;

	for (csv->at++; !at_end(csv); csv->at++) {
		char c = next(csv);

		if (c == '"' && csv->at + 1 < csv->size && csv->text[csv->at + 1] == '"')
			csv->at++;
		else if (c == '"')
			break;
		csv->line += c == '\n';
		*to++ = csv->text[csv->at];
	}
	if (at_end(csv))
		return opk_csv_fail(csv, line, "a quote that begins in this line is not closed");
	csv->at++;
	*end = to;
	return OPK_OK;
}

static bool ends_cell(const struct opk_csv *csv)
{
	char c = next(csv);

	return at_end(csv) || c == ',' || c == '\n'
	       || (c == '\r' && (csv->at + 1 >= csv->size || csv->text[csv->at + 1] == '\n'));
}

static int take_cell(char **cell, struct opk_csv *csv, char **end, size_t line)
{
	*cell = csv->text + csv->at;
	if (next(csv) == '"') {
		TRY(take_quoted(csv, end, line));
		if (!ends_cell(csv))
			return opk_csv_fail(csv, csv->line,
			                    "a comma is needed after a quoted cell");
	} else {
		while (!ends_cell(csv))
			csv->at++;
		*end = csv->text + csv->at;
	}
	return OPK_OK;
}

static int check_cell(const struct opk_csv *csv, const char *cell, size_t size, size_t line)
{
	if (size > MAX_CELL)
		return opk_csv_fail(csv, line, "a cell has more than %d bytes", MAX_CELL);
	if (memchr(cell, '\0', size))
		return opk_csv_fail(csv, line, "there is a NUL byte");
	return OPK_OK;
}

static int add_cell(struct opk_csv_record *record, struct opk_csv *csv, bool *more)
{
	char **added, *cell = NULL, *end = NULL;

	if (record->count == MAX_CELLS)
		return opk_csv_fail(csv, record->line, "a row has more than %d cells", MAX_CELLS);
	added = opk_append(&record->cells, &record->capacity, &record->count, sizeof *added);
	if (!added)
		return opk_nomem(csv->ctx, "a row");
	TRY(take_cell(&cell, csv, &end, record->line));
	TRY(check_cell(csv, cell, (size_t)(end - cell), record->line));
	*more = next(csv) == ',';
	if (*more)
		csv->at++;
	else
		take_end(csv);
	/* The comma, the end of the line or a quote was there. */
	*end = '\0';
	if (!opk_utf8_valid(cell))
		return opk_csv_fail(csv, record->line, "a cell is not UTF-8");
	*added = cell;
	return OPK_OK;
}

int opk_csv_next(struct opk_csv_record *record, struct opk_csv *csv)
{
	bool more = !at_end(csv);

	record->count = 0;
	record->line = csv->line;
	while (more)
		TRY(add_cell(record, csv, &more));
	return OPK_OK;
}
