/* SPDX-License-Identifier: BSD-2-Clause */
/* Short labels of metrics for people, made of the parts of their names: data/metric_words.tsv. */
#include "chip/chip.h"

#include <string.h>

#include "base/buf.h"
#include "base/index.h"
#include "chip/door.h"

/* Longer names keep their parts as they are. */
enum { LONGEST = 512 };

/* What a row says: words, and of a unit what one of it is called. */
struct said {
	const char *words, *one;
};

struct words {
	char *text, *path;
	OPK_LIST(struct said) rows;
	struct opk_index index; /* of "kind<tab>key" */
};

static void words_clear(struct words *words)
{
	free(words->text);
	free(words->path);
	free(words->rows.items);
	opk_index_clear(&words->index);
}

/* ---- the file */

/* Leaves "kind<tab>key" in the line. */
static bool cut_line(struct said *out, char *line)
{
	char *key = strchr(line, '\t'), *rest = key ? strchr(key + 1, '\t') : NULL;

	if (!rest)
		return false;
	*rest++ = '\0';
	out->words = strsep(&rest, "\t");
	out->one = rest ? strsep(&rest, "\t") : "";
	return !rest && key > line && key[1];
}

static int add_line(struct words *words, struct opk_ctx *ctx, char *line, size_t number)
{
	struct said *said;
	size_t known;

	line[strcspn(line, "\r")] = '\0';
	if (!*line || *line == '#')
		return OPK_OK;
	said = opk_list_add(&words->rows);
	if (!said)
		return opk_nomem(ctx, "labels of metrics");
	if (!cut_line(said, line))
		return opk_fail(ctx, OPK_EINPUT,
		                "%s:%zu: not a kind, a key and words with tabs between",
		                words->path, number);
	if (!opk_index_add(&words->index, line, words->rows.count - 1, &known))
		return opk_nomem(ctx, "labels of metrics");
	return known == words->rows.count - 1
	               ? OPK_OK
	               : opk_fail(ctx, OPK_EINPUT, "%s:%zu: there is such a row before",
	                          words->path, number);
}

static int read_words(struct words *words, struct opk_ctx *ctx)
{
	size_t number = 0;
	char *rest;

	TRY(opk_data_file(&words->text, &words->path, ctx, "metric_words.tsv"));
	rest = words->text;
	for (char *line; (line = strsep(&rest, "\n"));)
		TRY(add_line(words, ctx, line, ++number));
	return OPK_OK;
}

static const struct said *find(const struct words *words, const char *kind, const char *key,
                               size_t length)
{
	char text[LONGEST];
	size_t at;

	if ((size_t)snprintf(text, sizeof text, "%s\t%.*s", kind, (int)length, key) >= sizeof text
	    || !opk_index_find(&at, &words->index, text))
		return NULL;
	return &words->rows.items[at];
}

/* ---- a label */

struct label {
	char text[LONGEST];
	size_t last; /* where the words of the last piece begin */
};

/* Inserts words and a blank in front of the last piece's words. */
static void put_before(struct label *label, const char *words, size_t length)
{
	char rest[LONGEST];

	snprintf(rest, sizeof rest, "%s", label->text + label->last);
	snprintf(label->text + label->last, sizeof label->text - label->last, "%.*s %s",
	         (int)length, words, rest);
	label->last += length + 1;
}

/* A comma follows without a blank. */
static void put_after(struct label *label, const char *words, size_t length)
{
	size_t used = strlen(label->text);
	bool blank = used && *words != ',';

	snprintf(label->text + used, sizeof label->text - used, "%s%.*s", blank ? " " : "",
	         (int)length, words);
	label->last = used + blank;
}

static void add_words(struct label *label, const char *words, size_t length)
{
	bool before = length && *words == '<';
	size_t end;

	words += before;
	length -= before;
	if (!length)
		return;
	if (before && label->text[label->last])
		put_before(label, words, length);
	else
		put_after(label, words, length);
	/* Words may have been cut off. */
	end = strlen(label->text);
	label->last = label->last < end ? label->last : end;
}

/* The length without the last piece; 0: there is one piece. */
static size_t without_last(const char *text, size_t length)
{
	while (length && text[length - 1] != '_')
		length--;
	return length ? length - 1 : 0;
}

