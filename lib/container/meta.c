/* SPDX-License-Identifier: BSD-2-Clause */
#include "container/meta.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "container/container.h"

/* Parsed metadata and what its strings are borrowed from. */
struct opk_meta_storage {
	struct opk_meta meta;
	struct opk_json *root;
	const char **metrics;
	struct opk_meta_lists lists;
};

void opk_config_hash(char out[15], const void *config, size_t size)
{
	snprintf(out, 15, "crc32:%08" PRIx32, opk_crc32(0, config, size));
}

/* Chip names go to NVIDIA's code: letters and digits, and not many. */
static bool is_chip_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isupper((unsigned char)text[i]) && !isdigit((unsigned char)text[i]))
			return false;
	return length > 0 && length < 16;
}

static bool is_metric_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
			return false;
	return length > 0 && length < 512;
}

/* Whoever does not know how rows belong together can't read them right. */
static bool is_join(const char *text)
{
	static const char *const known[] = { "", "launch", "kernel", "name" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(text, known[i]))
			return true;
	return false;
}

int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	if (!meta->chip || !is_chip_name(meta->chip))
		return opk_fail(ctx, OPK_EUSAGE, "the metadata names no usable chip");
	if (!meta->metric_count || meta->metric_count > OPK_MAX_METRICS)
		return opk_fail(ctx, OPK_EUSAGE, "the metadata has no usable list of metrics");
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!is_metric_name(meta->metrics[i]))
			return opk_fail(ctx, OPK_EUSAGE, "'%s' is no metric name",
			                meta->metrics[i]);
	if (!is_join(meta->join ? meta->join : ""))
		return opk_fail(ctx, OPK_EUSAGE, "'%s' is no way to join ranges", meta->join);
	return opk_meta_check_lists(ctx, meta);
}

void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_json_add_string(&json, "kind", meta->kind);
	opk_json_add_string(&json, "generator", meta->generator);
	opk_json_add_string(&json, "chip", meta->chip);
	opk_json_add_string(&json, "profiler", opk_profiler_name(meta->profiler));
	opk_json_add_string(&json, "set", meta->set_name);
	opk_json_add_string(&json, "description", meta->set_description);
	opk_json_key(&json, "metrics");
	opk_json_put_strings(&json, meta->metrics, meta->metric_count);
	opk_json_add_u64(&json, "passes", meta->passes);
	opk_json_key(&json, "keep_instances");
	opk_json_put_bool(&json, meta->keep_instances);
	opk_json_add_string(&json, "config_hash", meta->config_hash);
	opk_json_add_u64(&json, "cupti_version", meta->cupti_version);
	opk_json_add_string(&json, "source", meta->source);
	opk_json_add_string(&json, "mode", meta->mode);
	if (meta->has_gpu_time_shift) {
		opk_json_key(&json, "gpu_time_shift_ns");
		opk_json_put_i64(&json, meta->gpu_time_shift);
	}
	opk_json_add_string(&json, "join", meta->join);
	opk_json_add_string(&json, "backend", meta->backend);
	opk_meta_put_lists(&json, meta);
	opk_json_end_object(&json);
}

static int read_metrics(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_json *list = opk_json_get(storage->root, "metrics", OPK_JSON_ARRAY);

	if (!list || !list->count || list->count > OPK_MAX_METRICS)
		return opk_fail(ctx, OPK_EINPUT, "the metadata has no usable list of metrics");
	storage->metrics = opk_alloc_array(list->count, sizeof *storage->metrics);
	if (!storage->metrics)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < list->count; i++) {
		if (list->children[i].type != OPK_JSON_STRING
		    || !is_metric_name(list->children[i].text))
			return opk_fail(ctx, OPK_EINPUT, "metadata: metric %zu has no usable name",
			                i + 1);
		storage->metrics[i] = list->children[i].text;
	}
	storage->meta.metrics = storage->metrics;
	storage->meta.metric_count = list->count;
	return OPK_OK;
}

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
	meta->config_hash = opk_json_string(root, "config_hash");
	meta->source = opk_json_string(root, "source");
	meta->mode = opk_json_string(root, "mode");
	meta->join = opk_json_string(root, "join");
	meta->backend = opk_json_string(root, "backend");
	meta->passes = (size_t)passes;
	meta->cupti_version = version <= UINT32_MAX ? (uint32_t)version : 0;
	meta->keep_instances = !instances || instances->boolean;
	meta->has_gpu_time_shift = opk_json_i64(&meta->gpu_time_shift, root, "gpu_time_shift_ns");
}

static int fill(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_json *root = storage->root;
	struct opk_meta *meta = &storage->meta;
	int code;

	fill_scalars(meta, root);
	if (!is_chip_name(meta->chip))
		return opk_fail(ctx, OPK_EINPUT, "the metadata names no usable chip");
	if (!opk_profiler_parse(&meta->profiler, opk_json_string(root, "profiler")))
		return opk_fail(ctx, OPK_EINPUT, "the metadata names no known profiler");
	if ((opk_json_member(root, "join") && !opk_json_get(root, "join", OPK_JSON_STRING))
	    || !is_join(meta->join))
		return opk_fail(ctx, OPK_EINPUT,
		                "metadata: ranges are joined in a way not known here");
	code = read_metrics(storage, ctx);
	return code ? code : opk_meta_read_lists(&storage->lists, meta, ctx, root);
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
	code = opk_file_read(&text, &size, ctx, file, section);
	if (code)
		return code;
	code = opk_json_parse(out, ctx, text, size);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

static int load(struct opk_meta_storage *storage, struct opk_ctx *ctx, const struct opk_file *file,
                size_t section)
{
	int code = opk_file_read_json(&storage->root, ctx, file, section);

	if (code)
		return code;
	code = fill(storage, ctx);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

int opk_file_meta(const struct opk_meta **meta, struct opk_ctx *ctx, struct opk_file *file)
{
	long section = opk_file_find(file, OPK_SECTION_META);
	struct opk_meta_storage *storage;
	int code;

	if (!file->meta) {
		if (section < 0)
			return opk_fail(ctx, OPK_EINPUT, "%s: no metadata section", file->path);
		storage = opk_alloc(sizeof *storage);
		code = storage ? load(storage, ctx, file, (size_t)section)
		               : opk_nomem(ctx, "metadata");
		if (code) {
			opk_meta_storage_free(storage);
			return code;
		}
		file->meta = storage;
	}
	*meta = &file->meta->meta;
	return OPK_OK;
}

void opk_meta_storage_free(struct opk_meta_storage *storage)
{
	if (!storage)
		return;
	opk_json_free(storage->root);
	free(storage->metrics);
	opk_meta_lists_clear(&storage->lists);
	free(storage);
}
