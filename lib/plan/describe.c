/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes one metric with all that is known about it, from the cache or from describe_ask.c,
 * whose text it caches: lines of "chip NAME", "scope NAME", "counter NAME DOMAIN..." and
 * "constituent TYPE NAME", with tabs between the words.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "chip/chip.h"
#include "plan/door.h"
#include "plan/plan.h"

/* ---- the text in the cache */

static const char kind[] = "description";

static char *whom_of(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	return opk_cache_whom(ctx, "%s %s %s\n", catalog->chip,
	                      opk_profiler_name(catalog->profiler), full);
}

static char *load_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);
	size_t size;

	return opk_cache_load(&size, ctx, kind, whom);
}

static void store_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full,
                         const char *text)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);

	opk_cache_store(ctx, kind, whom, text, strlen(text));
}

/* ---- the description */

struct opk_description {
	struct opk_catalog *catalog, *own; /* `own` is NULL if the caller owns the catalog */
	struct opk_legacy *legacy;         /* NULL: a metric's description */
	struct opk_full_name of;
	char *name;
	char *text;
	struct opk_strlist single_pass;
};

/* ---- which one */

/* "dram_bytes" for "dram__bytes". */
static bool differs_in_underscores(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_')
			a++;
		while (*b == '_')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

static int fail_unknown(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *name)
{
	opk_autostrlist struct opk_strlist near = { 0 };
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *nearest = NULL;
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	struct opk_nv_release release = { .old = false };

	if (!opk_catalog_suggest(&near, catalog, name, OPK_MAX_SUGGESTIONS))
		return opk_nomem(ctx, "names");
	/* Names of nvprof have no double underscore; a mistyped name of today may lack it, too. */
	if (!strstr(name, "__") && !(near.count && differs_in_underscores(near.items[0], name)))
		TRY(opk_legacy_suggest(&near, ctx, name));
	for (size_t i = 0; i < near.count && i < OPK_MAX_SUGGESTIONS; i++)
		opk_buf_add_printf(&list, "%s%s", i ? ", " : "; the nearest: ", near.items[i]);
	nearest = opk_buf_take_text(&list);
	if (!nearest)
		return opk_nomem(ctx, "names");
	if (metric)
		return opk_fail(ctx, OPK_EUSAGE, "%s has no rollup or submetric '%s'%s",
		                metric->name, name + strlen(metric->name), nearest);
	if (!opk_profiler_is_code(catalog->profiler))
		release = opk_nv_release(ctx);
	return opk_fail(ctx, OPK_EUSAGE, "%s has no metric '%s'%s%s%s%s", catalog->chip, name,
	                opk_profiler_phrase(catalog->profiler), release.old ? " in " : "",
	                release.old ? release.name : "", nearest);
}

static int find(struct opk_full_name *out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                const char *name)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	const char *suffix = metric ? name + strlen(metric->name) : NULL;
	size_t submetric = 0;

	if (metric && !*suffix)
		submetric = opk_catalog_plainest(catalog, metric);
	else if (!metric || !opk_catalog_find_submetric(&submetric, catalog, metric, suffix))
		return fail_unknown(ctx, catalog, name);
	*out = (struct opk_full_name){ metric, submetric };
	return OPK_OK;
}

/* ---- the text in pieces */

struct pieces {
	struct opk_strlist chips;
	struct opk_listing *counters, *constituents;
	enum opk_scope scope;
};

static void clear_pieces(struct pieces *pieces)
{
	opk_strlist_clear(&pieces->chips);
	opk_listing_free(pieces->counters);
	opk_listing_free(pieces->constituents);
}

#define autopieces __attribute__((cleanup(clear_pieces)))

static bool take_counter(struct pieces *pieces, char *rest)
{
	opk_autostrlist struct opk_strlist domains = { 0 };
	const char *name = strsep(&rest, "\t");

	while (rest)
		if (!opk_strlist_add(&domains, strsep(&rest, "\t")))
			return false;
	opk_listing_row(pieces->counters, cell_text(name), cell_texts(&domains));
	return true;
}

static bool take_constituent(struct pieces *pieces, char *rest)
{
	const char *name = strsep(&rest, "\t");
	enum opk_metric_type type;

	if (!rest || !opk_metric_type_parse(&type, name))
		return false;
	opk_listing_row(pieces->constituents, cell_text(rest), cell_text(name));
	return true;
}

static bool take_line(struct pieces *pieces, char *line)
{
	const char *what = strsep(&line, "\t");

	if (!line)
		return !*what;
	if (!strcmp(what, "chip"))
		return opk_strlist_add(&pieces->chips, line);
	if (!strcmp(what, "counter"))
		return take_counter(pieces, line);
	if (!strcmp(what, "constituent"))
		return take_constituent(pieces, line);
	if (strcmp(what, "scope"))
		return false;
	pieces->scope = strcmp(line, opk_scope_name(OPK_SCOPE_DEVICE)) ? OPK_SCOPE_CONTEXT
	                                                               : OPK_SCOPE_DEVICE;
	return true;
}

