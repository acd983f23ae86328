/* SPDX-License-Identifier: BSD-2-Clause */
#include "operations.h"

#include "adapters/nv/nv.h"
#include "fake_nv.h"
#include "testing.h"

static const char *const one_name[] = { "fake__a.sum" };

int do_chips(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_chips(&list, ctx);
}

int do_supported(struct opk_ctx *ctx)
{
	bool yes;

	return opk_nv_host_supported(&yes, ctx, "FA100", OPK_PROFILER_RANGE);
}

/* Runs `step` on a host object. */
static int with_host(struct opk_ctx *ctx, int (*step)(struct opk_ctx *, struct opk_nv_host *))
{
	freed(opk_nv_host) *host = NULL;
	int code = opk_nv_host_new(&host, ctx, "FA100", OPK_PROFILER_RANGE, NULL);

	if (code)
		return code;
	code = step ? step(ctx, host) : OPK_OK;
	return code;
}

int do_host(struct opk_ctx *ctx)
{
	return with_host(ctx, NULL);
}

static int base_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_base_metrics(&list, ctx, host, OPK_COUNTER);
}

int do_base(struct opk_ctx *ctx)
{
	return with_host(ctx, base_step);
}

static int properties_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	struct opk_metric metric;

	return opk_nv_properties(&metric, ctx, host, "fake__a");
}

int do_properties(struct opk_ctx *ctx)
{
	return with_host(ctx, properties_step);
}

static int scope_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	enum opk_scope scope;

	return opk_nv_scope(&scope, ctx, host, "fake__a");
}

int do_scope(struct opk_ctx *ctx)
{
	return with_host(ctx, scope_step);
}

static int submetrics_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	const char *const *suffixes;
	size_t count;

	return opk_nv_submetrics(&suffixes, &count, ctx, host, OPK_COUNTER, "fake__a");
}

int do_submetrics(struct opk_ctx *ctx)
{
	return with_host(ctx, submetrics_step);
}

static int add_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	return opk_nv_add_metrics(ctx, host, one_name, 1);
}

int do_add(struct opk_ctx *ctx)
{
	return with_host(ctx, add_step);
}

static int config_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	opk_autofree void *image = NULL;
	size_t size;

	return opk_nv_config_image(&image, &size, ctx, host);
}

int do_config(struct opk_ctx *ctx)
{
	return with_host(ctx, config_step);
}

static int evaluate_step(struct opk_ctx *ctx, struct opk_nv_host *host)
{
	double value;

	return opk_nv_evaluate(&value, ctx, host,
	                       &(struct opk_nv_range){ fake_image(), FAKE_IMAGE_SIZE, 0 }, one_name,
	                       1);
}

int do_evaluate(struct opk_ctx *ctx)
{
	return with_host(ctx, evaluate_step);
}

int do_passes(struct opk_ctx *ctx)
{
	size_t passes;

	return opk_nv_passes(&passes, ctx, fake_image(), FAKE_CONFIG_SIZE);
}

int do_range_name(struct opk_ctx *ctx)
{
	opk_autofree char *name = NULL;

	return opk_nv_range_name(&name, ctx, fake_image(), FAKE_IMAGE_SIZE, 0);
}

int do_info(struct opk_ctx *ctx)
{
	struct opk_nv_image_info info;

	return opk_nv_image_info(&info, ctx, fake_image(), FAKE_IMAGE_SIZE);
}

int do_raw_counters(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };
	freed(opk_nv_evaluator) *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100");

	if (code)
		return code;
	code = opk_nv_raw_counters(&list, ctx, evaluator, "fake__a.sum");
	return code;
}

int do_unit(struct opk_ctx *ctx)
{
	opk_autofree char *unit = NULL;
	freed(opk_nv_evaluator) *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100");

	if (code)
		return code;
	code = opk_nv_unit(&unit, ctx, evaluator, "fake__a.sum");
	return code;
}

int do_pm_unit(struct opk_ctx *ctx)
{
	opk_autofree char *unit = NULL;
	freed(opk_nv_evaluator) *evaluator = NULL;
	int code = opk_nv_evaluator_of_new(&evaluator, ctx, "FA100", OPK_PROFILER_PM);

	if (code)
		return code;
	code = opk_nv_cupti_unit(&unit, ctx, evaluator, "fake__a.sum");
	return code;
}

