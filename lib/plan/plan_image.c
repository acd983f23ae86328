/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a config image of composed passes, as CUPTI would of the same passes. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "plan/pass_costs.h"

static bool is_dear(const struct opk_composed *composed, size_t pass)
{
	const size_t *pass_of = composed->schedule->pass_of;

	for (size_t i = 0; i < composed->counters->names.count; i++)
		if (pass_of[i] == pass && composed->dear[i])
			return true;
	return false;
}

size_t opk_dear_passes_first(const struct opk_composed *composed)
{
	size_t dear = 0, *pass_of = composed->schedule->pass_of;

	for (size_t pass = 0; pass < composed->schedule->passes; pass++) {
		if (!is_dear(composed, pass))
			continue;
		for (size_t i = 0; i < composed->counters->names.count; i++)
			if (pass_of[i] == pass || pass_of[i] == dear)
				pass_of[i] = pass_of[i] == pass ? dear : pass;
		dear++;
	}
	return dear;
}

/* Lists the counters of a pass; counters of one part stay in the order in which it was packed. */
static size_t list_pass(const char **out, const struct opk_composed *composed, size_t pass)
{
	size_t count = 0;

	for (size_t i = 0; i < composed->parts->count; i++) {
		const struct opk_part *part = &composed->parts->all[i];

		for (size_t j = 0; j < part->count; j++) {
			size_t counter = part->members[part->order[j]];

			if (composed->schedule->pass_of[counter] == pass)
				out[count++] = composed->counters->names.items[counter];
		}
	}
	return count;
}

struct places {
	struct opk_strlist domains;
	const struct opk_pass_costs *costs; /* for passes without dear domains; NULL: any domain */
};

static void clear_places(struct places *places)
{
	opk_strlist_clear(&places->domains);
}

static bool is_place(const void *data, const char *domain)
{
	const struct places *places = data;

	return opk_strlist_contains(&places->domains, domain)
	       && (!places->costs || !opk_domain_is_dear(places->costs, domain));
}

/* Restricts the pass to the domains that its counters need: PerfWorks takes half the time then. */
static int add_pass(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                    const struct opk_composed *composed, size_t pass, const char **names)
{
	size_t count = list_pass(names, composed, pass);
	__attribute__((cleanup(clear_places))) struct places places = { 0 };

	if (composed->dear && !is_dear(composed, pass))
		places.costs = composed->costs;
	for (size_t i = 0; i < count; i++)
		TRY(opk_nv_counter_places(&places.domains, NULL, ctx, composed->asked, names[i]));
	TRY(opk_nv_scheduler_choose(ctx, scheduler, is_place, &places));
	return opk_nv_scheduler_add_pass(ctx, scheduler, names, count);
}

int opk_compose_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                      const struct opk_target *target, const struct opk_composed *composed)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	opk_autofree const char **names = opk_alloc_array(composed->counters->names.count + 1,
	                                                  sizeof *names);

	TRY(names ? opk_nv_scheduler_new(&scheduler, ctx, target->chip, target->availability)
	          : opk_nomem(ctx, "a plan"));
	for (size_t pass = 0; pass < composed->schedule->passes; pass++)
		TRY(add_pass(ctx, scheduler, composed, pass, names));
	TRY(opk_nv_scheduler_image(&out->config, &out->size, &out->passes, ctx, scheduler));
	/* CUPTI has the last word on the number of passes. */
	return opk_nv_passes(&out->passes, ctx, out->config, out->size);
}
