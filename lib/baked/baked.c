/* SPDX-License-Identifier: BSD-2-Clause */
/* BAKE sections: how the values in a file were made. */
#include "baked/baked_inside.h"
#include "base/listing.h"
#include "base/nearest.h"
#include "base/number_text.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER(type, member)                                                                       \
	OPK_MEMBER(type, member, #member, .form = OPK_MEMBER_NUMBER, .rules = OPK_MEMBER_BOUNDED)

static const struct opk_member image_members[] = {
	NUMBER(opk_baked_image, rows),
	NUMBER(opk_baked_image, incomplete),
};
static const struct opk_members image_table = OPK_MEMBERS(image_members, opk_baked_image);

#define TEXT(type, member) OPK_MEMBER(type, member, #member)

static const struct opk_member set_members[] = {
	TEXT(opk_baked_set, name),
	NUMBER(opk_baked_set, metrics),
};
static const struct opk_members set_table = OPK_MEMBERS(set_members, opk_baked_set);

static const struct opk_member metric_members[] = {
	TEXT(opk_baked_metric, name),
	TEXT(opk_baked_metric, type),
	TEXT(opk_baked_metric, hw_unit),
	TEXT(opk_baked_metric, unit),
	TEXT(opk_baked_metric, description),
	OPK_MEMBER(opk_baked_metric, suffixes, "suffixes", .form = OPK_MEMBER_PAIRS,
	           .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked_metric, suffix_count)),
};
static const struct opk_members metric_table = OPK_MEMBERS(metric_members, opk_baked_metric);

static const struct opk_member members[] = {
	NUMBER(opk_baked, cupti_version),
	NUMBER(opk_baked, nvperf_year),
	NUMBER(opk_baked, nvperf_number),
	OPK_MEMBER(opk_baked, generator, "generator"),
	OPK_MEMBER(opk_baked, images, "images", .form = OPK_MEMBER_OBJECTS,
	           .elements = &image_table, .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked, image_count)),
	OPK_MEMBER(opk_baked, metrics, "metrics", .form = OPK_MEMBER_OBJECTS,
	           .elements = &metric_table, .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked, metric_count)),
	OPK_MEMBER(opk_baked, sets, "sets", .form = OPK_MEMBER_TEXTS, .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked, set_count)),
	OPK_MEMBER(opk_baked, definitions, "definitions", .form = OPK_MEMBER_TEXTS,
	           .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked, definition_count)),
	OPK_MEMBER(opk_baked, named_sets, "named_sets", .form = OPK_MEMBER_OBJECTS,
	           .elements = &set_table, .rules = OPK_MEMBER_STRICT,
	           .count = offsetof(struct opk_baked, named_set_count)),
};
static const struct opk_members baked_table = OPK_MEMBERS(members, opk_baked);

struct opk_baked_file {
	struct opk_baked baked;
	struct opk_json *root;
	struct opk_arrays arrays;
	struct opk_baked_image *images; /* of all files of a joint one; or NULL */
};

bool opk_file_is_baked(const struct opk_file *file)
{
	size_t found = 0;

	for (size_t i = 0; i < file->section_count; i++)
		found += file->sections[i].type == OPK_SECTION_BAKED
		         && file->sections[i].part == found;
	return found == (file->joint ? file->joint->paths.count : 1);
}

int opk_writer_add_baked(struct opk_writer *writer, const struct opk_baked *baked)
{
	opk_autobuf struct opk_buf text = { 0 };
	struct opk_json_writer json = { .buf = &text };

	opk_json_begin_object(&json);
	opk_members_write(&json, &baked_table, baked);
	opk_json_end_object(&json);
	return opk_writer_add_text(writer, OPK_SECTION_BAKED, &text, "a description of values");
}

static int check_rows(struct opk_ctx *ctx, const struct opk_baked *baked)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < baked->image_count; i++)
		if (__builtin_add_overflow(rows, baked->images[i].rows, &rows)
		    || rows > SIZE_MAX / 2)
			return opk_fail(ctx, OPK_EINPUT, "more rows than a file can have");
	return OPK_OK;
}

static int read_baked(struct opk_baked_file *out, struct opk_ctx *ctx, const struct opk_file *file,
                      size_t section)
{
	const struct opk_members_reader reader = { ctx, &out->arrays, "baked values", 0 };

	TRY(opk_file_read_json(&out->root, ctx, file, section));
	if (out->root->type != OPK_JSON_OBJECT)
		return opk_fail(ctx, OPK_EINPUT, "what was evaluated is not an object");
	TRY(opk_members_read(&out->baked, &baked_table, &reader, out->root));
	TRY(check_rows(ctx, &out->baked));
	/* Rows need no sets: one without a definition counts as not evaluated. */
	if (out->baked.set_count > out->baked.definition_count)
		out->baked.set_count = out->baked.definition_count;
	return OPK_OK;
}

