/* SPDX-License-Identifier: BSD-2-Clause */
/* Any JSON as the metadata of a set; if it is accepted, its columns have values. */
#include <string.h>

#include "eval/eval.h"
#include "container/container.h"
#include "fuzz.h"

static const char *const metrics[] = { "a__b.sum", "c__d.sum", "e__f.pct" };

static void use(struct opk_ctx *ctx, const struct opk_meta *meta, const struct opk_wanted *wanted)
{
	static const double values[] = { 1.5, 0, -2, 3, 4, 5, 6 };
	struct opk_strlist units = { 0 };
	struct opk_columns columns;
	double *shown;

	if (opk_columns_init(&columns, ctx, meta, wanted))
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
	static const char *const names[] = { "d", "x", "a__b.sum" };
	static const struct opk_wanted all = { 0 }, three = { .shown = names, .shown_count = 3 };
	struct opk_meta_storage storage = {
		.meta = { .chip = "GH100", .metrics = metrics, .metric_count = 3 },
	};
	struct opk_ctx *ctx = fuzz_ctx();

	if (!opk_json_parse(&storage.root, ctx, (const char *)data, size)
	    && !opk_meta_read_lists(&storage, ctx, storage.root)
	    && !opk_meta_check(ctx, &storage.meta)) {
		use(ctx, &storage.meta, &all);
		use(ctx, &storage.meta, &three);
	}
	opk_meta_storage_clear(&storage);
	opk_ctx_free(ctx);
	return 0;
}
