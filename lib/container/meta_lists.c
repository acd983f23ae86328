/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of the metadata that are lists: groups of metrics, inflated metrics, the run's facts. */
#include <string.h>

#include "base/index.h"
#include "container/meta.h"

enum { MAX_PROPERTIES = 10000, MAX_INFLATED = 10000 };

/* Many are looked up: a hostile list must not take minutes. */
static int index_metrics(struct opk_index *index, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!opk_index_add(index, meta->metrics[i], i, NULL))
			return opk_nomem(ctx, "metadata");
	return OPK_OK;
}

static int check_groups(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	size_t total = 0;

	for (size_t i = 0; i < meta->group_count; i++) {
		const struct opk_group *group = &meta->groups[i];

		total += group->metric_count;
		if (!group->metric_count || total > OPK_MAX_METRICS)
			return opk_fail(ctx, OPK_EUSAGE, "group %zu is empty or too large", i + 1);
		for (size_t j = 0; j < group->metric_count; j++)
			if (group->metrics[j] >= meta->metric_count)
				return opk_fail(ctx, OPK_EUSAGE,
				                "group %zu has a metric %zu of %zu", i + 1,
				                group->metrics[j], meta->metric_count);
	}
	return OPK_OK;
}

static int check_inflated(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_autoindex struct opk_index metrics = { 0 };
	int code = OPK_OK;

	if (meta->inflated_count > MAX_INFLATED)
		return opk_fail(ctx, OPK_EUSAGE, "too many inflated metrics");
	if (meta->inflated_count)
		code = index_metrics(&metrics, ctx, meta);
	for (size_t i = 0; !code && i < meta->inflated_count; i++)
		if (!opk_index_find(NULL, &metrics, meta->inflated[i]))
			return opk_fail(ctx, OPK_EUSAGE, "inflated metric %s is not in the set",
			                meta->inflated[i]);
	return code;
}

int opk_meta_check_lists(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	int code = check_inflated(ctx, meta);

	if (code)
		return code;
	if (meta->run_count > MAX_PROPERTIES)
		return opk_fail(ctx, OPK_EUSAGE, "more than %d facts about a run", MAX_PROPERTIES);
	for (size_t i = 0; i < meta->run_count; i++)
		if (!meta->run[i].name || !*meta->run[i].name || !meta->run[i].value)
			return opk_fail(ctx, OPK_EUSAGE, "a fact about a run lacks name or value");
	code = check_groups(ctx, meta);
	return code ? code : opk_meta_check_set(ctx, meta);
}

static void put_groups(struct opk_json_writer *json, const struct opk_meta *meta)
{
	opk_json_key(json, "groups");
	opk_json_begin_array(json);
	for (size_t i = 0; i < meta->group_count; i++) {
		opk_json_begin_array(json);
		for (size_t j = 0; j < meta->groups[i].metric_count; j++)
			opk_json_put_u64(json, meta->groups[i].metrics[j]);
		opk_json_end_array(json);
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

void opk_meta_put_lists(struct opk_json_writer *json, const struct opk_meta *meta)
{
	if (meta->group_count)
		put_groups(json, meta);
	if (meta->inflated_count) {
		opk_json_key(json, "inflated");
		opk_json_put_strings(json, meta->inflated, meta->inflated_count);
	}
	if (meta->run_count)
		put_run(json, meta);
	opk_meta_put_set(json, meta);
}

int opk_meta_find_list(const struct opk_json **out, struct opk_ctx *ctx,
                       const struct opk_json *root, const char *key, enum opk_json_type type)
{
	static const struct opk_json empty = { .type = OPK_JSON_NULL };
	const struct opk_json *found = opk_json_member(root, key);

	*out = found ? found : &empty;
	if (found && found->type != type)
		return opk_fail(ctx, OPK_EINPUT, "metadata: member %s is of the wrong type", key);
	return OPK_OK;
}

/* Counts the metrics of all groups, so that their indices go into one array. */
static int count_indices(size_t *total, struct opk_ctx *ctx, const struct opk_json *list)
{
	*total = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *group = &list->children[i];

		if (group->type != OPK_JSON_ARRAY || !group->count)
			return opk_fail(ctx, OPK_EINPUT, "metadata: group %zu lists no metrics",
			                i + 1);
		*total += group->count;
		if (*total > OPK_MAX_METRICS)
			return opk_fail(ctx, OPK_EINPUT, "metadata: the groups are too large");
	}
	return OPK_OK;
}

static int read_group(size_t *indices, const struct opk_meta *meta, struct opk_ctx *ctx,
                      const struct opk_json *group)
{
	for (size_t i = 0; i < group->count; i++) {
		uint64_t index;

		if (!opk_json_to_u64(&index, &group->children[i]) || index >= meta->metric_count)
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: a group has a metric that is none "
			                "of the %zu",
			                meta->metric_count);
		indices[i] = (size_t)index;
	}
	return OPK_OK;
}

