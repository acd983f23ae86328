/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library matches regular expressions with libc in child processes, which makes an input with
 * some of them a hundred times as slow. These replacements need no child: an expression with "=" is
 * invalid, one with "~" is too slow, and any other matches every second name. Each is linked with
 * --wrap.
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
