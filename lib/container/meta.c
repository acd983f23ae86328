/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads metadata. */
#include "container/container.h"

#include <inttypes.h>
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/metric.h"
#include "base/strlist.h"

void opk_config_hash(char out[15], const void *config, size_t size)
{
	snprintf(out, 15, "crc32:%08" PRIx32, opk_crc32(0, config, size));
}

int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section)
{
	opk_autofree void *text = NULL;
	size_t size;
	int code;

	if (file->sections[section].plain_size > OPK_MAX_JSON) {
		opk_fail(ctx, OPK_EINPUT, "JSON of more than %d bytes", OPK_MAX_JSON);
		return opk_file_add_place(ctx, OPK_EINPUT, file, section);
	}
	TRY(opk_file_read(&text, &size, ctx, file, section));
	code = opk_json_parse(out, ctx, text, size);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

/* ---- lists ------------------------------------------------------------------------------ */

/* The first failure sticks, and lists are empty after it. */
struct reader {
	struct opk_meta_storage *storage;
	struct opk_ctx *ctx;
	const struct opk_json *root;
	int code;
};

#define REFUSE(r, ...)                                                                             \
	((r)->code = (r)->code ? (r)->code : opk_fail((r)->ctx, OPK_EINPUT, __VA_ARGS__))

/* An array of as many elements as the list has; NULL where it is empty, absent or refused. */
static void *begin_list(const struct opk_json **list, struct reader *r, const char *key,
                        enum opk_json_type type, size_t element_size)
{
	static const struct opk_json empty = { .type = OPK_JSON_NULL };
	const struct opk_json *found = opk_json_member(r->root, key);
	void *array;

	*list = &empty;
	if (found && found->type != type)
		REFUSE(r, "metadata: member %s is of the wrong type", key);
	if (r->code || !found || !found->count)
		return NULL;
	array = opk_alloc_array(found->count, element_size);
	if (!array) {
		r->code = opk_nomem(r->ctx, "metadata");
		return NULL;
	}
	r->storage->arrays[r->storage->array_count++] = array;
	*list = found;
	return array;
}

/* What is no text becomes "", which is the name of nothing, or is refused at once. */
static const char *const *read_names(size_t *count, struct reader *r, const char *key, bool texts)
{
	const struct opk_json *list;
	const char **names = begin_list(&list, r, key, OPK_JSON_ARRAY, sizeof *names);

	for (size_t i = 0; i < list->count; i++) {
		names[i] = list->children[i].type == OPK_JSON_STRING ? list->children[i].text : "";
		if (texts && list->children[i].type != OPK_JSON_STRING)
			REFUSE(r, "%s %zu is no text", key, i + 1);
	}
	*count = list->count;
	return names;
}

/* Pass numbers of all metrics go into one array. What is no number is past all passes. */
static void read_metric_passes(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_pass_list *lists = begin_list(&list, r, "metric_passes", OPK_JSON_ARRAY,
	                                         sizeof *lists);
	size_t total = 1;
	uint32_t *passes;

	for (size_t i = 0; i < list->count; i++) {
		if (list->children[i].type != OPK_JSON_ARRAY)
			REFUSE(r, "metadata: the passes of metric %zu are no array", i + 1);
		total += list->children[i].count;
	}
	passes = lists ? opk_alloc_array(total, sizeof *passes) : NULL;
	if (!passes) {
		r->code = lists ? opk_nomem(r->ctx, "metadata") : r->code;
		return;
	}
	r->storage->arrays[r->storage->array_count++] = passes;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *numbers = &list->children[i];
		uint64_t pass;

		lists[i] = (struct opk_pass_list){ passes, numbers->count };
		for (size_t j = 0; j < numbers->count; j++)
			*passes++ = opk_json_to_u64(&pass, &numbers->children[j])
			                            && pass <= UINT32_MAX
			                    ? (uint32_t)pass
			                    : UINT32_MAX;
	}
	meta->metric_passes = lists;
	meta->metric_pass_count = list->count;
}

