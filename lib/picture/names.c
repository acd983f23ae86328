/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels for long names: where many begin alike, they show where they differ. */
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "picture/door.h"

enum { MOST_PLACES = 6, LONGEST_WORD = 24 };

static const char gap[] = "\xe2\x80\xa6";

/* Names in alphabetical order, and how many bytes each shares with the one before. */
struct names {
	const char *const *items;
	size_t *order, *shared;
	size_t count;
	double width;
};

/* Places where a name differs from others, the last one first. */
struct places {
	size_t items[MOST_PLACES];
	size_t count;
};

static int compare(const void *a, const void *b, void *items)
{
	const char *const *names = items;

	return strcmp(names[*(const size_t *)a], names[*(const size_t *)b]);
}

static size_t shared_bytes(const char *a, const char *b)
{
	size_t length = 0;

	while (a[length] && a[length] == b[length])
		length++;
	return length;
}

static int sort(struct names *n, struct opk_ctx *ctx)
{
	n->order = opk_alloc_array(n->count + 1, sizeof *n->order);
	n->shared = opk_alloc_array(n->count + 1, sizeof *n->shared);
	if (!n->order || !n->shared)
		return opk_nomem(ctx, "labels");
	for (size_t i = 0; i < n->count; i++)
		n->order[i] = i;
	qsort_r(n->order, n->count, sizeof *n->order, compare, (void *)n->items);
	for (size_t i = 1; i < n->count; i++)
		n->shared[i] = shared_bytes(n->items[n->order[i - 1]], n->items[n->order[i]]);
	return OPK_OK;
}

/* ---- places */

static void add_place(struct places *places, size_t place)
{
	size_t at = 0;

	while (at < places->count && places->items[at] > place)
		at++;
	if (at == MOST_PLACES || (at < places->count && places->items[at] == place))
		return;
	places->count += places->count < MOST_PLACES;
	memmove(&places->items[at + 1], &places->items[at],
	        (places->count - at - 1) * sizeof *places->items);
	places->items[at] = place;
}

/* The further two names are apart in the order, the fewer bytes they share. */
static void find_places(struct places *places, const struct names *n, size_t at)
{
	size_t length = strlen(n->items[n->order[at]]), least = length, last = length;

	for (size_t i = at; i > 0 && least; i--, last = least) {
		least = n->shared[i] < least ? n->shared[i] : least;
		if (least < last)
			add_place(places, least);
	}
	least = last = length;
	for (size_t i = at + 1; i < n->count && least; i++, last = least) {
		least = n->shared[i] < least ? n->shared[i] : least;
		if (least < last)
			add_place(places, least);
	}
}

/* ---- labels */

static bool in_word(char c)
{
	return c != '_' && (opk_in_name(c) || (unsigned char)c >= 0x80);
}

static size_t word_begin(const char *name, size_t place)
{
	size_t begin = place;

	while (begin > 0 && place - begin < LONGEST_WORD && in_word(name[begin - 1]))
		begin--;
	while (((unsigned char)name[begin] & 0xc0) == 0x80)
		begin++;
	return begin;
}

static size_t word_end(const char *name, size_t place)
{
	while (name[place] && in_word(name[place]))
		place++;
	return place;
}

/*
 * From the last place on as much as fits; before it words at earlier places, which have at least
 * half of the room.
 */
static char *join(const char *name, const struct places *places, double width)
{
	size_t begin = word_begin(name, places->items[0]), first = begin, fits;
	opk_autofree char *words = opk_strdup(""), *end = NULL;
	double left = width - 2 * opk_label_width(gap);
	double room = left - fmin(opk_label_width(name + begin), left / 2);

	for (size_t i = 1; words && i < places->count; i++) {
		size_t from = word_begin(name, places->items[i]);
		size_t to = word_end(name, places->items[i]);
		opk_autofree char *more = NULL;

		if (to > first || from == to)
			continue;
		more = opk_printf("%s%.*s%s", from ? gap : "", (int)(to - from), name + from,
		                  words);
		if (!more || opk_label_width(more) > room)
			continue;
		free(words);
		words = opk_take(more);
		first = from;
	}
	left -= words ? opk_label_width(words) : 0;
	fits = opk_label_beginning(name + begin, left);
	end = opk_strndup(name + begin, fits);
	return words && end ? opk_printf("%s%s%s%s", words, begin ? gap : "", end,
	                                 name[begin + fits] ? gap : "")
	                    : NULL;
}

static char *label_of(const struct names *n, size_t at)
{
	const char *name = n->items[n->order[at]];
	struct places places = { .count = 0 };

	if (opk_label_width(name) <= n->width)
		return opk_strdup(name);
	find_places(&places, n, at);
	/* The beginning that is shown anyhow shows the difference. */
	if (!places.count || places.items[0] < opk_label_beginning(name, n->width / 2))
		return opk_label_fit(name, n->width);
	return join(name, &places, n->width);
}

static int make_labels(char **labels, struct names *n, struct opk_ctx *ctx)
{
	TRY(sort(n, ctx));
	for (size_t i = 0; i < n->count; i++) {
		labels[n->order[i]] = label_of(n, i);
		if (!labels[n->order[i]])
			return opk_nomem(ctx, "labels");
	}
	return OPK_OK;
}

int opk_labels_make(struct opk_labels *out, struct opk_ctx *ctx, const char *const *names,
                    size_t count, double width)
{
	struct names n = { .items = names, .count = count, .width = width };
	int code;

	*out = (struct opk_labels){ opk_alloc_array(count + 1, sizeof *out->items), count };
	code = out->items ? make_labels(out->items, &n, ctx) : opk_nomem(ctx, "labels");
	free(n.order);
	free(n.shared);
	return code;
}

void opk_labels_clear(struct opk_labels *labels)
{
	for (size_t i = 0; labels->items && i < labels->count; i++)
		free(labels->items[i]);
	free(labels->items);
	*labels = (struct opk_labels){ NULL, 0 };
}