int opk_baked_read(struct opk_baked_file **out, struct opk_ctx *ctx, const struct opk_file *file,
                   size_t section)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = opk_alloc(sizeof *baked);
	int code = baked ? read_baked(baked, ctx, file, section) : opk_nomem(ctx, "baked values");

	if (code)
		return code == OPK_EINPUT ? opk_file_add_place(ctx, code, file, section) : code;
	*out = opk_take(baked);
	return OPK_OK;
}

/* Adds the images of another file of a joint one. */
static int add_images(struct opk_baked_file *to, struct opk_ctx *ctx, const struct opk_baked *from)
{
	size_t count = to->baked.image_count, all = count + from->image_count;
	struct opk_baked_image *images = opk_alloc_array(all + 1, sizeof *images);

	if (!images)
		return opk_nomem(ctx, "baked values");
	for (size_t i = 0; i < all; i++)
		images[i] = i < count ? to->baked.images[i] : from->images[i - count];
	free(to->images);
	to->baked.images = to->images = images;
	to->baked.image_count = all;
	return check_rows(ctx, &to->baked);
}

/* The first file of a joint one says how values were made. */
int opk_baked_open(struct opk_baked_file **out, struct opk_ctx *ctx, const struct opk_file *file)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	size_t parts = 0;

	*out = NULL;
	if (!opk_file_is_baked(file))
		return OPK_OK;
	for (size_t i = 0; i < file->section_count; i++) {
		opk_auto(opk_baked_file) struct opk_baked_file *part = NULL;

		if (file->sections[i].type != OPK_SECTION_BAKED || file->sections[i].part != parts)
			continue;
		TRY(opk_baked_read(&part, ctx, file, i));
		if (parts++)
			TRY(add_images(baked, ctx, &part->baked));
		else
			baked = opk_take(part);
	}
	*out = opk_take(baked);
	return OPK_OK;
}

void opk_baked_file_free(struct opk_baked_file *baked)
{
	if (!baked)
		return;
	opk_arrays_clear(&baked->arrays);
	opk_json_free(baked->root);
	free(baked->images);
	free(baked);
}

const struct opk_baked *opk_baked_get(const struct opk_baked_file *baked)
{
	return &baked->baked;
}

int opk_values_origin_find(struct opk_values_origin *out, struct opk_ctx *ctx,
                           const struct opk_file *file)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;

	*out = (struct opk_values_origin){ 0 };
	TRY(opk_baked_open(&baked, ctx, file));
	if (!baked)
		return OPK_OK;
	snprintf(out->generator, sizeof out->generator, "%s", baked->baked.generator);
	out->cupti_version = baked->baked.cupti_version;
	return OPK_OK;
}

bool opk_values_are_foreign(const struct opk_values_origin *origin)
{
	return *origin->generator && !origin->cupti_version;
}

int opk_baked_why_no_images(const char **why, struct opk_ctx *ctx, const struct opk_file *file)
{
	struct opk_values_origin origin;

	TRY(opk_values_origin_find(&origin, ctx, file));
	*why = opk_values_are_foreign(&origin) ? "there are only values"
	                                       : "the images were left out";
	return OPK_OK;
}

int opk_values_list(struct opk_listing **out, size_t *metrics, struct opk_ctx *ctx,
                    struct opk_file *file)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new("set metrics~ recorded?");
	opk_autostrlist struct opk_strlist known = { 0 };
	const struct opk_baked *how;
	const struct opk_meta *meta;

	*metrics = 0;
	TRY(opk_baked_open(&baked, ctx, file));
	if (!baked)
		return opk_listing_finish(out, ctx, opk_take(rows));
	how = opk_baked_get(baked);
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_value_row_metrics(&known, ctx, file));
	*metrics = known.count;
	opk_listing_row(rows, cell_text(*meta->set_name ? meta->set_name : "(recorded)"),
	                cell_known(meta->metric_count, true), cell_flag(true));
	for (size_t i = 0; i < how->set_count; i++) {
		bool named = i < how->named_set_count && *how->named_sets[i].name;

		opk_listing_row(rows, cell_text(named ? how->named_sets[i].name : how->sets[i]),
		                cell_known(named ? how->named_sets[i].metrics : 0, named),
		                cell_flag(false));
	}
	return opk_listing_finish(out, ctx, opk_take(rows));
}

