/* SPDX-License-Identifier: BSD-2-Clause */
/* PerfWorks' metrics evaluator: raw counters, units and constituents of full metric names. */

#include "adapters/nv/nv_evaluator.h"

#include "adapters/nv/nv.h"
#include "base/buf.h"

static int create(struct opk_nv_evaluator *evaluator, struct opk_ctx *ctx, const char *chip)
{
	struct nv_EvaluatorScratchSize ask = NV_PARAMS(EvaluatorScratchSize, scratchBufferSize);
	struct nv_EvaluatorInitialize make = NV_PARAMS(EvaluatorInitialize, pMetricsEvaluator);
	int status;

	ask.pChipName = make.pChipName = chip;
	status = evaluator->nv->call.NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&ask);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize",
		                    status);
	evaluator->scratch = opk_alloc(ask.scratchBufferSize);
	if (!evaluator->scratch)
		return opk_nomem(ctx, "a metrics evaluator");
	make.pScratchBuffer = evaluator->scratch;
	make.scratchBufferSize = ask.scratchBufferSize;
	status = evaluator->nv->call.NVPW_CUDA_MetricsEvaluator_Initialize(&make);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CUDA_MetricsEvaluator_Initialize", status);
	evaluator->object = make.pMetricsEvaluator;
	return OPK_OK;
}

int opk_nv_evaluator_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip)
{
	struct opk_nv_evaluator *evaluator;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_PREFIX);

	if (code)
		return code;
	evaluator = opk_alloc(sizeof *evaluator);
	if (!evaluator)
		return opk_nomem(ctx, "a metrics evaluator");
	evaluator->nv = nv;
	code = create(evaluator, ctx, chip);
	if (code) {
		opk_nv_evaluator_free(evaluator);
		return code;
	}
	*out = evaluator;
	return OPK_OK;
}

void opk_nv_evaluator_free(struct opk_nv_evaluator *evaluator)
{
	struct nv_EvaluatorDestroy params = NV_PARAMS(EvaluatorDestroy, pMetricsEvaluator);

	if (!evaluator)
		return;
	params.pMetricsEvaluator = evaluator->object;
	if (evaluator->object)
		evaluator->nv->call.NVPW_MetricsEvaluator_Destroy(&params);
	free(evaluator->scratch);
	free(evaluator);
}

int nv_convert_metric(struct nv_MetricEvalRequest *out, struct opk_ctx *ctx,
                      struct opk_nv_evaluator *evaluator, const char *metric)
{
	struct nv_EvaluatorConvertName params = NV_PARAMS(EvaluatorConvertName,
	                                                  metricEvalRequestStructSize);
	int status;

	params.pMetricsEvaluator = evaluator->object;
	params.pMetricName = metric;
	params.pMetricEvalRequest = out;
	params.metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric);
	status = evaluator->nv->call.NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(
		&params);
	if (!status)
		return OPK_OK;
	nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest", status);
	return opk_add(ctx, status == NV_NVPA_INVALID_ARGUMENT ? OPK_EUSAGE : OPK_EFAILED,
	               "metric %s", metric);
}

int opk_nv_raw_counters(struct opk_strlist *out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *metric)
{
	struct nv_EvaluatorRawDependencies params = NV_PARAMS(EvaluatorRawDependencies,
	                                                      numOptionalRawDependencies);
	struct nv_MetricEvalRequest request = { 0 };
	opk_autofree const char **names = NULL;
	int code = nv_convert_metric(&request, ctx, evaluator, metric);
	int status;

	if (code)
		return code;
	params.pMetricsEvaluator = evaluator->object;
	params.pMetricEvalRequests = &request;
	params.numMetricEvalRequests = 1;
	params.metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric);
	params.metricEvalRequestStrideSize = sizeof request;
	/* First for the number, then for the names. */
	for (int round = 0; round < 2; round++) {
		params.ppRawDependencies = names;
		params.numOptionalRawDependencies = 0;
		status = evaluator->nv->call.NVPW_MetricsEvaluator_GetMetricRawDependencies(
			&params);
		if (status)
			return nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_GetMetricRawDependencies",
			                    status);
		if (!names && !(names = opk_alloc_array(params.numRawDependencies, sizeof *names)))
			return opk_nomem(ctx, "raw counters");
	}
	for (size_t i = 0; i < params.numRawDependencies; i++)
		if (!opk_strlist_contains(out, names[i]) && !opk_strlist_add(out, names[i]))
			return opk_nomem(ctx, "raw counters");
	return OPK_OK;
}

