/* SPDX-License-Identifier: BSD-2-Clause */
/* PerfWorks' metrics evaluator: raw counters, units, constituents and values of full names. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"
#include "base/buf.h"

struct opk_nv_evaluator {
	struct opk_nv *nv;
	uint8_t *scratch;
	void *object;
};

static int add_scratch(uint8_t **out, struct opk_nv_evaluator *evaluator, struct opk_ctx *ctx,
                       size_t size)
{
	*out = evaluator->scratch = opk_alloc(size);
	return *out ? OPK_OK : opk_nomem(ctx, "a metrics evaluator");
}

static int create(struct opk_nv_evaluator *evaluator, struct opk_ctx *ctx, const char *chip)
{
	NV_PARAMS(ask, EvaluatorScratchSize, .pChipName = chip);
	NV_PARAMS(make, EvaluatorInitialize, .pChipName = chip);

	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize,
	            &ask));
	make.scratchBufferSize = ask.scratchBufferSize;
	TRY(add_scratch(&make.pScratchBuffer, evaluator, ctx, ask.scratchBufferSize));
	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_CUDA_MetricsEvaluator_Initialize, &make));
	evaluator->object = make.pMetricsEvaluator;
	return OPK_OK;
}

static int create_pm(struct opk_nv_evaluator *evaluator, struct opk_ctx *ctx, const char *chip)
{
	NV_PARAMS(ask, DeviceScratchSize, .pChipName = chip);
	NV_PARAMS(make, DeviceInitialize, .pChipName = chip);

	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize,
	            &ask));
	make.scratchBufferSize = ask.scratchBufferSize;
	TRY(add_scratch(&make.pScratchBuffer, evaluator, ctx, ask.scratchBufferSize));
	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_Device_MetricsEvaluator_Initialize, &make));
	evaluator->object = make.pMetricsEvaluator;
	return OPK_OK;
}

int opk_nv_evaluator_of_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = opk_alloc(
		sizeof *evaluator);
	bool pm = profiler == OPK_PROFILER_PM;

	if (!evaluator)
		return opk_nomem(ctx, "a metrics evaluator");
	TRY(nv_need(&evaluator->nv, ctx, NV_FEATURE_PREFIX));
	if (pm)
		TRY(nv_need(&evaluator->nv, ctx, NV_FEATURE_PM_UNITS));
	TRY((pm ? create_pm : create)(evaluator, ctx, chip));
	*out = opk_take(evaluator);
	return OPK_OK;
}

int opk_nv_evaluator_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip)
{
	return opk_nv_evaluator_of_new(out, ctx, chip, OPK_PROFILER_RANGE);
}

void opk_nv_evaluator_free(struct opk_nv_evaluator *evaluator)
{
	NV_PARAMS(params, EvaluatorDestroy);

	if (!evaluator)
		return;
	params.pMetricsEvaluator = evaluator->object;
	if (evaluator->object)
		NV_CALL(evaluator->nv, NVPW_MetricsEvaluator_Destroy, &params);
	free(evaluator->scratch);
	free(evaluator);
}

/* OPK_EUSAGE: there is no such metric. */
static int convert(struct nv_MetricEvalRequest *out, struct opk_ctx *ctx,
                   struct opk_nv_evaluator *evaluator, const char *metric)
{
	NV_PARAMS(params, EvaluatorConvertName, .pMetricsEvaluator = evaluator->object,
	          .pMetricName = metric, .pMetricEvalRequest = out,
	          .metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric));
	int status = NV_CALL(evaluator->nv,
	                     NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, &params);

	if (!status)
		return OPK_OK;
	nv_check_nvpw(ctx, "NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest", status);
	return opk_add(ctx, status == NV_NVPA_INVALID_ARGUMENT ? OPK_EUSAGE : OPK_EFAILED,
	               "metric %s", metric);
}