static void read_run(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_property *run = begin_list(&list, r, "run", OPK_JSON_OBJECT, sizeof *run);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *value = &list->children[i];

		if (value->type != OPK_JSON_STRING)
			REFUSE(r, "metadata: fact %zu about the run is no text", i + 1);
		run[i] = (struct opk_property){ value->key, value->text };
	}
	meta->run = run;
	meta->run_count = list->count;
}

static void read_labels(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_meta_label *labels = begin_list(&list, r, "labels", OPK_JSON_OBJECT,
	                                           sizeof *labels);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *label = &list->children[i];

		if (label->type != OPK_JSON_STRING)
			REFUSE(r, "label %zu is no text", i + 1);
		labels[i] = (struct opk_meta_label){ label->key, label->text };
	}
	meta->labels = labels;
	meta->label_count = list->count;
}

/* An absent text is ""; any other type is refused. */
static bool take_text(const char **out, const struct opk_json *object, const char *key)
{
	const struct opk_json *found = opk_json_member(object, key);

	*out = found && found->type == OPK_JSON_STRING ? found->text : "";
	return !found || found->type == OPK_JSON_STRING;
}

static void read_derived(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_meta_derived *all = begin_list(&list, r, "derived", OPK_JSON_ARRAY, sizeof *all);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];
		struct opk_meta_derived *derived = &all[i];

		if (node->type != OPK_JSON_OBJECT || !take_text(&derived->name, node, "name")
		    || !take_text(&derived->formula, node, "formula")
		    || !take_text(&derived->unit, node, "unit")
		    || !take_text(&derived->description, node, "description"))
			REFUSE(r, "derived metric %zu is no object of texts", i + 1);
	}
	meta->derived = all;
	meta->derived_count = list->count;
}

static bool take_size(size_t *out, const struct opk_json *object, const char *key)
{
	uint64_t value;

	if (!opk_json_u64(&value, object, key) || value > SIZE_MAX)
		return false;
	*out = (size_t)value;
	return true;
}

static void read_headings(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_meta_heading *headings = begin_list(&list, r, "headings", OPK_JSON_ARRAY,
	                                               sizeof *headings);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];
		struct opk_meta_heading *heading = &headings[i];

		if (node->type != OPK_JSON_OBJECT || !take_text(&heading->title, node, "title")
		    || !take_text(&heading->text, node, "text")
		    || !take_text(&heading->draw, node, "draw")
		    || !take_size(&heading->first, node, "first")
		    || !take_size(&heading->count, node, "count"))
			REFUSE(r, "heading %zu is no title, text, first and count", i + 1);
	}
	meta->headings = headings;
	meta->heading_count = list->count;
}

static void read_roofs(struct opk_meta_roofline *roofline, struct reader *r)
{
	const struct opk_json *list;
	struct opk_meta_roof *roofs = begin_list(&list, r, "roofs", OPK_JSON_ARRAY, sizeof *roofs);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];

		if (node->type != OPK_JSON_OBJECT || !take_text(&roofs[i].name, node, "name")
		    || !take_text(&roofs[i].bytes, node, "bytes")
		    || !take_text(&roofs[i].peak, node, "peak")
		    || !take_text(&roofs[i].work, node, "work")
		    || !take_text(&roofs[i].throughput, node, "throughput"))
			REFUSE(r, "roof %zu is no object of texts", i + 1);
	}
	roofline->roofs = roofs;
	roofline->roof_count = list->count;
}

static void read_roofline(struct opk_meta *meta, struct reader *all)
{
	struct opk_meta_roofline *roofline = &meta->roofline;
	struct reader r = *all;

	r.root = opk_json_member(all->root, "roofline");
	if (!r.root || all->code)
		return;
	if (r.root->type != OPK_JSON_OBJECT || !take_text(&roofline->title, r.root, "title")
	    || !take_text(&roofline->time, r.root, "time"))
		REFUSE(&r, "the roofline is no object with title, work, time and roofs");
	roofline->work = read_names(&roofline->work_count, &r, "work", true);
	read_roofs(roofline, &r);
	all->code = r.code;
}

