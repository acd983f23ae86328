/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves a set on a chip: the steps in their order, and the result. */
#include "resolve/resolver.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/deflate/deflate.h"
#include "baked/baked.h"
#include "base/buf.h"
#include "chip/chip.h"

/* Derived metrics that no list has come last, unless a list removed them. */
static void add_unlisted(struct opk_resolver *r)
{
	for (size_t i = 0; i < r->symbols.derived.count; i++) {
		const struct opk_derived_symbol *derived = &r->symbols.derived.items[i];
		const struct opk_entry entry = { .name = derived->name.text,
			                         .derived = (long)i,
			                         .place = derived->name.place };

		if (!derived->legacy && !r->suppressed[i] && !opk_entries_find(r->list, entry.name))
			opk_entries_add(r->list, &r->problems, &entry);
	}
}

static void make_list(struct opk_resolver *r)
{
	size_t count = r->symbols.sets.count;

	r->lists = opk_alloc_array(count, sizeof *r->lists);
	r->suppressed = opk_alloc_array(r->symbols.derived.count + 1, sizeof *r->suppressed);
	r->states = opk_alloc_array(r->symbols.derived.count + 1, sizeof *r->states);
	if (!opk_problems_need(&r->problems, r->lists && r->suppressed && r->states))
		return;
	for (size_t i = 0; i < count && !r->problems.code; i++)
		opk_resolve_list(r, i);
	r->list = &r->lists[count - 1];
}

/* An open catalog lets this report all wrong names at once; otherwise planning finds them. */
static void check_names(struct opk_resolver *r)
{
	for (size_t i = 0; r->catalog && i < r->list->count; i++) {
		const struct opk_entry *entry = &r->list->items[i];

		/* A name that can't be a full name is already reported. */
		if (entry->derived == OPK_NOT_DERIVED && strstr(entry->name, "__")
		    && !opk_catalog_has_full(r->catalog, r->ctx, entry->name))
			opk_resolver_explain(r, entry->name, &entry->place);
	}
}

/* Planning finds names that no chip has, except the few that CUPTI plans although it lists none. */
static bool has_unlisted(const struct opk_resolver *r)
{
	for (size_t i = 0; i < r->list->count; i++) {
		const char *name = r->list->items[i].name;

		/* CUPTI refuses only a base name. */
		if (r->list->items[i].derived == OPK_NOT_DERIVED && strstr(name, "__")
		    && name[opk_base_length(name)] && !opk_has_listed_suffix(name))
			return true;
	}
	return false;
}

/* Nothing is planned that would find wrong names of these. */
static bool is_code(const struct opk_resolver *r)
{
	return opk_profiler_is_code(r->target.profiler);
}

/* After one error, still looks for all others. */
static void check(struct opk_resolver *r)
{
	if (r->check || r->problems.count || is_code(r) || has_unlisted(r))
		opk_resolver_need_catalog(r);
	if (!r->problems.code)
		check_names(r);
	if (!r->problems.code && (r->check || r->problems.count)) {
		opk_resolve_units(r);
		opk_resolve_refused(r);
	}
}

static const char *column_of(const struct opk_entry *entry)
{
	return entry->label ? entry->label->text : entry->name;
}

/* A heading covers entries as long as they are adjacent. */
static void add_heading(struct opk_resolver *r, const struct opk_set_item *under, bool goes_on,
                        size_t column)
{
	struct opk_resolved *out = r->out;
	struct opk_meta_heading *heading;

	if (!under)
		return;
	if (goes_on) {
		out->headings[out->heading_count - 1].count++;
		return;
	}
	heading = opk_append(&out->headings, &out->heading_capacity, &out->heading_count,
	                     sizeof *heading);
	if (!opk_problems_need(&r->problems, heading))
		return;
	heading->first = column;
	heading->count = 1;
	heading->draw = under->draw.text ? opk_strdup(under->draw.text) : NULL;
	heading->title = opk_symbols_substitute(&r->symbols, &under->what);
	heading->text = under->prose.text ? opk_symbols_substitute(&r->symbols, &under->prose)
	                                  : opk_strdup("");
	opk_problems_need(&r->problems, (under->prose.text || heading->text)
	                                        && (!under->draw.text || heading->draw));
}

