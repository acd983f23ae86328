/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake PerfWorks' scheduler: counters cost what their metrics do, the shared one nothing. */
#include "fake_nv_inside.h"

enum { GPU_SASS = 2, GPU_SM_C = 4, GPU_PCI = 29, GPU_SM_A = 32, GPU_SM_C_SM_A = 1048580 };

static const uint32_t domains[] = { GPU_SASS, GPU_SM_C, GPU_PCI, GPU_SM_A };

struct fake_scheduler {
	bool open[COUNT(domains)]; /* in the open pass group */
	unsigned cost, passes;     /* cost of the open pass group; passes of ended ones */
};

static size_t find_fake_domain(uint32_t domain)
{
	size_t i = 0;

	while (i < COUNT(domains) && domains[i] != domain)
		i++;
	return i;
}

/* Whether a pass group is open, so that the scheduler accepts requests. */
static bool is_open(const struct fake_scheduler *scheduler)
{
	for (size_t i = 0; i < COUNT(domains); i++)
		if (scheduler->open[i])
			return true;
	return false;
}

static const struct full_metric *find_raw(const char *raw)
{
	for (size_t i = 0; i < FULL_COUNT; i++)
		if (!strcmp(full_metrics[i].raw, raw))
			return &full_metrics[i];
	return NULL;
}

int do_NVPW_CUDA_RawCounterConfig_Create(struct nv_SchedulerCreate *params)
{
	if (chip_status(params->pChipName, NV_PROFILER_RANGE)
	    || params->activityKind != NV_ACTIVITY_KIND_PROFILER)
		return NVPA_INVALID_ARGUMENT;
	params->pRawCounterConfig = calloc(1, sizeof(struct fake_scheduler));
	fake.schedulers++;
	return 0;
}

int do_NVPW_RawCounterConfig_Destroy(struct nv_SchedulerDestroy *params)
{
	free(params->pRawCounterConfig);
	fake.schedulers--;
	return 0;
}

int do_NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains(struct nv_SchedulerGetDomains *params)
{
	if (params->pAvailableDomains) {
		if (params->numAvailableDomains < COUNT(domains))
			return NVPA_INVALID_ARGUMENT;
		memcpy(params->pAvailableDomains, domains, sizeof domains);
	}
	params->numAvailableDomains = COUNT(domains);
	return 0;
}

int do_NVPW_RawCounterConfig_BeginPassGroup(struct nv_SchedulerBeginPassGroup *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	for (size_t i = 0; i < params->numDomains; i++) {
		size_t domain = find_fake_domain(params->pDomains[i]);

		if (domain == COUNT(domains) || scheduler->open[domain])
			return NVPA_INVALID_ARGUMENT;
		scheduler->open[domain] = true;
	}
	return 0;
}

int do_NVPW_RawCounterConfig_AreRawCountersSchedulable(struct nv_SchedulerAreSchedulable *params)
{
	const struct fake_scheduler *scheduler = params->pRawCounterConfig;
	unsigned cost = scheduler->cost;

	/* Without an open pass group the real one does not know any counter. */
	params->schedulable = is_open(scheduler);
	if (!params->numRawCounterRequests || !params->disallowAddingExtraPasses
	    || params->rawCounterRequestStructSize
	               != NV_END(struct nv_RawCounterRequest, keepInstances))
		return NVPA_INVALID_ARGUMENT;
	for (size_t i = 0; i < params->numRawCounterRequests; i++) {
		const char *name = params->pRawCounterRequests[i].pRawCounterName;
		const struct full_metric *metric = find_raw(name);

		if (params->pRawCounterRequests[i].domain)
			return NVPA_INVALID_ARGUMENT;
		if (!metric && strcmp(name, "raw_shared"))
			params->schedulable = false;
		cost += metric ? metric->cost : 0;
	}
	params->schedulable = params->schedulable && cost <= 4;
	return 0;
}

