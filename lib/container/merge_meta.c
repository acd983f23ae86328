/* SPDX-License-Identifier: BSD-2-Clause */
#include "container/merge_meta.h"

#include <string.h>

static bool allocate(struct opk_common_meta *common, const struct opk_meta *first)
{
	common->is_inflated = opk_alloc_array(first->metric_count, sizeof *common->is_inflated);
	common->inflated = opk_alloc_array(first->metric_count, sizeof *common->inflated);
	common->run = opk_alloc_array(first->run_count + 1, sizeof *common->run);
	if (!common->is_inflated || !common->inflated || !common->run)
		return false;
	for (size_t i = 0; i < first->metric_count; i++)
		if (!opk_index_add(&common->metrics, first->metrics[i], i, NULL))
			return false;
	return true;
}

int opk_common_meta_begin(struct opk_common_meta *common, struct opk_ctx *ctx,
                          const struct opk_meta *first)
{
	*common = (struct opk_common_meta){ .meta = *first };
	if (!allocate(common, first)) {
		opk_common_meta_clear(common);
		return opk_nomem(ctx, "metadata");
	}
	if (first->run_count)
		memcpy(common->run, first->run, first->run_count * sizeof *common->run);
	common->meta.run = common->run;
	common->meta.inflated = common->inflated;
	common->meta.inflated_count = 0;
	return OPK_OK;
}

void opk_common_meta_clear(struct opk_common_meta *common)
{
	opk_index_clear(&common->metrics);
	free(common->is_inflated);
	free(common->inflated);
	free(common->run);
	*common = (struct opk_common_meta){ 0 };
}

/* A metric that is inflated in one recording is not to be trusted in all. */
static void add_inflated(struct opk_common_meta *common, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->inflated_count; i++) {
		size_t metric;

		if (!opk_index_find(&metric, &common->metrics, meta->inflated[i])
		    || common->is_inflated[metric])
			continue;
		common->is_inflated[metric] = true;
		common->inflated[common->meta.inflated_count++] = common->meta.metrics[metric];
	}
}

/* A fact of one host or process would be told of the others' ranges. */
static int keep_common_facts(struct opk_common_meta *common, struct opk_ctx *ctx,
                             const struct opk_meta *meta)
{
	opk_autoindex struct opk_index facts = { 0 };
	size_t kept = 0, at;

	for (size_t i = 0; common->meta.run_count && i < meta->run_count; i++)
		if (!opk_index_add(&facts, meta->run[i].name, i, NULL))
			return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < common->meta.run_count; i++)
		if (opk_index_find(&at, &facts, common->run[i].name)
		    && !strcmp(common->run[i].value, meta->run[at].value))
			common->run[kept++] = common->run[i];
	common->meta.run_count = kept;
	return OPK_OK;
}

static const char *common_text(const char *so_far, const char *one, const char *otherwise)
{
	return strcmp(so_far, one) ? otherwise : so_far;
}

int opk_common_meta_add(struct opk_common_meta *common, struct opk_ctx *ctx,
                        const struct opk_meta *meta)
{
	struct opk_meta *all = &common->meta;

	all->mode = common_text(all->mode, meta->mode, "mixed");
	all->backend = common_text(all->backend, meta->backend, "mixed");
	all->config_hash = common_text(all->config_hash, meta->config_hash, "");
	all->source = common_text(all->source, meta->source, "");
	all->keep_instances &= meta->keep_instances;
	add_inflated(common, meta);
	return keep_common_facts(common, ctx, meta);
}
