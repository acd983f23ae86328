/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates how similar names are to a misspelt one. */
#include "chip/chip.h"

#include <string.h>

#include "base/nearest.h"
#include "chip/door.h"

enum {
	MAX_NAME = 256,
	MAX_WORDS = 40,
	/* Costs, in thousandths of the cost of an unrelated name. */
	COST_OTHER = 1000,
	COST_UNIT = 100, /* another hardware unit */
	COST_LIMIT = 600,
};

/* A name cut into its words: "dram", "bytes", "read". */
struct words {
	char text[MAX_NAME];
	const char *word[MAX_WORDS];
	size_t count;
};

static void cut(struct words *out, const char *name)
{
	char *rest = out->text;

	out->count = 0;
	snprintf(out->text, sizeof out->text, "%s", name);
	for (char *word; out->count < MAX_WORDS && (word = strsep(&rest, "_. "));)
		if (*word)
			out->word[out->count++] = word;
}

/* The likeness of two words, 0 to 10: misspelt or shortened words count less than equal ones. */
static unsigned likeness(const char *a, const char *b)
{
	size_t length = strlen(a);

	if (!strcasecmp(a, b))
		return 10;
	if (length >= 4 && opk_edit_distance(a, b, length / 4) <= length / 4)
		return 8;
	return length >= 3 && !strncasecmp(a, b, length) ? 7 : 0;
}

static unsigned cost_of_words(const char *a, const char *b)
{
	struct words first, second;
	unsigned shared = 0;

	cut(&first, a);
	cut(&second, b);
	for (size_t i = 0; i < first.count; i++) {
		unsigned best = 0;

		for (size_t j = 0; best < 10 && j < second.count; j++)
			if (likeness(first.word[i], second.word[j]) > best)
				best = likeness(first.word[i], second.word[j]);
		shared += best;
	}
	if (!first.count || !second.count)
		return COST_OTHER;
	/* Repeated words may be found more often than they occur. */
	shared = 2 * shared * (COST_OTHER / 10) / (unsigned)(first.count + second.count);
	return shared < COST_OTHER ? COST_OTHER - shared : 0;
}

static unsigned cost_of_letters(const char *a, const char *b)
{
	size_t length = strlen(a), limit = length / 3 + 1;
	size_t distance = opk_edit_distance(a, b, limit);

	return distance > limit ? COST_OTHER : (unsigned)(distance * COST_OTHER / (length + 1));
}

/* ---- quantities */

/*
 * Words for what is counted, its direction or its precision: two names with different words of one
 * kind are not alike.
 */
static const struct quantity {
	const char *word;
	unsigned char kind, value;
} quantities[] = {
	{ "bytes", 0, 0 },        { "byte", 0, 0 },        { "sectors", 0, 1 },
	{ "sector", 0, 1 },       { "requests", 0, 2 },    { "request", 0, 2 },
	{ "transactions", 0, 3 }, { "cycles", 0, 4 },      { "inst", 0, 5 },
	{ "wavefronts", 0, 6 },   { "warps", 0, 7 },       { "throughput", 0, 8 },
	{ "utilization", 0, 9 },  { "efficiency", 0, 10 }, { "ops", 0, 11 },
	{ "read", 1, 0 },         { "reads", 1, 0 },       { "ld", 1, 0 },
	{ "load", 1, 0 },         { "loads", 1, 0 },       { "write", 1, 1 },
	{ "writes", 1, 1 },       { "st", 1, 1 },          { "store", 1, 1 },
	{ "stores", 1, 1 },       { "atom", 1, 2 },        { "atomic", 1, 2 },
	{ "atomics", 1, 2 },      { "red", 1, 3 },         { "reduction", 1, 3 },
	{ "reductions", 1, 3 },   { "rx", 2, 0 },          { "nvlrx", 2, 0 },
	{ "receive", 2, 0 },      { "received", 2, 0 },    { "tx", 2, 1 },
	{ "nvltx", 2, 1 },        { "transmit", 2, 1 },    { "transmission", 2, 1 },
	{ "transmitted", 2, 1 },  { "fp16", 3, 0 },        { "half", 3, 0 },
	{ "hp", 3, 0 },           { "hadd", 3, 0 },        { "hmul", 3, 0 },
	{ "hfma", 3, 0 },         { "fp32", 3, 1 },        { "single", 3, 1 },
	{ "sp", 3, 1 },           { "fadd", 3, 1 },        { "fmul", 3, 1 },
	{ "ffma", 3, 1 },         { "fp64", 3, 2 },        { "double", 3, 2 },
	{ "dp", 3, 2 },           { "dadd", 3, 2 },        { "dmul", 3, 2 },
	{ "dfma", 3, 2 },         { "tensor", 3, 3 },      { "hit", 4, 0 },
	{ "miss", 4, 1 },
};

