/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text format, as OpenMetrics has it, too: for the textfile collector of node_exporter.
 * A metric's rows have to follow each other, so that all wait for the table's end.
 */
#include <math.h>
#include <string.h>

#include "base/index.h"
#include "output/output.h"

/* A metric, and its lines. */
struct family {
	char *name, *help;
	struct opk_buf lines;
};

struct opk_openmetrics {
	struct opk_strlist units; /* one per column */
	enum opk_out_role *roles; /* likewise */
	struct opk_buf constants; /* labels of all rows */
	OPK_LIST(struct family) families;
	struct opk_index names; /* of families */
	struct opk_index rows;  /* labels, after the name in the row if there is one */
	struct opk_strlist row_keys;
};

void opk_openmetrics_free(struct opk_openmetrics *metrics)
{
	if (!metrics)
		return;
	for (size_t i = 0; i < metrics->families.count; i++) {
		free(metrics->families.items[i].name);
		free(metrics->families.items[i].help);
		opk_buf_clear(&metrics->families.items[i].lines);
	}
	free(metrics->families.items);
	opk_index_clear(&metrics->names);
	opk_index_clear(&metrics->rows);
	opk_strlist_clear(&metrics->row_keys);
	opk_strlist_clear(&metrics->units);
	opk_buf_clear(&metrics->constants);
	free(metrics->roles);
	free(metrics);
}

static void begin_table(struct opk_out *out)
{
	struct opk_openmetrics *metrics = out->metrics = opk_alloc(sizeof *metrics);

	if (metrics)
		metrics->roles = opk_alloc_array(out->column_count + 1, sizeof *metrics->roles);
	if (!metrics || !metrics->roles) {
		out->code = opk_nomem(out->ctx, "output");
		return;
	}
	for (size_t i = 0; i < out->column_count; i++) {
		bool number = opk_cell_is_number(out->columns[i].type);

		metrics->roles[i] = number ? OPK_ROLE_VALUE : OPK_ROLE_NONE;
		out->buf.failed |= !opk_strlist_add(&metrics->units, "");
	}
}

static void unit(struct opk_out *out, size_t column, const char *text)
{
	char *copy = opk_strdup(text ? text : "");

	if (!copy || column >= out->metrics->units.count) {
		free(copy);
		out->buf.failed = true;
		return;
	}
	free(out->metrics->units.items[column]);
	out->metrics->units.items[column] = copy;
}

static void role(struct opk_out *out, size_t column, enum opk_out_role role)
{
	out->metrics->roles[column] = role;
}

/* ---- labels ------------------------------------------------------------------------------ */

static void put_escaped(struct opk_buf *buf, const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\\' || (quotes && *text == '"'))
			opk_buf_add(buf, "\\", 1);
		if (*text == '\n')
			opk_buf_add_text(buf, "\\n");
		else
			opk_buf_add(buf, text, 1);
	}
}

/* A label without a value is the same as none. */
static void put_label(struct opk_buf *buf, const char *name, const char *value)
{
	if (!*value)
		return;
	opk_buf_add_printf(buf, "%s%s=\"", buf->size ? "," : "", name);
	put_escaped(buf, value, true);
	opk_buf_add(buf, "\"", 1);
}

static void constant(struct opk_out *out, const char *name, const char *value)
{
	put_label(&out->metrics->constants, name, value);
}

/* The text of a cell; free(). */
static char *text_of(const struct opk_out *out, size_t column, const union opk_cell *cells)
{
	struct opk_buf text = { 0 };

	if (column < out->cell_count)
		opk_cell_text(&text, out->columns[column].type, &cells[column]);
	return opk_buf_take_text(&text);
}

/* Labels of a row; free(). */
static char *labels_of(struct opk_out *out, const union opk_cell *cells)
{
	const struct opk_openmetrics *metrics = out->metrics;
	struct opk_buf labels = { 0 };

	opk_buf_add(&labels, metrics->constants.data, metrics->constants.size);
	labels.failed |= metrics->constants.failed;
	for (size_t i = 0; i < out->column_count; i++) {
		opk_autofree char *text = NULL;

		if (metrics->roles[i] != OPK_ROLE_LABEL)
			continue;
		text = text_of(out, i, cells);
		labels.failed |= !text;
		put_label(&labels, out->columns[i].name, text ? text : "");
	}
	return opk_buf_take_text(&labels);
}

