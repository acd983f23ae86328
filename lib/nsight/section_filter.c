/* SPDX-License-Identifier: BSD-2-Clause */
#include "nsight/section_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "nsight/section_fail.h"

/* "CC_90" or "90"; `*out` stays where the field is absent. */
static int read_arch(unsigned *out, struct opk_ctx *ctx, const struct opk_field *filter,
                     const char *name)
{
	const struct opk_field *field = opk_field_find(filter, name, OPK_FIELD_WORD);
	const char *digits;

	if (!field)
		return OPK_OK;
	digits = field->text + (strncmp(field->text, "CC_", 3) ? 0 : 3);
	if (!*digits || strlen(digits) > 4 || digits[opk_span(digits, opk_is_digit)])
		return opk_fail_at(ctx, &field->place, "%s is an architecture like CC_90, not %s",
		                   name, field->text);
	*out = (unsigned)strtoul(digits, NULL, 10);
	return OPK_OK;
}

/* One filter without its items. */
static int read_bounds(struct opk_section_filter *out, struct opk_ctx *ctx,
                       const struct opk_field *filter)
{
	unsigned least = OPK_CC_NONE, most = OPK_CC_OPEN;
	int code = read_arch(&least, ctx, filter, "MinArch");

	if (!code)
		code = read_arch(&most, ctx, filter, "MaxArch");
	if (code)
		return code;
	out->chips = opk_chips_between(least, most);
	out->old_driver = opk_field_find(filter, "MaxKmd", OPK_FIELD_WORD) != NULL;
	return OPK_OK;
}

static int read_filter(struct opk_section_filter *out, struct opk_ctx *ctx,
                       const struct opk_field *filter)
{
	opk_chip_mask any = 0;
	bool has_items = false;
	int code = read_bounds(out, ctx, filter);

	for (size_t i = 0; !code && i < filter->count; i++) {
		const struct opk_field *item = &filter->fields[i];
		struct opk_section_filter one;

		if (item->kind != OPK_FIELD_MESSAGE || strcmp(item->name, "Items") != 0)
			continue;
		code = read_bounds(&one, ctx, item);
		if (code)
			break;
		has_items = true;
		any |= one.old_driver ? 0 : one.chips;
	}
	if (has_items)
		out->chips &= any;
	return code;
}

int opk_section_filter(struct opk_section_filter *out, struct opk_ctx *ctx,
                       const struct opk_field *message)
{
	int code = OPK_OK;

	*out = (struct opk_section_filter){ .chips = opk_chips_all() };
	for (size_t i = 0; !code && i < message->count; i++) {
		const struct opk_field *field = &message->fields[i];
		struct opk_section_filter one = { 0 };

		if (field->kind != OPK_FIELD_MESSAGE || strcmp(field->name, "Filter") != 0)
			continue;
		code = read_filter(&one, ctx, field);
		out->chips &= one.chips;
		out->old_driver |= one.old_driver;
	}
	return code;
}
