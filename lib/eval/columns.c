/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a recording, and what they are computed from. */
#include "eval/eval.h"

#include <string.h>

#include "base/ascii.h"
#include "base/index.h"
#include "base/nearest.h"
#include "chip/door.h"
#include "container/container.h"
#include "eval/door.h"

/* The most attributes in all formulas together: a device has 150. */
enum { MAX_ATTRIBUTES = 1000 };

/* Columns in the making, if the recording has labels, derived metrics or headings. */
struct maker {
	struct opk_columns *columns;
	struct opk_ctx *ctx;
	const struct opk_meta *meta;
	struct opk_meta_names names;
	size_t *positions;      /* of the set's metrics among those to evaluate, from 1; 0: none */
	const char **labels;    /* of the set's metrics, or NULL */
	bool *needed;           /* derived ones */
	size_t attribute_count; /* in formulas */
};

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "columns");
}

/* ---- metrics ---------------------------------------------------------------------------- */

static size_t add_metric(struct opk_columns *columns, const char *name)
{
	columns->owned[columns->metric_count] = name;
	return columns->derived_count + columns->metric_count++;
}

/* The number of the value of a metric that the set lacks. */
static size_t value_of_other(struct opk_columns *columns, const char *name)
{
	size_t i = opk_texts_find(columns->metrics, columns->metric_count, name);

	return i < columns->metric_count ? columns->derived_count + i : add_metric(columns, name);
}

/* The number of the value of one of the set's metrics; marks it for evaluation. */
static size_t value_of_metric(struct maker *m, size_t metric)
{
	if (!m->positions[metric]) {
		add_metric(m->columns, m->meta->metrics[metric]);
		m->positions[metric] = m->columns->metric_count;
	}
	return m->columns->derived_count + m->positions[metric] - 1;
}

/* ---- formulas --------------------------------------------------------------------------- */

static int find_operand(struct maker *m, size_t index, size_t name)
{
	struct opk_derivation *derivation = &m->columns->derived[index];
	const char *text = opk_formula_name(derivation->formula, name);
	const struct opk_meta_name *found = opk_meta_names_find(&m->names, text);

	if (!found && opk_attribute_is_name(text) && m->attribute_count < MAX_ATTRIBUTES) {
		size_t before = m->columns->metric_count;

		derivation->operands[name] = value_of_other(m->columns, text);
		m->attribute_count += m->columns->metric_count - before;
		return OPK_OK;
	}
	if (!found || (found->derived && found->index >= index))
		return opk_fail(
			m->ctx, OPK_EINPUT,
			"derived metric '%s', byte %zu of its formula: '%s' is not a metric, label "
			"or earlier derived metric of the recording",
			m->meta->derived[index].name,
			opk_formula_name_offset(derivation->formula, name), text);
	if (found->derived)
		m->needed[found->index] = true;
	derivation->operands[name] = found->derived ? found->index
	                                            : value_of_metric(m, found->index);
	return OPK_OK;
}

static int parse(struct maker *m, size_t index)
{
	const struct opk_meta_derived *derived = &m->meta->derived[index];
	struct opk_derivation *derivation = &m->columns->derived[index];
	size_t offset = 0, count;
	int code = opk_formula_parse(&derivation->formula, m->ctx, derived->formula, &offset);

	if (code)
		return opk_add(m->ctx, code, "derived metric '%s', byte %zu of its formula",
		               derived->name, offset);
	count = opk_formula_name_count(derivation->formula);
	derivation->operands = opk_alloc_array(count + 1, sizeof *derivation->operands);
	if (!derivation->operands)
		return fail_nomem(m->ctx);
	if (*derived->unit && !(derivation->unit = opk_strdup(derived->unit)))
		return fail_nomem(m->ctx);
	for (size_t i = 0; i < count; i++)
		TRY(find_operand(m, index, i));
	return OPK_OK;
}

/* Goes backwards, since a derived metric needs only earlier ones. */
static int parse_needed(struct maker *m)
{
	for (size_t i = m->meta->derived_count; i-- > 0;) {
		if (m->needed[i])
			TRY(parse(m, i));
	}
	return OPK_OK;
}

/* ---- columns ---------------------------------------------------------------------------- */

static bool add_column(struct opk_columns *columns, const char *name, size_t source)
{
	columns->sources[columns->names.count] = source;
	return opk_strlist_add(&columns->names, name);
}

