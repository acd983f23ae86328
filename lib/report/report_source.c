/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of functions with their counts, and the source lines that they are of. */
#include <math.h>

#include "base/utf8.h"
#include "chip/door.h"
#include "report/report_inside.h"

/* Limits for the page: functions, their instructions, bytes of a line; lines around one. */
enum { MOST_INSTRUCTIONS = 200000, MOST_LINE = 400, AROUND = 5 };

/* Instructions that follow each other in the order of code. */
struct function {
	size_t first, count;
	double heat; /* percent of all kernels' */
};

struct source_line {
	size_t file;
	uint32_t line;
};

/* Texts, each once; a number is a text's place. */
struct numbered {
	struct opk_strlist texts;
	struct opk_index numbers;
};

struct source {
	struct report_page *page;
	const struct report_run *run;
	struct opk_kernel_names *names;
	OPK_LIST(struct function) functions; /* hottest first */
	struct numbered texts, files;
	OPK_LIST(struct source_line) lines;
	size_t shown;    /* functions on the page */
	double left_out; /* heat of the others */
	bool failed;     /* memory ran out */
};

static void clear(struct source *s)
{
	opk_kernel_names_free(s->names);
	free(s->functions.items);
	free(s->lines.items);
	opk_strlist_clear(&s->texts.texts);
	opk_index_clear(&s->texts.numbers);
	opk_strlist_clear(&s->files.texts);
	opk_index_clear(&s->files.numbers);
}

static const struct opk_row *row_of(const struct source *s, size_t i)
{
	return opk_hot_get(s->run->hot, i)->row;
}

/* ---- functions ------------------------------------------------------------------------------ */

static bool is_same_function(const struct opk_row *a, const struct opk_row *b)
{
	return a->code->module == b->code->module && !strcmp(a->range->symbol, b->range->symbol);
}

static int by_heat(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->heat != y->heat)
		return x->heat < y->heat ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int find_functions(struct source *s)
{
	struct function *last = NULL;

	for (size_t i = 0; i < opk_hot_count(s->run->hot); i++) {
		double share = opk_hot_share(s->run->hot, i);

		if (!last || !is_same_function(row_of(s, i - 1), row_of(s, i))) {
			last = opk_list_add(&s->functions);
			if (!last)
				return opk_nomem(s->page->ctx, "a page");
			last->first = i;
			TRY(opk_kernel_names_add(s->names, s->page->ctx, row_of(s, i)->range, 1));
		}
		last->count++;
		last->heat += isnan(share) ? 0 : share;
	}
	qsort(s->functions.items, s->functions.count, sizeof *s->functions.items, by_heat);
	return OPK_OK;
}

/* The hottest function is on the page, however long it is. */
static void choose_functions(struct source *s)
{
	size_t instructions = 0;

	for (size_t i = 0; i < s->functions.count; i++) {
		instructions += s->functions.items[i].count;
		if (!i || (instructions <= MOST_INSTRUCTIONS && i < REPORT_MOST_ROWS))
			s->shown = i + 1;
		else
			s->left_out += s->functions.items[i].heat;
	}
}

/* ---- columns -------------------------------------------------------------------------------- */

static size_t number_of(struct source *s, struct numbered *numbered, const char *text)
{
	size_t number = numbered->texts.count;

	if (opk_index_find(&number, &numbered->numbers, text))
		return number;
	if (!opk_strlist_add(&numbered->texts, text)
	    || !opk_index_add(&numbered->numbers, numbered->texts.items[number], number, NULL))
		s->failed = true;
	return number;
}

/* Sums of counts are exact. */
static void put_count(struct opk_json_writer *json, double count)
{
	if (isnan(count))
		opk_json_put_string(json, NULL);
	else
		opk_json_put_u64(json, (uint64_t)count);
}

static void put_offset(struct source *s, size_t i)
{
	opk_json_put_u64(&s->page->json, row_of(s, i)->code->offset);
}

static void put_file(struct source *s, size_t i)
{
	opk_json_put_u64(&s->page->json, number_of(s, &s->files, row_of(s, i)->code->own_source));
}

static void put_line(struct source *s, size_t i)
{
	opk_json_put_u64(&s->page->json, row_of(s, i)->code->own_line);
}

static void put_opcode(struct source *s, size_t i)
{
	opk_json_put_u64(&s->page->json, number_of(s, &s->texts, row_of(s, i)->code->opcode));
}

static void put_sass(struct source *s, size_t i)
{
	opk_json_put_u64(&s->page->json, number_of(s, &s->texts, row_of(s, i)->code->sass));
}

