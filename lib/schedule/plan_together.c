/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of links, buses and memory controllers are the device's, the others a context's. CUPTI
 * refuses them beside each other, in one call and in several (27). PerfWorks does not, and neither
 * does the GPU.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "schedule/counters.h"
#include "plan/plan.h"

/* All that CUPTI 12.9 to 13.1 refuses beside others, on any of 30 chips. */
static const char *const device_domains[] = {
	"gpu_ctc", "gpu_ctc_a", "gpu_ctc_b", "gpu_nvlrx", "gpu_nvltx", "gpu_pci", "soc_mcc",
};

struct together {
	struct opk_ctx *ctx;
	const struct opk_plan *plan;
	const char *const *metrics;
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	bool *of_device; /* one a counter */
};

static bool is_of_device(const struct opk_strlist *domains)
{
	for (size_t i = 0; i < domains->count; i++)
		for (size_t j = 0; j < sizeof device_domains / sizeof *device_domains; j++)
			if (!strcmp(domains->items[i], device_domains[j]))
				return true;
	return false;
}

static int look_up(struct together *t, size_t count)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	int code = OPK_OK;

	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(&names, t->metrics[i]))
			return opk_nomem(t->ctx, "a plan");
	code = opk_nv_scheduler_new(&t->scheduler, t->ctx, t->plan->chip, t->plan->availability);
	if (!code)
		code = opk_counters_of(&t->counters, t->ctx, t->plan->chip, &names);
	t->of_device = opk_alloc_array(t->counters.names.count + 1, sizeof *t->of_device);
	if (!code && !t->of_device)
		code = opk_nomem(t->ctx, "a plan");
	for (size_t i = 0; !code && i < t->counters.names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };

		code = opk_nv_counter_domains(&domains, t->ctx, t->scheduler,
		                              t->counters.names.items[i]);
		t->of_device[i] = is_of_device(&domains);
	}
	return code;
}

static bool needs_device(const struct together *t, size_t metric)
{
	for (size_t i = t->counters.first[metric]; i < t->counters.first[metric + 1]; i++)
		if (t->of_device[t->counters.needs[i]])
			return true;
	return false;
}

/* Whether CUPTI plans those of the device, or the others; `used` of them. */
static int try_apart(size_t *used, const struct together *t, bool device)
{
	opk_autofree const char **names = opk_alloc_array(t->counters.metric_count + 1,
	                                                  sizeof *names);
	size_t passes;

	*used = 0;
	if (!names)
		return opk_nomem(t->ctx, "a plan");
	for (size_t i = 0; i < t->counters.metric_count; i++)
		if (needs_device(t, i) == device)
			names[(*used)++] = t->metrics[i];
	return *used ? opk_plan_by_cupti(&passes, NULL, NULL, t->ctx, t->plan, names, *used)
	             : OPK_EUSAGE;
}

/* In CUPTI's order: for metrics that it plans, this is its image, byte for byte. */
static int compose(size_t *passes, void **config, size_t *size, const struct together *t)
{
	opk_autofree void *image = NULL;
	size_t image_size = 0;
	int code = opk_nv_scheduler_add_pass(t->ctx, t->scheduler,
	                                     opk_strlist_items(&t->counters.names),
	                                     t->counters.names.count);

	if (!code)
		code = opk_nv_scheduler_image(&image, &image_size, passes, t->ctx, t->scheduler);
	if (!code)
		code = opk_nv_passes(passes, t->ctx, image, image_size);
	if (code || !config)
		return code;
	*config = opk_take(image);
	*size = image_size;
	return OPK_OK;
}

int opk_plan_together(size_t *apart, size_t *passes, void **config, size_t *size,
                      struct opk_ctx *ctx, const struct opk_plan *plan, const char *const *metrics,
                      size_t count)
{
	struct together t = { .ctx = ctx, .plan = plan, .metrics = metrics };
	size_t others;
	int code = look_up(&t, count);

	if (!code)
		code = try_apart(apart, &t, true);
	if (!code)
		code = try_apart(&others, &t, false);
	if (!code)
		code = compose(passes, config, size, &t);
	opk_counters_clear(&t.counters);
	opk_nv_scheduler_free(t.scheduler);
	free(t.of_device);
	return code;
}