static void read_availability(struct opk_meta *meta, struct reader *r)
{
	const struct opk_json *list;
	struct opk_availability *all = begin_list(&list, r, "availability", OPK_JSON_ARRAY,
	                                          sizeof *all);

	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *node = &list->children[i];
		int64_t device;

		if (node->type != OPK_JSON_OBJECT || !take_text(&all[i].chip, node, "chip")
		    || !opk_profiler_parse(&all[i].profiler, opk_json_string(node, "profiler"))
		    || !opk_json_i64(&device, node, "device") || device < 0 || device > INT32_MAX)
			REFUSE(r, "availability %zu is no device, chip and profiler", i + 1);
		else
			all[i].device = (int32_t)device;
	}
	meta->availability = all;
	meta->availability_count = list->count;
}

int opk_meta_read_lists(struct opk_meta_storage *storage, struct opk_ctx *ctx,
                        const struct opk_json *root)
{
	struct reader r = { .storage = storage, .ctx = ctx, .root = root };
	struct opk_meta *meta = &storage->meta;

	read_metric_passes(meta, &r);
	meta->inflated = read_names(&meta->inflated_count, &r, "inflated", false);
	read_run(meta, &r);
	read_labels(meta, &r);
	meta->hidden = read_names(&meta->hidden_count, &r, "hidden", true);
	read_derived(meta, &r);
	meta->columns = read_names(&meta->column_count, &r, "columns", true);
	read_headings(meta, &r);
	read_roofline(meta, &r);
	read_availability(meta, &r);
	return r.code;
}

/* ---- all of it -------------------------------------------------------------------------- */

static void fill_scalars(struct opk_meta *meta, const struct opk_json *root)
{
	const struct opk_json *instances = opk_json_get(root, "keep_instances", OPK_JSON_BOOL);
	uint64_t passes = 0, version = 0;

	opk_json_u64(&passes, root, "passes");
	opk_json_u64(&version, root, "cupti_version");
	meta->kind = opk_json_string(root, "kind");
	meta->generator = opk_json_string(root, "generator");
	meta->chip = opk_json_string(root, "chip");
	meta->set_name = opk_json_string(root, "set");
	meta->set_description = opk_json_string(root, "description");
	meta->single_pass = opk_json_string(root, "single_pass");
	meta->config_hash = opk_json_string(root, "config_hash");
	meta->source = opk_json_string(root, "source");
	meta->mode = opk_json_string(root, "mode");
	meta->backend = opk_json_string(root, "backend");
	meta->made_by = opk_json_string(root, "made_by");
	meta->passes = (size_t)passes;
	meta->cupti_version = version <= UINT32_MAX ? (uint32_t)version : 0;
	meta->keep_instances = !instances || instances->boolean;
	meta->has_gpu_time_shift = opk_json_i64(&meta->gpu_time_shift, root, "gpu_time_shift_ns");
}

/*
 * Sets used to have images of groups of metrics beside those of the whole set. A recording whose
 * ranges have all metrics is what it would be without them.
 */
static bool has_pass_groups(const struct opk_meta *meta, const struct opk_json *root)
{
	const struct opk_json *groups = opk_json_member(root, "groups");
	bool whole = !strcmp(meta->kind, "recording") && !*meta->join;

	return groups && groups->count && !whole;
}

/* Members that change what values mean, and so have to be right. */
static int read_strict(struct opk_meta *meta, struct opk_ctx *ctx, const struct opk_json *root)
{
	uint64_t version = 0;

	if (!take_text(&meta->join, root, "join"))
		return opk_fail(ctx, OPK_EINPUT, "metadata: member join is of the wrong type");
	if (has_pass_groups(meta, root))
		return opk_fail(ctx, OPK_EINPUT,
		                "made in pass groups by an earlier offpeak: build the set again, "
		                "and record again");
	if (opk_json_member(root, "version")
	    && (!opk_json_u64(&version, root, "version") || version > UINT32_MAX))
		return opk_fail(ctx, OPK_EINPUT, "the set's version is no number");
	meta->set_version = (uint32_t)version;
	if (!take_text(&meta->set_hash, root, "set_hash"))
		return opk_fail(ctx, OPK_EINPUT, "the set's hash is no text");
	return OPK_OK;
}

