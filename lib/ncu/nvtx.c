/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of NVTX ranges: a thread's number, and in quotes its ranges, each as
 * DOMAIN:RANGE:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg.
 */
#include <string.h>

#include "base/buf.h"
#include "ncu/report.h"

enum { ATTRIBUTES = 6, MAX_RANGES = 1000 };

struct range {
	const char *domain, *name; /* in the column's text, not ended */
	size_t domain_size, name_size;
	bool written;
};

struct ranges {
	struct range items[MAX_RANGES];
	size_t count;
};

/* Takes the attributes from the end: a name may have colons itself. */
static size_t without_attributes(const char *text, size_t size)
{
	size_t left = size, found = 0;

	for (size_t i = size; i-- > 0 && found < ATTRIBUTES;)
		if (text[i] == ':') {
			left = i;
			found++;
		}
	return found == ATTRIBUTES ? left : size;
}

static void add_range(struct ranges *out, const char *text, size_t size)
{
	static const char standard[] = "<default domain>";
	const char *colon = memchr(text, ':', size);
	struct range *range = &out->items[out->count];

	if (!colon || out->count == MAX_RANGES)
		return;
	range->domain = text;
	range->domain_size = (size_t)(colon - text);
	if (range->domain_size == strlen(standard) && !strncmp(text, standard, strlen(standard)))
		range->domain_size = 0;
	range->name = colon + 1;
	range->name_size = without_attributes(range->name, size - (size_t)(colon + 1 - text));
	range->written = false;
	out->count += range->name_size > 0;
}

/* The ranges are in quotes; the thread's number is not. */
static void read_pushed(struct ranges *out, const char *text)
{
	for (const char *from = strchr(text, '"'), *to; from; from = strchr(to + 1, '"')) {
		to = strchr(from + 1, '"');
		if (!to)
			break;
		add_range(out, from + 1, (size_t)(to - from - 1));
	}
}

/* "ID:DOMAIN:RANGE:...", in quotes or alone. */
static void read_started(struct ranges *out, const char *text)
{
	while (*text) {
		const char *from = text + strspn(text, " \"");
		size_t size = *text == '"' || strchr(from, '"') ? strcspn(from, "\"")
		                                                : strlen(from);
		const char *colon = memchr(from, ':', size);

		if (colon)
			add_range(out, colon + 1, size - (size_t)(colon + 1 - from));
		text = from + size;
	}
}

static void put_name(struct opk_buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '/' || text[i] == '\\')
			opk_buf_add_text(out, "\\");
		opk_buf_add(out, text + i, 1);
	}
}

static bool same_domain(const struct range *a, const struct range *b)
{
	return a->domain_size == b->domain_size && !memcmp(a->domain, b->domain, a->domain_size);
}

/* Writes the ranges of one domain, outermost first. */
static void put_domain(struct opk_buf *out, struct ranges *ranges, const struct range *first)
{
	for (size_t i = 0; i < ranges->count; i++) {
		struct range *range = &ranges->items[i];

		if (range->written || !same_domain(range, first))
			continue;
		opk_buf_add_text(out, out->size ? "/" : "");
		put_name(out, range->domain, range->domain_size);
		opk_buf_add_text(out, range->domain_size ? "@" : "");
		put_name(out, range->name, range->name_size);
		range->written = true;
	}
}

char *opk_printed_ranges(const char *pushed, const char *started)
{
	static const struct range standard = { .domain = "" };
	opk_autofree struct ranges *ranges = opk_alloc(sizeof *ranges);
	opk_autobuf struct opk_buf out = { 0 };

	if (!ranges)
		return NULL;
	read_pushed(ranges, pushed);
	if (!ranges->count)
		read_started(ranges, started);
	put_domain(&out, ranges, &standard);
	for (size_t i = 0; i < ranges->count; i++)
		if (!ranges->items[i].written)
			put_domain(&out, ranges, &ranges->items[i]);
	return opk_buf_take_text(&out);
}
