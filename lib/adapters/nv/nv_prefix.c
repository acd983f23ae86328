/* SPDX-License-Identifier: BSD-2-Clause */
/* Counter-data prefixes and the raw counters of a config image. */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

/* The call of CUPTI 12.9 and later. */
static int add_raw_counters(struct opk_nv *nv, struct opk_ctx *ctx, void *builder,
                            const struct opk_strlist *names, const bool *keep_instances)
{
	opk_autofree struct nv_RawCounterRequest *requests = opk_alloc_array(names->count,
	                                                                     sizeof *requests);
	NV_PARAMS(params, BuilderAddRawCounters, .pCounterDataBuilder = builder,
	          .rawCounterRequestStructSize = NV_END(struct nv_RawCounterRequest, keepInstances),
	          .numRawCounterRequests = names->count, .pRawCounterRequests = requests);

	if (!requests)
		return opk_nomem(ctx, "raw counters");
	for (size_t i = 0; i < names->count; i++) {
		requests[i].pRawCounterName = names->items[i];
		requests[i].keepInstances = keep_instances[i];
	}
	return NV_NVPW(nv, ctx, NVPW_CounterDataBuilder_AddRawCounters, &params);
}

/* The call of earlier releases. */
static int add_raw_metrics(struct opk_nv *nv, struct opk_ctx *ctx, void *builder,
                           const struct opk_strlist *names, const bool *keep_instances)
{
	opk_autofree struct nv_RawMetricRequest *requests = opk_alloc_array(names->count,
	                                                                    sizeof *requests);
	NV_PARAMS(params, BuilderAddMetrics, .pCounterDataBuilder = builder,
	          .pRawMetricRequests = requests, .numMetricRequests = names->count);

	if (!requests)
		return opk_nomem(ctx, "raw metrics");
	for (size_t i = 0; i < names->count; i++) {
		requests[i].structSize = NV_END(struct nv_RawMetricRequest, keepInstances);
		requests[i].pMetricName = names->items[i];
		requests[i].isolated = 1;
		requests[i].keepInstances = keep_instances[i];
	}
	return NV_NVPW(nv, ctx, NVPW_CounterDataBuilder_AddMetrics, &params);
}

static int get_prefix(void **out, size_t *size, struct opk_nv *nv, struct opk_ctx *ctx,
                      void *builder)
{
	NV_PARAMS(params, BuilderGetPrefix, .pCounterDataBuilder = builder);
	opk_autofree void *prefix = NULL;

	for (int round = 0; round < 2; round++) {
		params.pBuffer = prefix;
		params.bytesAllocated = prefix ? params.bytesCopied : 0;
		TRY(NV_NVPW(nv, ctx, NVPW_CounterDataBuilder_GetCounterDataPrefix, &params));
		if (!prefix && !(prefix = opk_alloc(params.bytesCopied)))
			return opk_nomem(ctx, "a counter-data prefix");
	}
	*size = params.bytesCopied;
	*out = opk_take(prefix);
	return OPK_OK;
}

static int need_builder(struct opk_nv **nv, struct opk_ctx *ctx)
{
	int code = nv_need(nv, ctx, NV_FEATURE_PREFIX);

	if (code || (*nv)->call.NVPW_CounterDataBuilder_AddRawCounters)
		return code;
	return nv_need(nv, ctx, NV_FEATURE_RAW_METRICS);
}

int opk_nv_prefix(void **out, size_t *size, struct opk_ctx *ctx, const char *chip,
                  const struct opk_strlist *raw_counters, const bool *keep_instances)
{
	NV_PARAMS(create, BuilderCreate, .pChipName = chip);
	NV_PARAMS(destroy, BuilderDestroy);
	struct opk_nv *nv;
	int code = need_builder(&nv, ctx);

	if (!code)
		code = NV_NVPW(nv, ctx, NVPW_CUDA_CounterDataBuilder_Create, &create);
	if (code)
		return code;
	if (nv->call.NVPW_CounterDataBuilder_AddRawCounters)
		code = add_raw_counters(nv, ctx, create.pCounterDataBuilder, raw_counters,
		                        keep_instances);
	else
		code = add_raw_metrics(nv, ctx, create.pCounterDataBuilder, raw_counters,
		                       keep_instances);
	if (!code)
		code = get_prefix(out, size, nv, ctx, create.pCounterDataBuilder);
	destroy.pCounterDataBuilder = create.pCounterDataBuilder;
	NV_CALL(nv, NVPW_CounterDataBuilder_Destroy, &destroy);
	return code;
}

int opk_nv_config_counters(struct opk_strlist *out, struct opk_ctx *ctx, const void *config,
                           size_t size, size_t pass)
{
	NV_PARAMS(params, ConfigGetRawCounters, .pConfig = config, .configSize = size,
	          .passIndex = pass);
	opk_autofree const char **names = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_PLAN_DETAIL));
	for (int round = 0; round < 2; round++) {
		params.ppRawCounterNames = names;
		TRY(NV_NVPW(nv, ctx, NVPW_Config_GetRawCounters, &params));
		if (!names && !(names = opk_alloc_array(params.numRawCounters, sizeof *names)))
			return opk_nomem(ctx, "raw counters");
	}
	for (size_t i = 0; i < params.numRawCounters; i++)
		if (!opk_strlist_add(out, names[i]))
			return opk_nomem(ctx, "raw counters");
	return OPK_OK;
}

int opk_nv_sample_size(size_t *out, struct opk_ctx *ctx, const void *config, size_t size)
{
	NV_PARAMS(params, SamplerEstimatedSize, .pConfig = config, .configSize = size);
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SAMPLE_SIZE));
	TRY(NV_NVPW(nv, ctx, NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize, &params));
	*out = params.sampleSize;
	return OPK_OK;
}
