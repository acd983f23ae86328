/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a set in the making as the YAML of docs/metric-sets.md. */
#include <string.h>

#include "formula/formula.h"
#include "set/set.h"
#include "nsight/nsight.h"

enum { LONGEST_SHORT_NAME = 40 };

static void put_line(struct opk_buf *out, size_t indent, const char *comment)
{
	opk_yaml_put_indent(out, indent);
	opk_yaml_put_comment(out, comment);
	opk_buf_add_text(out, "\n");
}

/* Whether formulas can use the text as a name: words of the language are excluded. */
static bool is_name(const char *text)
{
	return strlen(text) <= LONGEST_SHORT_NAME && opk_set_is_name(text)
	       && !opk_formula_is_function(text);
}

/* The names in the set, and the duplicate ones. */
struct names {
	struct opk_index known, again;
};

static void add_name(struct names *names, struct opk_buf *out, const char *name)
{
	struct opk_index *to = opk_index_find(NULL, &names->known, name) ? &names->again
	                                                                 : &names->known;

	out->failed |= !opk_index_add(to, name, 0, NULL);
}

static void collect_names(struct names *names, struct opk_buf *out, const struct opk_draft *draft)
{
	for (size_t i = 0; i < draft->formulas.count; i++)
		add_name(names, out, draft->formulas.items[i].name);
	for (size_t i = 0; i < draft->metrics.count; i++) {
		add_name(names, out, draft->metrics.items[i].name);
		if (draft->metrics.items[i].label)
			add_name(names, out, draft->metrics.items[i].label);
	}
}

/* Patterns have no short name, and a formula's own name is its short name. */
static bool has_short_name(const struct names *names, const struct opk_draft_metric *metric)
{
	const char *label = metric->label;

	return label && is_name(label) && *metric->name != '/' && strstr(metric->name, "__")
	       && !opk_index_find(NULL, &names->again, label);
}

/* Writes the shorter list as the condition; to include future chips, it must exclude chips. */
static void put_chips(struct opk_buf *out, size_t indent, opk_chip_mask chips)
{
	opk_autostrlist struct opk_strlist only = { 0 }, except = { 0 };
	bool open = chips & OPK_CHIPS_LATER, negative;

	out->failed |= !opk_chip_mask_names(&only, chips) || !opk_chip_mask_names(&except, ~chips);
	negative = open || except.count < only.count;
	opk_yaml_put_indent(out, indent);
	opk_buf_add_text(out, negative ? "except: " : "only: ");
	opk_yaml_put_list(out, negative ? &except : &only);
	opk_buf_add_text(out, "\n");
}

static void put_metric(struct opk_buf *out, size_t indent, const struct opk_draft *draft,
                       const struct names *names, const struct opk_draft_metric *metric)
{
	bool named = has_short_name(names, metric);
	bool everywhere = metric->chips == opk_chips_all() || metric->chips == draft->claimed;
	bool bare = !named && !metric->optional && everywhere;

	if (metric->comment)
		put_line(out, indent, metric->comment);
	opk_yaml_put_indent(out, indent);
	opk_buf_add_text(out, bare ? "- " : "- metric: ");
	opk_yaml_put_text(out, metric->name);
	if (metric->label && !named) {
		opk_buf_add_text(out, "  ");
		opk_yaml_put_comment(out, metric->label);
	}
	opk_buf_add_text(out, "\n");
	if (named) {
		opk_yaml_put_indent(out, indent + 2);
		opk_buf_add_printf(out, "as: %s\n", metric->label);
	}
	if (!everywhere)
		put_chips(out, indent + 2, metric->chips);
	if (metric->optional) {
		opk_yaml_put_indent(out, indent + 2);
		opk_buf_add_text(out, "optional: true\n");
	}
}

static void put_heading(struct opk_buf *out, const struct opk_draft *draft,
                        const struct names *names, const struct opk_draft_heading *heading)
{
	bool titled = *heading->title;

	if (titled && heading->count) {
		opk_buf_add_text(out, "  - group: ");
		opk_yaml_put_text(out, heading->title);
		opk_buf_add_text(out, "\n");
		if (*heading->text)
			opk_yaml_put_prose(out, 4, "text", heading->text);
		opk_buf_add_text(out, "    metrics:\n");
	}
	for (size_t i = 0; i < heading->count; i++)
		put_metric(out, titled ? 6 : 2, draft, names,
		           &draft->metrics.items[heading->first + i]);
}

static void put_formulas(struct opk_buf *out, const struct opk_draft *draft)
{
	if (draft->formulas.count)
		opk_buf_add_text(out, "derived:\n");
	for (size_t i = 0; i < draft->formulas.count; i++) {
		opk_buf_add_text(out, "  ");
		opk_yaml_put_text(out, draft->formulas.items[i].name);
		opk_buf_add_text(out, ": ");
		opk_yaml_put_text(out, draft->formulas.items[i].formula);
		opk_buf_add_text(out, "\n");
	}
}

static void put_reasons(struct opk_buf *out, const struct opk_draft *draft)
{
	if (draft->reasons.count)
		opk_buf_add_text(out, "\n# Left out:\n");
	for (size_t i = 0; i < draft->reasons.count; i++) {
		opk_autofree char *line = opk_printf("%s:", draft->reasons.items[i].reason);

		out->failed |= !line;
		if (line)
			put_line(out, 0, line);
		for (size_t k = 0; k < draft->reasons.items[i].names.count; k++) {
			opk_autofree char *name = opk_printf("    %s", draft->reasons.items[i]
			                                                       .names.items[k]);

			out->failed |= !name;
			if (name)
				put_line(out, 0, name);
		}
	}
}

char *opk_draft_write(const struct opk_draft *draft)
{
	opk_autobuf struct opk_buf text = { 0 };
	struct opk_buf *out = &text;
	struct names names = { 0 };

	if (draft->failed)
		return NULL;
	collect_names(&names, out, draft);
	for (size_t i = 0; i < draft->comments.count; i++)
		put_line(out, 0, draft->comments.items[i]);
	opk_yaml_put_prose(out, 0, "name", draft->name);
	if (*draft->description)
		opk_yaml_put_prose(out, 0, "description", draft->description);
	opk_buf_add_printf(out, "profiler: %s\n", opk_profiler_name(draft->profiler));
	if (draft->chips.count) {
		opk_buf_add_text(out, "chips: ");
		opk_yaml_put_list(out, &draft->chips);
		opk_buf_add_text(out, "\n");
	}
	if (draft->includes.count) {
		opk_buf_add_text(out, "include: ");
		opk_yaml_put_list(out, &draft->includes);
		opk_buf_add_text(out, "\n");
	}
	put_formulas(out, draft);
	if (draft->metrics.count)
		opk_buf_add_text(out, "metrics:\n");
	for (size_t i = 0; i < draft->headings.count; i++)
		put_heading(out, draft, &names, &draft->headings.items[i]);
	put_reasons(out, draft);
	opk_index_clear(&names.known);
	opk_index_clear(&names.again);
	opk_buf_add(out, "", 1);
	return out->failed ? NULL : (char *)opk_take(out->data);
}