/* "FILE:LINE", and the calls that it was inlined at. */
static void put_inlined(struct source *s, size_t i)
{
	const struct opk_code *code = row_of(s, i)->code;
	opk_autofree char *text = NULL;

	if (!*code->inlined_at) {
		opk_json_put_u64(&s->page->json, number_of(s, &s->texts, ""));
		return;
	}
	text = opk_printf("%s:%u < %s", code->source, code->line, code->inlined_at);
	s->failed |= !text;
	opk_json_put_u64(&s->page->json, number_of(s, &s->texts, text ? text : ""));
}

static void put_executed(struct source *s, size_t i)
{
	put_count(&s->page->json, opk_hot_get(s->run->hot, i)->executed);
}

static void put_threads(struct source *s, size_t i)
{
	put_count(&s->page->json, opk_hot_get(s->run->hot, i)->threads);
}

static void put_sectors(struct source *s, size_t i)
{
	put_count(&s->page->json, opk_hot_get(s->run->hot, i)->sectors);
}

static void put_ideal(struct source *s, size_t i)
{
	put_count(&s->page->json, opk_hot_get(s->run->hot, i)->ideal);
}

static void put_columns(struct source *s, const struct function *function)
{
	static const struct {
		const char *key;
		void (*put)(struct source *s, size_t i);
	} columns[] = {
		{ "offset", put_offset },     { "file", put_file },
		{ "line", put_line },         { "opcode", put_opcode },
		{ "sass", put_sass },         { "inlined", put_inlined },
		{ "executed", put_executed }, { "threads", put_threads },
		{ "sectors", put_sectors },   { "ideal", put_ideal },
	};
	struct opk_json_writer *json = &s->page->json;

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		opk_json_key(json, columns[i].key);
		opk_json_begin_array(json);
		for (size_t j = 0; j < function->count; j++)
			columns[i].put(s, function->first + j);
		opk_json_end_array(json);
	}
}

/* [INSTRUCTION, REASON, SAMPLES, ...]: most instructions have few reasons. */
static void put_stalls(struct source *s, const struct function *function)
{
	const struct opk_hot *hot = s->run->hot;
	struct opk_json_writer *json = &s->page->json;

	opk_json_key(json, "stalls");
	opk_json_begin_array(json);
	for (size_t i = 0; i < function->count; i++)
		for (size_t reason = 0; reason < opk_hot_reason_count(hot); reason++) {
			double samples = opk_hot_get(hot, function->first + i)->of_reasons[reason];

			if (!(samples > 0))
				continue;
			opk_json_put_u64(json, i);
			opk_json_put_u64(json, reason);
			opk_json_put_u64(json, (uint64_t)samples);
		}
	opk_json_end_array(json);
}

static void put_function(struct source *s, const struct function *function)
{
	const struct opk_row *row = row_of(s, function->first);
	struct opk_json_writer *json = &s->page->json;

	opk_json_begin_object(json);
	report_put_name(s->page, opk_kernel_names_get(s->names, row->range), row->range->kernel);
	opk_json_key(json, "launches");
	opk_json_put_u64(json, row->code->launches);
	put_columns(s, function);
	put_stalls(s, function);
	opk_json_end_object(json);
}

static void put_functions(struct source *s)
{
	struct opk_json_writer *json = &s->page->json;

	opk_json_key(json, "functions");
	opk_json_begin_array(json);
	for (size_t i = 0; i < s->shown; i++)
		put_function(s, &s->functions.items[i]);
	opk_json_end_array(json);
}

/* ---- text of source files ------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* The lines of all functions on the page, in the order of files. */
static int find_lines(struct source *s)
{
	for (size_t i = 0; i < s->shown; i++) {
		const struct function *function = &s->functions.items[i];

		for (size_t j = function->first; j < function->first + function->count; j++) {
			const struct opk_code *code = row_of(s, j)->code;
			struct source_line *line = code->own_line ? opk_list_add(&s->lines) : NULL;

			if (!code->own_line)
				continue;
			if (!line)
				return opk_nomem(s->page->ctx, "a page");
			line->file = number_of(s, &s->files, code->own_source);
			line->line = code->own_line;
		}
	}
	qsort(s->lines.items, s->lines.count, sizeof *s->lines.items, by_place);
	return OPK_OK;
}

/* Writes a line of the file; false in *found: the file, or the line, is not here. */
static int put_text(bool *found, struct source *s, size_t file, uint32_t line)
{
	const char *text;
	size_t length;
	opk_autofree char *copy = NULL, *sound = NULL, *fitting = NULL;

	TRY(opk_sources_line(&text, &length, s->page->sources, s->files.texts.items[file], line));
	*found = text != NULL;
	if (!text)
		return OPK_OK;
	copy = opk_strndup(text, length);
	sound = copy ? opk_utf8_repair(copy) : NULL;
	fitting = sound ? opk_utf8_fit(sound, MOST_LINE) : NULL;
	if (!fitting)
		return opk_nomem(s->page->ctx, "a page");
	opk_json_put_string(&s->page->json, fitting);
	return OPK_OK;
}

