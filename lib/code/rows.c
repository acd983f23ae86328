/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of instructions, lines or functions, each with the sums of its counts. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/option_struct.h"
#include "base/sum.h"
#include "code/code_inside.h"

struct maker {
	struct opk_ctx *ctx;
	const struct opk_code_counts *counts;
	enum opk_rows per;
	struct opk_made_rows made;
	struct opk_texts texts; /* of the rows, each once */
	struct opk_strlist keys;
	struct opk_index numbers; /* of rows, by key */
	/* Launches of each row's modules that are complete. */
	uint64_t (*before)[OPK_COUNT_KINDS];
	bool *launches_unknown; /* of each row's samples */
	size_t width;           /* metrics to evaluate */
	size_t *metrics;        /* their numbers among the counts', or SIZE_MAX */
};

static const char *text_of(const struct maker *m, uint32_t number)
{
	return opk_code_text(m->counts, number);
}

/* Places with the same key make one row. */
static char *key_of(const struct maker *m, const struct opk_code_place *place)
{
	const struct opk_instruction *at = &place->at;

	if (m->per == OPK_ROWS_FUNCTIONS)
		return opk_printf("%" PRIx64 " %s", at->module, at->function);
	if (m->per == OPK_ROWS_LINES)
		return opk_printf("%s %u %s", at->function, place->own_line,
		                  text_of(m, place->own_source));
	return opk_printf("%" PRIx64 " %s %u", at->module, at->function, at->offset);
}

static const char *keep(struct maker *m, const char *text)
{
	return opk_texts_keep(&m->texts, text);
}

static const char *name_of(const struct opk_code_place *place)
{
	return *place->at.name ? place->at.name : place->at.function;
}

static void describe_row(struct maker *m, size_t row, const struct opk_code_place *place)
{
	struct opk_range *range = &m->made.ranges[row];
	struct opk_code *code = &m->made.code[row];

	*range = (struct opk_range){ OPK_UNKNOWN_RANGE };
	range->symbol = keep(m, place->at.function);
	range->kernel = range->name = keep(m, name_of(place));
	*code = (struct opk_code){
		.module = place->at.module,
		.of_module = m->per != OPK_ROWS_LINES,
		.is_one = m->per == OPK_ROWS_INSTRUCTIONS,
		.offset = place->at.offset,
		.opcode = "",
		.sass = "",
		.source = "",
		.inlined_at = "",
		.own_source = keep(m, text_of(m, place->own_source)),
		.own_line = place->own_line,
		.lines = place->lines,
	};
	if (m->per == OPK_ROWS_LINES) {
		code->line = place->own_line;
		code->source = keep(m, text_of(m, place->own_source));
	} else if (m->per == OPK_ROWS_INSTRUCTIONS) {
		code->line = place->line;
		code->source = keep(m, text_of(m, place->source));
		code->inlined_at = keep(m, text_of(m, place->inlined_at));
		code->opcode = keep(m, text_of(m, place->opcode));
		code->sass = keep(m, text_of(m, place->sass));
	}
}

static int find_row(size_t *row, struct maker *m, const struct opk_code_place *place)
{
	opk_autofree char *key = key_of(m, place);

	*row = m->made.count;
	if (!key)
		return opk_nomem(m->ctx, "rows of code");
	if (opk_index_find(row, &m->numbers, key))
		return OPK_OK;
	if (!opk_strlist_add(&m->keys, key)
	    || !opk_index_add(&m->numbers, m->keys.items[*row], *row, NULL))
		return opk_nomem(m->ctx, "rows of code");
	describe_row(m, *row, place);
	for (size_t i = 0; i < m->width; i++)
		m->made.values[*row * m->width + i] = (double)NAN;
	m->made.count++;
	return OPK_OK;
}

