/* SPDX-License-Identifier: BSD-2-Clause */
/* A plain list of metric names, as ncu --metrics takes it: lines, commas, comments. */
#include <string.h>

#include "base/ctx.h"
#include "nsight/section_fail.h"
#include "nsight/section_name.h"
#include "nsight/set_import.h"

enum { MAX_NAME = 1024 };

struct list {
	struct opk_drafts *drafts;
	struct opk_source *source;
	const char *text;       /* of the source */
	size_t size, at, start; /* start: of the line */
	char *comment; /* of lines that have nothing else, for the metric that comes next */
	struct opk_place place; /* of the byte `placed`, not beyond `at` */
	size_t placed;
};

static int fail_here(const struct list *list, size_t at, const char *what)
{
	struct opk_place place = opk_place_of_byte(list->source, at);

	return opk_fail_at(list->drafts->ctx, &place, "%s", what);
}

static bool ends_line(const struct list *list, size_t at)
{
	return at >= list->size || list->text[at] == '\n';
}

/* The comment that begins at a '#', without it and the blanks around; free(). */
static char *comment_at(const struct list *list, size_t at)
{
	size_t end;

	while (!ends_line(list, at) && strchr("# \t", list->text[at]))
		at++;
	for (end = at; !ends_line(list, end);)
		end++;
	while (end > at && strchr(" \t\r", list->text[end - 1]))
		end--;
	return opk_strndup(list->text + at, end - at);
}

static int put(struct list *list, const char *text, const char *label)
{
	struct opk_asked asked = opk_asked_name(text);
	bool legacy = !asked.group && !strstr(asked.name, "__");
	size_t which = asked.profiler == OPK_PROFILER_PM ? OPK_DRAFT_PM
	               : asked.device                    ? OPK_DRAFT_DEVICE
	                                                 : OPK_DRAFT_RANGE;
	opk_autofree char *name = NULL;
	int code;

	if (asked.reason && !legacy)
		return opk_drafts_leave_out(list->drafts, asked.reason, text, label);
	code = opk_drafts_name(&name, list->drafts, &asked, text, &list->place);
	if (!code)
		code = opk_drafts_leave_out_parts(list->drafts, &asked, text);
	if (!code)
		code = opk_drafts_put(list->drafts, which, "", "",
		                      &(struct opk_draft_metric){ .name = name,
		                                                  .label = (char *)label,
		                                                  .comment = list->comment,
		                                                  .chips = opk_chips_all() });
	free(opk_take(list->comment));
	return code;
}

/* One name, from `list->at` on. */
static int read_name(struct list *list)
{
	size_t from = list->at, end = from, behind;
	bool labelled;
	opk_autofree char *name = NULL, *label = NULL;
	int code;

	for (; end < list->size && !strchr(", \t\r\n", list->text[end]); end++)
		if ((unsigned char)list->text[end] < ' ' || (unsigned char)list->text[end] > '~')
			return fail_here(list, end, "this is no metric name");
	if (end - from > MAX_NAME)
		return fail_here(list, from, "a metric name is not that long");
	name = opk_strndup(list->text + from, end - from);
	for (behind = end; behind < list->size && strchr(", \t", list->text[behind]);)
		behind++;
	labelled = behind < list->size && list->text[behind] == '#';
	label = labelled ? comment_at(list, behind) : NULL;
	if (!name || (labelled && !label))
		return opk_nomem(list->drafts->ctx, "a metric set");
	opk_place_move(&list->place, &list->placed, from);
	list->at = end;
	code = opk_drafts_count(list->drafts);
	return code ? code : put(list, name, label && *label ? label : NULL);
}

/* A comment is the label of the name before it, which took it already, or stands alone. */
static int read_comment(struct list *list)
{
	bool alone = true;

	for (size_t i = list->start; i < list->at; i++)
		alone &= strchr(" \t", list->text[i]) != NULL;
	if (alone) {
		free(list->comment);
		list->comment = comment_at(list, list->at);
		if (!list->comment)
			return opk_nomem(list->drafts->ctx, "a metric set");
	}
	while (!ends_line(list, list->at))
		list->at++;
	return OPK_OK;
}

static int read_next(struct list *list)
{
	char c = list->text[list->at];

	if (c == '#')
		return read_comment(list);
	if (!c || !strchr(", \t\r\n", c))
		return read_name(list);
	list->at++;
	if (c == '\n')
		list->start = list->at;
	return OPK_OK;
}

/* "folder/mine.txt" -> "mine" */
static char *stem(const char *source)
{
	const char *dot = strrchr(source, '.');

	return dot && dot != source ? opk_strndup(source, (size_t)(dot - source))
	                            : opk_strdup(source);
}

int opk_list_import(struct opk_drafts *drafts, struct opk_source *source)
{
	struct list list = { .drafts = drafts,
		             .source = source,
		             .text = source->text,
		             .size = source->size,
		             .place = { source, 1, 1 } };
	int code = OPK_OK;

	drafts->name = stem(drafts->source);
	if (!drafts->name)
		return opk_nomem(drafts->ctx, "a metric set");
	while (!code && list.at < list.size)
		code = read_next(&list);
	free(list.comment);
	return code;
}