int opk_nv_raw_counters(struct opk_strlist *out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *metric)
{
	struct nv_MetricEvalRequest request = { 0 };
	NV_PARAMS(params, EvaluatorRawDependencies, .pMetricsEvaluator = evaluator->object,
	          .pMetricEvalRequests = &request, .numMetricEvalRequests = 1,
	          .metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric),
	          .metricEvalRequestStrideSize = sizeof request);
	opk_autofree const char **names = NULL;

	TRY(convert(&request, ctx, evaluator, metric));
	/* The first call returns the number, the second the names. */
	for (int round = 0; round < 2; round++) {
		params.ppRawDependencies = names;
		params.numOptionalRawDependencies = 0;
		TRY(NV_NVPW(evaluator->nv, ctx, NVPW_MetricsEvaluator_GetMetricRawDependencies,
		            &params));
		if (!names && !(names = opk_alloc_array(params.numRawDependencies, sizeof *names)))
			return opk_nomem(ctx, "raw counters");
	}
	for (size_t i = 0; i < params.numRawDependencies; i++)
		if (!opk_strlist_contains(out, names[i]) && !opk_strlist_add(out, names[i]))
			return opk_nomem(ctx, "raw counters");
	return OPK_OK;
}

/* PerfWorks' names of a factor of a unit. */
struct names {
	const char *one, *many;
};

/*
 * PerfWorks 12.x lacks names for the units of some metrics, and calls them "invalid". 13.0 has
 * these names, which follow from what the metric counts.
 */
static const struct {
	const char *part; /* of the metric's name */
	struct names names;
} nameless[] = {
	{ "__ops_path_tensor", { "math_op", "math_ops" } },
	{ "__sass_branch_targets", { "branch_target", "branch_targets" } },
	{ "__cgas_", { "cga", "cgas" } },
	{ "gcc__", { "gcc_request", "gcc_requests" } },
	{ "__texin_tsl1_requests", { "gcc_request", "gcc_requests" } },
	{ "pcie__rx_requests", { "pcie_request", "pcie_requests" } },
	{ "rtcore__rays", { "ray", "rays" } },
	{ "_l1tex_mem_shared_data_compute_lines", { "l1tex_line", "l1tex_lines" } },
	{ "__average_sharedmem_bytes_per_cta", { "l1tex_line", "l1tex_lines" } },
	{ "_rf_quanta_", { "rf_quantum", "rf_quanta" } },
	{ "__average_registers_per_", { "register", "registers" } },
	{ "ctc__", { "ctc_cycle", "ctc_cycles" } },
	{ "nvdec__", { "nvdec_cycle", "nvdec_cycles" } },
	{ "nvdla__", { "nvdla_cycle", "nvdla_cycles" } },
	{ "nvenc__", { "nvenc_cycle", "nvenc_cycles" } },
	{ "ofa__", { "ofa_cycle", "ofa_cycles" } },
	{ "pva__", { "pva_cycle", "pva_cycles" } },
	{ "pvavpu__", { "pvavpu_cycle", "pvavpu_cycles" } },
	{ "vic__", { "vic_cycle", "vic_cycles" } },
};

/* Names that are NULL mean not known. */
static struct names name_nameless(const char *metric)
{
	for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
		if (strstr(metric, nameless[i].part))
			return nameless[i].names;
	return (struct names){ NULL, NULL };
}

static int find_names(struct names *out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const struct nv_DimUnitFactor *factor, const char *metric)
{
	NV_PARAMS(params, EvaluatorDimUnitToString, .pMetricsEvaluator = evaluator->object,
	          .dimUnit = factor->dimUnit);

	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_MetricsEvaluator_DimUnitToString, &params));
	*out = (struct names){ params.pSingularName, params.pPluralName };
	if (factor->dimUnit == NV_DIM_UNIT_INVALID)
		*out = name_nameless(metric);
	return OPK_OK;
}

/* If two factors have no name, they can't be told apart. */
static bool is_unknown(const struct nv_DimUnitFactor *factors, size_t count, const char *metric)
{
	size_t invalid = 0;

	for (size_t i = 0; i < count; i++)
		invalid += factors[i].dimUnit == NV_DIM_UNIT_INVALID;
	return invalid > 1 || (invalid && !name_nameless(metric).one);
}

