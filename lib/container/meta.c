/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata: its members, read and written. */
#include "container/container.h"

#include <inttypes.h>
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/strlist.h"
#include "container/members.h"

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

/* ---- members ---------------------------------------------------------------------------- */

#define STRICT .rules = OPK_MEMBER_STRICT
#define NEEDED .rules = OPK_MEMBER_STRICT | OPK_MEMBER_NEEDED
#define TEXT(type, member, ...) OPK_MEMBER(type, member, #member, ##__VA_ARGS__)
#define META(member, key, ...) OPK_MEMBER(opk_meta, member, key, ##__VA_ARGS__)
#define LIST(member, number, key, kind)                                                            \
	META(member, key, STRICT, .form = OPK_MEMBER_##kind,                                       \
	     .count = offsetof(struct opk_meta, number))
#define OBJECTS(member, number, of)                                                                \
	META(member, #member, STRICT, .form = OPK_MEMBER_OBJECTS,                                  \
	     .count = offsetof(struct opk_meta, number), .elements = &(of))

static const struct opk_member derived_members[] = {
	TEXT(opk_meta_derived, name, STRICT),
	TEXT(opk_meta_derived, formula, STRICT),
	TEXT(opk_meta_derived, unit, STRICT),
	TEXT(opk_meta_derived, description, STRICT),
};
static const struct opk_members derived_table = OPK_MEMBERS(derived_members, opk_meta_derived);

static const struct opk_member heading_members[] = {
	TEXT(opk_meta_heading, title, NEEDED),
	TEXT(opk_meta_heading, text, STRICT),
	TEXT(opk_meta_heading, first, NEEDED, .form = OPK_MEMBER_NUMBER),
	TEXT(opk_meta_heading, count, NEEDED, .form = OPK_MEMBER_NUMBER),
	TEXT(opk_meta_heading, draw, STRICT),
};
static const struct opk_members heading_table = OPK_MEMBERS(heading_members, opk_meta_heading);

static const struct opk_member roof_members[] = {
	TEXT(opk_meta_roof, name, STRICT),       TEXT(opk_meta_roof, bytes, STRICT),
	TEXT(opk_meta_roof, peak, STRICT),       TEXT(opk_meta_roof, work, STRICT),
	TEXT(opk_meta_roof, throughput, STRICT),
};
static const struct opk_members roof_table = OPK_MEMBERS(roof_members, opk_meta_roof);

static const struct opk_member roofline_members[] = {
	TEXT(opk_meta_roofline, title, STRICT),
	TEXT(opk_meta_roofline, work, NEEDED, .form = OPK_MEMBER_TEXTS,
	     .count = offsetof(struct opk_meta_roofline, work_count)),
	TEXT(opk_meta_roofline, time, STRICT),
	TEXT(opk_meta_roofline, roofs, NEEDED, .form = OPK_MEMBER_OBJECTS,
	     .count = offsetof(struct opk_meta_roofline, roof_count), .elements = &roof_table),
};
static const struct opk_members roofline_table = OPK_MEMBERS(roofline_members, opk_meta_roofline);

static const struct opk_member rotation_members[] = {
	TEXT(opk_meta_rotation, passes, NEEDED, .form = OPK_MEMBER_NUMBER),
	TEXT(opk_meta_rotation, config_hash, NEEDED),
	TEXT(opk_meta_rotation, metric_passes, NEEDED, .form = OPK_MEMBER_PASSES,
	     .count = offsetof(struct opk_meta_rotation, metric_pass_count)),
};
static const struct opk_members rotation_table = OPK_MEMBERS(rotation_members, opk_meta_rotation);

static const struct opk_member image_members[] = {
	TEXT(opk_availability, chip, STRICT),
	TEXT(opk_availability, profiler, NEEDED, .form = OPK_MEMBER_PROFILER),
	TEXT(opk_availability, device, NEEDED, .form = OPK_MEMBER_INDEX),
};
static const struct opk_members image_table = OPK_MEMBERS(image_members, opk_availability);

/* In the order in which they are written. A value of another type counts as missing. */
static const struct opk_member first_members[] = {
	META(made_by, "made_by"),
	META(kind, "kind"),
	META(generator, "generator"),
	META(chip, "chip"),
	META(profiler, "profiler", NEEDED, .form = OPK_MEMBER_PROFILER),
	META(set_name, "set"),
	META(set_description, "description"),
	META(single_pass, "single_pass"),
	META(metrics, "metrics", .rules = OPK_MEMBER_NEEDED, .form = OPK_MEMBER_TEXTS,
	     .count = offsetof(struct opk_meta, metric_count)),
	META(passes, "passes", .form = OPK_MEMBER_NUMBER),
	META(keep_instances, "keep_instances", .form = OPK_MEMBER_FLAG),
	META(config_hash, "config_hash"),
	META(cupti_version, "cupti_version", .form = OPK_MEMBER_NUMBER),
	META(source, "source"),
	META(mode, "mode"),
	META(gpu_time_shift, "gpu_time_shift_ns", .form = OPK_MEMBER_SHIFT,
	     .count = offsetof(struct opk_meta, has_gpu_time_shift)),
	META(join, "join", STRICT),
	META(backend, "backend"),
};
static const struct opk_members first_table = OPK_MEMBERS(first_members, opk_meta);

