/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the time that offpeak's way to count passes saves: it counts all full names of a chip,
 * and then a sample of them with a fresh host object for each name. Prints seconds;
 * tests/bench.sh computes ratios.
 */
#include "adapters/nv/nv.h"
#include "base/mem.h"
#include "chip/door.h"
#include "plan/door.h"
#include "schedule/schedule.h"
#include "program.h"

enum { SAMPLE = 1000 };

static struct opk_full_name *all_names(const struct opk_catalog *catalog, size_t *count)
{
	struct opk_full_name *names = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		for (size_t j = 0; j < opk_catalog_submetric_count(catalog, metric); j++) {
			if (!opk_grow(&names, &room, *count, sizeof *names))
				exit(1);
			names[(*count)++] = (struct opk_full_name){ metric, j };
		}
	}
	return names;
}

/* A fresh host object; refusals take time, too. */
static void plan_alone(const struct opk_catalog *catalog, const struct opk_full_name *name)
{
	opk_autofree char *full =
		opk_printf("%s%s", name->metric->name,
	                   opk_catalog_submetric(catalog, name->metric, name->submetric).suffix);
	struct opk_nv_host *host;
	opk_autoresult struct opk_schedule_result made = { 0 };

	must(opk_nv_host_new(&host, ctx, opk_catalog_chip(catalog), OPK_PROFILER_RANGE, NULL));
	if (!opk_nv_add_metrics(ctx, host, (const char *const *)&full, 1))
		must(opk_schedule_image(&made, ctx, host));
	opk_nv_host_free(host);
}

int main(int argc, char **argv)
{
	struct opk_catalog *catalog;
	struct opk_full_name *names;
	size_t count;
	double start, counted, alone;

	begin_program();
	start = seconds_of(CLOCK_MONOTONIC);
	must(opk_catalog_new(&catalog, ctx, argc > 1 ? argv[1] : "GH100", OPK_PROFILER_RANGE));
	must(opk_catalog_complete(catalog, ctx));
	names = all_names(catalog, &count);
	must(opk_catalog_count_passes(catalog, ctx, names, count, NULL));
	counted = seconds_of(CLOCK_MONOTONIC) - start;
	start = seconds_of(CLOCK_MONOTONIC);
	for (size_t i = 0; i < SAMPLE; i++)
		plan_alone(catalog, &names[i * count / SAMPLE]);
	alone = (seconds_of(CLOCK_MONOTONIC) - start) / SAMPLE * (double)count;
	printf("%zu %.3f %.1f\n", count, counted, alone);
	free(names);
	opk_catalog_free(catalog);
	opk_ctx_free(ctx);
	return 0;
}