static void fill_columns(struct opk_resolver *r)
{
	const struct opk_set_item *under = NULL;

	for (size_t i = 0; i < r->list->count && !r->problems.code; i++) {
		const struct opk_entry *entry = &r->list->items[i];

		if (!opk_strlist_add(&r->out->columns, column_of(entry)))
			r->problems.code = OPK_ENOMEM;
		if (entry->derived == OPK_NOT_DERIVED)
			opk_resolver_add_metric(r, entry->name,
			                        entry->label ? entry->label->text : "",
			                        &entry->place);
		add_heading(r, entry->heading, entry->heading == under, i);
		under = entry->heading;
		/* Only a derived metric that a list has gets an item. */
		r->out->listed += entry->item != NULL;
	}
	r->out->shown = r->out->metrics.count;
}

static void keep_sources(struct opk_resolver *r)
{
	r->out->sources = opk_alloc_array(r->symbols.sets.count, sizeof *r->out->sources);
	opk_problems_need(&r->problems, r->out->sources);
	for (size_t i = 0; r->out->sources && i < r->symbols.sets.count; i++)
		if (r->symbols.sets.items[i]->source)
			r->out->sources[r->out->source_count++] = opk_source_use(
				r->symbols.sets.items[i]->source);
}

static bool stopped(const struct opk_resolver *r)
{
	return r->problems.code || r->problems.count;
}

static void fill_out(struct opk_resolver *r)
{
	struct opk_place nowhere = { 0 };

	keep_sources(r);
	fill_columns(r);
	opk_resolve_derived(r);
	opk_resolve_roofline(r);
	if (r->problems.count && !r->problems.code)
		check(r);
	else if (!r->out->metrics.count && r->target.profiler != OPK_PROFILER_PC && !stopped(r))
		opk_problems_add(&r->problems, &nowhere, "set %s has no metric on " OPK_THE_CHIP,
		                 r->set->name);
}

static void fill(struct opk_resolver *r)
{
	opk_symbols_of(&r->symbols, r->ctx, &r->problems, r->set);
	r->lost = r->symbols.broken;
	if (!r->problems.code && !r->symbols.unfit)
		make_list(r);
	if (!r->problems.code && r->list) {
		add_unlisted(r);
		opk_resolve_optional(r);
		opk_resolve_missing(r);
	}
	if (!r->problems.code && r->list)
		check(r);
	if (!stopped(r) && !r->check)
		fill_out(r);
}

/* OPK_EUSAGE if only names from the command line are wrong, or the set does not claim the chip. */
static int code_of(const struct opk_resolver *r, bool claimed)
{
	bool all_text = r->set->source != NULL, in_text = false;

	for (size_t i = 0; i < r->symbols.sets.count; i++)
		all_text &= r->symbols.sets.items[i]->source != NULL;
	for (size_t i = 0; i < r->problems.count; i++)
		in_text |= r->problems.items[i].place.source != NULL;
	return claimed && (all_text || in_text) ? OPK_EINPUT : OPK_EUSAGE;
}

/* The title above the errors. An old library may be the cause. */
static char *title_of(const struct opk_resolver *r)
{
	struct opk_nv_release release = { .old = false };

	if (r->problems.count && !is_code(r))
		release = opk_nv_release(r->ctx);
	return opk_printf("set %s on " OPK_THE_CHIP "%s%s%s", r->set->name,
	                  release.old ? " with " : "", release.old ? release.name : "",
	                  release.old ? " (13.0 has more metrics)" : "");
}

/* For a set for launches that is planned for PM sampling: names the shipped set for PM sampling. */
static int advise_sampled(const struct opk_resolver *r, int code)
{
	opk_autofree char *sampled = NULL;

	if (r->target.profiler != OPK_PROFILER_PM || opk_set_profiler(r->set) == OPK_PROFILER_PM)
		return code;
	sampled = opk_set_sampled(r->ctx, r->set->name);
	return sampled ? opk_add(r->ctx, code, "set %s is for profiler %s; for pm there is %s",
	                         r->set->name, opk_profiler_name(opk_set_profiler(r->set)), sampled)
	               : code;
}

