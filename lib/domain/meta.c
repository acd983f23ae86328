/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/meta.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "adapters/zlib/deflate.h"
#include "base/json_write.h"
#include "domain/container.h"

/* Parsed metadata and what its strings are borrowed from. */
struct opk_meta_storage {
	struct opk_meta meta;
	struct opk_json *root;
	const char **metrics;
};

enum { MAX_METRICS = 100000, MAX_JSON = 32 << 20 };

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

int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	if (!meta->chip || !is_chip_name(meta->chip))
		return opk_fail(ctx, OPK_EUSAGE, "the metadata names no usable chip");
	if (!meta->metric_count || meta->metric_count > MAX_METRICS)
		return opk_fail(ctx, OPK_EUSAGE, "the metadata has no usable list of metrics");
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!is_metric_name(meta->metrics[i]))
			return opk_fail(ctx, OPK_EUSAGE, "'%s' is no metric name", meta->metrics[i]);
	return OPK_OK;
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
	opk_json_end_object(&json);
}

static int read_metrics(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_json *list = opk_json_get(storage->root, "metrics", OPK_JSON_ARRAY);

	if (!list || !list->count || list->count > MAX_METRICS)
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

static int fill(struct opk_meta_storage *storage, struct opk_ctx *ctx)
{
	const struct opk_json *root = storage->root;
	struct opk_meta *meta = &storage->meta;
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
	meta->passes = (size_t)passes;
	meta->cupti_version = version <= UINT32_MAX ? (uint32_t)version : 0;
	meta->keep_instances = !instances || instances->boolean;
	meta->has_gpu_time_shift =
		opk_json_i64(&meta->gpu_time_shift, root, "gpu_time_shift_ns");
	if (!is_chip_name(meta->chip))
		return opk_fail(ctx, OPK_EINPUT, "the metadata names no usable chip");
	if (!opk_profiler_parse(&meta->profiler, opk_json_string(root, "profiler")))
		return opk_fail(ctx, OPK_EINPUT, "the metadata names no known profiler");
	return read_metrics(storage, ctx);
}

int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section)
{
	opk_autofree void *text = NULL;
	size_t size;
	int code;

	/* Parsed JSON takes twenty times its text. */
	if (file->sections[section].plain_size > MAX_JSON) {
		opk_fail(ctx, OPK_EINPUT, "JSON of more than %d bytes", MAX_JSON);
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
	free(storage);
}