/* Writes [FIRST, [TEXT, ...]] for the lines around *i and around what follows closely. */
static int put_part(struct source *s, size_t *i)
{
	struct opk_json_writer *json = &s->page->json;
	const struct source_line *lines = s->lines.items;
	uint32_t line = lines[*i].line > AROUND ? lines[*i].line - AROUND : 1;
	size_t file = lines[*i].file;
	bool found = true;

	opk_json_begin_array(json);
	opk_json_put_u64(json, line);
	opk_json_begin_array(json);
	for (; *i < s->lines.count && lines[*i].file == file; ++*i) {
		uint64_t end = (uint64_t)lines[*i].line + AROUND;

		if (lines[*i].line > (uint64_t)line + 2 * AROUND)
			break;
		for (; found && line <= end; line++)
			TRY(put_text(&found, s, file, line));
	}
	opk_json_end_array(json);
	opk_json_end_array(json);
	return OPK_OK;
}

static int put_file_text(struct source *s, size_t *i, size_t file)
{
	struct opk_json_writer *json = &s->page->json;

	opk_json_key(json, "text");
	opk_json_begin_array(json);
	while (*i < s->lines.count && s->lines.items[*i].file == file)
		TRY(put_part(s, i));
	opk_json_end_array(json);
	return OPK_OK;
}

static int put_files(struct source *s)
{
	struct opk_json_writer *json = &s->page->json;
	size_t at = 0;

	if (s->page->sources)
		TRY(find_lines(s));
	opk_json_key(json, "files");
	opk_json_begin_array(json);
	for (size_t i = 0; i < s->files.texts.count; i++) {
		opk_json_begin_object(json);
		opk_json_key(json, "path");
		opk_json_put_string(json, s->files.texts.items[i]);
		if (s->page->sources)
			TRY(put_file_text(s, &at, i));
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
	return OPK_OK;
}

/* ---- the part ------------------------------------------------------------------------------- */

OPK_DEFINE_AUTO(opk_catalog)

/* Reasons, and what NVIDIA says of each; "": unknown. */
static int put_reasons(struct source *s)
{
	struct opk_json_writer *json = &s->page->json;
	const struct opk_hot *hot = s->run->hot;
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	TRY(opk_allow(s->page->ctx,
	              opk_catalog_new(&catalog, s->page->ctx, s->run->meta->chip, OPK_PROFILER_PC),
	              OPK_EFAILED));
	opk_json_key(json, "reasons");
	opk_json_begin_array(json);
	for (size_t i = 0; i < opk_hot_reason_count(hot); i++) {
		opk_autofree char *name = opk_printf(OPK_HOT_STALLED "%s", opk_hot_reason(hot, i));
		const struct opk_metric *metric = name && catalog ? opk_catalog_find(catalog, name)
		                                                  : NULL;

		opk_json_begin_object(json);
		opk_json_key(json, "name");
		opk_json_put_string(json, opk_hot_reason(hot, i));
		opk_json_add_string(json, "about", metric ? metric->description : "");
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
	return OPK_OK;
}

static void put_facts(struct source *s)
{
	struct opk_json_writer *json = &s->page->json;
	const struct opk_hot *hot = s->run->hot;

	opk_json_key(json, "sampled");
	opk_json_put_bool(json, opk_hot_is_sampled(hot));
	opk_json_key(json, "whole");
	put_count(json, opk_hot_whole(hot));
	opk_json_key(json, "embedded");
	opk_json_put_bool(json, s->page->sources != NULL);
	opk_json_add_u64(json, "left_out", s->functions.count - s->shown);
	opk_json_key(json, "share_left_out");
	report_number(json, s->left_out);
}

static int put_all(struct source *s)
{
	struct opk_json_writer *json = &s->page->json;

	opk_json_begin_object(json);
	put_facts(s);
	TRY(put_reasons(s));
	put_functions(s);
	TRY(put_files(s));
	opk_json_key(json, "texts");
	opk_json_put_strings(json, opk_strlist_items(&s->texts.texts), s->texts.texts.count);
	opk_json_end_object(json);
	return s->failed ? opk_nomem(s->page->ctx, "a page") : OPK_OK;
}

int report_write_source(struct report_page *page, const struct report_run *run,
                        const struct report_part *part)
{
	__attribute__((cleanup(clear))) struct source s = { .page = page, .run = run };

	if (!run->hot || !opk_hot_count(run->hot))
		return OPK_OK;
	TRY(opk_kernel_names_new(&s.names, page->ctx, page->style));
	TRY(find_functions(&s));
	choose_functions(&s);
	report_begin(
		page, run, part, part->title,
		"Where time goes in the code: source lines at the left, their instructions at the "
		"right. Each shows the other.");
	report_begin_data(page, run, part->id);
	TRY(put_all(&s));
	report_end_data(page);
	report_end(page);
	return OPK_OK;
}