/* One factor of a unit: "bytes", or "second" where it divides. */
static int add_factor(struct opk_buf *buf, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const struct nv_DimUnitFactor *factor, const char *metric)
{
	int power = factor->exponent < 0 ? -factor->exponent : factor->exponent;
	struct names names;

	TRY(find_names(&names, ctx, evaluator, factor, metric));
	/* CUPTI 12.6 has the singular "L2_sector", but like others the plural "l2_sectors". */
	if (factor->exponent < 0 && !strncmp(names.one, "L2_", 3))
		opk_buf_add_printf(buf, "l%s", names.one + 1);
	else
		opk_buf_add_text(buf, factor->exponent < 0 ? names.one : names.many);
	if (power > 1)
		opk_buf_add_printf(buf, "^%d", power);
	return OPK_OK;
}

/* "bytes*cycles/second": the factors above the line, then those below it. */
static int compose_unit(struct opk_buf *buf, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const struct nv_DimUnitFactor *factors,
                        size_t count, const char *metric)
{
	for (int below = 0; below < 2; below++) {
		bool first = true;

		for (size_t i = 0; i < count; i++) {
			if ((factors[i].exponent < 0) != below)
				continue;
			if (below || !first)
				opk_buf_add_text(buf, below ? "/" : "*");
			first = false;
			TRY(add_factor(buf, ctx, evaluator, &factors[i], metric));
		}
		if (!below && first && count)
			opk_buf_add_text(buf, "1");
	}
	opk_buf_add(buf, "", 1);
	return buf->failed ? opk_nomem(ctx, "a unit") : OPK_OK;
}

/* The factors of a metric's unit; free(). */
static int ask_factors(struct nv_DimUnitFactor **out, size_t *count, struct opk_ctx *ctx,
                       struct opk_nv_evaluator *evaluator, const char *metric)
{
	struct nv_MetricEvalRequest request = { 0 };
	NV_PARAMS(params, EvaluatorDimUnits, .pMetricsEvaluator = evaluator->object,
	          .pMetricEvalRequest = &request,
	          .metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric),
	          .dimUnitFactorStructSize = NV_END(struct nv_DimUnitFactor, exponent));
	opk_autofree struct nv_DimUnitFactor *factors = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_UNITS));
	TRY(convert(&request, ctx, evaluator, metric));
	for (int round = 0; round < 2; round++) {
		params.pDimUnits = factors;
		TRY(NV_NVPW(nv, ctx, NVPW_MetricsEvaluator_GetMetricDimUnits, &params));
		/* 12.6 has no factor for unitless metrics; a second call for 0 factors fails. */
		if (!params.numDimUnits)
			break;
		if (!factors && !(factors = opk_alloc_array(params.numDimUnits, sizeof *factors)))
			return opk_nomem(ctx, "a unit");
	}
	*count = params.numDimUnits;
	*out = opk_take(factors);
	return OPK_OK;
}

int opk_nv_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                const char *metric)
{
	opk_autofree struct nv_DimUnitFactor *factors = NULL;
	opk_autobuf struct opk_buf buf = { 0 };
	size_t count = 0;
	int code = ask_factors(&factors, &count, ctx, evaluator, metric);

	if (!code && is_unknown(factors, count, metric))
		opk_buf_add(&buf, "", 1);
	else if (!code && !count)
		opk_buf_add(&buf, "unitless", sizeof "unitless");
	else if (!code)
		code = compose_unit(&buf, ctx, evaluator, factors, count, metric);
	if (!code && buf.failed)
		code = opk_nomem(ctx, "a unit");
	if (!code)
		*out = (char *)opk_take(buf.data);
	return code;
}

/* Repeats a factor as often as its exponent says; adds nothing for a unitless factor. */
static int add_word(struct opk_buf *buf, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                    const struct nv_DimUnitFactor *factor, const char *metric)
{
	struct names names;

	TRY(find_names(&names, ctx, evaluator, factor, metric));
	for (int i = abs(factor->exponent); i > 0; i--) {
		if (strcmp(names.one, "unitless"))
			opk_buf_add_text(buf, names.one);
	}
	return OPK_OK;
}