/* raw_t is a software counter, raw_c needs one of two domains or both, others have one domain. */
int do_NVPW_RawCounterConfig_GetRawCounterProperties(struct nv_SchedulerGetProperties *params)
{
	const char *name = params->pRawCounterName;
	bool many = !strcmp(name, "raw_c");

	if (!is_open(params->pRawCounterConfig)
	    || (!find_raw(name) && strcmp(name, "raw_shared") && strcmp(name, "raw_x"))
	    || params->numSupportedDomains < 2 || params->numSupportedCdgDomains < 1)
		return NVPA_INVALID_ARGUMENT;
	params->pSupportedDomains[0] = !strcmp(name, "raw_t")   ? GPU_SASS
	                               : !strcmp(name, "raw_l") ? GPU_SM_C
	                               : is_link(name)          ? GPU_PCI
	                                                        : GPU_SM_A;
	params->pSupportedDomains[1] = GPU_SM_C;
	params->numSupportedDomains = many ? 2 : 1;
	params->pSupportedCdgDomains[0] = GPU_SM_C_SM_A;
	params->numSupportedCdgDomains = many;
	return 0;
}

int do_NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains(
	struct nv_SchedulerGetMembers *params)
{
	if (params->domain != GPU_SM_C_SM_A || params->numMemberDomains < 2)
		return NVPA_INVALID_ARGUMENT;
	params->pMemberDomains[0] = GPU_SM_C;
	params->pMemberDomains[1] = GPU_SM_A;
	params->numMemberDomains = 2;
	return 0;
}

/* Only its cost decides into which pass a counter goes. */
int do_NVPW_RawCounterConfig_AddRawCounters(struct nv_SchedulerAddRawCounters *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	if (!is_open(scheduler)
	    || params->rawCounterRequestStructSize
	               != NV_END(struct nv_RawCounterRequest, keepInstances))
		return NVPA_INVALID_ARGUMENT;
	for (size_t i = 0; i < params->numRawCounterRequests; i++) {
		const struct nv_RawCounterRequest *request = &params->pRawCounterRequests[i];
		const struct full_metric *metric = find_raw(request->pRawCounterName);

		/* Accepts only requests like CUPTI's. */
		if (request->domain || !request->keepInstances)
			return NVPA_INVALID_ARGUMENT;
		scheduler->cost += metric ? metric->cost : 0;
	}
	return 0;
}

int do_NVPW_RawCounterConfig_EndPassGroup(struct nv_SchedulerEndPassGroup *params)
{
	struct fake_scheduler *scheduler = params->pRawCounterConfig;

	for (size_t i = 0; i < params->numDomains; i++) {
		size_t domain = find_fake_domain(params->pDomains[i]);

		if (domain == COUNT(domains) || !scheduler->open[domain])
			return NVPA_INVALID_ARGUMENT;
		scheduler->open[domain] = false;
	}
	scheduler->passes += (scheduler->cost + 3) / 4;
	scheduler->cost = 0;
	return 0;
}

int do_NVPW_RawCounterConfig_GetNumPasses(struct nv_SchedulerGetNumPasses *params)
{
	params->numPasses = ((const struct fake_scheduler *)params->pRawCounterConfig)->passes;
	return 0;
}

int do_NVPW_RawCounterConfig_GenerateConfigImage(struct nv_SchedulerGenerate *params)
{
	/* Fails while a pass group is open. */
	return is_open(params->pRawCounterConfig) ? NVPA_INVALID_ARGUMENT : 0;
}

int do_NVPW_RawCounterConfig_GetConfigImage(struct nv_SchedulerGetImage *params)
{
	const struct fake_scheduler *scheduler = params->pRawCounterConfig;

	if (params->pBuffer && params->bytesAllocated < FAKE_CONFIG_SIZE)
		return NVPA_INVALID_ARGUMENT;
	if (params->pBuffer)
		write_config(params->pBuffer, scheduler->passes);
	params->bytesCopied = FAKE_CONFIG_SIZE;
	return 0;
}

int do_NVPW_RawCounterConfig_RawCounterDomainToString(struct nv_SchedulerDomainToString *params)
{
	static const struct {
		uint32_t domain;
		const char *name;
	} names[] = {
		{ GPU_SASS, "gpu_sass" },           { GPU_SM_A, "gpu_sm_a" },
		{ GPU_SM_C, "gpu_sm_c" },           { GPU_PCI, "gpu_pci" },
		{ GPU_SM_C_SM_A, "gpu_sm_c_sm_a" },
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i].domain != params->domain)
			continue;
		params->pDomainName = names[i].name;
		return 0;
	}
	return NVPA_INVALID_ARGUMENT;
}
