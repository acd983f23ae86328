/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random chains of trim, split, merge, recover, extract and import over the shipped recordings: the
 * result has the values of the first file, bit for bit, and so has its sum. Each chain has a seed,
 * which a failure prints: OFFPEAK_SEED=N runs only that chain.
 */
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "container/door.h"
#include "eval/door.h"
#include "folder.h"
#include "images/door.h"
#include "output/door.h"
#include "random.h"

enum {
	MANY_CHAINS = 150,
	FEW_CHAINS = 6, /* from this seed on, they contain every kind of step */
	FIRST_OF_FEW = 7,
	MOST_STEPS = 6,
	MOST_ROWS = 60,
	MOST_SAMPLES = 2000,
};

static const struct base {
	const char *name;
	bool samples;
	bool tables; /* of ranges: without one, an imported image has fewer facts */
} bases[] = {
	{ "simple", false, true },        { "nested", false, false },
	{ "legacy-user", false, false },  { "legacy-noinst", false, false },
	{ "roofline", false, true },      { "top-down", false, true },
	{ "tensor", false, true },        { "training-gemm", false, true },
	{ "training-nvtx", false, true }, { "wide-auto", false, true },
	{ "pm-small", true, false },
};

/* ---- rows ------------------------------------------------------------------------------- */

/* The facts of a row as text, without its values, and its keys. */
struct line {
	char *label, *kernel, *name;
	double *values;
};

struct rows {
	size_t count, columns;
	struct line *lines;
};

static void clear_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->lines[i].label);
		free(rows->lines[i].kernel);
		free(rows->lines[i].name);
		free(rows->lines[i].values);
	}
	free(rows->lines);
}

static char *label_of(const struct opk_row *row)
{
	static const struct opk_range unknown = { .kernel = "", .nvtx = "", .device = -1 };
	const struct opk_range *range = row->range ? row->range : &unknown;
	char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "%s|%s|%u,%u,%u|%u,%u,%u|%d|%s|%ju|%ju|%ju|%d",
	                          *range->kernel ? "" : row->name, range->kernel, range->grid[0],
	                          range->grid[1], range->grid[2], range->block[0], range->block[1],
	                          range->block[2], range->device, range->nvtx,
	                          (uintmax_t)range->launch, (uintmax_t)range->duration_ns,
	                          (uintmax_t)(row->range ? 0 : row->start_ns), row->spans_earlier),
	                 0);
	return text;
}

static void add_line(struct rows *rows, struct opk_evaluation *evaluation,
                     const struct opk_row *row)
{
	struct line *line;

	rows->lines = realloc(rows->lines, (rows->count + 1) * sizeof *rows->lines);
	line = &rows->lines[rows->count++];
	line->label = label_of(row);
	line->kernel = strdup(row->range ? row->range->kernel : "");
	line->name = strdup(row->name);
	line->values = calloc(rows->columns + 1, sizeof *line->values);
	memcpy(line->values, opk_evaluation_values(evaluation),
	       rows->columns * sizeof *line->values);
}

static void read_rows(struct rows *rows, struct opk_ctx *ctx, const char *path)
{
	struct opk_eval_options options = OPTIONS(options, .workers = random64() % 3,
	                                          .inside = &(struct opk_eval_inside){
							  .cupti_only = random64() % 4 == 0 });
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, &options));
	*rows = (struct rows){ .columns = opk_evaluation_column_count(evaluation) };
	for (;;) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		add_line(rows, evaluation, row);
	}
}

/* The sign and payload of NaN are unspecified: any NaN equals any other. */
static bool same_values(const struct line *a, const struct line *b, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (memcmp(&a->values[i], &b->values[i], sizeof *a->values)
		    && !(isnan(a->values[i]) && isnan(b->values[i])))
			return false;
	return true;
}

/* ---- a chain ---------------------------------------------------------------------------- */

struct chain {
	struct opk_ctx *ctx;
	uint64_t seed;
	const struct base *base;
	char source[300]; /* the first recording */
	struct rows rows; /* its own */
	char path[200];   /* the current file */
	size_t *order;    /* for each of its rows, the index in the source */
	size_t count;
	unsigned copies; /* of the source in it */
	size_t file;     /* number of files made so far */
	struct opk_buf story;
};

