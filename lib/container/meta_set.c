/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members of the metadata that a set says beyond its metrics: version, labels, hidden metrics,
 * derived ones, columns, headings. Formulas are text here: the collector knows nothing of them.
 */
#include <string.h>

#include "base/ascii.h"
#include "container/meta.h"
#include "container/meta_names.h"

enum { MAX_DERIVED = 10000, MAX_FORMULAS = 1 << 20, MAX_HEADINGS = 10000 };

size_t opk_meta_default_columns(const struct opk_meta *meta)
{
	return meta->metric_count - meta->hidden_count + meta->derived_count;
}

/* ---- checks ----------------------------------------------------------------------------- */

/* What a formula takes for a name. */
static bool is_name(const char *text)
{
	size_t length = text && opk_is_letter(*text) ? opk_span(text, opk_in_full_name) : 0;

	return length && !text[length] && length < 512;
}

static int check_labels(struct opk_ctx *ctx, const struct opk_meta *meta,
                        const struct opk_meta_names *names)
{
	opk_autofree bool *seen = opk_alloc_array(meta->metric_count, sizeof *seen);

	if (!seen)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < meta->label_count; i++) {
		const struct opk_meta_label *label = &meta->labels[i];
		size_t metric = opk_meta_names_find(names, label->metric)->index;

		if (seen[metric])
			return opk_fail(ctx, OPK_EINPUT, "metric %s has two labels", label->metric);
		seen[metric] = true;
	}
	return OPK_OK;
}

/* Before anybody looks for a name. */
static int check_texts(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	size_t total = 0;

	if (meta->label_count > meta->metric_count)
		return opk_fail(ctx, OPK_EINPUT, "more labels than metrics");
	for (size_t i = 0; i < meta->label_count; i++)
		if (!meta->labels[i].metric || !is_name(meta->labels[i].name))
			return opk_fail(ctx, OPK_EINPUT, "label %zu is no usable name", i + 1);
	if (meta->derived_count > MAX_DERIVED)
		return opk_fail(ctx, OPK_EINPUT, "more than %d derived metrics", MAX_DERIVED);
	for (size_t i = 0; i < meta->derived_count; i++) {
		const struct opk_meta_derived *derived = &meta->derived[i];

		if (!is_name(derived->name))
			return opk_fail(ctx, OPK_EINPUT, "derived metric %zu has no usable name",
			                i + 1);
		if (!derived->formula || !*derived->formula)
			return opk_fail(ctx, OPK_EINPUT, "derived metric '%s' has no formula",
			                derived->name);
		total += strlen(derived->formula);
		if (total > MAX_FORMULAS)
			return opk_fail(ctx, OPK_EINPUT, "formulas of more than %d bytes",
			                MAX_FORMULAS);
	}
	return OPK_OK;
}

static int check_hidden(bool *hidden, struct opk_ctx *ctx, const struct opk_meta *meta,
                        const struct opk_meta_names *names)
{
	for (size_t i = 0; i < meta->hidden_count; i++) {
		const struct opk_meta_name *found = opk_meta_names_find(names, meta->hidden[i]);

		if (!found || found->derived || found->label)
			return opk_fail(ctx, OPK_EINPUT, "'%s' is hidden and no metric of the set",
			                meta->hidden[i]);
		if (hidden[found->index])
			return opk_fail(ctx, OPK_EINPUT, "'%s' is hidden twice", meta->hidden[i]);
		hidden[found->index] = true;
	}
	return OPK_OK;
}

/* `taken` has the hidden metrics, and room for the derived ones behind all metrics. */
static int check_columns(bool *taken, struct opk_ctx *ctx, const struct opk_meta *meta,
                         const struct opk_meta_names *names)
{
	for (size_t i = 0; i < meta->column_count; i++) {
		const struct opk_meta_name *found = opk_meta_names_find(names, meta->columns[i]);
		size_t at;

		if (!found)
			return opk_fail(ctx, OPK_EINPUT,
			                "column '%s' is no metric, label or derived metric",
			                meta->columns[i]);
		at = found->index + (found->derived ? meta->metric_count : 0);
		if (taken[at])
			return opk_fail(ctx, OPK_EINPUT,
			                "column '%s' is hidden, or stands there twice",
			                meta->columns[i]);
		taken[at] = true;
	}
	return OPK_OK;
}