static bool has_choice(const struct opk_set_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct opk_set_item *item = &items->items[i];

		if (item->kind == OPK_SET_ITEM_ANY || item->optional || item->has_else
		    || (item->what.text && item->kind == OPK_SET_ITEM_METRIC
		        && opk_pattern_kind(item->what.text) != OPK_PATTERN_NAME)
		    || has_choice(&item->items))
			return true;
	}
	return false;
}

/* Whether a catalog chooses some of its metrics or formulas. */
static bool is_chosen(const struct opk_symbols *symbols)
{
	for (size_t i = 0; i < symbols->derived.count; i++)
		if (symbols->derived.items[i].legacy)
			return true;
	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set *set = symbols->sets.items[i];

		if (symbols->values.count || has_choice(&set->items))
			return true;
		for (size_t j = 0; j < set->changes.count; j++)
			if (has_choice(&set->changes.items[j].add))
				return true;
	}
	return false;
}

/* A hash of all texts that the set and its includes are read from, and of parameters. */
static char *hash_definition(const struct opk_symbols *symbols)
{
	opk_autobuf struct opk_buf out = { 0 };

	for (size_t i = 0; i < symbols->sets.count; i++) {
		const struct opk_set *set = symbols->sets.items[i];

		if (set->source)
			opk_buf_add(&out, set->source->text, set->source->size);
		for (size_t j = 0; !set->source && j < set->items.count; j++)
			opk_buf_add_printf(&out, "metric %s\n", set->items.items[j].what.text);
	}
	for (size_t i = 0; i < symbols->values.count; i++)
		opk_buf_add_printf(&out, "value %s\n",
		                   symbols->values.items[i] ? symbols->values.items[i] : "");
	return out.failed ? NULL
	                  : opk_printf("crc32:%08x", (unsigned)opk_crc32(0, out.data, out.size));
}

static int finish(struct opk_resolver *r)
{
	opk_autofree char *title = title_of(r);
	bool claimed = opk_set_claims(r->set, r->target.chip);
	int code;

	opk_problems_drop(&r->problems, &r->set->errors);
	/* Errors already found are errors without a library, too. */
	if (r->problems.code && r->problems.code != OPK_ENOMEM && !r->problems.count)
		return r->problems.code;
	r->out->version = r->set->version;
	r->out->profiler = r->target.profiler;
	if (!stopped(r) && !r->check) {
		r->out->hash = opk_resolved_hash(r->out, r->ctx, r->set->name);
		r->out->definition = hash_definition(&r->symbols);
		r->out->chosen = is_chosen(&r->symbols);
	}
	opk_problems_need(&r->problems, title
	                                        && (stopped(r) || r->check
	                                            || (r->out->hash && r->out->definition)));
	code = opk_problems_fail(r->ctx, &r->problems, code_of(r, claimed), title);
	if (code && code != OPK_ENOMEM && !claimed)
		opk_add(r->ctx, code, "set %s is made for other chips, such as %s", r->set->name,
		        opk_set_example(r->set));
	return code && code != OPK_ENOMEM ? advise_sampled(r, code) : code;
}

static void clear(struct opk_resolver *r)
{
	for (size_t i = 0; r->lists && i < r->symbols.sets.count; i++)
		opk_entries_clear(&r->lists[i]);
	for (size_t i = 0; r->states && i < r->symbols.derived.count; i++)
		free(r->states[i].unit);
	free(r->lists);
	free(r->states);
	free(r->suppressed);
	opk_index_clear(&r->labels);
	opk_strlist_clear(&r->lost_labels);
	opk_problems_clear(&r->problems);
	opk_symbols_clear(&r->symbols);
	opk_catalog_free(r->catalog);
}