/* False if the text is not ours, or memory is out. Lists that are NULL stay NULL. */
static bool cut(struct pieces *pieces, const char *text)
{
	opk_autofree char *copy = opk_strdup(text);
	char *rest = copy;

	for (char *line; (line = strsep(&rest, "\n"));)
		if (!take_line(pieces, line))
			return false;
	return copy != NULL;
}

static bool is_sound(const char *text)
{
	autopieces struct pieces pieces = { 0 };

	return cut(&pieces, text);
}

/* ---- all of it */

static int ask(struct opk_description *d, struct opk_ctx *ctx)
{
	opk_autobuf struct opk_buf text = { 0 };
	bool complete;

	TRY(opk_describe_ask(&text, &complete, ctx, d->catalog, d->of.metric, d->name));
	d->text = opk_buf_take_text(&text);
	if (d->text && complete && !opk_profiler_is_code(d->catalog->profiler))
		store_cached(ctx, d->catalog, d->name, d->text);
	return d->text ? OPK_OK : opk_nomem(ctx, "a description");
}

static int count_passes(struct opk_ctx *ctx, struct opk_catalog *catalog,
                        const struct opk_metric *metric)
{
	size_t count = opk_catalog_submetric_count(catalog, metric);
	opk_autofree struct opk_full_name *names = opk_alloc_array(count + 1, sizeof *names);

	for (size_t i = 0; names && i < count; i++)
		names[i] = (struct opk_full_name){ metric, i };
	return names ? opk_catalog_count_passes(catalog, ctx, names, count, NULL)
	             : opk_nomem(ctx, "submetrics");
}

static bool is_in(const struct opk_single_pass_set *set, const char *base)
{
	size_t length = strlen(base);

	for (size_t i = 0; i < set->metric_count; i++)
		if (opk_base_length(set->metrics[i]) == length
		    && !strncmp(set->metrics[i], base, length))
			return true;
	return false;
}

OPK_DEFINE_AUTO(opk_single_pass_sets)

/* The profiler's single-pass sets that have the metric; no sets if the library is missing. */
static int find_sets(struct opk_description *d, struct opk_ctx *ctx)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = NULL;
	int code = opk_single_pass_sets_new(&sets, ctx, d->catalog->chip);

	if (code)
		return opk_allow(ctx, code, OPK_ENVIDIA);
	for (size_t i = 0; i < opk_single_pass_sets_count(sets); i++) {
		const struct opk_single_pass_set *set = opk_single_pass_sets_get(sets, i);

		if (set->profiler == d->catalog->profiler && is_in(set, d->of.metric->name)
		    && !opk_strlist_add(&d->single_pass, set->name))
			return opk_nomem(ctx, "a description");
	}
	return OPK_OK;
}

static int fill_metric(struct opk_description *d, struct opk_ctx *ctx, const char *name)
{
	TRY(find(&d->of, ctx, d->catalog, name));
	TRY(count_passes(ctx, d->catalog, d->of.metric));
	d->name = opk_printf("%s%s", d->of.metric->name,
	                     opk_catalog_submetric_of(d->catalog, &d->of).suffix);
	TRY(d->name ? OPK_OK : opk_nomem(ctx, "a description"));
	if (opk_profiler_is_code(d->catalog->profiler))
		return ask(d, ctx);
	TRY(find_sets(d, ctx));
	d->text = load_cached(ctx, d->catalog, d->name);
	if (d->text && is_sound(d->text))
		return OPK_OK;
	free(opk_take(d->text));
	return ask(d, ctx);
}

OPK_DEFINE_AUTO(opk_description)

int opk_catalog_describe(struct opk_description **out, struct opk_ctx *ctx,
                         struct opk_catalog *catalog, const char *name)
{
	opk_auto(opk_description) struct opk_description *d = opk_alloc(sizeof *d);

	if (!d)
		return opk_nomem(ctx, "a description");
	d->catalog = catalog;
	if (!opk_catalog_find(catalog, name))
		TRY(opk_legacy_new(&d->legacy, ctx, catalog, name));
	if (!d->legacy)
		TRY(fill_metric(d, ctx, name));
	*out = opk_take(d);
	return OPK_OK;
}

OPK_DEFINE_AUTO(opk_catalog)

int opk_description_new(struct opk_description **out, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler, const char *name)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	TRY(opk_catalog_new(&catalog, ctx, chip, profiler));
	TRY(opk_catalog_complete(catalog, ctx));
	TRY(opk_catalog_describe(out, ctx, catalog, name));
	(*out)->own = opk_take(catalog);
	return OPK_OK;
}