enum { KINDS = 5 };

/* Sets a bit for each word of a kind that the name has. */
static void find_quantities(unsigned out[KINDS], const struct words *words)
{
	memset(out, 0, KINDS * sizeof *out);
	for (size_t i = 0; i < words->count; i++)
		for (size_t j = 0; j < sizeof quantities / sizeof *quantities; j++)
			if (!strcasecmp(words->word[i], quantities[j].word))
				out[quantities[j].kind] |= 1u << quantities[j].value;
}

static bool same_quantity(const char *a, const char *b)
{
	struct words words;
	unsigned first[KINDS], second[KINDS];

	cut(&words, a);
	find_quantities(first, &words);
	cut(&words, b);
	find_quantities(second, &words);
	for (size_t i = 0; i < KINDS; i++)
		if (first[i] && second[i] && !(first[i] & second[i]))
			return false;
	return true;
}

/* ---- suggestions */

void opk_suggestions_try(struct opk_suggestions *suggestions, const char *candidate)
{
	unsigned letters = cost_of_letters(suggestions->name, candidate);
	unsigned words = cost_of_words(suggestions->name, candidate);
	unsigned cost = (letters < words ? letters : words)
	                + (opk_same_hardware_unit(suggestions->name, candidate) ? 0 : COST_UNIT);
	size_t i;

	if (cost > COST_LIMIT || !same_quantity(suggestions->name, candidate))
		return;
	if (suggestions->count < OPK_MAX_SUGGESTIONS)
		suggestions->count++;
	else if (suggestions->best[OPK_MAX_SUGGESTIONS - 1].cost <= cost)
		return;
	/* Names with the same cost keep their order. */
	for (i = suggestions->count - 1; i && suggestions->best[i - 1].cost > cost; i--)
		suggestions->best[i] = suggestions->best[i - 1];
	suggestions->best[i].name = candidate;
	suggestions->best[i].cost = cost;
}

/* Suggests full names of a metric that lacks this one; for a base name, the plainest. */
static bool suggest_endings(struct opk_strlist *out, const struct opk_catalog *catalog,
                            const struct opk_metric *metric, const char *ending, size_t max)
{
	struct opk_suggestions suggestions = { .name = ending };
	size_t plainest = opk_catalog_plainest(catalog, metric);
	bool ok = true;

	if (!*ending && opk_catalog_submetric_count(catalog, metric))
		return opk_strlist_take(
			out, opk_printf("%s%s", metric->name,
		                        opk_catalog_submetric(catalog, metric, plainest).suffix));
	for (size_t i = 0; i < opk_catalog_submetric_count(catalog, metric); i++)
		opk_suggestions_try(&suggestions, opk_catalog_submetric(catalog, metric, i).suffix);
	for (size_t i = 0; ok && i < suggestions.count && i < max; i++)
		ok = opk_strlist_take(out,
		                      opk_printf("%s%s", metric->name, suggestions.best[i].name));
	return ok;
}

/* If the catalog is not complete, accepts any ending of the metric's type. */
static bool takes_ending(const struct opk_catalog *catalog, const struct opk_metric *metric,
                         const char *ending)
{
	bool of_ratio = !strcmp(ending, ".pct") || !strcmp(ending, ".ratio")
	                || !strcmp(ending, ".max_rate");
	size_t submetric;

	if (catalog->complete)
		return opk_catalog_find_submetric(&submetric, catalog, metric, ending);
	return opk_has_listed_suffix(ending) && of_ratio == (metric->type == OPK_RATIO);
}

bool opk_catalog_suggest(struct opk_strlist *out, const struct opk_catalog *catalog,
                         const char *name, size_t max)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	const char *ending = name + opk_base_length(name);
	opk_autofree char *base = opk_strndup(name, (size_t)(ending - name));
	struct opk_suggestions suggestions = { .name = base };
	bool ok = base != NULL;

	if (metric)
		return suggest_endings(out, catalog, metric, ending, max);
	for (size_t i = 0; ok && i < opk_catalog_count(catalog); i++)
		opk_suggestions_try(&suggestions, opk_catalog_get(catalog, i)->name);
	for (size_t i = 0; ok && i < suggestions.count && i < max; i++) {
		const char *near = suggestions.best[i].name;
		const struct opk_metric *other = opk_catalog_find(catalog, near);
		bool full = other && takes_ending(catalog, other, ending);

		ok = opk_strlist_take(out, opk_printf("%s%s", near, full ? ending : ""));
	}
	return ok;
}

