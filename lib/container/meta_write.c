/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata as JSON. */
#include <string.h>

#include "base/json_read.h"
#include "base/json_write.h"
#include "container/container.h"

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
		opk_json_add_string(json, "draw", heading->draw);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_roofline(struct opk_json_writer *json, const struct opk_meta_roofline *roofline)
{
	opk_json_key(json, "roofline");
	opk_json_begin_object(json);
	opk_json_add_string(json, "title", roofline->title);
	opk_json_key(json, "work");
	opk_json_put_strings(json, roofline->work, roofline->work_count);
	opk_json_add_string(json, "time", roofline->time);
	opk_json_key(json, "roofs");
	opk_json_begin_array(json);
	for (size_t i = 0; i < roofline->roof_count; i++) {
		opk_json_begin_object(json);
		opk_json_add_string(json, "name", roofline->roofs[i].name);
		opk_json_add_string(json, "bytes", roofline->roofs[i].bytes);
		opk_json_add_string(json, "peak", roofline->roofs[i].peak);
		opk_json_add_string(json, "work", roofline->roofs[i].work);
		opk_json_add_string(json, "throughput", roofline->roofs[i].throughput);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
	opk_json_end_object(json);
}

static void put_set(struct opk_json_writer *json, const struct opk_meta *meta)
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
	if (meta->roofline.roof_count)
		put_roofline(json, &meta->roofline);
}

static void put_metric_passes(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "metric_passes");
	opk_json_begin_array(json);
	for (size_t i = 0; i < meta->metric_pass_count; i++) {
		const struct opk_pass_list *list = &meta->metric_passes[i];

		opk_json_begin_array(json);
		for (size_t j = 0; j < list->count; j++)
			opk_json_put_u64(json, list->passes[j]);
		opk_json_end_array(json);
	}
	opk_json_end_array(json);
}

static void put_availability(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "availability");
	opk_json_begin_array(json);
	for (size_t i = 0; i < meta->availability_count; i++) {
		const struct opk_availability *image = &meta->availability[i];

		opk_json_begin_object(json);
		opk_json_add_string(json, "chip", image->chip);
		opk_json_add_string(json, "profiler", opk_profiler_name(image->profiler));
		opk_json_key(json, "device");
		opk_json_put_u64(json, (uint64_t)image->device);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_run(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "run");
	opk_json_begin_object(json);
	for (size_t i = 0; i < meta->run_count; i++) {
		opk_json_key(json, meta->run[i].name);
		opk_json_put_string(json, meta->run[i].value);
	}
	opk_json_end_object(json);
}

static void put_lists(struct opk_json_writer *json, const struct opk_meta *meta)
{
	if (meta->metric_pass_count)
		put_metric_passes(json, meta);
	if (meta->inflated_count) {
		opk_json_key(json, "inflated");
		opk_json_put_strings(json, meta->inflated, meta->inflated_count);
	}
	if (meta->run_count)
		put_run(json, meta);
	if (meta->availability_count)
		put_availability(json, meta);
	put_set(json, meta);
}

static const char maker_key[] = "made_by";

int opk_meta_set_maker(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_json *meta,
                       const char *maker)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_json_add_string(&json, maker_key, maker);
	for (size_t i = 0; meta->type == OPK_JSON_OBJECT && i < meta->count; i++)
		if (strcmp(meta->children[i].key, maker_key))
			opk_json_put(&json, &meta->children[i]);
	opk_json_end_object(&json);
	return out->failed ? opk_nomem(ctx, "metadata") : OPK_OK;
}

void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta)
{
	struct opk_json_writer json = { .buf = out };

	opk_json_begin_object(&json);
	opk_json_add_string(&json, maker_key, meta->made_by);
	opk_json_add_string(&json, "kind", meta->kind);
	opk_json_add_string(&json, "generator", meta->generator);
	opk_json_add_string(&json, "chip", meta->chip);
	opk_json_add_string(&json, "profiler", opk_profiler_name(meta->profiler));
	opk_json_add_string(&json, "set", meta->set_name);
	opk_json_add_string(&json, "description", meta->set_description);
	opk_json_add_string(&json, "single_pass", meta->single_pass);
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
	put_lists(&json, meta);
	opk_json_end_object(&json);
}