/* Instructions and counters have no metric in common: one error instead of one for each name. */
static int check_profiler(struct opk_ctx *ctx, const struct opk_set *set,
                          enum opk_profiler profiler)
{
	if (!set->has_profiler || set->profiler == profiler
	    || (!opk_profiler_is_code(set->profiler) && !opk_profiler_is_code(profiler)))
		return OPK_OK;
	return opk_fail(ctx, OPK_EUSAGE, "set %s is for profiler %s, not for %s", set->name,
	                opk_profiler_name(set->profiler), opk_profiler_name(profiler));
}

/* Takes the catalog over, if there is one. */
static int resolve(struct opk_resolved *out, struct opk_ctx *ctx, const struct opk_set *set,
                   const char *chip, enum opk_profiler profiler, struct opk_catalog *catalog)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	__attribute__((cleanup(clear))) struct opk_resolver r = {
		.ctx = ctx,
		.set = set,
		.target = { chip, profiler, NULL, set->single_pass },
		.problems = { .chip = chip },
		.out = &resolved,
		.seconds = set->left,
		.catalog = catalog,
		.excerpt = catalog != NULL,
	};

	if (set->errors.count)
		return opk_fail(ctx, OPK_EINPUT, "set %s was read with errors", set->name);
	TRY(check_profiler(ctx, set, profiler));
	fill(&r);
	TRY(finish(&r));
	*out = resolved;
	resolved = (struct opk_resolved){ 0 };
	return OPK_OK;
}

int opk_set_resolve(struct opk_resolved *out, struct opk_ctx *ctx, const struct opk_set *set,
                    const char *chip, enum opk_profiler profiler)
{
	return resolve(out, ctx, set, chip, profiler, NULL);
}

/*
 * The hash proves that the excerpt of the catalog gives what the whole one gave, unless the catalog
 * chooses: then the definition must be the same, too.
 */
static bool is_baked(const struct opk_baked *baked, const struct opk_resolved *resolved)
{
	for (size_t i = 0; i < baked->set_count; i++)
		if (!strcmp(baked->sets[i], resolved->hash)
		    && (!resolved->chosen || !strcmp(baked->definitions[i], resolved->definition)))
			return true;
	return false;
}

int opk_set_resolve_baked(bool *found, struct opk_resolved *out, struct opk_ctx *ctx,
                          const struct opk_set *set, const struct opk_baked_origin *of)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	opk_autoresolved struct opk_resolved resolved = { 0 };
	struct opk_catalog *catalog = NULL;
	struct opk_errors_mark mark;
	int code;

	*found = false;
	TRY(opk_baked_open(&baked, ctx, of->file));
	if (!baked || !opk_baked_get(baked)->set_count)
		return OPK_OK;
	TRY(opk_catalog_of_file(&catalog, ctx, of->file, of->chip, of->profiler));
	opk_errors_mark(&mark, ctx);
	code = catalog ? resolve(&resolved, ctx, set, of->chip, of->profiler, catalog) : OPK_EUSAGE;
	*found = !code && is_baked(opk_baked_get(baked), &resolved);
	if (code == OPK_ENOMEM)
		return code;
	opk_errors_rewind(ctx, &mark);
	if (!*found)
		return OPK_OK;
	*out = resolved;
	resolved = (struct opk_resolved){ 0 };
	return OPK_OK;
}

int opk_set_judge(struct opk_ctx *ctx, const struct opk_set *set, const char *chip,
                  enum opk_profiler profiler)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	__attribute__((cleanup(clear))) struct opk_resolver r = {
		.ctx = ctx,
		.set = set,
		.target = { chip, profiler, NULL },
		.problems = { .chip = chip },
		.out = &resolved,
		.seconds = set->left,
		.check = true,
	};

	fill(&r);
	return finish(&r);
}

int opk_set_check_on(struct opk_ctx *ctx, const struct opk_set *set, const char *chip)
{
	opk_autofree char *name = NULL;

	TRY(opk_chip_resolve_for(&name, ctx, chip, set->profiler));
	return opk_set_judge(ctx, set, name, set->profiler);
}
