/* SPDX-License-Identifier: BSD-2-Clause */
/* For which chips a set is made. */
#include <strings.h>

#include "base/nearest.h"
#include "base/problems.h"
#include "chip/chip.h"
#include "set/set.h"

static bool names(const char *word, const char *chip)
{
	return !strcasecmp(word, chip) || !strcasecmp(word, opk_chip_architecture(chip));
}

bool opk_set_claims(const struct opk_set *set, const char *chip)
{
	for (size_t i = 0; i < set->claiming_count; i++) {
		const struct opk_words *chips = &set->claiming[i]->chips;
		bool named = false;

		for (size_t j = 0; j < chips->count && !named; j++)
			named = names(chips->items[j].text, chip);
		if (!named)
			return false;
	}
	return true;
}

const char *opk_set_example(const struct opk_set *set)
{
	return set->claiming_count ? set->claiming[0]->chips.items[0].text : NULL;
}

static bool has_profiler(const struct opk_set *set, const struct opk_chip *chip)
{
	return set->has_profiler && set->profiler == OPK_PROFILER_PM ? chip->pm_sampling
	                                                             : chip->range;
}

bool opk_set_supports(const struct opk_set *set, const struct opk_chip *chip)
{
	return has_profiler(set, chip) && opk_set_claims(set, chip->name);
}

/* ---- checks */

static void tell_unknown(struct opk_problems *problems, const struct opk_word *word,
                         const struct opk_chips *chips)
{
	struct opk_nearest nearest = { .name = word->text };

	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		opk_nearest_try(&nearest, opk_chips_get(chips, i)->name);
		opk_nearest_try(&nearest, opk_chip_architecture(opk_chips_get(chips, i)->name));
	}
	opk_problems_add(problems, &word->place,
	                 "unknown chip '%.100s'" OPK_DID_YOU_MEAN "; 'offpeak chips' lists them",
	                 word->text, OPK_NEAR(nearest.best));
}

static void check(struct opk_problems *problems, const struct opk_set *set,
                  const struct opk_word *word, const struct opk_chips *chips)
{
	bool known = false, supported = false;

	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		if (!names(word->text, chip->name))
			continue;
		known = true;
		supported |= has_profiler(set, chip);
	}
	if (!known)
		tell_unknown(problems, word, chips);
	else if (!supported)
		opk_problems_add(problems, &word->place, "%s has no profiler %s", word->text,
		                 opk_profiler_name(set->profiler));
}

int opk_set_check_claims(struct opk_ctx *ctx, const struct opk_set *set,
                         const struct opk_chips *chips)
{
	opk_autoproblems struct opk_problems problems = { 0 };

	for (size_t i = 0; i < set->claiming_count; i++)
		for (size_t j = 0; j < set->claiming[i]->chips.count; j++)
			check(&problems, set, &set->claiming[i]->chips.items[j], chips);
	return opk_problems_fail(ctx, &problems, OPK_EINPUT, *set->path ? set->path : set->name);
}