int opk_description_find(struct opk_description **out, struct opk_ctx *ctx, const char *chip,
                         const char *name)
{
	struct opk_errors_mark mark;
	int code = opk_description_new(out, ctx, chip, OPK_PROFILER_RANGE, name);

	if (code != OPK_EUSAGE)
		return code;
	opk_errors_mark(&mark, ctx);
	for (enum opk_profiler i = OPK_PROFILER_PM; i < OPK_PROFILER_COUNT; i++) {
		opk_clear_errors(ctx);
		code = opk_description_new(out, ctx, chip, i, name);
		if (!code || code == OPK_ENOMEM)
			return opk_errors_keep(ctx, &mark, code);
	}
	opk_errors_rewind(ctx, &mark);
	return OPK_EUSAGE;
}

void opk_description_free(struct opk_description *d)
{
	if (!d)
		return;
	opk_legacy_free(d->legacy);
	opk_catalog_free(d->own);
	opk_strlist_clear(&d->single_pass);
	free(d->name);
	free(d->text);
	free(d);
}

/* ---- as lists */

static struct opk_listing *list_metric(const struct opk_description *d, const struct pieces *pieces)
{
	struct opk_listing *rows = opk_listing_new(
		"chip profiler metric base type hw_unit dim_unit description passes| method status "
		"other_chips* single_pass* scope");
	const struct opk_metric *metric = d->of.metric;
	struct opk_submetric sub;

	if (d->legacy)
		return rows;
	sub = opk_catalog_submetric_of(d->catalog, &d->of);
	opk_listing_row(rows, cell_text(d->catalog->chip),
	                cell_text(opk_profiler_name(d->catalog->profiler)), cell_text(d->name),
	                cell_text(metric->name), cell_text(opk_metric_type_name(metric->type)),
	                cell_text(metric->hw_unit), cell_text(sub.dim_unit),
	                cell_text(metric->description), cell_passes(sub.passes),
	                cell_text(opk_method_name(sub.method)),
	                cell_text(opk_refusal_name(sub.passes)), cell_texts(&pieces->chips),
	                cell_texts(&d->single_pass), cell_text(opk_scope_name(pieces->scope)));
	return rows;
}

static struct opk_listing *list_submetrics(const struct opk_description *d)
{
	struct opk_listing *rows = opk_listing_new("submetric dim_unit passes| method status");
	size_t count = d->legacy ? 0 : opk_catalog_submetric_count(d->catalog, d->of.metric);

	for (size_t i = 0; i < count; i++) {
		struct opk_submetric sub = opk_catalog_submetric(d->catalog, d->of.metric, i);

		opk_listing_row(rows, cell_text(sub.suffix), cell_text(sub.dim_unit),
		                cell_passes(sub.passes), cell_text(opk_method_name(sub.method)),
		                cell_text(opk_refusal_name(sub.passes)));
	}
	return rows;
}

static struct opk_listing *list_legacy(const struct opk_description *d)
{
	struct opk_listing *rows = opk_listing_new(
		"chip name kind formula unit nvidia note lack other_kind other_formula");
	const struct opk_legacy *legacy = d->legacy;

	if (legacy)
		opk_listing_row(rows, cell_text(d->catalog->chip), cell_text(legacy->name),
		                cell_text(legacy->kind),
		                cell_text(legacy->lack ? NULL : legacy->formula),
		                cell_text(legacy->unit), cell_text(legacy->nvidia),
		                cell_text(legacy->note), cell_text(legacy->lack),
		                cell_text(legacy->other_kind), cell_text(legacy->other_formula));
	return rows;
}

static struct opk_listing *list_terms(const struct opk_legacy *legacy)
{
	struct opk_listing *rows = opk_listing_new("term exists? nearest");

	for (size_t i = 0; legacy && i < legacy->term_count; i++) {
		const struct opk_legacy_term *term = &legacy->terms[i];

		opk_listing_row(rows, cell_text(term->name), cell_flag(term->exists),
		                cell_text(term->nearest));
	}
	return rows;
}

static struct opk_listing *list_of(const struct opk_description *d, struct pieces *pieces,
                                   enum opk_description_list list)
{
	switch (list) {
	case OPK_DESCRIPTION_METRIC:
		return list_metric(d, pieces);
	case OPK_DESCRIPTION_SUBMETRICS:
		return list_submetrics(d);
	case OPK_DESCRIPTION_COUNTERS:
		return opk_take(pieces->counters);
	case OPK_DESCRIPTION_CONSTITUENTS:
		return opk_take(pieces->constituents);
	case OPK_DESCRIPTION_LEGACY:
		return list_legacy(d);
	default:
		return list_terms(d->legacy);
	}
}

int opk_description_list(struct opk_listing **out, struct opk_ctx *ctx,
                         const struct opk_description *d, enum opk_description_list list)
{
	autopieces struct pieces pieces = { 0 };

	if (list == OPK_DESCRIPTION_COUNTERS)
		pieces.counters = opk_listing_new("counter domains*");
	if (list == OPK_DESCRIPTION_CONSTITUENTS)
		pieces.constituents = opk_listing_new("constituent type");
	if (!cut(&pieces, d->text ? d->text : ""))
		return opk_nomem(ctx, "a description");
	return opk_listing_finish(out, ctx, list_of(d, &pieces, list));
}