/* A failure prints the chain so far. */
#define chain_assert(chain, condition, ...)                                                        \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "OFFPEAK_SEED=%ju: %s%.*s\n", (uintmax_t)(chain)->seed,    \
			        (chain)->base->name, (int)(chain)->story.size,                     \
			        (const char *)(chain)->story.data);                                \
			ck_abort_msg(__VA_ARGS__);                                                 \
		}                                                                                  \
	} while (0)
#define chain_ok(chain, call)                                                                      \
	do {                                                                                       \
		int chain_code_ = (call);                                                          \
		chain_assert(chain, chain_code_ == OPK_OK, "%s: %d: %s", #call, chain_code_,       \
		             errors_of((chain)->ctx));                                             \
	} while (0)

static void new_path(struct chain *c, char path[200])
{
	snprintf(path, 200, "%s/%zu.opk", folder, c->file++);
}

/* The next file becomes the current one. */
static void step_to(struct chain *c, const char *path)
{
	unlink(c->path);
	strcpy(c->path, path);
}

static void trim(struct chain *c)
{
	struct opk_file *file;
	char to[200];

	opk_buf_add_text(&c->story, ", trim");
	new_path(c, to);
	chain_ok(c, opk_file_open(&file, c->ctx, c->path));
	chain_ok(c, opk_trim(c->ctx, file, to));
	opk_file_free(file);
	step_to(c, to);
}

/* A file without its end section has lost nothing else. */
static void recover(struct chain *c)
{
	struct opk_listing *findings;
	struct opk_file *file;
	char to[200];
	bool cut = random64() % 2;

	opk_buf_add_text(&c->story, cut ? ", cut and recover" : ", recover");
	chain_ok(c, opk_file_open(&file, c->ctx, c->path));
	if (cut)
		ck_assert_int_eq(truncate(c->path, (off_t)opk_file_size(file) - 8), 0);
	opk_file_free(file);
	new_path(c, to);
	chain_ok(c, opk_recover(&findings, c->ctx, c->path, to));
	opk_listing_free(findings);
	step_to(c, to);
}

static void double_rows(struct chain *c)
{
	const char *paths[] = { c->path, c->path };
	size_t most = c->base->samples ? MOST_SAMPLES : MOST_ROWS;
	char to[200];

	if (c->count * 2 > most)
		return;
	opk_buf_add_text(&c->story, ", merge with itself");
	new_path(c, to);
	chain_ok(c, opk_merge(c->ctx, paths, 2, NULL, to));
	c->order = realloc(c->order, 2 * c->count * sizeof *c->order);
	memcpy(c->order + c->count, c->order, c->count * sizeof *c->order);
	c->count *= 2;
	c->copies *= 2;
	step_to(c, to);
}

/* ---- split and merge -------------------------------------------------------------------- */

static const char *key_text(const struct chain *c, size_t i, bool by_name)
{
	const struct line *line = &c->rows.lines[c->order[i]];

	return by_name ? line->name : line->kernel;
}

/* Parts in the order of their first rows; `number` 0: by key. Returns the number of parts. */
static size_t assign(const struct chain *c, size_t *part_of, size_t number, bool by_name)
{
	size_t parts = 0;

	for (size_t i = 0; i < c->count; i++) {
		part_of[i] = number ? i / number : SIZE_MAX;
		for (size_t j = 0; !number && j < i && part_of[i] == SIZE_MAX; j++)
			if (!strcmp(key_text(c, i, by_name), key_text(c, j, by_name)))
				part_of[i] = part_of[j];
		if (part_of[i] == SIZE_MAX)
			part_of[i] = parts;
		parts = part_of[i] >= parts ? part_of[i] + 1 : parts;
	}
	return parts;
}

static void put_in_order(struct chain *c, const size_t *part_of, size_t parts, bool backwards)
{
	size_t *order = calloc(c->count + 1, sizeof *order), at = 0;

	for (size_t i = 0; i < parts; i++)
		for (size_t j = 0; j < c->count; j++)
			if (part_of[j] == (backwards ? parts - 1 - i : i))
				order[at++] = c->order[j];
	free(c->order);
	c->order = order;
}

