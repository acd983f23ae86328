/* SPDX-License-Identifier: BSD-2-Clause */
/* Host objects: chips, their metrics and single-pass sets, config images. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

struct opk_nv_host {
	struct opk_nv *nv;
	void *object;
	int status; /* of the call that refused metrics */
};

static int profiler_type(enum opk_profiler profiler)
{
	return profiler == OPK_PROFILER_PM ? NV_PROFILER_PM_SAMPLING : NV_PROFILER_RANGE;
}

int opk_nv_chips(struct opk_strlist *out, struct opk_ctx *ctx)
{
	NV_PARAMS(params, HostGetSupportedChips);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	TRY(NV_CUPTI(nv, ctx, cuptiProfilerHostGetSupportedChips, &params));
	for (size_t i = 0; i < params.numChips; i++)
		if (!opk_strlist_add(out, params.ppChipNames[i]))
			return opk_nomem(ctx, "chip names");
	return OPK_OK;
}

int opk_nv_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler)
{
	NV_PARAMS(params, HostGetMaxPerPass, .profilerType = profiler_type(profiler),
	          .pChipName = chip);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_METRICS_PER_PASS));
	TRY(NV_CUPTI(nv, ctx, cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, &params));
	*out = params.maxMetricsPerPass;
	return OPK_OK;
}

/*
 * Libraries compare structSize exactly, and releases append fields. Tries the newest size first,
 * then older ones, and keeps the accepted one for the next call.
 */
static int try_sizes(struct opk_nv *nv, void *params, size_t *known, const size_t *sizes,
                     size_t count, int (*call)(struct opk_nv *nv, void *params))
{
	int status = NV_CUPTI_INVALID_PARAMETER;

	if (*known) {
		*(size_t *)params = *known;
		return call(nv, params);
	}
	for (size_t i = 0; i < count && status == NV_CUPTI_INVALID_PARAMETER; i++) {
		*(size_t *)params = sizes[i];
		status = call(nv, params);
		if (status != NV_CUPTI_INVALID_PARAMETER)
			*known = sizes[i];
	}
	return status;
}

static int call_initialize(struct opk_nv *nv, void *params)
{
	return NV_CALL(nv, cuptiProfilerHostInitialize, params);
}

static int call_properties(struct opk_nv *nv, void *params)
{
	return NV_CALL(nv, cuptiProfilerHostGetMetricProperties, params);
}

static int initialize(struct opk_nv *nv, void **object, const char *chip,
                      enum opk_profiler profiler, const void *availability, const char *set)
{
	static const size_t sizes[] = {
		NV_END(struct nv_HostInitialize, pSinglePassMetricSetName),
		NV_END(struct nv_HostInitialize, pHostObject),
	};
	struct nv_HostInitialize params = {
		.profilerType = profiler_type(profiler),
		.pChipName = chip,
		.pCounterAvailabilityImage = availability,
		.pSinglePassMetricSetName = set,
	};
	int status = try_sizes(nv, &params, &nv->initialize_size, sizes, 2, call_initialize);

	*object = params.pHostObject;
	return status;
}

static void deinitialize(struct opk_nv *nv, void *object)
{
	NV_PARAMS(params, HostDeinitialize, .pHostObject = object);

	NV_CALL(nv, cuptiProfilerHostDeinitialize, &params);
}

int opk_nv_host_supported(bool *out, struct opk_ctx *ctx, const char *chip,
                          enum opk_profiler profiler)
{
	struct opk_nv *nv;
	void *object = NULL;
	int status;

	*out = false;
	if (opk_profiler_is_code(profiler))
		return OPK_OK;
	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	status = initialize(nv, &object, chip, profiler, NULL, NULL);
	*out = status == NV_SUCCESS;
	if (*out)
		deinitialize(nv, object);
	if (status && status != NV_CUPTI_NOT_SUPPORTED && status != NV_CUPTI_INVALID_CHIP_NAME)
		return nv_check_cupti(ctx, "cuptiProfilerHostInitialize", status);
	return OPK_OK;
}

/* Why there is no host object. */
static int fail_initialize(struct opk_ctx *ctx, int status, const char *chip,
                           enum opk_profiler profiler)
{
	nv_check_cupti(ctx, "cuptiProfilerHostInitialize", status);
	if (status == NV_CUPTI_NOT_SUPPORTED) {
		opk_add(ctx, OPK_EFAILED, "%s is not among the chips that have %s", chip,
		        profiler == OPK_PROFILER_PM ? "PM sampling" : "a range profiler");
		return opk_advise(ctx, OPK_EFAILED, OPK_REMEDY_LIST_CHIPS);
	}
	return opk_add(ctx, status == NV_CUPTI_INVALID_CHIP_NAME ? OPK_EUSAGE : OPK_EFAILED,
	               "chip %s, profiler %s", chip, opk_profiler_name(profiler));
}

