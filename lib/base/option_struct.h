/* SPDX-License-Identifier: BSD-2-Clause */
/* Option structs of callers that were built against another version of offpeak.h. */
#ifndef OPK_OPTION_STRUCT_H
#define OPK_OPTION_STRUCT_H

#include <stddef.h>
#include <string.h>

/*
 * Copies the fields within the caller's `size`; the rest is zero. NULL: all fields are zero. The
 * copy's own size is that of this library's layout, so that it can be passed on.
 */
static inline void opk_copy_options(void *to, size_t to_size, const void *from)
{
	size_t size = from ? *(const size_t *)from : 0;

	memset(to, 0, to_size);
	if (from)
		memcpy(to, from, size < to_size ? size : to_size);
	*(size_t *)to = to_size;
}

/* OPK_OPTIONS(opk_plan_options, options, given): a local copy in this library's layout. */
#define OPK_OPTIONS(type, local, given)                                                            \
	struct type local;                                                                         \
	opk_copy_options(&local, sizeof local, given)

/* Fills a caller's struct up to its `size` from one in this library's layout. */
static inline void opk_fill_sized(void *to, const void *from, size_t from_size)
{
	size_t size = *(size_t *)to;

	memset(to, 0, size);
	memcpy(to, from, size < from_size ? size : from_size);
	*(size_t *)to = size;
}

#endif