/* All instructions of a function are launched alike; a line may be in several modules. */
static void add_launches(struct maker *m, size_t row, const struct opk_code_place *place)
{
	struct opk_code *code = &m->made.code[row];

	for (size_t kind = 0; kind < OPK_COUNT_KINDS; kind++) {
		uint64_t *launches = &code->launches_of[kind], *before = &m->before[row][kind];

		if (code->module != place->at.module)
			*before = *launches;
		if (*before + place->launches[kind] > *launches)
			*launches = *before + place->launches[kind];
		if (*launches > code->launches)
			code->launches = *launches;
	}
	code->module = place->at.module;
	m->launches_unknown[row] |= place->launches_unknown;
}

/* Launches in one of several modules are not all of a line's. */
static void forget_launches(struct maker *m)
{
	for (size_t row = 0; row < m->made.count; row++) {
		struct opk_code *code = &m->made.code[row];

		if (!m->launches_unknown[row])
			continue;
		code->launches_of[OPK_SAMPLED] = 0;
		code->launches = code->launches_of[OPK_COUNTED];
	}
}

static void add_place(struct maker *m, size_t row, const struct opk_code_place *place,
                      const double *counts)
{
	struct opk_code *code = &m->made.code[row];
	double *values = m->made.values + row * m->width;

	code->instructions++;
	add_launches(m, row, place);
	for (size_t i = 0; i < m->width; i++) {
		double value = m->metrics[i] == SIZE_MAX ? (double)NAN : counts[m->metrics[i]];

		if (!isnan(value))
			values[i] = isnan(values[i]) ? value : values[i] + value;
	}
}

/* ---- launches of functions -------------------------------------------------------------- */

static bool is_one_function(const struct opk_code_place *a, const struct opk_code_place *b)
{
	return a->at.module == b->at.module && !strcmp(a->at.function, b->at.function);
}

enum { UNKNOWN = 0 };

/*
 * Adds up launches by name: all instructions of a function in a module have the same number. A sum
 * that lacks a module's launches stays at the greatest number.
 */
static int add_sampled(uint64_t *sums, struct opk_index *numbers, const struct maker *m)
{
	const struct opk_code_place *places = m->counts->places.items, *last = NULL;
	size_t names = 0, number;

	for (size_t i = 0; i < m->counts->places.count; i++) {
		const struct opk_code_place *place = &places[m->counts->order[i]];
		const char *name = name_of(place);

		if (last && is_one_function(last, place))
			continue;
		last = place;
		if (!opk_index_find(&number, numbers, name)) {
			number = names++;
			if (!opk_index_add(numbers, name, number, NULL))
				return opk_nomem(m->ctx, "rows of code");
		}
		opk_sum_add(&sums[number],
		            place->launches_unknown ? UINT64_MAX : place->launches[OPK_SAMPLED]);
	}
	return OPK_OK;
}

static int find_sampled(struct maker *m)
{
	opk_autofree uint64_t *sums = opk_alloc_array(m->counts->places.count + 1, sizeof *sums);
	opk_autoindex struct opk_index numbers = { 0 };
	size_t number = 0;

	TRY(sums ? add_sampled(sums, &numbers, m) : opk_nomem(m->ctx, "rows of code"));
	for (size_t i = 0; i < m->made.count; i++)
		if (opk_index_find(&number, &numbers, m->made.ranges[i].kernel))
			m->made.code[i].sampled_launches = sums[number] == UINT64_MAX
			                                           ? UNKNOWN
			                                           : sums[number];
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static int make_rows(struct maker *m)
{
	const struct opk_code_counts *counts = m->counts;
	size_t count = counts->places.count, row;

	m->made.ranges = opk_alloc_array(count + 1, sizeof *m->made.ranges);
	m->made.code = opk_alloc_array(count + 1, sizeof *m->made.code);
	m->made.values = opk_alloc_array(count * m->width + 1, sizeof *m->made.values);
	m->before = opk_alloc_array(count + 1, sizeof *m->before);
	m->launches_unknown = opk_alloc_array(count + 1, sizeof *m->launches_unknown);
	if (!m->made.ranges || !m->made.code || !m->made.values || !m->before
	    || !m->launches_unknown)
		return opk_nomem(m->ctx, "rows of code");
	for (size_t i = 0; i < count; i++) {
		const struct opk_code_place *place = &counts->places.items[counts->order[i]];

		TRY(find_row(&row, m, place));
		add_place(m, row, place, counts->values + counts->order[i] * counts->metrics.count);
	}
	forget_launches(m);
	if (m->texts.failed)
		return opk_nomem(m->ctx, "rows of code");
	m->made.texts = m->texts.list;
	m->texts.list = (struct opk_strlist){ 0 };
	return find_sampled(m);
}

static int find_metrics(struct maker *m, const struct opk_evaluation *evaluation)
{
	m->width = opk_evaluation_metric_count(evaluation);
	m->metrics = opk_alloc_array(m->width + 1, sizeof *m->metrics);
	if (!m->metrics)
		return opk_nomem(m->ctx, "rows of code");
	for (size_t i = 0; i < m->width; i++)
		if (!opk_index_find(&m->metrics[i], &m->counts->metric_numbers,
		                    opk_evaluation_metric(evaluation, i)))
			m->metrics[i] = SIZE_MAX;
	return OPK_OK;
}

static void clear_maker(struct maker *m)
{
	opk_made_rows_clear(&m->made);
	opk_texts_clear(&m->texts);
	opk_strlist_clear(&m->keys);
	opk_index_clear(&m->numbers);
	free(m->metrics);
	free(m->before);
	free(m->launches_unknown);
}

static bool index_metrics(struct opk_index *names, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!opk_index_add(names, meta->metrics[i], i, NULL))
			return false;
	return true;
}