static void split_and_merge(struct chain *c, const char *by, size_t *part_of, size_t parts)
{
	char(*paths)[200] = calloc(parts + 1, sizeof *paths), to[200];
	const char **list = calloc(parts + 1, sizeof *list);
	bool backwards = random64() % 2;
	struct opk_split *split;
	struct opk_file *file;

	opk_buf_add_printf(&c->story, ", split by %s and merge%s", by,
	                   backwards ? " backwards" : "");
	chain_ok(c, opk_file_open(&file, c->ctx, c->path));
	chain_ok(c, opk_split_new(&split, c->ctx, file, by));
	chain_assert(c, opk_split_count(split) == parts, "%zu parts, not %zu",
	             opk_split_count(split), parts);
	for (size_t i = 0; i < parts; i++) {
		new_path(c, paths[i]);
		list[i] = paths[i];
	}
	chain_ok(c, opk_split_write(c->ctx, split, list));
	opk_split_free(split);
	opk_file_free(file);
	for (size_t i = 0; i < parts; i++)
		list[i] = paths[backwards ? parts - 1 - i : i];
	new_path(c, to);
	chain_ok(c, opk_merge(c->ctx, list, parts, NULL, to));
	put_in_order(c, part_of, parts, backwards);
	for (size_t i = 0; i < parts; i++)
		unlink(paths[i]);
	step_to(c, to);
	free(list);
	free(paths);
}

static void divide(struct chain *c)
{
	size_t *part_of = calloc(c->count + 1, sizeof *part_of), number = 0;
	bool by_name = random64() % 2;
	char by[30];

	if (random64() % 2)
		number = 1 + random64() % c->count;
	if (number)
		snprintf(by, sizeof by, "%zu", number);
	else
		strcpy(by, by_name ? "name" : "kernel");
	if (!c->base->samples)
		split_and_merge(c, by, part_of, assign(c, part_of, number, by_name));
	free(part_of);
}

/* ---- extract and import ----------------------------------------------------------------- */

static void import_image(struct chain *c, struct opk_file *file, const struct opk_segment *segment,
                         const char *to)
{
	struct opk_import_options options = OPK_INIT(options);
	struct opk_eval_options eval = OPK_INIT(eval);
	opk_autobuf struct opk_buf ranges = { 0 };
	const struct opk_meta *meta;
	void *image, *table = NULL;
	size_t size;

	chain_ok(c, opk_file_meta(&meta, c->ctx, file));
	eval.metrics = meta->metrics;
	eval.metric_count = meta->metric_count;
	options.eval = &eval;
	options.no_instances = !meta->keep_instances;
	chain_ok(c, opk_file_read(&image, &size, c->ctx, file, segment->image));
	for (size_t i = segment->image + 1; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_RANGES
		    && opk_file_section(file, i)->link == segment->image)
			chain_ok(c, opk_file_read(&table, &options.ranges_size, c->ctx, file, i));
	options.ranges = table;
	chain_ok(c, opk_import(c->ctx, image, size, &options, to));
	free(image);
	free(table);
}

/* Labels and derived metrics come from the recording's set, not from the image. */
static bool is_plain(struct chain *c, struct opk_file *file)
{
	const struct opk_meta *meta;

	chain_ok(c, opk_file_meta(&meta, c->ctx, file));
	return !meta->label_count && !meta->derived_count && !meta->hidden_count
	       && !meta->column_count && !meta->metric_pass_count;
}

static void import(struct chain *c)
{
	const struct opk_segment *segments;
	const char *list[300];
	char paths[300][200], to[200];
	freed(opk_file) *file = NULL;
	size_t count;

	chain_ok(c, opk_file_open(&file, c->ctx, c->path));
	chain_ok(c, opk_file_segments(&segments, &count, c->ctx, file));
	if (!c->base->samples && count <= 300 && is_plain(c, file)) {
		opk_buf_add_text(&c->story, ", extract and import");
		for (size_t i = 0; i < count; i++) {
			new_path(c, paths[i]);
			list[i] = paths[i];
			import_image(c, file, &segments[i], paths[i]);
		}
		new_path(c, to);
		chain_ok(c, opk_merge(c->ctx, list, count, NULL, to));
		for (size_t i = 0; i < count; i++)
			unlink(paths[i]);
		step_to(c, to);
	}
}

/* ---- results ---------------------------------------------------------------------------- */