static int check_headings(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	size_t columns = meta->column_count ? meta->column_count : opk_meta_default_columns(meta);

	if (meta->heading_count > MAX_HEADINGS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d headings", MAX_HEADINGS);
	for (size_t i = 0; i < meta->heading_count; i++) {
		const struct opk_meta_heading *heading = &meta->headings[i];

		if (!heading->title || heading->first > columns
		    || heading->count > columns - heading->first)
			return opk_fail(ctx, OPK_EINPUT,
			                "heading %zu lacks a title, or is not over the %zu columns",
			                i + 1, columns);
	}
	return OPK_OK;
}

static int check_names(struct opk_ctx *ctx, const struct opk_meta *meta,
                       const struct opk_meta_names *names)
{
	opk_autofree bool *taken = opk_alloc_array(meta->metric_count + meta->derived_count,
	                                           sizeof *taken);
	int code = taken ? check_labels(ctx, meta, names) : opk_nomem(ctx, "metadata");

	if (!code)
		code = check_hidden(taken, ctx, meta, names);
	if (!code)
		code = check_columns(taken, ctx, meta, names);
	return code ? code : check_headings(ctx, meta);
}

static int check(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	struct opk_meta_names names;
	int code;

	if (!meta->label_count && !meta->hidden_count && !meta->derived_count && !meta->column_count
	    && !meta->heading_count)
		return OPK_OK;
	code = check_texts(ctx, meta);
	if (!code)
		code = opk_meta_names_init(&names, ctx, meta);
	if (code)
		return code;
	code = check_names(ctx, meta, &names);
	opk_meta_names_clear(&names);
	return code;
}

int opk_meta_check_set(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	int code = check(ctx, meta);

	return code == OPK_EINPUT ? OPK_EUSAGE : code;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool same_names(const char *const *a, const char *const *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(a[i], b[i]))
			return false;
	return true;
}

bool opk_meta_same_set(const struct opk_meta *a, const struct opk_meta *b)
{
	bool same = a->set_version == b->set_version && same_text(a->set_hash, b->set_hash)
	            && a->label_count == b->label_count && a->hidden_count == b->hidden_count
	            && a->derived_count == b->derived_count && a->column_count == b->column_count
	            && a->heading_count == b->heading_count
	            && same_names(a->hidden, b->hidden, a->hidden_count)
	            && same_names(a->columns, b->columns, a->column_count);

	for (size_t i = 0; same && i < a->label_count; i++)
		same = same_text(a->labels[i].metric, b->labels[i].metric)
		       && same_text(a->labels[i].name, b->labels[i].name);
	for (size_t i = 0; same && i < a->derived_count; i++)
		same = same_text(a->derived[i].name, b->derived[i].name)
		       && same_text(a->derived[i].formula, b->derived[i].formula)
		       && same_text(a->derived[i].unit, b->derived[i].unit)
		       && same_text(a->derived[i].description, b->derived[i].description);
	for (size_t i = 0; same && i < a->heading_count; i++)
		same = same_text(a->headings[i].title, b->headings[i].title)
		       && same_text(a->headings[i].text, b->headings[i].text)
		       && a->headings[i].first == b->headings[i].first
		       && a->headings[i].count == b->headings[i].count;
	return same;
}

/* ---- writing ---------------------------------------------------------------------------- */

static void put_labels(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "labels");
	opk_json_begin_object(json);
	for (size_t i = 0; i < meta->label_count; i++) {
		opk_json_key(json, meta->labels[i].metric);
		opk_json_put_string(json, meta->labels[i].name);
	}
	opk_json_end_object(json);
}

