/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for NVIDIA's numbers: CUptiResult and NVPA_Status, with advice if a user can act, and
 * releases.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

const struct nv_status nv_cupti_statuses[] = {
	{ 0, "CUPTI_SUCCESS", NULL },
	{ 1, "CUPTI_ERROR_INVALID_PARAMETER", NULL },
	{ 2, "CUPTI_ERROR_INVALID_DEVICE", NULL },
	{ 3, "CUPTI_ERROR_INVALID_CONTEXT", NULL },
	{ 4, "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID", NULL },
	{ 5, "CUPTI_ERROR_INVALID_EVENT_ID", NULL },
	{ 6, "CUPTI_ERROR_INVALID_EVENT_NAME", NULL },
	{ 7, "CUPTI_ERROR_INVALID_OPERATION", NULL },
	{ 8, "CUPTI_ERROR_OUT_OF_MEMORY", NULL },
	{ 9, "CUPTI_ERROR_HARDWARE", NULL },
	{ 10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", NULL },
	{ 11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", NULL },
	{ 12, "CUPTI_ERROR_MAX_LIMIT_REACHED", NULL },
	{ 13, "CUPTI_ERROR_NOT_READY", NULL },
	{ 14, "CUPTI_ERROR_NOT_COMPATIBLE", NULL },
	{ 15, "CUPTI_ERROR_NOT_INITIALIZED", NULL },
	{ 16, "CUPTI_ERROR_INVALID_METRIC_ID", NULL },
	{ 17, "CUPTI_ERROR_INVALID_METRIC_NAME",
	  "the chip has no metric of this name, or it lacks its rollup or submetric" },
	{ 18, "CUPTI_ERROR_QUEUE_EMPTY", NULL },
	{ 19, "CUPTI_ERROR_INVALID_HANDLE", NULL },
	{ 20, "CUPTI_ERROR_INVALID_STREAM", NULL },
	{ 21, "CUPTI_ERROR_INVALID_KIND", NULL },
	{ 22, "CUPTI_ERROR_INVALID_EVENT_VALUE", NULL },
	{ 23, "CUPTI_ERROR_DISABLED", NULL },
	{ 24, "CUPTI_ERROR_INVALID_MODULE", NULL },
	{ 25, "CUPTI_ERROR_INVALID_METRIC_VALUE", NULL },
	{ 26, "CUPTI_ERROR_HARDWARE_BUSY", NULL },
	{ 27, "CUPTI_ERROR_NOT_SUPPORTED", "this chip or profiler does not offer it" },
	{ 28, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED", NULL },
	{ 29, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE", NULL },
	{ 30, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES", NULL },
	{ 31, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS", NULL },
	{ 32, "CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED", NULL },
	{ 33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", NULL },
	{ 34, "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE", NULL },
	{ 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
	  "profiling needs CAP_SYS_ADMIN, or NVreg_RestrictProfilingToAdminUsers=0 for the driver" },
	{ 36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", NULL },
	{ 37, "CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE", NULL },
	{ 38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", NULL },
	{ 39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", NULL },
	{ 40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", NULL },
	{ 41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", NULL },
	{ 42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", NULL },
	{ 43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", NULL },
	{ 44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", NULL },
	{ 45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", NULL },
	{ 46, "CUPTI_ERROR_INVALID_CHIP_NAME", "the library does not know this chip" },
	{ 47, "CUPTI_ERROR_HES_TRACE_NOT_SUPPORTED_ON_MPS", NULL }, /* 13.1 */
	{ 999, "CUPTI_ERROR_UNKNOWN",
	  "the library gives no reason; a metric may be listed and yet not be schedulable" },
	{ 0, NULL, NULL },
};

const struct nv_status nv_nvpa_statuses[] = {
	{ 0, "NVPA_STATUS_SUCCESS", NULL },
	{ 1, "NVPA_STATUS_ERROR", NULL },
	{ 2, "NVPA_STATUS_INTERNAL_ERROR", NULL },
	{ 3, "NVPA_STATUS_NOT_INITIALIZED", NULL },
	{ 4, "NVPA_STATUS_NOT_LOADED", NULL },
	{ 5, "NVPA_STATUS_FUNCTION_NOT_FOUND", NULL },
	{ 6, "NVPA_STATUS_NOT_SUPPORTED", NULL },
	{ 7, "NVPA_STATUS_NOT_IMPLEMENTED", NULL },
	{ 8, "NVPA_STATUS_INVALID_ARGUMENT", NULL },
	{ 9, "NVPA_STATUS_INVALID_METRIC_ID", NULL },
	{ 10, "NVPA_STATUS_DRIVER_NOT_LOADED", NULL },
	{ 11, "NVPA_STATUS_OUT_OF_MEMORY", NULL },
	{ 12, "NVPA_STATUS_INVALID_THREAD_STATE", NULL },
	{ 13, "NVPA_STATUS_FAILED_CONTEXT_ALLOC", NULL },
	{ 14, "NVPA_STATUS_UNSUPPORTED_GPU", NULL },
	{ 15, "NVPA_STATUS_INSUFFICIENT_DRIVER_VERSION", NULL },
	{ 16, "NVPA_STATUS_OBJECT_NOT_REGISTERED", NULL },
	{ 17, "NVPA_STATUS_INSUFFICIENT_PRIVILEGE", NULL },
	{ 18, "NVPA_STATUS_INVALID_CONTEXT_STATE", NULL },
	{ 19, "NVPA_STATUS_INVALID_OBJECT_STATE", NULL },
	{ 20, "NVPA_STATUS_RESOURCE_UNAVAILABLE", NULL },
	{ 21, "NVPA_STATUS_DRIVER_LOADED_TOO_LATE", NULL },
	{ 22, "NVPA_STATUS_INSUFFICIENT_SPACE", NULL },
	{ 23, "NVPA_STATUS_OBJECT_MISMATCH", NULL },
	{ 24, "NVPA_STATUS_VIRTUALIZED_DEVICE_NOT_SUPPORTED", NULL },
	{ 25, "NVPA_STATUS_PROFILING_NOT_ALLOWED", NULL },
	{ 0, NULL, NULL },
};

/* The number's row, or the last one, which has no name. */
static const struct nv_status *row_of(const struct nv_status *row, int number)
{
	while (row->name && row->number != number)
		row++;
	return row;
}

const char *nv_status_name(const struct nv_status *table, int number)
{
	const char *name = row_of(table, number)->name;

	return name ? name : "unknown status";
}

const char *opk_nv_status_name(int cupti_status)
{
	return nv_status_name(nv_cupti_statuses, cupti_status);
}

static int check(struct opk_ctx *ctx, const struct nv_status *table, const char *function,
                 int status, int code)
{
	const char *advice = row_of(table, status)->advice;

	if (status == NV_SUCCESS)
		return opk_check_interrupt(ctx);
	return opk_fail(ctx, code, "%s: %s (%d)%s%s", function, nv_status_name(table, status),
	                status, advice ? "; " : "", advice ? advice : "");
}

int nv_check_cupti(struct opk_ctx *ctx, const char *function, int status)
{
	return check(ctx, nv_cupti_statuses, function, status,
	             status == NV_CUPTI_INVALID_METRIC_NAME ? OPK_EUSAGE : OPK_EFAILED);
}

int nv_check_nvpw(struct opk_ctx *ctx, const char *function, int status)
{
	return check(ctx, nv_nvpa_statuses, function, status, OPK_EFAILED);
}

bool opk_nv_refused(struct opk_ctx *ctx, int code)
{
	return (code == OPK_EUSAGE || code == OPK_EFAILED) && !opk_interrupted(ctx);
}

struct opk_nv_release opk_nv_release_of(uint32_t version)
{
	/* As in cupti_version.h. From 13.0 on, the number contains the release. */
	static const struct {
		uint32_t version;
		const char *name;
	} old[] = {
		{ 24, "CUPTI 12.6" },
		{ 26, "CUPTI 12.8" },
		{ 27, "CUPTI 12.9" },
		{ 28, "CUPTI 12.9" },
	};
	enum { CUPTI_13_0 = 130000, CUPTI_13_2 = 130200 };
	struct opk_nv_release out = { "", version && version < CUPTI_13_0, version >= CUPTI_13_2 };

	if (version)
		snprintf(out.name, sizeof out.name, "CUPTI (API version %" PRIu32 ")", version);
	for (size_t i = 0; i < sizeof old / sizeof *old; i++)
		if (old[i].version == version)
			strcpy(out.name, old[i].name);
	if (version >= CUPTI_13_0)
		snprintf(out.name, sizeof out.name, "CUPTI %u.%u", (unsigned)version / 10000,
		         (unsigned)version / 100 % 100);
	return out;
}

bool nv_is_mixed(char of[36], const struct opk_nv_versions *versions)
{
	/* NVPW_QueryVersionNumber's answers for each release: its first and last wheel agree. */
	static const struct {
		uint32_t year, number;
		const char *name;
	} releases[] = {
		{ 2024, 1, "CUPTI 12.6" }, { 2024, 5, "CUPTI 12.8" }, { 2025, 2, "CUPTI 12.9" },
		{ 2025, 4, "CUPTI 13.0" }, { 2025, 5, "CUPTI 13.1" }, { 2026, 1, "CUPTI 13.2" },
		{ 2026, 2, "CUPTI 13.3" }, { 2026, 3, "CUPTI 13.4" }, { 2026, 4, "CUPTI 13.5" },
	};
	const struct opk_nv_release release = opk_nv_release_of(versions->cupti);
	size_t count = sizeof releases / sizeof *releases, of_cupti = count, of_nvperf = count;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(releases[i].name, release.name))
			of_cupti = i;
		if (releases[i].year == versions->nvperf_year
		    && releases[i].number == versions->nvperf_number)
			of_nvperf = i;
	}
	if (of_nvperf < count)
		snprintf(of, 36, "%s", releases[of_nvperf].name);
	else
		snprintf(of, 36, "PerfWorks %" PRIu32 ".%" PRIu32, versions->nvperf_year,
		         versions->nvperf_number);
	/* Unknown: a patch of the newest release, with another number, or a later release. */
	if (!versions->cupti || !versions->nvperf_year
	    || (of_nvperf == count && of_cupti >= count - 1))
		return false;
	return of_cupti != of_nvperf;
}
