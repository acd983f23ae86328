/* SPDX-License-Identifier: BSD-2-Clause */
/* Host objects: chips, base metrics, properties, config images. */

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

struct opk_nv_host {
	struct opk_nv *nv;
	void *object;
	int status; /* with which metrics were refused */
};

int opk_nv_chips(struct opk_strlist *out, struct opk_ctx *ctx)
{
	struct nv_HostGetSupportedChips params = NV_PARAMS(HostGetSupportedChips, ppChipNames);
	struct opk_nv *nv;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	status = nv->call.cuptiProfilerHostGetSupportedChips(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetSupportedChips", status);
	for (size_t i = 0; i < params.numChips; i++)
		if (!opk_strlist_add(out, params.ppChipNames[i]))
			return opk_nomem(ctx, "chip names");
	return OPK_OK;
}

/*
 * structSize is compared exactly, and releases append fields: the newest size first, then the
 * older ones, and what was accepted is kept for the next call.
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
	return nv->call.cuptiProfilerHostInitialize(params);
}

static int call_properties(struct opk_nv *nv, void *params)
{
	return nv->call.cuptiProfilerHostGetMetricProperties(params);
}

static int initialize(struct opk_nv *nv, void **object, const char *chip,
                      enum opk_profiler profiler, const void *availability, const char *set)
{
	static const size_t sizes[] = {
		NV_END(struct nv_HostInitialize, pSinglePassMetricSetName),
		NV_END(struct nv_HostInitialize, pHostObject),
	};
	struct nv_HostInitialize params = {
		.profilerType = profiler == OPK_PROFILER_PM ? NV_PROFILER_PM_SAMPLING
		                                            : NV_PROFILER_RANGE,
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
	struct nv_HostDeinitialize params = NV_PARAMS(HostDeinitialize, pHostObject);

	params.pHostObject = object;
	nv->call.cuptiProfilerHostDeinitialize(&params);
}

int opk_nv_host_supported(bool *out, struct opk_ctx *ctx, const char *chip,
                          enum opk_profiler profiler)
{
	struct opk_nv *nv;
	void *object = NULL;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	status = initialize(nv, &object, chip, profiler, NULL, NULL);
	*out = status == NV_SUCCESS;
	if (*out)
		deinitialize(nv, object);
	if (status && status != NV_CUPTI_NOT_SUPPORTED && status != NV_CUPTI_INVALID_CHIP_NAME)
		return nv_fail_cupti(ctx, "cuptiProfilerHostInitialize", status);
	return OPK_OK;
}

static int make(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                enum opk_profiler profiler, const void *availability, const char *set)
{
	opk_autofree struct opk_nv_host *host = opk_alloc(sizeof *host);
	struct opk_nv *nv;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	if (!host)
		return opk_nomem(ctx, "a host object");
	host->nv = nv;
	status = initialize(nv, &host->object, chip, profiler, availability, set);
	if (status) {
		nv_fail_cupti(ctx, "cuptiProfilerHostInitialize", status);
		return opk_add(ctx, status == NV_CUPTI_INVALID_CHIP_NAME ? OPK_EUSAGE : OPK_EFAILED,
		               "chip %s, profiler %s", chip, opk_profiler_name(profiler));
	}
	*out = opk_take(host);
	return OPK_OK;
}

int opk_nv_host_new(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const void *availability)
{
	return make(out, ctx, chip, profiler, availability, NULL);
}

int opk_nv_host_new_for_set(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                            const char *set)
{
	return make(out, ctx, chip, OPK_PROFILER_PM, NULL, set);
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
	struct nv_HostGetBaseMetrics params = NV_PARAMS(HostGetBaseMetrics, numMetrics);
	int status;

	params.pHostObject = host->object;
	params.metricType = (int)type;
	status = host->nv->call.cuptiProfilerHostGetBaseMetrics(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetBaseMetrics", status);
	for (size_t i = 0; i < params.numMetrics; i++)
		if (!opk_strlist_add(out, params.ppMetricNames[i]))
			return opk_nomem(ctx, "metric names");
	return OPK_OK;
}

int opk_nv_all_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host)
{
	int code = OPK_OK;

	for (int type = OPK_COUNTER; !code && type <= OPK_THROUGHPUT; type++)
		code = opk_nv_base_metrics(out, ctx, host, (enum opk_metric_type)type);
	return code;
}

int opk_nv_submetrics(const char *const **out, size_t *count, struct opk_ctx *ctx,
                      struct opk_nv_host *host, enum opk_metric_type type, const char *name)
{
	struct nv_HostGetSubMetrics params = NV_PARAMS(HostGetSubMetrics, ppSubMetrics);
	int status;

	params.pHostObject = host->object;
	params.metricType = (int)type;
	params.pMetricName = name;
	status = host->nv->call.cuptiProfilerHostGetSubMetrics(&params);
	if (status) {
		nv_fail_cupti(ctx, "cuptiProfilerHostGetSubMetrics", status);
		return opk_add(ctx,
		               status == NV_CUPTI_INVALID_METRIC_NAME ? OPK_EUSAGE : OPK_EFAILED,
		               "metric %s", name);
	}
	*out = params.ppSubMetrics;
	*count = params.numOfSubmetrics;
	return OPK_OK;
}

static enum opk_scope scope_of(int scope)
{
	return scope == NV_SCOPE_CONTEXT  ? OPK_SCOPE_CONTEXT
	       : scope == NV_SCOPE_DEVICE ? OPK_SCOPE_DEVICE
	                                  : OPK_SCOPE_UNKNOWN;
}

int opk_nv_properties(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                      const char *name)
{
	static const size_t sizes[] = {
		NV_END(struct nv_HostGetMetricProperties, metricCollectionScope),
		NV_END(struct nv_HostGetMetricProperties, metricType),
	};
	/* -1 stays where the library does not know the field. */
	struct nv_HostGetMetricProperties params = { .pHostObject = host->object,
		                                     .pMetricName = name,
		                                     .metricCollectionScope = -1 };
	int status = try_sizes(host->nv, &params, &host->nv->properties_size, sizes, 2,
	                       call_properties);

	if (status) {
		nv_fail_cupti(ctx, "cuptiProfilerHostGetMetricProperties", status);
		return opk_add(ctx,
		               status == NV_CUPTI_INVALID_METRIC_NAME ? OPK_EUSAGE : OPK_EFAILED,
		               "metric %s", name);
	}
	*out = (struct opk_metric){
		.name = name,
		.type = (enum opk_metric_type)params.metricType,
		.hw_unit = params.pHwUnit ? params.pHwUnit : "",
		.dim_unit = params.pDimUnit ? params.pDimUnit : "",
		.description = params.pDescription ? params.pDescription : "",
		.scope = scope_of(params.metricCollectionScope),
	};
	return OPK_OK;
}

