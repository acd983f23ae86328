/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values csv|json|ndjson FILE: prints the values of a table, wide or long, in its order, as lines
 * FILE,ROW,METRIC,BITS. ROW is the range's name, or a sample's start and end; BITS are the 64 bits
 * of the double, or nan. Only the names of metrics have a double underscore.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "freed.h"

/* A row of any table, as names and texts. */
struct row {
	const char *names[512], *texts[512];
	size_t count;
};

static void die(const char *what, const char *text)
{
	fprintf(stderr, "values: %s: %s\n", what, text);
	exit(1);
}

/* The first column with one of two names; "" if there is neither. */
static const char *find(const struct row *row, const char *name, const char *other)
{
	for (size_t i = 0; i < row->count; i++)
		if (!strcmp(row->names[i], name) || !strcmp(row->names[i], other))
			return row->texts[i];
	return "";
}

static void put_value(const struct row *row, const char *metric, const char *text)
{
	const char *start = find(row, "start_ns", "start"), *name = find(row, "name", "name");
	char *end;
	double value = strtod(text, &end);
	uint64_t bits;

	if (end == text || *end)
		die("not a number", text);
	memcpy(&bits, &value, sizeof bits);
	/* A golden file has only the name, in the column range. */
	if (*start)
		printf("%s,%s-%s,%s,", find(row, "file", "file"), start, find(row, "end_ns", "end"),
		       metric);
	else
		printf("%s,%s,%s,", find(row, "file", "file"),
		       *name ? name : find(row, "range", "range"), metric);
	if (isnan(value))
		puts("nan");
	else
		printf("%016jx\n", (uintmax_t)bits);
}

static void put_row(const struct row *row)
{
	if (*find(row, "metric", "metric")) {
		put_value(row, find(row, "metric", "metric"), find(row, "value", "value"));
		return;
	}
	for (size_t i = 0; i < row->count; i++)
		if (strstr(row->names[i], "__"))
			put_value(row, row->names[i], row->texts[i]);
}

static void add(struct row *row, const char *name, const char *text)
{
	if (row->count == sizeof row->names / sizeof *row->names)
		die("too many columns", name);
	row->names[row->count] = name;
	row->texts[row->count++] = text;
}

/* ---- JSON: objects, of texts, numbers and null */

static void put_object(const struct opk_json *object)
{
	struct row row = { .count = 0 };

	if (object->type != OPK_JSON_OBJECT)
		die("not an object", "a row");
	for (size_t i = 0; i < object->count; i++) {
		const struct opk_json *item = &object->children[i];

		add(&row, item->key, item->type == OPK_JSON_NULL ? "nan" : item->text);
	}
	put_row(&row);
}

static void put_json(struct opk_ctx *ctx, const char *text, size_t size)
{
	freed(opk_json) *root = NULL;

	if (opk_json_parse(&root, ctx, text, size))
		die("not JSON", opk_error_message(ctx, 0));
	for (size_t i = 0; root->type == OPK_JSON_ARRAY && i < root->count; i++)
		put_object(&root->children[i]);
	if (root->type != OPK_JSON_ARRAY)
		put_object(root);
}

static void put_lines(struct opk_ctx *ctx, char *text)
{
	for (char *line = strsep(&text, "\n"); line && *line; line = strsep(&text, "\n"))
		put_json(ctx, line, strlen(line));
}

/* ---- CSV: RFC 4180 */

/* Terminates the field at *at in place; *last: the line ends after it. */
static char *next_field(char **at, bool *last)
{
	char *from = *at, *to = *at, *field = *at;
	bool quoted = false;

	for (; *from && (quoted || !strchr(",\r\n", *from)); from++) {
		if (*from != '"' || (quoted && from[1] == '"' && *++from))
			*to++ = *from;
		else
			quoted = !quoted;
	}
	*last = *from != ',';
	if (*from == '\r')
		from++;
	if (*from)
		from++;
	*to = '\0';
	*at = from;
	return field;
}

static void put_csv(char *text)
{
	struct row row = { .count = 0 };
	bool last = false;

	while (!last)
		add(&row, next_field(&text, &last), "");
	while (*text) {
		size_t i = 0;

		for (last = false; !last; i++) {
			if (i == row.count)
				die("a line is too long", text);
			row.texts[i] = next_field(&text, &last);
		}
		if (i != row.count)
			die("a line is too short", row.texts[0]);
		put_row(&row);
	}
}

int main(int argc, char **argv)
{
	freed(opk_ctx) *ctx = NULL;
	opk_autofree void *data = NULL;
	size_t size;

	if (argc != 3)
		return 2;
	if (opk_ctx_new(&ctx, NULL) || opk_read_file(&data, &size, ctx, argv[2]))
		die("can't read", argv[2]);
	if (!strcmp(argv[1], "json"))
		put_json(ctx, data, size);
	else if (!strcmp(argv[1], "ndjson"))
		put_lines(ctx, data);
	else
		put_csv(data);
	return 0;
}