int opk_nv_cupti_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const char *metric)
{
	opk_autofree struct nv_DimUnitFactor *factors = NULL;
	opk_autobuf struct opk_buf above = { 0 }, below = { 0 };
	size_t count = 0;

	TRY(ask_factors(&factors, &count, ctx, evaluator, metric));
	if (is_unknown(factors, count, metric))
		count = 0;
	for (size_t i = 0; i < count; i++)
		TRY(add_word(factors[i].exponent < 0 ? &below : &above, ctx, evaluator, &factors[i],
		             metric));
	if (below.size) {
		opk_buf_add_text(&above, "/");
		opk_buf_add(&above, below.data, below.size);
	}
	*out = below.failed ? NULL : opk_buf_take_text(&above);
	return *out ? OPK_OK : opk_nomem(ctx, "a unit");
}

/* The base metrics of a type at these places of PerfWorks' list. */
static int add_names(struct opk_strlist *out, struct opk_ctx *ctx,
                     struct opk_nv_evaluator *evaluator, enum opk_metric_type type,
                     const size_t *indices, size_t count)
{
	NV_PARAMS(params, EvaluatorMetricNames, .pMetricsEvaluator = evaluator->object,
	          .metricType = (uint8_t)type);

	if (!count)
		return OPK_OK;
	TRY(NV_NVPW(evaluator->nv, ctx, NVPW_MetricsEvaluator_GetMetricNames, &params));
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
	NV_PARAMS(params, EvaluatorThroughput, .pMetricsEvaluator = evaluator->object);
	struct nv_MetricEvalRequest request = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_CONSTITUENTS);

	if (!code)
		code = convert(&request, ctx, evaluator, metric);
	/* NVPW_MetricType has the order of enum opk_metric_type. */
	if (code || request.metricType != OPK_THROUGHPUT)
		return code;
	params.throughputMetricIndex = request.metricIndex;
	code = NV_NVPW(nv, ctx, NVPW_MetricsEvaluator_GetThroughputMetricProperties, &params);
	if (!code)
		code = add_names(counters, ctx, evaluator, OPK_COUNTER, params.pCounterIndices,
		                 params.numCounters);
	if (!code)
		code = add_names(throughputs, ctx, evaluator, OPK_THROUGHPUT,
		                 params.pSubThroughputIndices, params.numSubThroughputs);
	return code;
}

/* ---- values */

struct opk_nv_requests {
	size_t count;
	struct nv_MetricEvalRequest requests[];
};

int opk_nv_requests_new(struct opk_nv_requests **out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *const *metrics,
                        size_t count)
{
	opk_autofree struct opk_nv_requests *requests = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_VALUES));
	requests = opk_alloc(sizeof *requests + count * sizeof *requests->requests);
	if (!requests)
		return opk_nomem(ctx, "metrics");
	requests->count = count;
	for (size_t i = 0; i < count; i++)
		TRY(convert(&requests->requests[i], ctx, evaluator, metrics[i]));
	*out = opk_take(requests);
	return OPK_OK;
}

int opk_nv_set_device(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator, const void *image,
                      size_t size)
{
	NV_PARAMS(params, EvaluatorSetDevice, .pMetricsEvaluator = evaluator->object,
	          .pCounterDataImage = image, .counterDataImageSize = size);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_VALUES);

	return code ? code : NV_NVPW(nv, ctx, NVPW_MetricsEvaluator_SetDeviceAttributes, &params);
}

int opk_nv_request_values(double *values, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                          const struct opk_nv_requests *requests, const struct opk_nv_range *range)
{
	NV_PARAMS(params, EvaluatorValues, .pMetricsEvaluator = evaluator->object,
	          .pMetricEvalRequests = requests->requests,
	          .numMetricEvalRequests = requests->count,
	          .metricEvalRequestStructSize = NV_END(struct nv_MetricEvalRequest, submetric),
	          .metricEvalRequestStrideSize = sizeof *requests->requests,
	          .pCounterDataImage = range->image, .counterDataImageSize = range->size,
	          .rangeIndex = range->index, .isolated = 1, .pMetricValues = values);

	return NV_NVPW(evaluator->nv, ctx, NVPW_MetricsEvaluator_EvaluateToGpuValues, &params);
}