/* ---- names and units --------------------------------------------------------------------- */

/* Units that Prometheus' conventions put at the end of a name, and what one of them is. */
static const struct unit {
	const char *name, *suffix;
	double scale;
} units[] = {
	{ "nanoseconds", "_seconds", 1e9 },
	{ "ns", "_seconds", 1e9 },
	{ "seconds", "_seconds", 1 },
	{ "second", "_seconds", 1 },
	{ "bytes", "_bytes", 1 },
	{ "byte", "_bytes", 1 },
	{ "bytes/second", "_bytes_per_second", 1 },
	{ "byte/second", "_bytes_per_second", 1 },
	{ "", "", 1 },
};

static const struct unit *find_unit(const char *text)
{
	const struct unit *unit = units;

	while (*unit->name && strcmp(unit->name, text) != 0)
		unit++;
	return unit;
}

static void put_name(struct opk_buf *buf, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool legal = (text[i] >= 'a' && text[i] <= 'z')
		             || (text[i] >= 'A' && text[i] <= 'Z')
		             || (text[i] >= '0' && text[i] <= '9');

		opk_buf_add(buf, legal ? &text[i] : "_", 1);
	}
}

/* "covered_ns" is covered_seconds; start_ns and end_ns are times of day. */
static char *name_of(const char *metric, const char *statistic, const struct unit *unit)
{
	struct opk_buf name = { 0 };
	size_t length = strlen(metric);
	bool is_time = !strcmp(metric, "start_ns") || !strcmp(metric, "end_ns");

	if (length > 3 && !strcmp(metric + length - 3, "_ns"))
		length -= 3;
	opk_buf_add_text(&name, "offpeak_");
	put_name(&name, metric, length);
	if (*statistic) {
		opk_buf_add_text(&name, "_");
		put_name(&name, statistic, strlen(statistic));
	}
	opk_buf_add_text(&name, is_time ? "_timestamp" : "");
	opk_buf_add_text(&name, unit->suffix);
	return opk_buf_take_text(&name);
}

static char *help_of(const char *metric, const char *statistic, const char *text)
{
	struct opk_buf help = { 0 };

	put_escaped(&help, metric, false);
	if (*statistic)
		opk_buf_add_printf(&help, ", %s", statistic);
	if (*text && !*find_unit(text)->suffix) {
		opk_buf_add_text(&help, ", ");
		put_escaped(&help, text, false);
	}
	return opk_buf_take_text(&help);
}

/* Takes both texts over; NULL: a failure. Two metrics must not become one. */
static struct family *find_family(struct opk_out *out, char *name, char *help)
{
	opk_autofree char *own_name = name, *own_help = help;
	struct opk_openmetrics *metrics = out->metrics;
	struct family *family;
	size_t at;