/* One factor of a unit: "bytes", or "second" where it divides. */
static int add_factor(struct opk_buf *buf, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const struct nv_DimUnitFactor *factor)
{
	struct nv_EvaluatorDimUnitToString params = NV_PARAMS(EvaluatorDimUnitToString,
	                                                      pPluralName);
	int power = factor->exponent < 0 ? -factor->exponent : factor->exponent;
	int status;

	params.pMetricsEvaluator = evaluator->object;
	params.dimUnit = factor->dimUnit;
	status = evaluator->nv->call.NVPW_MetricsEvaluator_DimUnitToString(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_DimUnitToString", status);
	opk_buf_add_text(buf, factor->exponent < 0 ? params.pSingularName : params.pPluralName);
	if (power > 1)
		opk_buf_add_printf(buf, "^%d", power);
	return OPK_OK;
}

/* "bytes*cycles/second": the factors above the line, then those below it. */
static int compose_unit(struct opk_buf *buf, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const struct nv_DimUnitFactor *factors,
                        size_t count)
{
	for (int below = 0; below < 2; below++) {
		bool first = true;

		for (size_t i = 0; i < count; i++) {
			int code;

			if ((factors[i].exponent < 0) != below)
				continue;
			if (below || !first)
				opk_buf_add_text(buf, below ? "/" : "*");
			first = false;
			code = add_factor(buf, ctx, evaluator, &factors[i]);
			if (code)
				return code;
		}
		if (!below && first && count)
			opk_buf_add_text(buf, "1");
	}
	opk_buf_add(buf, "", 1);
	return buf->failed ? opk_nomem(ctx, "a unit") : OPK_OK;
}

int opk_nv_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                const char *metric)
{
	struct nv_EvaluatorDimUnits params = NV_PARAMS(EvaluatorDimUnits, dimUnitFactorStructSize);
	struct nv_MetricEvalRequest request = { 0 };
	opk_autofree struct nv_DimUnitFactor *factors = NULL;
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_UNITS);
	int status;

	if (!code)
		code = nv_convert_metric(&request, ctx, evaluator, metric);
	if (code)
		return code;
	params.pMetricsEvaluator = evaluator->object;
	params.pMetricEvalRequest = &request;
	params.metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric);
	params.dimUnitFactorStructSize = NV_END(struct nv_DimUnitFactor, exponent);
	for (int round = 0; round < 2; round++) {
		params.pDimUnits = factors;
		status = nv->call.NVPW_MetricsEvaluator_GetMetricDimUnits(&params);
		if (status)
			return nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_GetMetricDimUnits", status);
		if (!factors && !(factors = opk_alloc_array(params.numDimUnits, sizeof *factors)))
			return opk_nomem(ctx, "a unit");
	}
	code = compose_unit(&buf, ctx, evaluator, factors, params.numDimUnits);
	if (code)
		return code;
	*out = (char *)opk_take(buf.data);
	return OPK_OK;
}

/* The base metrics of a type that stand at these places of PerfWorks' list. */
static int add_names(struct opk_strlist *out, struct opk_ctx *ctx,
                     struct opk_nv_evaluator *evaluator, enum opk_metric_type type,
                     const size_t *indices, size_t count)
{
	struct nv_EvaluatorMetricNames params = NV_PARAMS(EvaluatorMetricNames, numMetrics);
	int status;

	if (!count)
		return OPK_OK;
	params.pMetricsEvaluator = evaluator->object;
	params.metricType = (uint8_t)type;
	status = evaluator->nv->call.NVPW_MetricsEvaluator_GetMetricNames(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_GetMetricNames", status);
	for (size_t i = 0; i < count; i++) {
		if (indices[i] >= params.numMetrics)
			return opk_fail(ctx, OPK_EFAILED, "constituent %zu of %zu metrics",
			                indices[i], params.numMetrics);
		if (!opk_strlist_add(out, params.pMetricNames
		                                  + params.pMetricNameBeginIndices[indices[i]]))
			return opk_nomem(ctx, "constituents");
	}
	return OPK_OK;
}

int opk_nv_constituents(struct opk_strlist *counters, struct opk_strlist *throughputs,
                        struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator, const char *metric)
{
	struct nv_EvaluatorThroughput params = NV_PARAMS(EvaluatorThroughput,
	                                                 pSubThroughputIndices);
	struct nv_MetricEvalRequest request = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_CONSTITUENTS);
	int status;

	if (!code)
		code = nv_convert_metric(&request, ctx, evaluator, metric);
	/* NVPW_MetricType has the order of enum opk_metric_type. */
	if (code || request.metricType != OPK_THROUGHPUT)
		return code;
	params.pMetricsEvaluator = evaluator->object;
	params.throughputMetricIndex = request.metricIndex;
	status = nv->call.NVPW_MetricsEvaluator_GetThroughputMetricProperties(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_MetricsEvaluator_GetThroughputMetricProperties",
		                    status);
	code = add_names(counters, ctx, evaluator, OPK_COUNTER, params.pCounterIndices,
	                 params.numCounters);
	if (!code)
		code = add_names(throughputs, ctx, evaluator, OPK_THROUGHPUT,
		                 params.pSubThroughputIndices, params.numSubThroughputs);
	return code;
}