static int make(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                enum opk_profiler profiler, const void *availability, const char *set)
{
	opk_autofree struct opk_nv_host *host = opk_alloc(sizeof *host);
	struct opk_nv *nv;
	int status;

	if (opk_profiler_is_code(profiler))
		return opk_fail(ctx, OPK_EFAILED, "profiler %s has no counters",
		                opk_profiler_name(profiler));
	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	if (!host)
		return opk_nomem(ctx, "a host object");
	host->nv = nv;
	status = initialize(nv, &host->object, chip, profiler, availability, set);
	if (status)
		return fail_initialize(ctx, status, chip, profiler);
	*out = opk_take(host);
	return OPK_OK;
}

int opk_nv_host_new(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const void *availability)
{
	return make(out, ctx, chip, profiler, availability, NULL);
}

int opk_nv_host_new_for_set(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler, const void *availability, const char *set)
{
	return make(out, ctx, chip, profiler, availability, set);
}

void opk_nv_host_free(struct opk_nv_host *host)
{
	if (!host)
		return;
	deinitialize(host->nv, host->object);
	free(host);
}

int opk_nv_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                        enum opk_metric_type type)
{
	NV_PARAMS(params, HostGetBaseMetrics, .pHostObject = host->object, .metricType = (int)type);

	TRY(NV_CUPTI(host->nv, ctx, cuptiProfilerHostGetBaseMetrics, &params));
	for (size_t i = 0; i < params.numMetrics; i++)
		if (!opk_strlist_add(out, params.ppMetricNames[i]))
			return opk_nomem(ctx, "metric names");
	return OPK_OK;
}

int opk_nv_all_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host)
{
	for (int type = OPK_COUNTER; type <= OPK_THROUGHPUT; type++)
		TRY(opk_nv_base_metrics(out, ctx, host, (enum opk_metric_type)type));
	return OPK_OK;
}

int opk_nv_submetrics(const char *const **out, size_t *count, struct opk_ctx *ctx,
                      struct opk_nv_host *host, enum opk_metric_type type, const char *name)
{
	NV_PARAMS(params, HostGetSubMetrics, .pHostObject = host->object, .metricType = (int)type,
	          .pMetricName = name);
	int code = NV_CUPTI(host->nv, ctx, cuptiProfilerHostGetSubMetrics, &params);

	if (code)
		return opk_add(ctx, code, "metric %s", name);
	*out = params.ppSubMetrics;
	*count = params.numOfSubmetrics;
	return OPK_OK;
}

/* Asks for properties with these sizes in turn; *nv_size keeps the accepted one. */
static int ask_properties(struct nv_HostGetMetricProperties *params, struct opk_ctx *ctx,
                          struct opk_nv *nv, size_t *nv_size, const size_t sizes[2])
{
	int status = try_sizes(nv, params, nv_size, sizes, 2, call_properties);
	int code = nv_check_cupti(ctx, "cuptiProfilerHostGetMetricProperties", status);

	return code ? opk_add(ctx, code, "metric %s", params->pMetricName) : OPK_OK;
}

static const size_t with_scope = NV_END(struct nv_HostGetMetricProperties, metricCollectionScope);
static const size_t without_scope = NV_END(struct nv_HostGetMetricProperties, metricType);

int opk_nv_properties(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                      const char *name)
{
	struct nv_HostGetMetricProperties params = { .pHostObject = host->object,
		                                     .pMetricName = name };
	const size_t sizes[] = { without_scope, with_scope };

	TRY(ask_properties(&params, ctx, host->nv, &host->nv->properties_size, sizes));
	*out = (struct opk_metric){
		.name = name,
		.type = (enum opk_metric_type)params.metricType,
		.hw_unit = params.pHwUnit ? params.pHwUnit : "",
		.dim_unit = params.pDimUnit ? params.pDimUnit : "",
		.description = params.pDescription ? params.pDescription : "",
	};
	return OPK_OK;
}

int opk_nv_scope(enum opk_scope *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                 const char *name)
{
	/* -1 stays if the library does not know the field. */
	struct nv_HostGetMetricProperties params = { .pHostObject = host->object,
		                                     .pMetricName = name,
		                                     .metricCollectionScope = -1 };
	const size_t sizes[] = { with_scope, without_scope };

	TRY(ask_properties(&params, ctx, host->nv, &host->nv->scope_size, sizes));
	*out = params.metricCollectionScope == NV_SCOPE_CONTEXT  ? OPK_SCOPE_CONTEXT
	       : params.metricCollectionScope == NV_SCOPE_DEVICE ? OPK_SCOPE_DEVICE
	                                                         : OPK_SCOPE_UNKNOWN;
	return OPK_OK;
}

int opk_nv_add_metrics(struct opk_ctx *ctx, struct opk_nv_host *host, const char *const *names,
                       size_t count)
{
	NV_PARAMS(params, HostConfigAddMetrics, .pHostObject = host->object,
	          .ppMetricNames = (const char **)names, .numMetrics = count);
	int code;

	host->status = NV_CALL(host->nv, cuptiProfilerHostConfigAddMetrics, &params);
	code = nv_check_cupti(ctx, "cuptiProfilerHostConfigAddMetrics", host->status);
	return host->status == NV_CUPTI_OUT_OF_MEMORY ? OPK_ENOMEM : code;
}

