/* SPDX-License-Identifier: BSD-2-Clause */
/* Key groups of a table: their statistics, and what their ranges have in common. */
#include <string.h>

#include "images/door.h"
#include "table/table_inside.h"

/* Refuses the key "kernel" for samples if rows per kernel can divide them among what ran. */
static int check_key(const struct opk_table *table, struct opk_ctx *ctx,
                     const struct opk_table_file *input)
{
	const struct opk_activity *activities;
	size_t count;
	int code;

	if (input->meta->profiler != OPK_PROFILER_PM || !strstr(table->options.aggregate, "kernel"))
		return OPK_OK;
	code = opk_file_activities(&activities, &count, ctx, input->file);
	return code || !count ? code
	                      : opk_fail(ctx, OPK_EUSAGE,
	                                 "statistics by %s: samples of %s have no kernel; rows per "
	                                 "kernel divide them among what ran",
	                                 table->options.aggregate, input->path);
}

int opk_table_aggregate(struct opk_table *table, struct opk_ctx *ctx, struct opk_table_file *input)
{
	struct opk_aggregate_options options = OPK_INIT(options);
	int code = opk_table_check_evaluated(table, ctx, input);

	options.key = table->options.aggregate;
	options.level = table->options.level;
	options.keep_first_sample = table->options.keep_first_sample;
	if (!code)
		code = check_key(table, ctx, input);
	if (code)
		return code;
	code = opk_aggregate_new(&input->aggregate, ctx, input->evaluation, input->file, &options);
	return code ? opk_add(ctx, code, "can't aggregate %s", input->path) : OPK_OK;
}

static int find_hosts(bool *found, struct opk_ctx *ctx, const struct opk_table *table)
{
	bool facts[OPK_FACT_COUNT] = { false };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < table->input_count; i++)
		code = opk_facts_find_recorded(facts, ctx, table->inputs[i].file, false);
	*found = facts[OPK_FACT_HOST];
	return code;
}

int opk_table_find_group_facts(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx,
                               const struct opk_table *table)
{
	const char *key = table->options.aggregate;
	bool many_hosts;
	int code = find_hosts(&many_hosts, ctx, table);

	found[OPK_FACT_DEVICE] = strstr(key, "device") != NULL;
	found[OPK_FACT_HOST] = strstr(key, "host") || (many_hosts && found[OPK_FACT_DEVICE]);
	for (size_t i = 0; !code && i < table->input_count; i++)
		for (size_t j = 0; j < opk_aggregate_count(table->inputs[i].aggregate); j++)
			opk_facts_find(found,
			               &opk_aggregate_get(table->inputs[i].aggregate, j)->range, 1,
			               table->options.all_facts);
	return code;
}