static int read_groups(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                       const struct opk_json *root)
{
	const struct opk_json *list;
	size_t *indices, total;
	int code = opk_meta_find_list(&list, ctx, root, "groups", OPK_JSON_ARRAY);

	if (!code)
		code = count_indices(&total, ctx, list);
	if (code || !list->count)
		return code;
	lists->groups = opk_alloc_array(list->count, sizeof *lists->groups);
	lists->indices = indices = opk_alloc_array(total, sizeof *lists->indices);
	if (!lists->groups || !lists->indices)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; !code && i < list->count; i++) {
		const struct opk_json *group = &list->children[i];

		code = read_group(indices, meta, ctx, group);
		lists->groups[i] = (struct opk_group){ indices, group->count };
		indices += group->count;
	}
	meta->groups = lists->groups;
	meta->group_count = list->count;
	return code;
}

static int read_inflated(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                         const struct opk_json *root)
{
	opk_autoindex struct opk_index metrics = { 0 };
	const struct opk_json *list;
	int code = opk_meta_find_list(&list, ctx, root, "inflated", OPK_JSON_ARRAY);

	if (code || !list->count)
		return code;
	if (list->count > MAX_INFLATED)
		return opk_fail(ctx, OPK_EINPUT, "metadata: too many inflated metrics");
	lists->inflated = opk_alloc_array(list->count, sizeof *lists->inflated);
	if (!lists->inflated)
		return opk_nomem(ctx, "metadata");
	code = index_metrics(&metrics, ctx, meta);
	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *name = &list->children[i];

		if (name->type != OPK_JSON_STRING || !opk_index_find(NULL, &metrics, name->text))
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: inflated metric %zu is not in the set", i + 1);
		lists->inflated[i] = name->text;
	}
	meta->inflated = lists->inflated;
	meta->inflated_count = list->count;
	return OPK_OK;
}

static int read_run(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                    const struct opk_json *root)
{
	const struct opk_json *list;
	int code = opk_meta_find_list(&list, ctx, root, "run", OPK_JSON_OBJECT);

	if (code || !list->count)
		return code;
	if (list->count > MAX_PROPERTIES)
		return opk_fail(ctx, OPK_EINPUT, "metadata: more than %d facts about the run",
		                MAX_PROPERTIES);
	lists->run = opk_alloc_array(list->count, sizeof *lists->run);
	if (!lists->run)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *value = &list->children[i];

		if (value->type != OPK_JSON_STRING || !*value->key)
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: fact %zu about the run is no text", i + 1);
		lists->run[i] = (struct opk_property){ value->key, value->text };
	}
	meta->run = lists->run;
	meta->run_count = list->count;
	return OPK_OK;
}

int opk_meta_read_lists(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                        const struct opk_json *root)
{
	int code = read_groups(lists, meta, ctx, root);

	if (!code)
		code = read_inflated(lists, meta, ctx, root);
	if (!code)
		code = read_run(lists, meta, ctx, root);
	return code ? code : opk_meta_read_set(lists, meta, ctx, root);
}

void opk_meta_lists_clear(struct opk_meta_lists *lists)
{
	free(lists->groups);
	free(lists->indices);
	free(lists->inflated);
	free(lists->run);
	free(lists->labels);
	free(lists->hidden);
	free(lists->derived);
	free(lists->columns);
	free(lists->headings);
}
