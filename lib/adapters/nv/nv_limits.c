/* SPDX-License-Identifier: BSD-2-Clause */
/* What a chip's profilers can do at most. */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

int opk_nv_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler)
{
	struct nv_HostGetMaxPerPass params = NV_PARAMS(HostGetMaxPerPass, maxMetricsPerPass);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_METRICS_PER_PASS);
	int status;

	if (code)
		return code;
	params.profilerType = profiler == OPK_PROFILER_PM ? NV_PROFILER_PM_SAMPLING
	                                                  : NV_PROFILER_RANGE;
	params.pChipName = chip;
	status = nv->call.cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(&params);
	if (status)
		return nv_fail_cupti(ctx, "cuptiProfilerHostGetMaxNumHardwareMetricsPerPass",
		                     status);
	*out = params.maxMetricsPerPass;
	return OPK_OK;
}
