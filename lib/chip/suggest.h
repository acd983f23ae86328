/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric names like a misspelt one: by the letters, by the words in them, by the unit. */
#ifndef OPK_SUGGEST_H
#define OPK_SUGGEST_H

#include "base/strlist.h"
#include "chip/catalog.h"

/* The best few among candidates that are tried one after the other. */
enum { OPK_MAX_SUGGESTIONS = 5 };
struct opk_suggestions {
	const char *name; /* the misspelt one */
	struct {
		const char *name; /* borrowed from the caller */
		unsigned cost;
	} best[OPK_MAX_SUGGESTIONS];
	size_t count;
};
void opk_suggestions_try(struct opk_suggestions *suggestions, const char *candidate);

/*
 * The chip's metrics most like `name`, `max` at most, the likeliest first: base names for a base
 * name, full ones for a full one where they have its ending, and for a base name that there is its
 * plainest full name. Appended; false when out of memory.
 */
bool opk_catalog_suggest(struct opk_strlist *out, const struct opk_catalog *catalog,
                         const char *name, size_t max);

#endif
