/* SPDX-License-Identifier: BSD-2-Clause */
/* The metric sets that CUPTI itself promises to fit one pass. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

int opk_nv_single_pass_sets(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip)
{
	NV_PARAMS(params, HostSinglePassSets, .pChipName = chip);
	opk_autofree const char **names = NULL;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SINGLE_PASS_SETS);

	/* First for the number, then for the names. */
	for (int round = 0; !code && round < 2; round++) {
		code = NV_CUPTI(nv, ctx, cuptiProfilerHostGetSinglePassSets, &params);
		if (code)
			return code;
		if (!params.numOfSinglePassSets)
			return OPK_OK;
		if (!names) {
			names = opk_alloc_array(params.numOfSinglePassSets, sizeof *names);
			code = names ? OPK_OK : opk_nomem(ctx, "single-pass sets");
			params.ppSinglePassSets = names;
		}
	}
	for (size_t i = 0; !code && i < params.numOfSinglePassSets; i++)
		if (!opk_strlist_add(out, names[i]))
			code = opk_nomem(ctx, "single-pass sets");
	return code;
}

/* Names one after the other; a place outside the buffer is the library's mistake. */
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
