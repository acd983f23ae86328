/* SPDX-License-Identifier: BSD-2-Clause */
/* How much was counted at instructions: samples, or launches. */
#include <string.h>

#include "base/index.h"
#include "container/container.h"

/* Each sample has one such reason; the others are sums, or parts. */
bool opk_is_stall(const char *metric)
{
	return strstr(metric, "_stalled_") && !strstr(metric, "_not_issued");
}

bool opk_instruction_has_counts(const struct opk_instruction_table *table, size_t row)
{
	for (size_t i = 0; i < table->metric_count; i++)
		if (table->values[row * table->metric_count + i])
			return true;
	return false;
}

static bool is_sampled(const struct opk_instruction_table *table)
{
	for (size_t i = 0; i < table->metric_count; i++)
		if (opk_is_stall(table->metrics[i]))
			return true;
	return false;
}

static uint64_t count_samples(const struct opk_instruction_table *table)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table->metric_count; i++)
		for (size_t j = 0; opk_is_stall(table->metrics[i]) && j < table->count; j++)
			sum += table->values[j * table->metric_count + i];
	return sum;
}

/* Each row of a function has the number of its launches since the section before. */
static int count_launches(uint64_t *launches, struct opk_ctx *ctx,
                          const struct opk_instruction_table *table)
{
	opk_autoindex struct opk_index functions = { 0 };
	size_t known;

	*launches = 0;
	for (size_t i = 0; i < table->count; i++) {
		if (!opk_index_add(&functions, table->rows[i].function, i, &known))
			return opk_nomem(ctx, "functions");
		if (known == i)
			*launches += table->rows[i].launches;
	}
	return OPK_OK;
}

int opk_section_counted(uint64_t *counted, struct opk_ctx *ctx, const struct opk_file *file,
                        size_t section)
{
	opk_autoinstructions struct opk_instruction_block block = { 0 };

	TRY(opk_instruction_block_read(&block, ctx, file, section));
	if (!is_sampled(&block.table))
		return count_launches(counted, ctx, &block.table);
	*counted = count_samples(&block.table);
	return OPK_OK;
}
