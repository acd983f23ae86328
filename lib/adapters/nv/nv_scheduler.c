/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PerfWorks' scheduler of raw counters: which counters fit one pass, which domains count them, and
 * config images of passes that the caller composes.
 */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"

struct opk_nv_scheduler {
	struct opk_nv *nv;
	const char *chip;         /* borrowed */
	const void *availability; /* of the GPU, borrowed, or NULL */
	void *object;
	uint32_t *domains; /* all that the scheduler may use */
	uint32_t *group;   /* domains of the open or next pass group */
	size_t domain_count, group_count;
	bool open;
};

/* NVIDIA numbers 41 domains and 5 pairs in all; a counter has a handful. */
enum { MAX_DOMAINS = 64 };

static bool make_room(struct opk_nv_scheduler *scheduler, size_t count)
{
	scheduler->domains = opk_alloc_array(count + 1, sizeof *scheduler->domains);
	scheduler->group = opk_alloc_array(count + 1, sizeof *scheduler->group);
	return scheduler->domains && scheduler->group;
}

static void choose_all(struct opk_nv_scheduler *scheduler)
{
	scheduler->group_count = scheduler->domain_count;
	for (size_t i = 0; i < scheduler->domain_count; i++)
		scheduler->group[i] = scheduler->domains[i];
}

static int find_domains(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx)
{
	NV_PARAMS(params, SchedulerGetDomains, .pRawCounterConfig = scheduler->object);

	/* The first call returns the number, the second the domains. */
	for (int round = 0; round < 2; round++) {
		TRY(NV_NVPW(scheduler->nv, ctx,
		            NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains, &params));
		if (!scheduler->domains && !make_room(scheduler, params.numAvailableDomains))
			return opk_nomem(ctx, "raw counter domains");
		params.pAvailableDomains = scheduler->domains;
	}
	scheduler->domain_count = params.numAvailableDomains;
	choose_all(scheduler);
	return OPK_OK;
}

/* Counters can only be asked about or added if their domains are in an open pass group. */
static int open_pass(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx)
{
	NV_PARAMS(params, SchedulerBeginPassGroup, .pRawCounterConfig = scheduler->object,
	          .pDomains = scheduler->group, .numDomains = scheduler->group_count);
	int code;

	if (scheduler->open)
		return OPK_OK;
	code = NV_NVPW(scheduler->nv, ctx, NVPW_RawCounterConfig_BeginPassGroup, &params);
	scheduler->open = !code;
	return code;
}

static int close_pass(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx)
{
	NV_PARAMS(params, SchedulerEndPassGroup, .pRawCounterConfig = scheduler->object,
	          .pDomains = scheduler->group, .numDomains = scheduler->group_count);

	if (!scheduler->open)
		return OPK_OK;
	scheduler->open = false;
	return NV_NVPW(scheduler->nv, ctx, NVPW_RawCounterConfig_EndPassGroup, &params);
}

static int create(struct opk_nv_scheduler **out, struct opk_ctx *ctx, const char *chip,
                  const void *availability)
{
	struct opk_nv_scheduler *scheduler = *out = opk_alloc(sizeof *scheduler);
	NV_PARAMS(params, SchedulerCreate, .pChipName = chip,
	          .pCounterAvailabilityImage = availability,
	          .activityKind = NV_ACTIVITY_KIND_PROFILER);

	if (!scheduler)
		return opk_nomem(ctx, "a raw counter scheduler");
	scheduler->chip = chip;
	scheduler->availability = availability;
	TRY(nv_need(&scheduler->nv, ctx, NV_FEATURE_SCHEDULER));
	TRY(NV_NVPW(scheduler->nv, ctx, NVPW_CUDA_RawCounterConfig_Create, &params));
	scheduler->object = params.pRawCounterConfig;
	return OPK_OK;
}

int opk_nv_scheduler_new(struct opk_nv_scheduler **out, struct opk_ctx *ctx, const char *chip,
                         const void *availability)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;

	TRY(create(&scheduler, ctx, chip, availability));
	TRY(find_domains(scheduler, ctx));
	*out = opk_take(scheduler);
	return OPK_OK;
}

static int name_domain(const char **out, struct opk_ctx *ctx, struct opk_nv *nv, uint32_t domain)
{
	NV_PARAMS(params, SchedulerDomainToString, .domain = domain);

	TRY(NV_NVPW(nv, ctx, NVPW_RawCounterConfig_RawCounterDomainToString, &params));
	*out = params.pDomainName;
	return OPK_OK;
}