/* The set's columns, and after them what was counted besides, as by another set. */
static int choose_metrics(struct maker *m, struct opk_eval_options *options,
                          const struct opk_meta *meta)
{
	opk_autoindex struct opk_index names = { 0 };
	struct opk_strlist *chosen = &m->made.metrics;
	bool is_code = opk_profiler_is_code(meta->profiler);
	size_t number;

	if (options->metrics || options->set)
		return OPK_OK;
	if (is_code && (!opk_meta_list_columns(chosen, meta) || !index_metrics(&names, meta)))
		return opk_nomem(m->ctx, "rows of code");
	for (size_t i = 0; i < m->counts->metrics.count; i++)
		if (!opk_index_find(&number, &names, m->counts->metrics.items[i])
		    && !opk_strlist_add(chosen, m->counts->metrics.items[i]))
			return opk_nomem(m->ctx, "rows of code");
	options->metrics = opk_strlist_items(chosen);
	options->metric_count = chosen->count;
	return OPK_OK;
}

static bool is_sass(const char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strcspn(text, " \t!<>=");
	return (length == 4 && !memcmp(text, "sass", 4))
	       || (length == 6 && !memcmp(text, "opcode", 6));
}

bool opk_code_names_sass(const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_sass(texts[i]))
			return true;
	return false;
}

int opk_code_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *given, enum opk_rows rows)
{
	OPK_OPTIONS(opk_eval_options, options, given);
	__attribute__((cleanup(clear_maker))) struct maker m = { .ctx = ctx, .per = rows };
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;
	opk_autocounts struct opk_code_counts counts = { 0 };
	const struct opk_meta *meta;

	if (!options.allow_incomplete)
		TRY(opk_file_check_complete(ctx, file, OPK_REMEDY_ALLOW_INCOMPLETE));
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_code_counts_read(&counts, ctx, file));
	if (rows != OPK_ROWS_FUNCTIONS)
		TRY(opk_code_look_up(&counts, ctx, file,
		                     rows == OPK_ROWS_INSTRUCTIONS
		                             && !opk_eval_inside(&options)->without_sass));
	if (opk_eval_inside(&options)->interval)
		*opk_eval_inside(&options)->interval = counts.interval;
	m.counts = &counts;
	TRY(choose_metrics(&m, &options, meta));
	TRY(opk_evaluation_begin_made(&evaluation, ctx, file, OPK_PROFILER_SASS, &options));
	TRY(find_metrics(&m, evaluation));
	TRY(make_rows(&m));
	TRY(opk_evaluation_put_made(evaluation, ctx, &m.made, NULL));
	*out = opk_take(evaluation);
	return OPK_OK;
}
