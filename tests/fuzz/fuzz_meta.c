/* SPDX-License-Identifier: BSD-2-Clause */
/* Any JSON as what metadata says of a set: what is accepted has columns with values. */
#include <string.h>

#include "eval/columns.h"
#include "container/meta.h"
#include "fuzz.h"

static const char *const metrics[] = { "a__b.sum", "c__d.sum", "e__f.pct" };

static void use(struct opk_ctx *ctx, const struct opk_meta *meta, const char *const *wanted,
                size_t count)
{
	static const double values[] = { 1.5, 0, -2, 3, 4, 5, 6 };
	struct opk_strlist units = { 0 };
	struct opk_columns columns;
	double *shown;

	if (opk_columns_init(&columns, ctx, meta, wanted, count))
		return;
	for (size_t i = 0; i < columns.metric_count; i++)
		if (!opk_strlist_add(&units, i ? "bytes/second" : "unitless"))
			abort();
	if (opk_columns_find_units(&columns, ctx, &units))
		abort();
	shown = malloc((columns.names.count + 1) * sizeof *shown);
	opk_columns_compute(shown, &columns, values);
	free(shown);
	opk_strlist_clear(&units);
	opk_columns_clear(&columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const wanted[] = { "d", "x", "a__b.sum" };
	struct opk_meta meta = { .metrics = metrics, .metric_count = 3 };
	struct opk_meta_lists lists = { 0 };
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_json *root;

	if (!opk_json_parse(&root, ctx, (const char *)data, size)) {
		if (!opk_meta_read_set(&lists, &meta, ctx, root)) {
			use(ctx, &meta, NULL, 0);
			use(ctx, &meta, wanted, 3);
		}
		opk_json_free(root);
	}
	opk_meta_lists_clear(&lists);
	opk_ctx_free(ctx);
	return 0;
}