static int append(void *data, const void *bytes, size_t size)
{
	opk_buf_add(data, bytes, size);
	return OPK_OK;
}

static char *write_rows(struct chain *c, const struct rows *rows, enum opk_format format)
{
	struct opk_out_options options = OPK_INIT(options);
	struct opk_column *columns = calloc(rows->columns, sizeof *columns);
	union opk_cell *cells = calloc(rows->columns, sizeof *cells);
	char(*names)[24] = calloc(rows->columns, sizeof *names);
	struct opk_buf text = { 0 };
	freed(opk_out) *out = NULL;

	for (size_t i = 0; i < rows->columns; i++) {
		snprintf(names[i], sizeof names[i], "c%zu", i);
		columns[i] = (struct opk_column){ names[i], OPK_CELL_DOUBLE };
	}
	options.format = format;
	chain_ok(c, opk_out_new(&out, c->ctx, &options, append, &text));
	chain_ok(c, opk_out_table(out, "rows", columns, rows->columns));
	for (size_t i = 0; i < rows->count; i++) {
		for (size_t j = 0; j < rows->columns; j++)
			cells[j].number = rows->lines[i].values[j];
		chain_ok(c, opk_out_row(out, cells));
	}
	chain_ok(c, opk_out_finish(out));
	free(columns);
	free(cells);
	free(names);
	return opk_buf_take_text(&text);
}

/* A parser reads the rows' doubles from the text, bit for bit; JSON has no infinity. */
static void compare_text(struct chain *c, const struct rows *rows, enum opk_format format)
{
	char *text = write_rows(c, rows, format), *at = text;

	if (format == OPK_FORMAT_CSV)
		at = strchr(text, '\n') + 1;
	for (size_t i = 0; i < rows->count * rows->columns; i++) {
		double wanted = rows->lines[i / rows->columns].values[i % rows->columns], got;

		at = format == OPK_FORMAT_CSV ? at : strchr(at, ':') + 1;
		got = strncmp(at, "null", 4) ? strtod(at, NULL) : (double)NAN;
		chain_assert(c,
		             isfinite(wanted) ? !memcmp(&wanted, &got, sizeof got)
		             : isnan(got)     ? isnan(wanted) || format != OPK_FORMAT_CSV
		                              : got == wanted,
		             "value %zu as text: %.17g", i, wanted);
		at += strcspn(at, ",\r\n") + 1;
	}
	free(text);
}

static void compare(struct chain *c)
{
	struct rows now;

	read_rows(&now, c->ctx, c->path);
	chain_assert(c, now.count == c->count && now.columns == c->rows.columns,
	             "%zu rows of %zu columns, not %zu of %zu", now.count, now.columns, c->count,
	             c->rows.columns);
	for (size_t i = 0; i < c->count; i++) {
		const struct line *a = &now.lines[i], *b = &c->rows.lines[c->order[i]];

		chain_assert(c, !strcmp(a->label, b->label), "row %zu: '%s', not '%s'", i, a->label,
		             b->label);
		chain_assert(c, same_values(a, b, now.columns), "row %zu, '%s': other values", i,
		             a->label);
	}
	compare_text(c, &now, OPK_FORMAT_CSV);
	compare_text(c, &now, OPK_FORMAT_NDJSON);
	clear_rows(&now);
}

static void make_sum(struct chain *c, char to[200], const char *const *paths, size_t count,
                     const char *key, bool part)
{
	struct opk_sum_options options = OPTIONS(options, .key = key, .level = "all", .part = part);

	new_path(c, to);
	chain_ok(c, opk_sum(c->ctx, paths, count, &options, to));
}

static void sum_of(struct chain *c, struct rows *rows, const char *const *paths, size_t count,
                   const char *key)
{
	char to[200];

	make_sum(c, to, paths, count, key, false);
	read_rows(rows, c->ctx, to);
	unlink(to);
}

