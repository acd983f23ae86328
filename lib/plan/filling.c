/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills passes with the counters of metrics: each counter goes into the first pass with room. */
#include "plan/filling.h"

#include <string.h>

#include "adapters/nv/nv.h"

void opk_filling_clear(struct opk_filling *f)
{
	opk_counters_clear(&f->counters);
	opk_nv_scheduler_free(f->scheduler);
	free(f->software);
	free(f->of_software);
	free(f->members);
	free(f->sizes);
	opk_answers_clear(&f->answers);
	free(f->placed);
	free(f->added);
	*f = (struct opk_filling){ 0 };
}

static int find_software(struct opk_filling *f, struct opk_ctx *ctx)
{
	struct opk_parts parts;

	TRY(opk_parts_split(&parts, ctx, &f->counters, f->scheduler));
	for (size_t i = 0; i < parts.count; i++)
		for (size_t j = 0; j < parts.all[i].count; j++)
			f->software[parts.all[i].members[j]] = parts.all[i].software;
	opk_parts_clear(&parts);
	return OPK_OK;
}

int opk_filling_init(struct opk_filling *out, struct opk_ctx *ctx, const char *chip,
                     const struct opk_strlist *metrics, size_t passes)
{
	size_t counters;

	*out = (struct opk_filling){ 0 };
	TRY(opk_nv_scheduler_new(&out->scheduler, ctx, chip, NULL));
	TRY(opk_counters_of(&out->counters, ctx, chip, metrics));
	counters = out->counters.names.count;
	/* There is no use for more passes than counters. */
	out->passes = passes < counters ? passes : counters;
	out->members = opk_alloc_array(out->passes * counters + 1, sizeof *out->members);
	out->sizes = opk_alloc_array(out->passes + 1, sizeof *out->sizes);
	out->software = opk_alloc_array(counters + 1, sizeof *out->software);
	out->of_software = opk_alloc_array(out->passes + 1, sizeof *out->of_software);
	out->placed = opk_alloc_array(counters + 1, sizeof *out->placed);
	out->added = opk_alloc_array(2 * counters + 1, sizeof *out->added);
	if (!out->members || !out->sizes || !out->software || !out->of_software || !out->placed
	    || !out->added)
		return opk_nomem(ctx, "raw counters");
	return find_software(out, ctx);
}

void opk_filling_restart(struct opk_filling *f)
{
	memset(f->sizes, 0, f->passes * sizeof *f->sizes);
	memset(f->placed, 0, f->counters.names.count * sizeof *f->placed);
}

/* Finds the first pass with room; `pass` is the number of passes if there is none. */
static int place(size_t *pass, struct opk_ctx *ctx, struct opk_filling *f, size_t counter)
{
	for (*pass = 0; *pass < f->passes; ++*pass) {
		size_t *members = &f->members[*pass * f->counters.names.count];
		struct opk_question question = { &f->counters.names, f->scheduler, members,
			                         f->sizes[*pass] + 1 };
		bool fits;

		if (f->sizes[*pass] && f->of_software[*pass] != f->software[counter])
			continue;
		memmove(members + 1, members, f->sizes[*pass] * sizeof *members);
		members[0] = counter;
		TRY(opk_answers_ask(&fits, ctx, &f->answers, &question));
		if (fits) {
			f->of_software[*pass] = f->software[counter];
			f->sizes[*pass]++;
			return OPK_OK;
		}
		memmove(members, members + 1, f->sizes[*pass] * sizeof *members);
	}
	return OPK_OK;
}

static void take_away(struct opk_filling *f, size_t counter, size_t pass)
{
	size_t *members = &f->members[pass * f->counters.names.count], i = 0;

	while (members[i] != counter)
		i++;
	f->sizes[pass]--;
	memmove(members + i, members + i + 1, (f->sizes[pass] - i) * sizeof *members);
}

int opk_filling_add(bool *fits, struct opk_ctx *ctx, struct opk_filling *f, size_t metric)
{
	const struct opk_counters *counters = &f->counters;
	size_t added = 0;

	*fits = true;
	for (size_t i = counters->first[metric]; *fits && i < counters->first[metric + 1]; i++) {
		size_t counter = counters->needs[i], pass;

		if (f->placed[counter] || opk_is_trace(counters->names.items[counter]))
			continue;
		TRY(place(&pass, ctx, f, counter));
		*fits = pass < f->passes;
		if (!*fits)
			break;
		f->placed[counter] = true;
		f->added[2 * added] = counter;
		f->added[2 * added++ + 1] = pass;
	}
	for (size_t i = 0; !*fits && i < added; i++) {
		f->placed[f->added[2 * i]] = false;
		take_away(f, f->added[2 * i], f->added[2 * i + 1]);
	}
	return OPK_OK;
}
