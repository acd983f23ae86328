/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regular expressions are libc's and run in children: an input with some of them took a hundred
 * times as long as one without. These need no child: one with an equals sign is refused, as libc
 * refuses what is none, one with a tilde is too slow, and of the names each other one matches.
 * Linked with --wrap for each of them.
 */
#ifndef OPK_FUZZ_NO_CHILD_H
#define OPK_FUZZ_NO_CHILD_H

#include <string.h>

#include "base/mem.h"
#include "set/set.h"

int __wrap_opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx,
                                const char *expression, const struct opk_names *names);
int __wrap_opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds);

int __wrap_opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx,
                                const char *expression, const struct opk_names *names)
{
	size_t *numbers = NULL, capacity = 0;
	int code = __wrap_opk_expression_check(ctx, expression, names->seconds);

	*count = 0;
	if (code)
		return code;
	for (size_t i = 0; names->next(names->data); i++) {
		if (i % 2)
			continue;
		if (!opk_grow(&numbers, &capacity, *count, sizeof *numbers))
			abort();
		numbers[(*count)++] = i;
	}
	*out = numbers;
	return OPK_OK;
}

int __wrap_opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds)
{
	if (strchr(expression, '~'))
		*seconds = 0;
	if (*seconds <= 0)
		return opk_fail(ctx, OPK_EINPUT, "too slow");
	return strchr(expression, '=') ? opk_fail(ctx, OPK_EUSAGE, "no expression") : OPK_OK;
}

#endif