static int values_step(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator)
{
	opk_autofree struct opk_nv_requests *requests = NULL;
	double value;

	TRY(opk_nv_requests_new(&requests, ctx, evaluator, one_name, 1));
	TRY(opk_nv_set_device(ctx, evaluator, fake_image(), FAKE_IMAGE_SIZE));
	return opk_nv_request_values(&value, ctx, evaluator, requests,
	                             &(struct opk_nv_range){ fake_image(), FAKE_IMAGE_SIZE, 0 });
}

int do_values(struct opk_ctx *ctx)
{
	freed(opk_nv_evaluator) *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100");

	if (code)
		return code;
	code = values_step(ctx, evaluator);
	return code;
}

int do_constituents(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	freed(opk_nv_evaluator) *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, "FA100");

	if (code)
		return code;
	code = opk_nv_constituents(&counters, &throughputs, ctx, evaluator,
	                           "fake__throughput.avg.pct_of_peak_sustained_elapsed");
	return code;
}

int do_prefix(struct opk_ctx *ctx)
{
	opk_autofree void *prefix = NULL;
	size_t size;

	static const bool keep = true;

	return opk_nv_prefix(&prefix, &size, ctx, "FA100",
	                     &(struct opk_strlist){ .items = (char **)one_name, .count = 1 },
	                     &keep);
}

/* Makes a prefix without NVPW_CounterDataBuilder_AddRawCounters, by the older call. */
int do_old_prefix(struct opk_ctx *ctx)
{
	ctx->nv->call.NVPW_CounterDataBuilder_AddRawCounters = NULL;
	nv_set_features(ctx->nv);
	return do_prefix(ctx);
}

int do_config_counters(struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist list = { 0 };

	return opk_nv_config_counters(&list, ctx, fake_image(), FAKE_CONFIG_SIZE, 0);
}

int do_image_chip(struct opk_ctx *ctx)
{
	const char *chip;

	return opk_nv_image_chip(&chip, ctx, fake_image(), FAKE_IMAGE_SIZE);
}

int do_sample_time(struct opk_ctx *ctx)
{
	uint64_t start, end;

	return opk_nv_sample_time(&start, &end, ctx, fake_image(), 0);
}

int do_image_profiler(struct opk_ctx *ctx)
{
	enum opk_profiler profiler;

	return opk_nv_image_profiler(&profiler, ctx, fake_image());
}

int do_sample_size(struct opk_ctx *ctx)
{
	size_t size;

	return opk_nv_sample_size(&size, ctx, fake_image(), FAKE_CONFIG_SIZE);
}

int do_image_like(struct opk_ctx *ctx)
{
	opk_autofree void *copy = NULL;
	size_t size;

	return opk_nv_image_like(&copy, &size, ctx, fake_image(), FAKE_IMAGE_SIZE,
	                         &(struct opk_nv_room){ 2, 8 });
}

/* Both ranges of a copy; the second one is made of two. */
int do_combine(struct opk_ctx *ctx)
{
	opk_autofree void *copy = NULL;
	freed(opk_nv_combiner) *combiner = NULL;
	size_t size, slot = 0;
	int code = opk_nv_image_like(&copy, &size, ctx, fake_image(), FAKE_IMAGE_SIZE,
	                             &(struct opk_nv_room){ 2, 8 });

	if (!code)
		code = opk_nv_combiner_new(&combiner, ctx, copy);
	if (code)
		return code;
	for (size_t i = 0; !code && i < 3; i++) {
		code = opk_nv_combiner_range(&slot, ctx, combiner, i ? "b" : "a");
		if (!code)
			code = opk_nv_combiner_sum(ctx, combiner, slot, fake_image(), i);
		if (!code)
			code = opk_nv_combiner_average(ctx, combiner, slot, fake_image(), i);
	}
	return code;
}

int do_trim_samples(struct opk_ctx *ctx)
{
	size_t size = FAKE_IMAGE_SIZE;

	return opk_nv_trim_samples(&size, ctx, (void *)fake_image());
}