/* The longest piece that the table knows, else one up to an underscore. */
static size_t add_piece(struct label *label, const struct words *words, const char *piece,
                        size_t length)
{
	const struct said *said = NULL;

	for (size_t less; !(said = find(words, "part", piece, length)); length = less) {
		less = without_last(piece, length);
		if (!less)
			break;
	}
	add_words(label, said ? said->words : piece, said ? strlen(said->words) : length);
	return length;
}

static void add_counter(struct label *label, const struct words *words, const char *counter,
                        size_t length)
{
	for (size_t at = 0; at < length; at++)
		at += add_piece(label, words, counter + at, length - at);
}

/* What follows the counter: first as it is known after the last piece of the counter. */
static void add_ending(struct label *label, const struct words *words, const char *name,
                       const char *ending, const char *one)
{
	const char *last = ending;
	const struct said *said;
	size_t used = strlen(label->text);

	while (last > name && last[-1] != '_')
		last--;
	said = find(words, "ending", last, strlen(last));
	if (!said)
		said = find(words, "ending", ending, strlen(ending));
	if (!said)
		snprintf(label->text + used, sizeof label->text - used, "%s%s", *ending ? " " : "",
		         ending + (*ending == '.'));
	for (const char *c = said ? said->words : ""; *c && used + 1 < sizeof label->text; c++) {
		bool unit = *c == '%';

		snprintf(label->text + used, sizeof label->text - used, "%.*s",
		         unit ? (int)strlen(one) : 1, unit ? one : c);
		used = strlen(label->text);
	}
}

/* "CTC.TriageCompute.ctc__rx_bytes.sum" -> "ctc__rx_bytes.sum" */
static const char *without_set(const char *name)
{
	const char *unit_end = strstr(name, "__"), *c = unit_end;

	while (c && c > name && c[-1] != '.')
		c--;
	return c;
}

/* Writes the label of a full name into `label`. */
static void make_label(struct label *label, const struct words *words, const char *name)
{
	size_t base = opk_base_length(name), unit = (size_t)(strstr(name, "__") - name);
	const struct said *whole = find(words, "name", name, strlen(name));
	const struct said *counter = find(words, "name", name, base);
	const struct said *of_unit = find(words, "unit", name, unit);

	counter = whole ? whole : counter;
	if (counter) {
		put_after(label, counter->words, strlen(counter->words));
	} else {
		add_words(label, of_unit ? of_unit->words : name,
		          of_unit ? strlen(of_unit->words) : unit);
		label->last = strlen(label->text);
		add_counter(label, words, name + unit + 2, base - unit - 2);
	}
	if (whole)
		return;
	add_ending(label, words, name, name + base, of_unit ? of_unit->one : "unit");
}

static char *label_of(const struct words *words, const char *name)
{
	/* Names of single-pass sets may have rows of their own. */
	const char *metric = find(words, "name", name, strlen(name)) ? name : without_set(name);
	struct label label = { .text = "" };

	if (words->text && metric && strlen(metric) < LONGEST / 2)
		make_label(&label, words, metric);
	return opk_strdup(*label.text ? label.text : name);
}

/* ---- all labels */

/* Names whose labels another one has, too, are their own labels. */
static bool make_unique(struct opk_strlist *labels, const char *const *names)
{
	opk_autoindex struct opk_index seen = { 0 };
	opk_autofree bool *twice = opk_alloc_array(labels->count + 1, sizeof *twice);
	bool good = twice != NULL;

	for (size_t i = 0; good && i < labels->count; i++) {
		size_t known;

		good = opk_index_add(&seen, labels->items[i], i, &known);
		if (good && known != i)
			twice[i] = twice[known] = true;
	}
	for (size_t i = 0; good && i < labels->count; i++)
		if (twice[i]) {
			free(labels->items[i]);
			labels->items[i] = opk_strdup(names[i]);
			good = labels->items[i] != NULL;
		}
	return good;
}

int opk_metric_labels(struct opk_strlist *out, struct opk_ctx *ctx, const char *const *names,
                      size_t count)
{
	__attribute__((cleanup(words_clear))) struct words words = { 0 };
	opk_autostrlist struct opk_strlist labels = { 0 };
	bool good = true;

	TRY(read_words(&words, ctx));
	for (size_t i = 0; good && i < count; i++)
		good = opk_strlist_take(&labels, label_of(&words, names[i]));
	if (!good || !make_unique(&labels, names))
		return opk_nomem(ctx, "labels of metrics");
	opk_strlist_clear(out);
	*out = labels;
	labels = (struct opk_strlist){ 0 };
	return OPK_OK;
}
