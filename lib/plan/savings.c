/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan/savings.h"

#include <string.h>

#include "adapters/nv/nv.h"

/* More than so many counters of a pass are not moved: they rarely find room. */
enum { MOVABLE = 4 };

struct saving {
	struct opk_ctx *ctx;
	const struct opk_counters *counters;
	const struct opk_parts *parts;
	const struct opk_schedule *schedule;
	size_t *needed;  /* by so many metrics, one a counter */
	size_t *pass_of; /* a copy to move counters in; SIZE_MAX: taken out */
	size_t *counts;  /* passes, one a part */
	const char **names;
};

static size_t passes_of(const struct saving *s, const struct opk_part *part)
{
	size_t count = 0;

	for (size_t pass = 0; pass < s->schedule->passes; pass++)
		for (size_t i = 0; i < part->count; i++)
			if (s->pass_of[part->members[i]] == pass) {
				count++;
				break;
			}
	return count;
}

/* The part's pass with the fewest counters, and how many; SIZE_MAX where it has none. */
static size_t emptiest(size_t *fewest, const struct saving *s, const struct opk_part *part)
{
	size_t best = SIZE_MAX;

	for (size_t pass = 0; pass < s->schedule->passes; pass++) {
		size_t here = 0;

		for (size_t i = 0; i < part->count; i++)
			here += s->pass_of[part->members[i]] == pass;
		if (here && (best == SIZE_MAX || here < *fewest)) {
			best = pass;
			*fewest = here;
		}
	}
	return best;
}

static int fits(bool *out, const struct saving *s, const struct opk_part *part, size_t pass,
                size_t counter)
{
	size_t used = 0;

	for (size_t i = 0; i < part->count; i++)
		if (s->pass_of[part->members[i]] == pass)
			s->names[used++] = s->counters->names.items[part->members[i]];
	*out = used > 0;
	s->names[used++] = s->counters->names.items[counter];
	return *out ? opk_nv_scheduler_fits(out, s->ctx, part->scheduler, s->names, used) : OPK_OK;
}

/* Moves a counter to another of the part's passes that has room. */
static int move(bool *moved, struct saving *s, const struct opk_part *part, size_t counter,
                size_t from)
{
	int code = OPK_OK;

	*moved = false;
	for (size_t pass = 0; !code && !*moved && pass < s->schedule->passes; pass++) {
		if (pass == from)
			continue;
		code = fits(moved, s, part, pass, counter);
		if (!code && *moved)
			s->pass_of[counter] = pass;
	}
	return code;
}

static int empty_pass(bool *emptied, struct saving *s, const struct opk_part *part)
{
	size_t fewest = 0, pass = emptiest(&fewest, s, part);
	int code = OPK_OK;

	*emptied = pass != SIZE_MAX && fewest <= MOVABLE && passes_of(s, part) > 1;
	for (size_t i = 0; !code && *emptied && i < part->count; i++)
		if (s->pass_of[part->members[i]] == pass)
			code = move(emptied, s, part, part->members[i], pass);
	return code;
}

/* Takes out what the metric alone needs; false where that is nothing. */
static bool take_out(struct saving *s, size_t metric)
{
	bool any = false;

	memcpy(s->pass_of, s->schedule->pass_of, s->counters->names.count * sizeof *s->pass_of);
	for (size_t i = s->counters->first[metric]; i < s->counters->first[metric + 1]; i++)
		if (s->needed[s->counters->needs[i]] == 1) {
			s->pass_of[s->counters->needs[i]] = SIZE_MAX;
			any = true;
		}
	return any;
}

static bool lost_counters(const struct saving *s, const struct opk_part *part)
{
	for (size_t i = 0; i < part->count; i++)
		if (s->pass_of[part->members[i]] != s->schedule->pass_of[part->members[i]])
			return true;
	return false;
}

static int find_saving(size_t *out, struct saving *s, size_t metric, size_t passes)
{
	size_t first;
	int code = OPK_OK;

	if (!take_out(s, metric))
		return OPK_OK;
	for (size_t i = 0; !code && i < s->parts->count; i++) {
		const struct opk_part *part = &s->parts->all[i];
		bool emptied = lost_counters(s, part);

		while (!code && emptied)
			code = empty_pass(&emptied, s, part);
		s->counts[i] = passes_of(s, part);
	}
	if (code)
		return code;
	first = opk_parts_passes(&first, s->parts, s->counts);
	*out = first < passes ? passes - first : 0;
	return OPK_OK;
}

int opk_savings_find(size_t *saves, struct opk_ctx *ctx, const struct opk_counters *counters,
                     const struct opk_parts *parts, const struct opk_schedule *schedule)
{
	size_t count = counters->names.count;
	opk_autofree size_t *needed = opk_alloc_array(count + 1, sizeof *needed);
	opk_autofree size_t *pass_of = opk_alloc_array(count + 1, sizeof *pass_of);
	opk_autofree size_t *counts = opk_alloc_array(parts->count + 1, sizeof *counts);
	opk_autofree const char **names = opk_alloc_array(count + 2, sizeof *names);
	struct saving s = { ctx, counters, parts, schedule, needed, pass_of, counts, names };
	int code = needed && pass_of && counts && names ? OPK_OK : opk_nomem(ctx, "a plan");

	if (code)
		return code;
	for (size_t i = 0; i < counters->first[counters->metric_count]; i++)
		needed[counters->needs[i]]++;
	for (size_t i = 0; !code && i < counters->metric_count; i++)
		code = find_saving(&saves[i], &s, i, schedule->passes);
	return code;
}
