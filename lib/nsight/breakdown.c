/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts that "breakdown:" asks for: NVIDIA's library knows a throughput's parts on a chip. */
#include <string.h>

#include "base/ctx.h"
#include "nsight/nsight.h"

enum { MOST_LEVELS = 8 };

struct division {
	struct opk_drafts *drafts;
	struct opk_nv_evaluator *evaluator;
	const char *title, *suffix; /* the suffix is the throughput's: ".avg.pct_of_..." */
	opk_chip_mask chip;
	size_t found;
};

static int put_part(struct division *d, const char *base)
{
	opk_autofree char *name = opk_printf("%s%s", base, d->suffix);

	if (!name)
		return opk_nomem(d->drafts->ctx, "parts of a throughput");
	d->found++;
	opk_drafts_put(d->drafts, OPK_DRAFT_RANGE, d->title, "",
	               &(struct opk_draft_metric){
			       .name = name, .chips = d->chip, .optional = d->drafts->optional });
	return d->drafts->code;
}

static int put_parts(struct division *d, const char *base, unsigned level)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	opk_autofree char *name = opk_printf("%s%s", base, d->suffix);

	if (!name)
		return opk_nomem(d->drafts->ctx, "parts of a throughput");
	TRY(opk_nv_constituents(&counters, &throughputs, d->drafts->ctx, d->evaluator, name));
	for (size_t i = 0; i < counters.count; i++)
		TRY(put_part(d, counters.items[i]));
	for (size_t i = 0; i < throughputs.count && level < MOST_LEVELS; i++)
		TRY(put_parts(d, throughputs.items[i], level + 1));
	return OPK_OK;
}

/* A chip may lack the throughput, or the library may not divide it: then it has no parts. */
static int divide(struct opk_drafts *drafts, const char *name, const char *title,
                  struct opk_divided *divided)
{
	size_t length = opk_base_length(name);
	opk_autofree char *base = opk_strndup(name, length);
	struct division d = { .drafts = drafts,
		              .title = title,
		              .suffix = name[length] ? name + length
		                                     : ".avg.pct_of_peak_sustained_elapsed" };
	int code;

	if (!base)
		return opk_nomem(drafts->ctx, "parts of a throughput");
	if (!divided->evaluator)
		TRY(opk_nv_evaluator_new(&divided->evaluator, drafts->ctx, divided->chip));
	d.evaluator = divided->evaluator;
	d.chip = opk_chips_meant(divided->chip);
	code = put_parts(&d, base, 0);
	if (code == OPK_ENOMEM || drafts->code)
		return code;
	opk_clear_errors(drafts->ctx);
	if (!d.found) {
		opk_autofree char *where = opk_printf("%s on %s", name, divided->chip);

		opk_drafts_leave_out(drafts, "parts that the library does not know",
		                     where ? where : name, NULL);
	}
	return OPK_OK;
}

void opk_drafts_put_parts(struct opk_drafts *drafts, const struct opk_asked *asked,
                          const char *text, const char *title)
{
	if (!asked->breakdown || drafts->code)
		return;
	if (!drafts->divided.count || asked->pattern) {
		drafts->undivided = true;
		opk_drafts_leave_out(drafts, "the parts of a throughput that is in the set itself",
		                     text, NULL);
		return;
	}
	for (size_t i = 0; !drafts->code && i < drafts->divided.count; i++) {
		int code = divide(drafts, asked->name, title, &drafts->divided.items[i]);

		if (code)
			drafts->code = code;
	}
}

void opk_divided_clear(struct opk_drafts *drafts)
{
	for (size_t i = 0; i < drafts->divided.count; i++) {
		opk_nv_evaluator_free(drafts->divided.items[i].evaluator);
		free(drafts->divided.items[i].chip);
	}
	free(drafts->divided.items);
}
