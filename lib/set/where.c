/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that name chips, architectures or profilers, and whether they name a given one. */
#include "set/set.h"

#include <strings.h>

#include "adapters/nv/nv.h"
#include "base/nearest.h"
#include "chip/chip.h"

static bool is_profiler(const char *word)
{
	for (enum opk_profiler i = 0; i < OPK_PROFILER_COUNT; i++)
		if (!strcasecmp(word, opk_profiler_name(i)))
			return true;
	return false;
}

static bool library_knows(struct opk_ctx *ctx, struct opk_problems *problems, const char *word)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	bool known = false;
	int code = opk_nv_chips(&names, ctx);

	opk_problems_need(problems, code != OPK_ENOMEM);
	if (code)
		opk_clear_errors(ctx);
	for (size_t i = 0; i < names.count && !known; i++)
		known = !strcasecmp(names.items[i], word);
	return known;
}

bool opk_where_known(struct opk_ctx *ctx, struct opk_problems *problems, const char *word,
                     bool profilers)
{
	if (opk_chips_meant(word))
		return true;
	return (profilers && is_profiler(word)) || library_knows(ctx, problems, word);
}

const char *opk_where_nearest(const char *word, bool profilers)
{
	struct opk_nearest nearest = { .name = word };
	const char *chip;

	for (size_t i = 0; (chip = opk_chip_known(i)); i++) {
		opk_nearest_try(&nearest, chip);
		opk_nearest_try(&nearest, opk_chip_architecture(chip));
	}
	for (enum opk_profiler i = 0; profilers && i < OPK_PROFILER_COUNT; i++)
		opk_nearest_try(&nearest, opk_profiler_name(i));
	return nearest.best;
}

const struct opk_word *opk_where_find(const struct opk_words *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(words->items[i].text, word))
			return &words->items[i];
	return NULL;
}

bool opk_where_matches(const char *word, const char *chip, enum opk_profiler profiler)
{
	return opk_chip_is_meant(chip, word) || !strcasecmp(word, opk_profiler_name(profiler));
}

bool opk_where_any(const struct opk_words *words, const char *chip, enum opk_profiler profiler)
{
	for (size_t i = 0; i < words->count; i++)
		if (opk_where_matches(words->items[i].text, chip, profiler))
			return true;
	return false;
}
