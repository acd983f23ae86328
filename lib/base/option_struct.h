/* SPDX-License-Identifier: BSD-2-Clause */
/* Option structs of callers that were built against another version of offpeak.h. */
#ifndef OPK_OPTION_STRUCT_H
#define OPK_OPTION_STRUCT_H

#include <stddef.h>
#include <string.h>

/* Copies what the caller's struct has, by its size; the rest is zero. NULL: all is zero. */
static inline void opk_copy_options(void *to, size_t to_size, const void *from)
{
	size_t size = from ? *(const size_t *)from : 0;

	memset(to, 0, to_size);
	if (from)
		memcpy(to, from, size < to_size ? size : to_size);
}

/* OPK_OPTIONS(opk_plan_options, options, given): a local copy in this library's layout. */
#define OPK_OPTIONS(type, local, given)                                                            \
	struct type local;                                                                         \
	opk_copy_options(&local, sizeof local, given)

#endif
