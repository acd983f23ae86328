/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the metric that people's words mean, such as those on a screen: "DRAM throughput". */
#include <ctype.h>
#include <string.h>

#include "base/ascii.h"
#include "chip/chip.h"
#include "chip/door.h"

enum { MOST_WORDS = 16, LONGEST_TEXT = 256 };

/* The words of a text, in lower case. */
struct said {
	char text[LONGEST_TEXT];
	const char *words[MOST_WORDS];
	size_t count;
};

/* Words that people add, and that don't tell metrics apart. */
static bool is_filler(const char *word)
{
	static const char *const fillers[] = { "kernel", "gpu", "total", "mean", "of", "a", "the" };

	return opk_texts_contain(fillers, sizeof fillers / sizeof *fillers, word);
}

static void split(struct said *said, const char *text, bool fillers)
{
	char *rest = said->text;

	said->count = 0;
	snprintf(said->text, sizeof said->text, "%s", text);
	for (char *c = said->text; *c; c++)
		*c = (char)(isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : ' ');
	for (char *word; said->count < MOST_WORDS && (word = strsep(&rest, " "));)
		if (*word && (fillers || !is_filler(word)))
			said->words[said->count++] = word;
}

static bool has_all(const struct said *said, const struct said *wanted)
{
	size_t i = 0;

	while (i < wanted->count && opk_texts_contain(said->words, said->count, wanted->words[i]))
		i++;
	return i == wanted->count;
}

int opk_nearest_by_words(struct opk_nearest *nearest, struct opk_ctx *ctx, const char *const *names,
                         size_t count)
{
	opk_autostrlist struct opk_strlist labels = { 0 };
	struct said wanted, label;
	size_t fewest = MOST_WORDS + 1;

	split(&wanted, nearest->name, false);
	/* One wrong letter is a misspelling. */
	if (!wanted.count || (nearest->best && nearest->distance <= 1))
		return OPK_OK;
	TRY(opk_metric_labels(&labels, ctx, names, count));
	for (size_t i = 0; i < count; i++) {
		/* Launches have this time where no metric of time was recorded. */
		split(&label, strcmp(names[i], "duration_ns") ? labels.items[i] : "time", true);
		if (label.count < fewest && has_all(&label, &wanted)) {
			fewest = label.count;
			nearest->best = names[i];
		}
	}
	return OPK_OK;
}