/* A sum of sums, of one file or two each, equals the sum of the files, row by row. */
static void compare_parts(struct chain *c, const struct rows *wanted, const char *const *paths,
                          size_t count, const char *key)
{
	char(*parts)[200] = calloc(count + 1, sizeof *parts);
	const char **names = calloc(count + 1, sizeof *names);
	size_t made = 0;
	struct rows got;

	for (size_t i = 0; i < count; made++) {
		size_t some = i + 1 < count ? 1 + random64() % 2 : 1;

		make_sum(c, parts[made], paths + i, some, key, true);
		names[made] = parts[made];
		i += some;
	}
	sum_of(c, &got, names, made, key);
	chain_assert(c, wanted->count == got.count, "%zu sums of parts, not %zu", got.count,
	             wanted->count);
	for (size_t i = 0; i < got.count; i++)
		chain_assert(c,
		             !strcmp(got.lines[i].label, wanted->lines[i].label)
		                     && same_values(&got.lines[i], &wanted->lines[i], got.columns),
		             "sum of parts %zu, '%s', is not that of the files", i,
		             got.lines[i].label);
	for (size_t i = 0; i < made; i++)
		unlink(parts[i]);
	clear_rows(&got);
	free(parts);
	free(names);
}

/* Counters are whole numbers: the order of the additions does not matter. */
static void compare_sums(struct chain *c)
{
	static const char *const keys[] = { "kernel", "name", "device", "all", "shape,nvtx" };
	const char *key = keys[random64() % COUNT(keys)], *now = c->path;
	const char **sources = calloc(c->copies + 1, sizeof *sources);
	struct rows wanted, got;

	opk_buf_add_printf(&c->story, ", sum by %s", key);
	for (size_t i = 0; i < c->copies; i++)
		sources[i] = c->source;
	sum_of(c, &wanted, sources, c->copies, key);
	sum_of(c, &got, &now, 1, key);
	chain_assert(c, wanted.count == got.count, "%zu sums, not %zu", got.count, wanted.count);
	for (size_t i = 0; i < got.count; i++) {
		bool found = false;

		for (size_t j = 0; !found && j < wanted.count; j++)
			found = same_values(&got.lines[i], &wanted.lines[j], got.columns);
		chain_assert(c, found, "sum %zu, '%s', is no sum of the source", i,
		             got.lines[i].label);
	}
	compare_parts(c, &wanted, sources, c->copies, key);
	clear_rows(&wanted);
	clear_rows(&got);
	free(sources);
}

static void copy_source(struct chain *c)
{
	opk_autobuf struct opk_buf bytes = { 0 };
	char piece[65536];
	FILE *from = fopen(c->source, "rb"), *to;

	ck_assert_ptr_nonnull(from);
	for (size_t size; (size = fread(piece, 1, sizeof piece, from)) > 0;)
		opk_buf_add(&bytes, piece, size);
	fclose(from);
	new_path(c, c->path);
	to = fopen(c->path, "wb");
	ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, to), bytes.size);
	fclose(to);
}

static void begin(struct chain *c, uint64_t seed)
{
	*c = (struct chain){ .ctx = new_ctx(), .seed = seed, .copies = 1 };
	c->ctx->log = NULL;
	/* Consecutive seeds would begin alike. */
	random_state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 8; i++)
		random64();
	c->base = &bases[random64() % COUNT(bases)];
	snprintf(c->source, sizeof c->source, TEST_DATA_DIR "/recordings/gh100-%s.opk",
	         c->base->name);
	read_rows(&c->rows, c->ctx, c->source);
	c->count = c->rows.count;
	c->order = calloc(c->count + 1, sizeof *c->order);
	for (size_t i = 0; i < c->count; i++)
		c->order[i] = i;
	copy_source(c);
}

static void run_chain(uint64_t seed)
{
	static void (*const steps[])(struct chain *) = { trim,   recover, double_rows,
		                                         divide, divide,  import };
	struct chain c;

	begin(&c, seed);
	for (size_t left = 1 + random64() % MOST_STEPS; left; left--)
		steps[random64() % COUNT(steps)](&c);
	compare(&c);
	if (!c.base->samples)
		compare_sums(&c);
	unlink(c.path);
	clear_rows(&c.rows);
	free(c.order);
	opk_buf_clear(&c.story);
	opk_ctx_free(c.ctx);
}

TEST(chains)
{
	const char *seed = getenv("OFFPEAK_SEED");
	uint64_t first = is_long() ? 0 : FIRST_OF_FEW;

	if (seed) {
		run_chain(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 0; i < (is_long() ? MANY_CHAINS : FEW_CHAINS); i++)
		run_chain(first + i);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder, .needs = have_cupti, .seconds = 1800);