/* Shows what the recording lists. Metrics with labels go by these, even if listed by full name. */
static int show_listed(struct maker *m, const struct opk_strlist *shown)
{
	for (size_t i = 0; i < shown->count; i++) {
		const struct opk_meta_name *found = opk_meta_names_find(&m->names, shown->items[i]);
		const char *label = found->derived ? NULL : m->labels[found->index];
		const char *name = found->derived ? found->name : m->meta->metrics[found->index];
		size_t source = found->derived ? found->index : value_of_metric(m, found->index);

		if (!add_column(m->columns, label ? label : name, source))
			return fail_nomem(m->ctx);
	}
	return OPK_OK;
}

/* Finds gpu__time_duration.sum by "gpu__time", which no rollup follows; NULL: no match. */
static const char *find_beginning(const struct opk_meta *meta, const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	for (size_t i = 0; meta && !strchr(name, '.') && i < meta->metric_count; i++) {
		const char *known = meta->metrics[i];

		/* Metrics of instructions have no rollups: the name may be whole. */
		if (!strcmp(known, name))
			return NULL;
		if (!found && !strncmp(known, name, length) && known[length]
		    && known[length] != '.')
			found = known;
	}
	return found;
}

/* Full metric names have a double underscore; other names are labels or derived metrics. */
static bool is_unknown(const struct opk_meta *meta, const char *name)
{
	return !strstr(name, "__") || (!opk_attribute_is_name(name) && find_beginning(meta, name));
}

/* Words of the recording's metrics, as on screens, or of the time that rows have. */
static int find_by_words(struct opk_nearest *nearest, const struct maker *m, bool or_fact)
{
	size_t plain = m->names.count || !m->meta ? 0 : m->meta->metric_count, count = 0;
	opk_autofree const char **names = opk_alloc_array(m->names.count + plain + 1,
	                                                  sizeof *names);

	if (!names)
		return fail_nomem(m->ctx);
	for (; count < m->names.count; count++)
		names[count] = m->names.items[count].name;
	for (size_t i = 0; i < plain; i++)
		names[count++] = m->meta->metrics[i];
	if (or_fact && m->meta && m->meta->profiler == OPK_PROFILER_RANGE)
		names[count++] = opk_fact_column(OPK_FACT_DURATION, OPK_PROFILER_RANGE)->name;
	return opk_nearest_by_words(nearest, m->ctx, names, count);
}

static int explain(const struct maker *m, const char *name, bool or_fact)
{
	struct opk_nearest nearest = { .name = name };
	enum opk_fact of_code;

	if (or_fact && opk_fact_find(&of_code, name, OPK_PROFILER_SASS))
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "only rows of code have '%s', and the recording has no metric, "
		                "label or derived metric of that name",
		                name);
	for (size_t i = 0; i < m->names.count; i++)
		opk_nearest_try(&nearest, m->names.items[i].name);
	for (enum opk_fact fact = 0; or_fact && fact < OPK_FACT_LAUNCHES; fact++)
		for (enum opk_profiler of = 0; of <= OPK_PROFILER_SASS; of++)
			if (opk_fact_column(fact, of))
				opk_nearest_try(&nearest, opk_fact_column(fact, of)->name);
	TRY(find_by_words(&nearest, m, or_fact));
	if (!nearest.best)
		nearest.best = find_beginning(m->meta, name);
	return opk_fail(m->ctx, OPK_EUSAGE,
	                "'%s' is not a %smetric, label or derived metric of the recording%s%s%s",
	                name, or_fact ? "column of rows, such as kernel or device, nor a " : "",
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?" : "");
}

/* Turns LABEL:within into METRIC:within; leaves other names alone. */
static int name_within(const char **metric, struct maker *m, const char *name)
{
	opk_autofree char *label = NULL;
	const struct opk_meta_name *found;
	struct opk_strlist *within = &m->columns->within;

	if (!opk_ends(name, OPK_WITHIN))
		return OPK_OK;
	label = opk_strndup(name, strlen(name) - strlen(OPK_WITHIN));
	if (!label)
		return fail_nomem(m->ctx);
	found = opk_meta_names_find(&m->names, label);
	if (!found || found->derived)
		return OPK_OK;
	if (!opk_strlist_take(within,
	                      opk_printf("%s%s", m->meta->metrics[found->index], OPK_WITHIN)))
		return fail_nomem(m->ctx);
	*metric = within->items[within->count - 1];
	return OPK_OK;
}

/* *found is NULL for an attribute, or a metric that the metadata lack, which is *metric. */
static int look_up(const struct opk_meta_name **found, const char **metric, struct maker *m,
                   const char *name, bool also)
{
	*found = opk_meta_names_find(&m->names, name);
	*metric = name;
	if (*found)
		return OPK_OK;
	TRY(name_within(metric, m, name));
	return is_unknown(m->meta, *metric) ? explain(m, name, also)
	                                    : opk_attribute_check(m->ctx, *metric, m->meta);
}