static void put_derived(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "derived");
	opk_json_begin_array(json);
	for (size_t i = 0; i < meta->derived_count; i++) {
		const struct opk_meta_derived *derived = &meta->derived[i];

		opk_json_begin_object(json);
		opk_json_add_string(json, "name", derived->name);
		opk_json_add_string(json, "formula", derived->formula);
		opk_json_add_string(json, "unit", derived->unit);
		opk_json_add_string(json, "description", derived->description);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_headings(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "headings");
	opk_json_begin_array(json);
	for (size_t i = 0; i < meta->heading_count; i++) {
		const struct opk_meta_heading *heading = &meta->headings[i];

		opk_json_begin_object(json);
		opk_json_key(json, "title");
		opk_json_put_string(json, heading->title);
		opk_json_add_string(json, "text", heading->text);
		opk_json_key(json, "first");
		opk_json_put_u64(json, heading->first);
		opk_json_key(json, "count");
		opk_json_put_u64(json, heading->count);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

void opk_meta_put_set(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_add_u64(json, "version", meta->set_version);
	opk_json_add_string(json, "set_hash", meta->set_hash);
	if (meta->label_count)
		put_labels(json, meta);
	if (meta->hidden_count) {
		opk_json_key(json, "hidden");
		opk_json_put_strings(json, meta->hidden, meta->hidden_count);
	}
	if (meta->derived_count)
		put_derived(json, meta);
	if (meta->column_count) {
		opk_json_key(json, "columns");
		opk_json_put_strings(json, meta->columns, meta->column_count);
	}
	if (meta->heading_count)
		put_headings(json, meta);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* A list of JSON nodes, and an array of as many elements; both empty where there is none. */
static int begin_list(const struct opk_json **list, void *array, size_t element_size,
                      struct opk_ctx *ctx, const struct opk_json *root, const char *key,
                      enum opk_json_type type)
{
	int code = opk_meta_find_list(list, ctx, root, key, type);

	if (code || !(*list)->count)
		return code;
	*(void **)array = opk_alloc_array((*list)->count, element_size);
	return *(void **)array ? OPK_OK : opk_nomem(ctx, "metadata");
}

static int read_names(const char ***out, size_t *count, struct opk_ctx *ctx,
                      const struct opk_json *root, const char *key)
{
	const struct opk_json *list;
	int code = begin_list(&list, out, sizeof **out, ctx, root, key, OPK_JSON_ARRAY);

	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++) {
		if (list->children[i].type != OPK_JSON_STRING)
			return opk_fail(ctx, OPK_EINPUT, "%s %zu is no text", key, i + 1);
		(*out)[i] = list->children[i].text;
	}
	*count = list->count;
	return OPK_OK;
}

static int read_labels(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                       const struct opk_json *root)
{
	const struct opk_json *list;
	int code = begin_list(&list, &lists->labels, sizeof *lists->labels, ctx, root, "labels",
	                      OPK_JSON_OBJECT);

	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *label = &list->children[i];

		if (label->type != OPK_JSON_STRING)
			return opk_fail(ctx, OPK_EINPUT, "label %zu is no text", i + 1);
		lists->labels[i] = (struct opk_meta_label){ label->key, label->text };
	}
	meta->labels = lists->labels;
	meta->label_count = list->count;
	return OPK_OK;
}

/* An absent text is ""; what is none is refused. */
static bool take_text(const char **out, const struct opk_json *object, const char *key)
{
	const struct opk_json *found = opk_json_member(object, key);

	*out = found && found->type == OPK_JSON_STRING ? found->text : "";
	return !found || found->type == OPK_JSON_STRING;
}

static int read_derived(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                        const struct opk_json *root)
{
	const struct opk_json *list;
	int code = begin_list(&list, &lists->derived, sizeof *lists->derived, ctx, root, "derived",
	                      OPK_JSON_ARRAY);

	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];
		struct opk_meta_derived *derived = &lists->derived[i];

		if (node->type != OPK_JSON_OBJECT || !take_text(&derived->name, node, "name")
		    || !take_text(&derived->formula, node, "formula")
		    || !take_text(&derived->unit, node, "unit")
		    || !take_text(&derived->description, node, "description"))
			return opk_fail(ctx, OPK_EINPUT, "derived metric %zu is no object of texts",
			                i + 1);
	}
	meta->derived = lists->derived;
	meta->derived_count = list->count;
	return OPK_OK;
}

static bool take_size(size_t *out, const struct opk_json *object, const char *key)
{
	uint64_t value;

	if (!opk_json_u64(&value, object, key) || value > SIZE_MAX)
		return false;
	*out = (size_t)value;
	return true;
}

static int read_headings(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                         const struct opk_json *root)
{
	const struct opk_json *list;
	int code = begin_list(&list, &lists->headings, sizeof *lists->headings, ctx, root,
	                      "headings", OPK_JSON_ARRAY);

	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];
		struct opk_meta_heading *heading = &lists->headings[i];

		if (node->type != OPK_JSON_OBJECT || !take_text(&heading->title, node, "title")
		    || !take_text(&heading->text, node, "text")
		    || !take_size(&heading->first, node, "first")
		    || !take_size(&heading->count, node, "count"))
			return opk_fail(ctx, OPK_EINPUT,
			                "heading %zu is no title, text, first and count", i + 1);
	}
	meta->headings = lists->headings;
	meta->heading_count = list->count;
	return OPK_OK;
}

static int read_scalars(struct opk_meta *meta, struct opk_ctx *ctx, const struct opk_json *root)
{
	uint64_t version = 0;

	if (opk_json_member(root, "version")
	    && (!opk_json_u64(&version, root, "version") || version > UINT32_MAX))
		return opk_fail(ctx, OPK_EINPUT, "the set's version is no number");
	meta->set_version = (uint32_t)version;
	if (!take_text(&meta->set_hash, root, "set_hash"))
		return opk_fail(ctx, OPK_EINPUT, "the set's hash is no text");
	return OPK_OK;
}

int opk_meta_read_set(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                      const struct opk_json *root)
{
	int code = read_scalars(meta, ctx, root);

	if (!code)
		code = read_labels(lists, meta, ctx, root);
	if (!code)
		code = read_names(&lists->hidden, &meta->hidden_count, ctx, root, "hidden");
	if (!code)
		code = read_derived(lists, meta, ctx, root);
	if (!code)
		code = read_names(&lists->columns, &meta->column_count, ctx, root, "columns");
	if (!code)
		code = read_headings(lists, meta, ctx, root);
	meta->hidden = lists->hidden;
	meta->columns = lists->columns;
	return code ? code : check(ctx, meta);
}