int opk_baked_check_segments(struct opk_ctx *ctx, const struct opk_baked *baked,
                             const struct opk_segment *segments, size_t count)
{
	if (baked->image_count != count)
		return opk_fail(ctx, OPK_EINPUT,
		                "its values are of %zu image%s, and the file has %zu",
		                baked->image_count, opk_plural(baked->image_count), count);
	for (size_t i = 0; i < count; i++)
		if (opk_segment_is_counted(&segments[i])
		    && segments[i].row_count != baked->images[i].rows)
			return opk_fail(ctx, OPK_EINPUT,
			                "its values are of %ju row%s of image %zu, and its tables "
			                "have %zu",
			                (uintmax_t)baked->images[i].rows,
			                opk_plural(baked->images[i].rows), i + 1,
			                segments[i].row_count);
	return OPK_OK;
}

int opk_baked_check_images(struct opk_ctx *ctx, const struct opk_file *file, const char *what)
{
	struct opk_values_origin origin;

	if (opk_file_find(file, OPK_SECTION_LEFT_OUT) < 0)
		return OPK_OK;
	TRY(opk_values_origin_find(&origin, ctx, file));
	if (opk_values_are_foreign(&origin))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s needs counters, and there are only values, which %s computed",
		                what, origin.generator);
	return opk_fail(ctx, OPK_EUSAGE,
	                "%s needs the recording's images, which were left out when it was baked: "
	                "take the recording itself",
	                what);
}

int opk_baked_find_lacking(const char **out, struct opk_ctx *ctx, const struct opk_file *file,
                           const char *const *metrics, size_t count)
{
	opk_autostrlist struct opk_strlist known = { 0 };

	*out = NULL;
	TRY(opk_value_row_metrics(&known, ctx, file));
	for (size_t i = 0; !*out && i < count; i++)
		if (!opk_attribute_is_name(metrics[i]) && !opk_strlist_contains(&known, metrics[i]))
			*out = metrics[i];
	return OPK_OK;
}

int opk_baked_lacks(struct opk_ctx *ctx, const struct opk_file *file, const char *what)
{
	opk_autostrlist struct opk_strlist known = { 0 };
	struct opk_nearest near = { .name = what };
	struct opk_values_origin origin;

	TRY(opk_values_origin_find(&origin, ctx, file));
	TRY(opk_value_row_metrics(&known, ctx, file));
	for (size_t i = 0; i < known.count; i++)
		opk_nearest_try(&near, known.items[i]);
	/* Two letters make another metric of many. */
	if (near.best && near.distance == 1)
		return opk_fail(ctx, OPK_EUSAGE, "%s is not among its values" OPK_DID_YOU_MEAN,
		                what, OPK_NEAR(near.best));
	if (opk_values_are_foreign(&origin))
		return opk_fail(
			ctx, OPK_EUSAGE,
			"%s is not among its values, which %s computed: collect it there, too",
			what, origin.generator);
	opk_fail(ctx, OPK_EUSAGE,
	         "%s is not among its values, and its images were left out when it was baked: take "
	         "the recording itself, or bake that with it, too",
	         what);
	return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_BAKE);
}

int opk_writer_add_place(struct opk_writer *writer, uint32_t image_crc, uint32_t number)
{
	opk_autobuf struct opk_buf payload = { 0 };

	opk_buf_add_u32(&payload, image_crc);
	opk_buf_add_u32(&payload, number);
	return opk_writer_add_buf(writer, OPK_SECTION_LEFT_OUT, &payload, "an image's place");
}

/* ---- values of other tools ------------------------------------------------------------------- */

static int add_rows(struct opk_writer *writer, struct opk_ctx *ctx,
                    const struct opk_given_values *values, size_t first, size_t count,
                    struct opk_strlist *texts)
{
	opk_autovalues struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS,
		                                        .first = first,
		                                        .count = count };

	for (size_t i = 0; i < values->metric_count; i++) {
		uint64_t *entries;

		TRY(opk_value_table_add(&entries, &table, ctx, OPK_VALUE_METRIC, values->metrics[i],
		                        values->units[i]));
		for (size_t row = 0; row < count; row++)
			entries[row] = opk_bits_of(
				values->values[(first + row) * values->metric_count + i]);
	}
	return opk_value_table_write(writer, ctx, &table, first ? texts : NULL,
	                             first ? NULL : texts);
}

/* What names alone say of metrics, in place of a catalog. */
struct described {
	struct opk_strlist bases, units; /* each once; hardware's units of these */
	struct opk_index numbers;        /* of the bases */
	size_t *base_of;                 /* of each metric: its number */
	struct opk_baked_metric *metrics;
	struct opk_property *suffixes;
};

