/* SPDX-License-Identifier: BSD-2-Clause */
/* PerfWorks' scheduler of raw counters: what fits one pass, and where a counter is counted. */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

struct opk_nv_scheduler {
	struct opk_nv *nv;
	void *object;
};

/* NVIDIA numbers 41 domains and 5 pairs in all; a counter has a handful. */
enum { MAX_DOMAINS = 64 };

static int all_domains(uint32_t **out, size_t *count, struct opk_ctx *ctx,
                       struct opk_nv_scheduler *scheduler)
{
	struct nv_SchedulerGetDomains params = NV_PARAMS(SchedulerGetDomains, pAvailableDomains);
	opk_autofree uint32_t *domains = NULL;
	int status;

	params.pRawCounterConfig = scheduler->object;
	/* First for the number, then for the domains. */
	for (int round = 0; round < 2; round++) {
		params.pAvailableDomains = domains;
		status = scheduler->nv->call.NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains(
			&params);
		if (status)
			return nv_fail_nvpa(
				ctx, "NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains",
				status);
		if (!domains
		    && !(domains = opk_alloc_array(params.numAvailableDomains, sizeof *domains)))
			return opk_nomem(ctx, "raw counter domains");
	}
	*count = params.numAvailableDomains;
	*out = opk_take(domains);
	return OPK_OK;
}

/* Only counters of domains in an open pass group can be asked about: so all are in one. */
static int open_pass(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx)
{
	struct nv_SchedulerBeginPassGroup params = NV_PARAMS(SchedulerBeginPassGroup, pDomains);
	opk_autofree uint32_t *domains = NULL;
	int code = all_domains(&domains, &params.numDomains, ctx, scheduler);
	int status;

	if (code)
		return code;
	params.pRawCounterConfig = scheduler->object;
	params.pDomains = domains;
	status = scheduler->nv->call.NVPW_RawCounterConfig_BeginPassGroup(&params);
	return status ? nv_fail_nvpa(ctx, "NVPW_RawCounterConfig_BeginPassGroup", status) : OPK_OK;
}

static int create(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx, const char *chip)
{
	struct nv_SchedulerCreate params = NV_PARAMS(SchedulerCreate, pRawCounterConfig);
	int status;

	params.pChipName = chip;
	params.activityKind = NV_ACTIVITY_KIND_PROFILER;
	status = scheduler->nv->call.NVPW_CUDA_RawCounterConfig_Create(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_CUDA_RawCounterConfig_Create", status);
	scheduler->object = params.pRawCounterConfig;
	return open_pass(scheduler, ctx);
}

int opk_nv_scheduler_new(struct opk_nv_scheduler **out, struct opk_ctx *ctx, const char *chip)
{
	struct opk_nv_scheduler *scheduler;
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_SCHEDULER);

	if (code)
		return code;
	scheduler = opk_alloc(sizeof *scheduler);
	if (!scheduler)
		return opk_nomem(ctx, "a raw counter scheduler");
	scheduler->nv = nv;
	code = create(scheduler, ctx, chip);
	if (code) {
		opk_nv_scheduler_free(scheduler);
		return code;
	}
	*out = scheduler;
	return OPK_OK;
}

void opk_nv_scheduler_free(struct opk_nv_scheduler *scheduler)
{
	struct nv_SchedulerDestroy params = NV_PARAMS(SchedulerDestroy, pRawCounterConfig);

	if (!scheduler)
		return;
	params.pRawCounterConfig = scheduler->object;
	if (scheduler->object)
		scheduler->nv->call.NVPW_RawCounterConfig_Destroy(&params);
	free(scheduler);
}

int opk_nv_scheduler_fits(bool *out, struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count)
{
	struct nv_SchedulerAreSchedulable params = NV_PARAMS(SchedulerAreSchedulable, schedulable);
	opk_autofree struct nv_RawCounterRequest *requests =
		opk_alloc_array(count, sizeof *requests);
	int status;

	if (!requests)
		return opk_nomem(ctx, "raw counters");
	/* An empty list is an invalid argument to NVIDIA. */
	if (!count) {
		*out = true;
		return OPK_OK;
	}
	/* Their domain stays 0: the scheduler chooses. */
	for (size_t i = 0; i < count; i++)
		requests[i].pRawCounterName = counters[i];
	params.pRawCounterConfig = scheduler->object;
	params.rawCounterRequestStructSize = NV_END(struct nv_RawCounterRequest, keepInstances);
	params.numRawCounterRequests = count;
	params.pRawCounterRequests = requests;
	params.disallowAddingExtraPasses = 1;
	status = scheduler->nv->call.NVPW_RawCounterConfig_AreRawCountersSchedulable(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_RawCounterConfig_AreRawCountersSchedulable", status);
	*out = params.schedulable;
	return OPK_OK;
}

static int add_domain(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv *nv,
                      uint32_t domain)
{
	struct nv_SchedulerDomainToString params = NV_PARAMS(SchedulerDomainToString, pDomainName);
	int status;

	params.domain = domain;
	status = nv->call.NVPW_RawCounterConfig_RawCounterDomainToString(&params);
	if (status)
		return nv_fail_nvpa(ctx, "NVPW_RawCounterConfig_RawCounterDomainToString", status);
	if (opk_strlist_contains(out, params.pDomainName)
	    || opk_strlist_add(out, params.pDomainName))
		return OPK_OK;
	return opk_nomem(ctx, "raw counter domains");
}

/*
 * The one status is of a name that PerfWorks does not know, the other one of a counter in no domain of the
 * open pass group, which has all of the chip's: GB202 has 34 such among those that its metrics need.
 */
static bool is_uncounted(int status)
{
	return status == NV_NVPA_INVALID_ARGUMENT || status == NV_NVPA_INVALID_CONTEXT_STATE;
}

int opk_nv_counter_domains(struct opk_strlist *out, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler, const char *counter)
{
	struct nv_SchedulerGetProperties params =
		NV_PARAMS(SchedulerGetProperties, pSupportedCdgDomains);
	uint32_t domains[MAX_DOMAINS], pairs[MAX_DOMAINS];
	int status, code = OPK_OK;

	params.pRawCounterConfig = scheduler->object;
	params.pRawCounterName = counter;
	params.numSupportedDomains = params.numSupportedCdgDomains = MAX_DOMAINS;
	params.pSupportedDomains = domains;
	params.pSupportedCdgDomains = pairs;
	status = scheduler->nv->call.NVPW_RawCounterConfig_GetRawCounterProperties(&params);
	if (status) {
		nv_fail_nvpa(ctx, "NVPW_RawCounterConfig_GetRawCounterProperties", status);
		return opk_add(ctx, is_uncounted(status) ? OPK_EUSAGE : OPK_EFAILED,
		               "raw counter %s", counter);
	}
	if (params.numSupportedDomains > MAX_DOMAINS || params.numSupportedCdgDomains > MAX_DOMAINS)
		return opk_fail(ctx, OPK_EFAILED, "raw counter %s: too many domains", counter);
	for (size_t i = 0; !code && i < params.numSupportedDomains; i++)
		code = add_domain(out, ctx, scheduler->nv, domains[i]);
	for (size_t i = 0; !code && i < params.numSupportedCdgDomains; i++)
		code = add_domain(out, ctx, scheduler->nv, pairs[i]);
	return code;
}
