/* SPDX-License-Identifier: BSD-2-Clause */
/* A parsed formula as text. */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "formula/formula_code.h"

/* With one blank for any number of them. */
static void add_piece(struct opk_buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!opk_is_blank(text[i]))
			opk_buf_add(out, &text[i], 1);
		else if (out->size && out->data[out->size - 1] != ' ')
			opk_buf_add_text(out, " ");
}

char *opk_formula_text(const struct opk_formula *formula, const char *text,
                       const char *replace(void *data, const char *name), void *data)
{
	opk_autobuf struct opk_buf out = { 0 };
	size_t from = 0;

	/* The steps have the names in the order of the text. */
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];
		const char *name = step->op == OPK_OP_NAME ? formula->names[step->name].text : NULL;
		const char *other = name ? replace(data, name) : NULL;

		if (!other)
			continue;
		add_piece(&out, text + from, step->at - from);
		opk_buf_add_text(&out, other);
		from = step->at + strlen(name);
	}
	add_piece(&out, text + from, strlen(text + from));
	if (out.size && out.data[out.size - 1] == ' ')
		out.size--;
	return opk_buf_take_text(&out);
}

void opk_formula_add_code(struct opk_buf *out, const struct opk_formula *formula)
{
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];
		uint64_t bits;

		if (step->op == OPK_OP_NAME) {
			opk_buf_add_printf(out, "%s ", formula->names[step->name].text);
		} else if (step->op == OPK_OP_NUMBER) {
			memcpy(&bits, &step->number, sizeof bits);
			opk_buf_add_printf(out, "#%016" PRIx64 " ", bits);
		} else {
			opk_buf_add_printf(out, "!%d ", (int)step->op);
		}
	}
}