/* Copies another scheduler's chosen domains of these names. */
static int copy_domains(struct opk_nv_scheduler *scheduler, struct opk_ctx *ctx,
                        const struct opk_nv_scheduler *other, const struct opk_strlist *names)
{
	if (!make_room(scheduler, other->group_count))
		return opk_nomem(ctx, "raw counter domains");
	for (size_t i = 0; i < other->group_count; i++) {
		const char *name = NULL;

		if (names)
			TRY(name_domain(&name, ctx, other->nv, other->group[i]));
		if (!names || opk_strlist_contains(names, name))
			scheduler->domains[scheduler->domain_count++] = other->group[i];
	}
	choose_all(scheduler);
	return OPK_OK;
}

int opk_nv_scheduler_like(struct opk_nv_scheduler **out, struct opk_ctx *ctx,
                          const struct opk_nv_scheduler *other, const struct opk_strlist *domains)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;

	TRY(create(&scheduler, ctx, other->chip, other->availability));
	TRY(copy_domains(scheduler, ctx, other, domains));
	*out = opk_take(scheduler);
	return OPK_OK;
}

int opk_nv_scheduler_choose(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                            bool (*wanted)(const void *data, const char *domain), const void *data)
{
	TRY(close_pass(scheduler, ctx));
	scheduler->group_count = 0;
	for (size_t i = 0; i < scheduler->domain_count; i++) {
		const char *name;

		TRY(name_domain(&name, ctx, scheduler->nv, scheduler->domains[i]));
		if (wanted(data, name))
			scheduler->group[scheduler->group_count++] = scheduler->domains[i];
	}
	return OPK_OK;
}

void opk_nv_scheduler_free(struct opk_nv_scheduler *scheduler)
{
	NV_PARAMS(params, SchedulerDestroy);

	if (!scheduler)
		return;
	params.pRawCounterConfig = scheduler->object;
	if (scheduler->object)
		NV_CALL(scheduler->nv, NVPW_RawCounterConfig_Destroy, &params);
	free(scheduler->domains);
	free(scheduler->group);
	free(scheduler);
}

/* The requests' domain stays 0: the scheduler chooses. */
static struct nv_RawCounterRequest *make_requests(const char *const *counters, size_t count)
{
	struct nv_RawCounterRequest *requests = opk_alloc_array(count, sizeof *requests);

	for (size_t i = 0; requests && i < count; i++) {
		requests[i].pRawCounterName = counters[i];
		requests[i].keepInstances = 1;
	}
	return requests;
}

int opk_nv_scheduler_fits(bool *out, struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count)
{
	opk_autofree struct nv_RawCounterRequest *requests = make_requests(counters, count);
	NV_PARAMS(params, SchedulerAreSchedulable, .pRawCounterConfig = scheduler->object,
	          .rawCounterRequestStructSize = NV_END(struct nv_RawCounterRequest, keepInstances),
	          .numRawCounterRequests = count, .pRawCounterRequests = requests,
	          .disallowAddingExtraPasses = 1);

	if (!requests)
		return opk_nomem(ctx, "raw counters");
	/* An empty list is an invalid argument to NVIDIA. */
	if (!count) {
		*out = true;
		return OPK_OK;
	}
	TRY(open_pass(scheduler, ctx));
	TRY(NV_NVPW(scheduler->nv, ctx, NVPW_RawCounterConfig_AreRawCountersSchedulable, &params));
	*out = params.schedulable;
	return OPK_OK;
}

static int add_domain(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv *nv,
                      uint32_t domain)
{
	const char *name;

	TRY(name_domain(&name, ctx, nv, domain));
	if (opk_strlist_contains(out, name) || opk_strlist_add(out, name))
		return OPK_OK;
	return opk_nomem(ctx, "raw counter domains");
}

/*
 * The first status means that PerfWorks does not know the name, the second that no domain of the
 * open pass group has the counter. The group has all of the chip's domains: 34 counters that
 * GB202's metrics need are in none.
 */
static bool is_uncounted(int status)
{
	return status == NV_NVPA_INVALID_ARGUMENT || status == NV_NVPA_INVALID_CONTEXT_STATE;
}

struct domains {
	uint32_t single[MAX_DOMAINS], pairs[MAX_DOMAINS];
	size_t singles, pair_count;
};

static int domains_of(struct domains *out, struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                      const char *counter)
{
	NV_PARAMS(params, SchedulerGetProperties, .pRawCounterConfig = scheduler->object,
	          .pRawCounterName = counter, .numSupportedDomains = MAX_DOMAINS,
	          .numSupportedCdgDomains = MAX_DOMAINS, .pSupportedDomains = out->single,
	          .pSupportedCdgDomains = out->pairs);
	int status, code = open_pass(scheduler, ctx);

	if (code)
		return code;
	status = NV_CALL(scheduler->nv, NVPW_RawCounterConfig_GetRawCounterProperties, &params);
	if (status) {
		nv_check_nvpw(ctx, "NVPW_RawCounterConfig_GetRawCounterProperties", status);
		return opk_add(ctx, is_uncounted(status) ? OPK_EUSAGE : OPK_EFAILED,
		               "raw counter %s", counter);
	}
	if (params.numSupportedDomains > MAX_DOMAINS || params.numSupportedCdgDomains > MAX_DOMAINS)
		return opk_fail(ctx, OPK_EFAILED, "raw counter %s: too many domains", counter);
	out->singles = params.numSupportedDomains;
	out->pair_count = params.numSupportedCdgDomains;
	return OPK_OK;
}