int opk_nv_add_metrics(struct opk_ctx *ctx, struct opk_nv_host *host, const char *const *names,
                       size_t count)
{
	struct nv_HostConfigAddMetrics params = NV_PARAMS(HostConfigAddMetrics, numMetrics);
	int status;

	params.pHostObject = host->object;
	params.ppMetricNames = (const char **)names;
	params.numMetrics = count;
	status = host->nv->call.cuptiProfilerHostConfigAddMetrics(&params);
	if (!status)
		return OPK_OK;
	host->status = status;
	nv_fail_cupti(ctx, "cuptiProfilerHostConfigAddMetrics", status);
	return status == NV_CUPTI_INVALID_METRIC_NAME ? OPK_EUSAGE
	       : status == NV_CUPTI_OUT_OF_MEMORY     ? OPK_ENOMEM
	                                              : OPK_EFAILED;
}

int opk_nv_host_status(const struct opk_nv_host *host)
{
	return host->status;
}

int opk_nv_config_image(void **out, size_t *size, struct opk_ctx *ctx, struct opk_nv_host *host)
{
	struct nv_HostGetConfigImageSize ask = NV_PARAMS(HostGetConfigImageSize, configImageSize);
	struct nv_HostGetConfigImage get = NV_PARAMS(HostGetConfigImage, pConfigImage);
	opk_autofree void *image = NULL;
	int status;

	ask.pHostObject = host->object;
	status = host->nv->call.cuptiProfilerHostGetConfigImageSize(&ask);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetConfigImageSize", status);
	image = opk_alloc(ask.configImageSize);
	if (!image)
		return opk_nomem(ctx, "a config image");
	get.pHostObject = host->object;
	get.configImageSize = ask.configImageSize;
	get.pConfigImage = image;
	status = host->nv->call.cuptiProfilerHostGetConfigImage(&get);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetConfigImage", status);
	*size = ask.configImageSize;
	*out = opk_take(image);
	return OPK_OK;
}

int opk_nv_passes(size_t *out, struct opk_ctx *ctx, const void *config, size_t size)
{
	struct nv_HostGetNumOfPasses params = NV_PARAMS(HostGetNumOfPasses, numOfPasses);
	struct opk_nv *nv;
	int code = nv_get(&nv, ctx);
	int status;

	if (code)
		return code;
	params.configImageSize = size;
	params.pConfigImage = (uint8_t *)config;
	status = nv->call.cuptiProfilerHostGetNumOfPasses(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetNumOfPasses", status);
	*out = params.numOfPasses;
	return OPK_OK;
}

int opk_nv_evaluate(double *values, struct opk_ctx *ctx, struct opk_nv_host *host,
                    const void *image, size_t size, size_t index, const char *const *names,
                    size_t count)
{
	struct nv_HostEvaluateToGpuValues params = NV_PARAMS(HostEvaluateToGpuValues,
	                                                     pMetricValues);
	int status;

	params.pHostObject = host->object;
	params.pCounterDataImage = image;
	params.counterDataImageSize = size;
	params.rangeIndex = index;
	params.ppMetricNames = (const char **)names;
	params.numMetrics = count;
	params.pMetricValues = values;
	status = host->nv->call.cuptiProfilerHostEvaluateToGpuValues(&params);
	if (!status)
		return OPK_OK;
	nv_fail_cupti(ctx, "cuptiProfilerHostEvaluateToGpuValues", status);
	return status == NV_CUPTI_INVALID_METRIC_NAME ? OPK_EUSAGE : OPK_EFAILED;
}
