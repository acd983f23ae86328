/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a report of Nsight Compute in CSV. */
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "ncu/door.h"
#include "ncu/values.h"

/* A report that is accepted has launches and values in its bounds; a refusal says why. */
static void check(struct opk_ctx *ctx, struct opk_ncu_report *report)
{
	struct opk_ncu_values values = { 0 };
	struct opk_ncu_imported imported = { 0 };
	const char *chip = report->size % 2 ? "GH100" : NULL;
	int code;

	if (!report->launches.rows.count)
		abort();
	for (size_t i = 0; i < report->launches.rows.count; i++) {
		const struct opk_range *launch = &report->launches.rows.items[i];

		if (!launch->kernel || !launch->name || !launch->nvtx || launch->device < -1)
			abort();
	}
	code = opk_ncu_choose_chip(&chip, &imported, ctx, report);
	if (code && !opk_error_count(ctx))
		abort();
	opk_ncu_imported_clear(&imported);
	code = opk_ncu_values_init(&values, ctx, report);
	if (code && (code != OPK_EINPUT || !opk_error_count(ctx)))
		abort();
	if (values.metric_count > report->metrics.count)
		abort();
	opk_ncu_values_clear(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_ncu_report *report = NULL;
	char path[32];
	int fd = fuzz_file(path, data, size);

	if (!opk_ncu_report_read(&report, ctx, path)) {
		check(ctx, report);
		opk_ncu_report_free(report);
	} else if (!opk_error_count(ctx)) {
		abort();
	}
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