static void clear_described(struct described *d)
{
	opk_strlist_clear(&d->bases);
	opk_strlist_clear(&d->units);
	opk_index_clear(&d->numbers);
	free(d->base_of);
	free(d->metrics);
	free(d->suffixes);
}

static size_t base_length(const char *name)
{
	return strcspn(name, ".");
}

static const char *type_of(const char *suffix, const char *base)
{
	if (strstr(base, "throughput"))
		return "throughput";
	return !strcmp(suffix, ".ratio") || !strcmp(suffix, ".pct") ? "ratio" : "counter";
}

/* Begins the description of a new base. */
static bool add_base(struct described *d, char *base)
{
	const char *unit = strstr(base, "__");
	size_t number = d->bases.count;

	if (!opk_strlist_take(&d->bases, base)
	    || !opk_strlist_take(&d->units,
	                         opk_strndup(base, unit ? (size_t)(unit - base) : strlen(base)))
	    || !opk_index_add(&d->numbers, base, number, NULL))
		return false;
	d->metrics[number] = (struct opk_baked_metric){
		.name = base, .hw_unit = d->units.items[number], .unit = "", .description = ""
	};
	return true;
}

/* Finds the base of each metric, and how many suffixes each base has. */
static bool find_bases(struct described *d, const struct opk_given_values *values)
{
	for (size_t i = 0; i < values->metric_count; i++) {
		const char *name = values->metrics[i];
		opk_autofree char *base = opk_strndup(name, base_length(name));

		if (!base)
			return false;
		if (!opk_index_find(&d->base_of[i], &d->numbers, base)) {
			d->base_of[i] = d->bases.count;
			if (!add_base(d, opk_take(base)))
				return false;
		}
		d->metrics[d->base_of[i]].suffix_count++;
	}
	return true;
}

/* Each base has its suffixes in the order of the metrics. */
static void list_suffixes(struct described *d, const struct opk_given_values *values)
{
	struct opk_property *next = d->suffixes;

	for (size_t i = 0; i < d->bases.count; i++) {
		d->metrics[i].suffixes = next;
		next += d->metrics[i].suffix_count;
		d->metrics[i].suffix_count = 0;
	}
	for (size_t i = 0; i < values->metric_count; i++) {
		struct opk_baked_metric *metric = &d->metrics[d->base_of[i]];
		const char *suffix = values->metrics[i] + base_length(values->metrics[i]);
		size_t at = (size_t)(metric->suffixes - d->suffixes) + metric->suffix_count++;

		metric->type = type_of(suffix, metric->name);
		d->suffixes[at] = (struct opk_property){ suffix, values->units[i] };
	}
}

static int by_name(const void *a, const void *b)
{
	const struct opk_baked_metric *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int describe_all(struct described *d, struct opk_ctx *ctx,
                        const struct opk_given_values *values)
{
	d->base_of = opk_alloc_array(values->metric_count + 1, sizeof *d->base_of);
	d->metrics = opk_alloc_array(values->metric_count + 1, sizeof *d->metrics);
	d->suffixes = opk_alloc_array(values->metric_count + 1, sizeof *d->suffixes);
	if (!d->base_of || !d->metrics || !d->suffixes || !find_bases(d, values))
		return opk_nomem(ctx, "metrics");
	list_suffixes(d, values);
	qsort(d->metrics, d->bases.count, sizeof *d->metrics, by_name);
	return OPK_OK;
}

int opk_writer_add_given_values(struct opk_writer *writer, struct opk_ctx *ctx,
                                const struct opk_given_values *values)
{
	__attribute__((cleanup(clear_described))) struct described d = { 0 };
	struct opk_baked baked = {
		.generator = values->generator,
		.images = values->images,
		.image_count = values->image_count,
	};
	opk_autostrlist struct opk_strlist texts = { 0 }; /* of the first table */
	size_t most = OPK_VALUES_AT_ONCE / (values->metric_count + 1) + 1;

	TRY(describe_all(&d, ctx, values));
	baked.metrics = d.metrics;
	baked.metric_count = d.bases.count;
	if (!values->row_count)
		TRY(add_rows(writer, ctx, values, 0, 0, &texts));
	for (size_t first = 0, count; first < values->row_count; first += count) {
		count = values->row_count - first < most ? values->row_count - first : most;
		TRY(add_rows(writer, ctx, values, first, count, &texts));
	}
	/* The last, so that a file that was cut off shows whether all values are there. */
	return opk_writer_add_baked(writer, &baked);
}