static int fill(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_json *root = storage->root;
	struct reader r = { .storage = storage, .ctx = ctx, .root = root };
	struct opk_meta *meta = &storage->meta;
	bool known = opk_profiler_parse(&meta->profiler, opk_json_string(root, "profiler"));

	fill_scalars(meta, root);
	if (opk_json_get(root, "metrics", OPK_JSON_ARRAY))
		meta->metrics = read_names(&meta->metric_count, &r, "metrics", false);
	if (!r.code)
		r.code = read_strict(meta, ctx, root);
	if (!r.code)
		r.code = opk_meta_read_lists(storage, ctx, root);
	if (!r.code)
		r.code = opk_meta_check(ctx, meta);
	if (!r.code && !known)
		r.code = opk_fail(ctx, OPK_EINPUT, "the metadata names no known profiler");
	return r.code;
}

static int load(struct opk_meta_storage *storage, struct opk_ctx *ctx, const struct opk_file *file)
{
	long section = opk_file_find(file, OPK_SECTION_META);
	int code;

	if (section < 0 && !file->complete)
		return opk_fail(ctx, OPK_EINPUT,
		                "%s: cut off at byte %ju, before its metadata are whole",
		                file->path, (uintmax_t)file->size);
	if (section < 0)
		return opk_fail(ctx, OPK_EINPUT, "%s: no metadata section", file->path);
	TRY(opk_file_read_json(&storage->root, ctx, file, (size_t)section));
	code = fill(storage, ctx);
	return code ? opk_file_add_place(ctx, code, file, (size_t)section) : OPK_OK;
}

int opk_file_meta(const struct opk_meta **meta, struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_meta_storage *storage;
	int code;

	if (!file->meta) {
		storage = opk_alloc(sizeof *storage);
		code = storage ? load(storage, ctx, file) : opk_nomem(ctx, "metadata");
		if (code) {
			opk_meta_storage_free(storage);
			return code;
		}
		file->meta = storage;
	}
	*meta = &file->meta->meta;
	return OPK_OK;
}

void opk_meta_storage_clear(struct opk_meta_storage *storage)
{
	opk_json_free(storage->root);
	while (storage->array_count)
		free(storage->arrays[--storage->array_count]);
}

void opk_meta_storage_free(struct opk_meta_storage *storage)
{
	if (storage)
		opk_meta_storage_clear(storage);
	free(storage);
}

/* ---- what is shown */

static const char *label_of(const struct opk_meta *meta, const char *metric)
{
	for (size_t i = 0; i < meta->label_count; i++)
		if (!strcmp(meta->labels[i].metric, metric))
			return meta->labels[i].name;
	return metric;
}

bool opk_meta_hides(const struct opk_meta *meta, const char *metric)
{
	for (size_t i = 0; i < meta->hidden_count; i++)
		if (!strcmp(meta->hidden[i], metric))
			return true;
	return false;
}

bool opk_meta_list_columns(struct opk_strlist *names, const struct opk_meta *meta)
{
	bool good = true;

	for (size_t i = 0; good && i < meta->column_count; i++)
		good = opk_strlist_add(names, meta->columns[i]);
	for (size_t i = 0; good && !meta->column_count && i < meta->metric_count; i++)
		if (!opk_meta_hides(meta, meta->metrics[i]))
			good = opk_strlist_add(names, label_of(meta, meta->metrics[i]));
	for (size_t i = 0; good && !meta->column_count && i < meta->derived_count; i++)
		good = opk_strlist_add(names, meta->derived[i].name);
	return good;
}