	if (!name || !help) {
		out->buf.failed = true;
		return NULL;
	}
	if (opk_index_find(&at, &metrics->names, name)) {
		family = &metrics->families.items[at];
		if (!strcmp(family->help, help))
			return family;
		out->code = opk_fail(out->ctx, OPK_EUSAGE, "'%s' and '%s' would both be called %s",
		                     family->help, help, name);
		return NULL;
	}
	family = opk_list_add(&metrics->families);
	if (!family) {
		out->buf.failed = true;
		return NULL;
	}
	*family = (struct family){ opk_take(own_name), opk_take(own_help), { 0 } };
	out->buf.failed |= !opk_index_add(&metrics->names, family->name,
	                                  metrics->families.count - 1, NULL);
	return family;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A whole number of ns as seconds keeps all its digits. */
static void put_whole(struct opk_buf *buf, uint64_t number, double scale)
{
	uint64_t ns = 1000000000;

	opk_buf_add_number(buf, scale > 1 ? number / ns : number);
	if (scale > 1 && number % ns)
		opk_buf_add_printf(buf, ".%09ju", (uintmax_t)(number % ns));
}

static void put_number(struct opk_buf *buf, double number)
{
	if (isnan(number))
		opk_buf_add_text(buf, "NaN");
	else if (isinf(number))
		opk_buf_add_text(buf, number > 0 ? "+Inf" : "-Inf");
	else
		opk_buf_add_double(buf, number);
}

/* What is not known has no line. */
static bool has_value(enum opk_cell_type type, const union opk_cell *cell)
{
	if (type == OPK_CELL_OPTIONAL)
		return cell->optional.known;
	return type == OPK_CELL_UINT || type == OPK_CELL_DOUBLE;
}

/* `metric`: in the row itself, or NULL: the column's name. */
static void put_value(struct opk_out *out, size_t column, const union opk_cell *cell,
                      const char *metric, const char *row_unit, const char *labels)
{
	enum opk_cell_type type = out->columns[column].type;
	const char *name = out->columns[column].name;
	const char *text = metric && type == OPK_CELL_DOUBLE ? row_unit
	                                                     : out->metrics->units.items[column];
	const struct unit *unit = find_unit(text);
	struct family *family = find_family(out,
	                                    name_of(metric ? metric : name, metric ? name : "",
	                                            unit),
	                                    help_of(metric ? metric : name, metric ? name : "",
	                                            text));

	if (!family)
		return;
	opk_buf_add_text(&family->lines, family->name);
	if (*labels)
		opk_buf_add_printf(&family->lines, "{%s}", labels);
	opk_buf_add_text(&family->lines, " ");
	if (type == OPK_CELL_DOUBLE)
		put_number(&family->lines, cell->number / unit->scale);
	else
		put_whole(&family->lines, type == OPK_CELL_UINT ? cell->uint : cell->optional.uint,
		          unit->scale);
	opk_buf_add_text(&family->lines, "\n");
	out->buf.failed |= family->lines.failed;
}

static void check_labels(struct opk_out *out, const char *metric, const char *labels)
{
	struct opk_openmetrics *metrics = out->metrics;
	size_t known = 0, number = metrics->row_keys.count;

	if (!opk_strlist_take(&metrics->row_keys, opk_printf("%s{%s}", metric, labels))
	    || !opk_index_add(&metrics->rows, metrics->row_keys.items[number], number, &known))
		out->buf.failed = true;
	else if (known != number)
		out->code = opk_fail(out->ctx, OPK_EUSAGE,
		                     "two rows have the same labels, %s, which only one may have: "
		                     "put rows together, or choose columns that tell them apart",
		                     metrics->row_keys.items[number]);
}

static size_t find_role(const struct opk_out *out, enum opk_out_role role)
{
	size_t i = 0;

	while (i < out->column_count && out->metrics->roles[i] != role)
		i++;
	return i;
}

static void row(struct opk_out *out, const union opk_cell *cells)
{
	size_t name = find_role(out, OPK_ROLE_NAME);
	opk_autofree char *labels = NULL, *metric = NULL, *unit = NULL;

	if (out->code)
		return;
	labels = labels_of(out, cells);
	metric = name < out->column_count ? text_of(out, name, cells) : NULL;
	unit = text_of(out, out->unit_column, cells);
	if (!labels || !unit || (name < out->column_count && !metric)) {
		out->buf.failed = true;
		return;
	}
	check_labels(out, metric ? metric : "", labels);
	for (size_t i = 0; i < out->cell_count && !out->code; i++)
		if (out->metrics->roles[i] == OPK_ROLE_VALUE
		    && has_value(out->columns[i].type, &cells[i]))
			put_value(out, i, &cells[i], metric, unit, labels);
}

/* Without a row there is no metric. */
static void end_table(struct opk_out *out)
{
	for (size_t i = 0; i < out->metrics->families.count; i++) {
		const struct family *family = &out->metrics->families.items[i];

		opk_buf_add_printf(&out->buf, "# HELP %s %s\n# TYPE %s gauge\n", family->name,
		                   family->help, family->name);
		opk_buf_add(&out->buf, family->lines.data, family->lines.size);
	}
}

/* OpenMetrics wants it, and to the older format it is a comment. */
static void finish(struct opk_out *out)
{
	opk_buf_add_text(&out->buf, "# EOF\n");
}

/* Facts of a file or a run are not rows of one kind. */
static void record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	(void)columns;
	(void)cells;
	(void)count;
	out->code = opk_fail(out->ctx, OPK_EUSAGE, "only tables can be metrics");
}

const struct opk_out_ops opk_out_openmetrics_ops = {
	.record = record,
	.begin_table = begin_table,
	.row = row,
	.end_table = end_table,
	.finish = finish,
	.unit = unit,
	.role = role,
	.constant = constant,
};