static const struct opk_member list_members[] = {
	LIST(metric_passes, metric_pass_count, "metric_passes", PASSES),
	META(rotation, "rotation", STRICT, .form = OPK_MEMBER_OBJECT, .elements = &rotation_table,
	     .count = offsetof(struct opk_meta, rotation.passes)),
	LIST(inflated, inflated_count, "inflated", TEXTS),
	LIST(run, run_count, "run", PAIRS),
	OBJECTS(availability, availability_count, image_table),
};
static const struct opk_members list_table = OPK_MEMBERS(list_members, opk_meta);

static const struct opk_member set_members[] = {
	META(set_version, "version", STRICT, .form = OPK_MEMBER_NUMBER),
	META(set_hash, "set_hash", STRICT),
	LIST(labels, label_count, "labels", PAIRS),
	LIST(hidden, hidden_count, "hidden", TEXTS),
	OBJECTS(derived, derived_count, derived_table),
	LIST(columns, column_count, "columns", TEXTS),
	OBJECTS(headings, heading_count, heading_table),
	META(roofline, "roofline", STRICT, .form = OPK_MEMBER_OBJECT, .elements = &roofline_table,
	     .count = offsetof(struct opk_meta, roofline.roof_count)),
};
static const struct opk_members set_table = OPK_MEMBERS(set_members, opk_meta);

int opk_meta_read_lists(struct opk_meta_storage *storage, struct opk_ctx *ctx,
                        const struct opk_json *root)
{
	const struct opk_members_reader reader = { ctx, &storage->arrays, "metadata", 0 };

	TRY(opk_members_read(&storage->meta, &list_table, &reader, root));
	return opk_members_read(&storage->meta, &set_table, &reader, root);
}

/* ---- writing ---------------------------------------------------------------------------- */

void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_members_write(&json, &first_table, meta);
	opk_members_write(&json, &list_table, meta);
	opk_members_write(&json, &set_table, meta);
	opk_json_end_object(&json);
}

int opk_meta_set_maker(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_json *meta,
                       const char *maker)
{
	static const char key[] = "made_by";
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_json_add_string(&json, key, maker);
	for (size_t i = 0; meta->type == OPK_JSON_OBJECT && i < meta->count; i++)
		if (strcmp(meta->children[i].key, key))
			opk_json_put(&json, &meta->children[i]);
	opk_json_end_object(&json);
	return out->failed ? opk_nomem(ctx, "metadata") : OPK_OK;
}

/* What the set says, except its roofline, as JSON. */
static void put_set(struct opk_buf *out, const struct opk_meta *meta)
{
	struct opk_json_writer json = { .buf = out };
	struct opk_meta set = *meta;

	set.roofline.roof_count = 0;
	opk_members_write(&json, &set_table, &set);
}

int opk_meta_same_set(bool *same, struct opk_ctx *ctx, const struct opk_meta *one,
                      const struct opk_meta *other)
{
	opk_autobuf struct opk_buf a = { 0 }, b = { 0 };

	put_set(&a, one);
	put_set(&b, other);
	*same = a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
	return a.failed || b.failed ? opk_nomem(ctx, "metadata") : OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

/*
 * Older sets also had images for groups of metrics. If its ranges have all metrics, a recording of
 * such a set is the same without these.
 */
static bool has_pass_groups(const struct opk_meta *meta, const struct opk_json *root)
{
	const struct opk_json *groups = opk_json_member(root, "groups");
	bool whole = !strcmp(meta->kind, "recording") && !*meta->join;

	return groups && groups->count && !whole;
}

static int fill(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_members_reader reader = { ctx, &storage->arrays, "metadata", 0 };
	struct opk_meta *meta = &storage->meta;

	TRY(opk_members_read(meta, &first_table, &reader, storage->root));
	if (has_pass_groups(meta, storage->root))
		return opk_fail(ctx, OPK_EINPUT,
		                "made in pass groups by an earlier offpeak: build the set again, "
		                "and record again");
	TRY(opk_meta_read_lists(storage, ctx, storage->root));
	return opk_meta_check(ctx, meta);
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
	if (!file->meta) {
		opk_auto(opk_meta_storage) struct opk_meta_storage *storage = opk_alloc(
			sizeof *storage);

		TRY(storage ? load(storage, ctx, file) : opk_nomem(ctx, "metadata"));
		file->meta = opk_take(storage);
	}
	*meta = &file->meta->meta;
	return OPK_OK;
}

void opk_meta_storage_clear(struct opk_meta_storage *storage)
{
	opk_json_free(storage->root);
	opk_arrays_clear(&storage->arrays);
}

void opk_meta_storage_free(struct opk_meta_storage *storage)
{
	if (storage)
		opk_meta_storage_clear(storage);
	free(storage);
}

/* ---- shown columns */

static const char *label_of(const struct opk_meta *meta, const char *metric)
{
	for (size_t i = 0; i < meta->label_count; i++)
		if (!strcmp(meta->labels[i].metric, metric))
			return meta->labels[i].name;
	return metric;
}

bool opk_meta_list_columns(struct opk_strlist *names, const struct opk_meta *meta)
{
	bool good = true;

	for (size_t i = 0; good && i < meta->column_count; i++)
		good = opk_strlist_add(names, meta->columns[i]);
	for (size_t i = 0; good && !meta->column_count && i < meta->metric_count; i++)
		if (!opk_texts_contain(meta->hidden, meta->hidden_count, meta->metrics[i]))
			good = opk_strlist_add(names, label_of(meta, meta->metrics[i]));
	for (size_t i = 0; good && !meta->column_count && i < meta->derived_count; i++)
		good = opk_strlist_add(names, meta->derived[i].name);
	return good;
}
