/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions, and how often each was launched or sampled. */
#include "collect/ranges/ranges.h"

struct launched_function *launched_find(struct launched *launched, const char *symbol)
{
	const struct kernel *names;
	struct launched_function *added;
	size_t at;

	if (opk_index_find(&at, &launched->index, symbol))
		return &launched->functions.items[at];
	at = launched->functions.count;
	names = kernels_find(launched->kernels, symbol);
	added = names ? opk_list_add(&launched->functions) : NULL;
	if (!added || !opk_index_add(&launched->index, names->symbol, at, NULL)) {
		launched->functions.count = at;
		return NULL;
	}
	added->names = names;
	return added;
}

bool launched_from(struct launched_function *function, const void *handle)
{
	bool other = function->handle && function->handle != handle;

	function->handle = handle;
	function->several |= other;
	return other;
}

void launched_clear(struct launched *launched)
{
	opk_index_clear(&launched->index);
	free(launched->functions.items);
}