int opk_nv_counter_domains(struct opk_strlist *out, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler, const char *counter)
{
	struct domains domains;

	TRY(domains_of(&domains, ctx, scheduler, counter));
	for (size_t i = 0; i < domains.singles; i++)
		TRY(add_domain(out, ctx, scheduler->nv, domains.single[i]));
	for (size_t i = 0; i < domains.pair_count; i++)
		TRY(add_domain(out, ctx, scheduler->nv, domains.pairs[i]));
	return OPK_OK;
}

static int add_members(struct opk_strlist *out, struct opk_ctx *ctx,
                       struct opk_nv_scheduler *scheduler, uint32_t pair)
{
	uint32_t members[MAX_DOMAINS];
	NV_PARAMS(params, SchedulerGetMembers, .pRawCounterConfig = scheduler->object,
	          .domain = pair, .numMemberDomains = MAX_DOMAINS, .pMemberDomains = members);

	TRY(NV_NVPW(scheduler->nv, ctx,
	            NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains, &params));
	for (size_t i = 0; i < params.numMemberDomains && i < MAX_DOMAINS; i++)
		TRY(add_domain(out, ctx, scheduler->nv, members[i]));
	return OPK_OK;
}

int opk_nv_counter_places(struct opk_strlist *out, size_t *ways, struct opk_ctx *ctx,
                          struct opk_nv_scheduler *scheduler, const char *counter)
{
	struct domains domains;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_PLANNER));
	TRY(domains_of(&domains, ctx, scheduler, counter));
	for (size_t i = 0; i < domains.singles; i++)
		TRY(add_domain(out, ctx, nv, domains.single[i]));
	for (size_t i = 0; i < domains.pair_count; i++)
		TRY(add_members(out, ctx, scheduler, domains.pairs[i]));
	if (ways)
		*ways = domains.singles + domains.pair_count;
	return OPK_OK;
}

/* ---- config images */

int opk_nv_scheduler_hold(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count)
{
	opk_autofree struct nv_RawCounterRequest *requests = make_requests(counters, count);
	NV_PARAMS(params, SchedulerAddRawCounters, .pRawCounterConfig = scheduler->object,
	          .rawCounterRequestStructSize = NV_END(struct nv_RawCounterRequest, keepInstances),
	          .numRawCounterRequests = count, .pRawCounterRequests = requests);
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_PLANNER);

	if (code)
		return code;
	if (!requests)
		return opk_nomem(ctx, "raw counters");
	code = open_pass(scheduler, ctx);
	return code ? code : NV_NVPW(nv, ctx, NVPW_RawCounterConfig_AddRawCounters, &params);
}

int opk_nv_scheduler_add_pass(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                              const char *const *counters, size_t count)
{
	TRY(opk_nv_scheduler_hold(ctx, scheduler, counters, count));
	return close_pass(scheduler, ctx);
}

static int count_passes(size_t *out, struct opk_ctx *ctx, const struct opk_nv_scheduler *scheduler)
{
	NV_PARAMS(params, SchedulerGetNumPasses, .pRawCounterConfig = scheduler->object);

	TRY(NV_NVPW(scheduler->nv, ctx, NVPW_RawCounterConfig_GetNumPasses, &params));
	*out = params.numPasses;
	return OPK_OK;
}

static int generate(struct opk_ctx *ctx, const struct opk_nv_scheduler *scheduler)
{
	NV_PARAMS(params, SchedulerGenerate, .pRawCounterConfig = scheduler->object);

	return NV_NVPW(scheduler->nv, ctx, NVPW_RawCounterConfig_GenerateConfigImage, &params);
}

int opk_nv_scheduler_image(void **out, size_t *size, size_t *passes, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler)
{
	NV_PARAMS(params, SchedulerGetImage, .pRawCounterConfig = scheduler->object);
	opk_autofree void *image = NULL;
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_PLANNER));
	TRY(close_pass(scheduler, ctx));
	TRY(count_passes(passes, ctx, scheduler));
	TRY(generate(ctx, scheduler));
	/* The first call returns the size, the second the image. */
	for (int round = 0; round < 2; round++) {
		TRY(NV_NVPW(nv, ctx, NVPW_RawCounterConfig_GetConfigImage, &params));
		if (!image && !(image = opk_alloc(params.bytesCopied)))
			return opk_nomem(ctx, "a config image");
		params.pBuffer = image;
		params.bytesAllocated = params.bytesCopied;
	}
	*size = params.bytesCopied;
	*out = opk_take(image);
	return OPK_OK;
}