/* ---- errors */

/* What makes a base metric a full name, in short; docs/metric-sets.md has them all. */
static const char *const endings[] = {
	[OPK_COUNTER] = ".sum, .avg, .min or .max, and after it possibly .per_second, "
			".per_cycle_active, .pct_of_peak_sustained_elapsed and the like",
	[OPK_RATIO] = ".ratio, .pct or .max_rate",
	[OPK_THROUGHPUT] = ".sum, .avg, .min or .max, and after it "
			   ".pct_of_peak_sustained_elapsed or the like",
};

/* PerfWorks has regions and frames for graphics; ranges and samples of CUPTI have neither. */
static bool is_of_graphics(const char *name)
{
	const char *suffix = name + opk_base_length(name);

	return strstr(suffix, "_region") || strstr(suffix, "_frame");
}

/* The other profiler that has this base name for instructions; else the catalog's own. */
static enum opk_profiler other_profiler(const struct opk_catalog *catalog, struct opk_ctx *ctx,
                                        const char *name)
{
	opk_autofree char *base = opk_strndup(name, opk_base_length(name));
	struct opk_errors_mark mark;
	enum opk_profiler other;
	bool found = false;

	opk_errors_mark(&mark, ctx);
	if (base && opk_code_profiler_of(&found, &other, ctx, catalog->chip, base))
		found = false;
	opk_errors_rewind(ctx, &mark);
	return found ? other : catalog->profiler;
}

/* A base metric of the catalog without an ending, or with a wrong one. */
static char *explain_ending(const struct opk_catalog *catalog, const struct opk_metric *metric,
                            const char *name, const char *other)
{
	const char *ending = name + strlen(metric->name);

	if (opk_profiler_is_code(catalog->profiler))
		return opk_printf("%s takes no '%s': profiler %s has no rollups or submetrics",
		                  metric->name, ending, opk_profiler_name(catalog->profiler));
	if (!*ending)
		return opk_printf("%s needs a %s, for example %s%s%s%s", name,
		                  metric->type == OPK_RATIO ? "submetric" : "rollup", name,
		                  metric->type == OPK_COUNTER ? ".sum"
		                  : metric->type == OPK_RATIO
		                          ? ".pct"
		                          : ".avg.pct_of_peak_sustained_elapsed",
		                  other ? "; without one it is a metric of profiler " : "",
		                  other ? other : "");
	return opk_printf("%s has no rollup or submetric '%s'%s; a %s takes %s", metric->name,
	                  ending + 1,
	                  is_of_graphics(name) ? ", and what CUPTI computes of regions and "
	                                         "frames is 0 or inf"
	                                       : "",
	                  opk_metric_type_name(metric->type), endings[metric->type]);
}

char *opk_catalog_explain(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip,
                          const char *name)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	enum opk_profiler of = other_profiler(catalog, ctx, name);
	const char *other = of == catalog->profiler ? NULL : opk_profiler_name(of);
	int length = (int)opk_base_length(name);
	opk_autostrlist struct opk_strlist near = { 0 };

	if (strpbrk(name, "*?"))
		return opk_printf("%s has no metric '%s': patterns are not taken here, but where "
		                  "metrics are listed",
		                  chip, name);
	if (metric)
		return explain_ending(catalog, metric, name, other);
	if (other)
		return opk_printf("%s has no metric '%s'%s: %.*s is one of profiler %s", chip, name,
		                  opk_profiler_phrase(catalog->profiler), length,
		                  name[length] ? name : "it", other);
	if (!opk_catalog_suggest(&near, catalog, name, 1))
		return NULL;
	return opk_printf("%s has no metric '%s'%s" OPK_DID_YOU_MEAN, chip, name,
	                  opk_profiler_phrase(catalog->profiler),
	                  OPK_NEAR(near.count ? near.items[0] : NULL));
}

void opk_catalog_report(struct opk_problems *problems, struct opk_ctx *ctx,
                        const struct opk_place *place, const struct opk_catalog *catalog,
                        const char *name)
{
	opk_autofree char *text = NULL;

	/* Finding the nearest name is slow. */
	if (!opk_problems_full(problems))
		text = opk_catalog_explain(catalog, ctx, OPK_THE_CHIP, name);
	opk_problems_need(problems, opk_problems_full(problems) || text);
	opk_problems_add(problems, place, "%s", text ? text : "");
}