/* Columns have the names that were asked for. A metric that is asked for twice has two columns. */
static int show_wanted(struct maker *m, const char *name)
{
	const struct opk_meta_name *found;
	const char *metric;
	size_t source;

	TRY(look_up(&found, &metric, m, name, false));
	if (found && !found->derived)
		metric = m->meta->metrics[found->index];
	if (found && found->derived) {
		m->needed[found->index] = true;
		source = found->index;
	} else {
		source = add_metric(m->columns, metric);
		if (found && !m->positions[found->index])
			m->positions[found->index] = m->columns->metric_count;
	}
	return add_column(m->columns, name, source) ? OPK_OK : fail_nomem(m->ctx);
}

/* ---- values besides columns ------------------------------------------------------------- */

static int add_also(struct maker *m, const char *name)
{
	struct opk_columns *columns = m->columns;
	const struct opk_meta_name *found;
	const char *metric;
	size_t source;

	TRY(look_up(&found, &metric, m, name, true));
	if (found && found->derived) {
		m->needed[found->index] = true;
		source = found->index;
	} else {
		source = found ? value_of_metric(m, found->index) : value_of_other(columns, metric);
	}
	columns->also[columns->also_count++] = source;
	return OPK_OK;
}

static int add_all_also(struct maker *m, const struct opk_wanted *wanted)
{
	for (size_t i = 0; i < wanted->also_count; i++)
		TRY(add_also(m, wanted->also[i]));
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

/* A recording that shows all evaluates its metrics in their order. */
static int make_all(struct maker *m, const struct opk_wanted *wanted)
{
	opk_autostrlist struct opk_strlist shown = { 0 };
	int code;

	for (size_t i = 0; i < m->meta->metric_count; i++)
		value_of_metric(m, i);
	memset(m->needed, true, m->meta->derived_count * sizeof *m->needed);
	TRY(opk_meta_list_columns(&shown, m->meta) ? show_listed(m, &shown) : fail_nomem(m->ctx));
	code = add_all_also(m, wanted);
	if (!code)
		code = parse_needed(m);
	return code == OPK_EINPUT
	               ? opk_add(m->ctx, code,
	                         "not all can be computed; choose metrics to evaluate some")
	               : code;
}

static int make(struct maker *m, const struct opk_wanted *wanted)
{
	struct opk_columns *columns = m->columns;

	for (size_t i = 0; i < m->meta->label_count; i++) {
		const struct opk_meta_label *label = &m->meta->labels[i];

		m->labels[opk_meta_names_find(&m->names, label->metric)->index] = label->name;
	}
	columns->metrics = columns->owned;
	if (!wanted->shown)
		return make_all(m, wanted);
	for (size_t i = 0; i < wanted->shown_count; i++)
		TRY(show_wanted(m, wanted->shown[i]));
	TRY(add_all_also(m, wanted));
	return parse_needed(m);
}

/* ---- headings ---------------------------------------------------------------------------- */

/* A heading holds a metric by its label and by its full name. */
static bool add_other_names(struct opk_index *index, const struct opk_meta *meta)
{
	bool ok = true;
	size_t at;

	for (size_t i = 0; ok && i < meta->label_count; i++) {
		const struct opk_meta_label *label = &meta->labels[i];

		if (opk_index_find(&at, index, label->name))
			ok = opk_index_add(index, label->metric, at, NULL);
		else if (opk_index_find(&at, index, label->metric))
			ok = opk_index_add(index, label->name, at, NULL);
	}
	return ok;
}

/* Headings come in order; a column belongs to the first one that holds it. */
static bool index_headings(struct opk_index *index, const struct opk_strlist *shown,
                           const struct opk_meta *meta)
{
	size_t next = 0;
	bool ok = true;

	for (size_t i = 0; i < meta->heading_count; i++) {
		const struct opk_meta_heading *heading = &meta->headings[i];

		for (next = next > heading->first ? next : heading->first;
		     ok && next < heading->first + heading->count; next++)
			ok = opk_index_add(index, shown->items[next], i, NULL);
	}
	return ok && add_other_names(index, meta);
}

static int find_headings(struct opk_columns *columns, struct opk_ctx *ctx,
                         const struct opk_meta *meta)
{
	opk_autostrlist struct opk_strlist shown = { 0 };
	opk_autoindex struct opk_index index = { 0 };
	size_t at;

	if (!meta->heading_count)
		return OPK_OK;
	if (!opk_meta_list_columns(&shown, meta) || !index_headings(&index, &shown, meta))
		return opk_nomem(ctx, "columns");
	for (size_t i = 0; i < columns->names.count; i++)
		if (opk_index_find(&at, &index, columns->names.items[i]))
			columns->headings[i] = &meta->headings[at];
	return OPK_OK;
}

/* Allocates for all that is wanted and all that the recording has. */
static int allocate(struct opk_columns *columns, struct opk_ctx *ctx, size_t metrics,
                    size_t derived, size_t also)
{
	size_t all = metrics + derived + also + MAX_ATTRIBUTES;

	columns->owned = opk_alloc_array(all + 1, sizeof *columns->owned);
	columns->sources = opk_alloc_array(all + 1, sizeof *columns->sources);
	columns->headings = opk_alloc_array(all + 1, sizeof *columns->headings);
	columns->derived = opk_alloc_array(derived + 1, sizeof *columns->derived);
	columns->also = opk_alloc_array(also + 1, sizeof *columns->also);
	columns->values = opk_alloc_array(all + 1, sizeof *columns->values);
	columns->numbers = opk_alloc_array(all + 1, sizeof *columns->numbers);
	columns->derived_count = derived;
	return columns->owned && columns->sources && columns->headings && columns->derived
	                       && columns->also && columns->values && columns->numbers
	               ? OPK_OK
	               : fail_nomem(ctx);
}

static int make_derived(struct opk_columns *columns, struct opk_ctx *ctx,
                        const struct opk_meta *meta, const struct opk_wanted *wanted)
{
	opk_autofree size_t *positions = opk_alloc_array(meta->metric_count, sizeof *positions);
	opk_autofree const char **labels = opk_alloc_array(meta->metric_count, sizeof *labels);
	opk_autofree bool *needed = opk_alloc_array(meta->derived_count + 1, sizeof *needed);
	struct maker m = { .columns = columns,
		           .ctx = ctx,
		           .meta = meta,
		           .positions = positions,
		           .labels = labels,
		           .needed = needed };
	int code;

	if (!positions || !labels || !needed)
		return fail_nomem(ctx);
	TRY(opk_meta_names_init(&m.names, ctx, meta));
	code = make(&m, wanted);
	opk_meta_names_clear(&m.names);
	return code;
}

/* One column per metric. */
static int make_plain(struct opk_columns *columns, struct opk_ctx *ctx, const struct opk_meta *meta,
                      const struct opk_wanted *wanted)
{
	const char *const *metrics = wanted->shown ? wanted->shown : meta->metrics;
	size_t count = wanted->shown ? wanted->shown_count : meta->metric_count;
	struct maker m = { .columns = columns, .ctx = ctx, .meta = meta };

	columns->metrics = metrics;
	for (size_t i = 0; i < count; i++) {
		if (wanted->shown)
			TRY(opk_attribute_check(ctx, metrics[i], meta));
		if (!add_column(columns, metrics[i], add_metric(columns, metrics[i])))
			return fail_nomem(ctx);
	}
	if (wanted->also_count)
		columns->metrics = columns->owned;
	return add_all_also(&m, wanted);
}

static bool says_more(const struct opk_meta *meta)
{
	return meta
	       && (meta->label_count || meta->hidden_count || meta->derived_count
	           || meta->column_count);
}

int opk_columns_init(struct opk_columns *columns, struct opk_ctx *ctx, const struct opk_meta *meta,
                     const struct opk_wanted *wanted)
{
	bool more = says_more(meta);
	int code;

	*columns = (struct opk_columns){ .meta = meta };
	code = allocate(columns, ctx, wanted->shown_count + (meta ? meta->metric_count : 0),
	                more ? meta->derived_count : 0, wanted->also_count);
	if (!code)
		code = more ? make_derived(columns, ctx, meta, wanted)
		            : make_plain(columns, ctx, meta, wanted);
	if (!code && meta)
		code = find_headings(columns, ctx, meta);
	if (code)
		opk_columns_clear(columns);
	return code;
}

void opk_columns_clear(struct opk_columns *columns)
{
	for (size_t i = 0; columns->derived && i < columns->derived_count; i++) {
		opk_formula_free(columns->derived[i].formula);
		free(columns->derived[i].operands);
		free(columns->derived[i].unit);
	}
	free(columns->owned);
	opk_strlist_clear(&columns->within);
	opk_strlist_clear(&columns->names);
	free(columns->sources);
	free(columns->headings);
	free(columns->derived);
	free(columns->also);
	free(columns->values);
	free(columns->numbers);
	*columns = (struct opk_columns){ 0 };
}