int opk_nv_host_status(const struct opk_nv_host *host)
{
	return host->status;
}

int opk_nv_config_image(void **out, size_t *size, struct opk_ctx *ctx, struct opk_nv_host *host)
{
	NV_PARAMS(ask, HostGetConfigImageSize, .pHostObject = host->object);
	NV_PARAMS(get, HostGetConfigImage, .pHostObject = host->object);
	opk_autofree void *image = NULL;

	TRY(NV_CUPTI(host->nv, ctx, cuptiProfilerHostGetConfigImageSize, &ask));
	image = opk_alloc(ask.configImageSize);
	if (!image)
		return opk_nomem(ctx, "a config image");
	get.configImageSize = ask.configImageSize;
	get.pConfigImage = image;
	TRY(NV_CUPTI(host->nv, ctx, cuptiProfilerHostGetConfigImage, &get));
	*size = ask.configImageSize;
	*out = opk_take(image);
	return OPK_OK;
}

int opk_nv_passes(size_t *out, struct opk_ctx *ctx, const void *config, size_t size)
{
	NV_PARAMS(params, HostGetNumOfPasses, .configImageSize = size,
	          .pConfigImage = (uint8_t *)config);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_HOST));
	TRY(NV_CUPTI(nv, ctx, cuptiProfilerHostGetNumOfPasses, &params));
	*out = params.numOfPasses;
	return OPK_OK;
}

int opk_nv_evaluate(double *values, struct opk_ctx *ctx, struct opk_nv_host *host,
                    const struct opk_nv_range *range, const char *const *names, size_t count)
{
	NV_PARAMS(params, HostEvaluateToGpuValues, .pHostObject = host->object,
	          .pCounterDataImage = range->image, .counterDataImageSize = range->size,
	          .rangeIndex = range->index, .ppMetricNames = (const char **)names,
	          .numMetrics = count, .pMetricValues = values);

	return NV_CUPTI(host->nv, ctx, cuptiProfilerHostEvaluateToGpuValues, &params);
}

/* ---- the sets of metrics that CUPTI itself promises to fit one pass */

int opk_nv_single_pass_sets(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip)
{
	NV_PARAMS(params, HostSinglePassSets, .pChipName = chip);
	opk_autofree const char **names = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SINGLE_PASS_SETS));
	/* The first call returns the number, the second the names. */
	for (int round = 0; round < 2; round++) {
		TRY(NV_CUPTI(nv, ctx, cuptiProfilerHostGetSinglePassSets, &params));
		if (!params.numOfSinglePassSets)
			return OPK_OK;
		if (!names) {
			names = opk_alloc_array(params.numOfSinglePassSets, sizeof *names);
			if (!names)
				return opk_nomem(ctx, "single-pass sets");
			params.ppSinglePassSets = names;
		}
	}
	for (size_t i = 0; i < params.numOfSinglePassSets; i++)
		if (!opk_strlist_add(out, names[i]))
			return opk_nomem(ctx, "single-pass sets");
	return OPK_OK;
}

/* Adds names from one buffer; an offset outside the buffer is the library's mistake. */
static int add_names(struct opk_strlist *out, struct opk_ctx *ctx,
                     const struct nv_HostMetricsInSet *params)
{
	const char *text = (const char *)params->pMetricsBuffer;

	for (size_t i = 0; i < params->numOfMetricsInSinglePassSet; i++) {
		size_t at = params->pMetricsIndicesBuffer[i];

		if (at >= params->metricsBufferSize
		    || !memchr(text + at, '\0', params->metricsBufferSize - at))
			return opk_fail(ctx, OPK_EFAILED, "single-pass set %s: a name has no end",
			                params->pSinglePassSetName);
		if (!opk_strlist_add(out, text + at))
			return opk_nomem(ctx, "single-pass sets");
	}
	return OPK_OK;
}

int opk_nv_single_pass_metrics(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip,
                               const char *set)
{
	NV_PARAMS(params, HostMetricsInSet, .pChipName = chip, .pSinglePassSetName = set);
	opk_autofree size_t *places = NULL;
	opk_autofree uint8_t *text = NULL;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SINGLE_PASS_SETS);

	if (code)
		return code;
	code = NV_CUPTI(nv, ctx, cuptiProfilerHostGetMetricsInSinglePassSet, &params);
	if (!code && !params.numOfMetricsInSinglePassSet)
		return OPK_OK;
	if (!code) {
		places = opk_alloc_array(params.numOfMetricsInSinglePassSet, sizeof *places);
		text = opk_alloc(params.metricsBufferSize + 1);
		if (!places || !text)
			return opk_nomem(ctx, "single-pass sets");
		params.pMetricsIndicesBuffer = places;
		params.pMetricsBuffer = text;
		code = NV_CUPTI(nv, ctx, cuptiProfilerHostGetMetricsInSinglePassSet, &params);
	}
	if (code)
		return opk_add(ctx, code, "single-pass set %s of %s", set, chip);
	return add_names(out, ctx, &params);
}
