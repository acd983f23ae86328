/* SPDX-License-Identifier: BSD-2-Clause */
/* Says which names are nearly like a pattern that matches none. */
#include "base/buf.h"
#include "base/glob.h"
#include "base/index.h"
#include "base/nearest.h"
#include "container/door.h"
#include "eval/door.h"
#include "show/show.h"

enum { MOST_NAMES = 3 };

/* Each kernel, or range, once. */
struct candidates {
	struct opk_strlist names; /* short ones */
	struct opk_index known;
};

static void clear(struct candidates *candidates)
{
	opk_strlist_clear(&candidates->names);
	opk_index_clear(&candidates->known);
}

static int add_candidate(struct candidates *out, const struct show *show, const char *name)
{
	if (opk_index_find(NULL, &out->known, name))
		return OPK_OK;
	return opk_strlist_add(&out->names, name)
	                       && opk_index_add(&out->known, out->names.items[out->names.count - 1],
	                                        out->names.count, NULL)
	               ? OPK_OK
	               : app_nomem(show->app);
}

/* Kernels of ranges, or ranges. */
static int add_ranges(struct candidates *out, const struct show *show,
                      const struct opk_range *ranges, size_t count)
{
	opk_auto(opk_kernel_names) struct opk_kernel_names *names = NULL;

	TRY(opk_kernel_names_new(&names, show->app->ctx, kernel_style(show->app, 1)));
	TRY(opk_kernel_names_add(names, show->app->ctx, ranges, count));
	for (size_t i = 0; i < count; i++)
		TRY(add_candidate(out, show,
		                  *ranges[i].kernel ? opk_kernel_names_get(names, &ranges[i])
		                                    : ranges[i].name));
	return OPK_OK;
}

static int find_candidates(struct candidates *out, const struct show *show)
{
	const struct opk_summary *summary = show->summary;
	opk_autofree struct opk_range *kernels = opk_alloc_array(summary->activity_count + 1,
	                                                         sizeof *kernels);
	const struct opk_range *ranges;
	size_t count, kernel_count = 0;

	if (!kernels)
		return app_nomem(show->app);
	TRY(opk_file_ranges(&ranges, &count, show->app->ctx, show->file));
	TRY(add_ranges(out, show, ranges, count));
	for (size_t i = 0; i < summary->activity_count; i++)
		if (summary->activities[i].kind == OPK_ACTIVITY_KERNEL)
			kernels[kernel_count++] = opk_activity_range(&summary->activities[i]);
	return add_ranges(out, show, kernels, kernel_count);
}

/* Finds names that have the text as a part, else the one that differs from it by a few letters. */
static size_t find_near(const char *out[MOST_NAMES], const struct candidates *from,
                        const char *part, const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < from->names.count && count < MOST_NAMES; i++)
		if (opk_glob_match(part, from->names.items[i]))
			out[count++] = from->names.items[i];
	if (!count) {
		struct opk_nearest nearest = { .name = text };

		for (size_t i = 0; i < from->names.count; i++)
			opk_nearest_try(&nearest, from->names.items[i]);
		if (nearest.best)
			out[count++] = nearest.best;
	}
	return count;
}

/* The pattern without the stars at its ends; free() */
static char *plain_text(const char *pattern)
{
	size_t length;

	pattern += strspn(pattern, "*");
	length = strlen(pattern);
	while (length && pattern[length - 1] == '*')
		length--;
	return opk_strndup(pattern, length);
}

int show_unlike(const struct show *show)
{
	__attribute__((cleanup(clear))) struct candidates candidates = { 0 };
	opk_autofree char *text = plain_text(show->kernel);
	opk_autofree char *part = text ? opk_printf("*%s*", text) : NULL;
	opk_autofree char *said = NULL;
	const char *near[MOST_NAMES];
	struct opk_buf out = { 0 };
	size_t count;

	if (!part)
		return app_nomem(show->app);
	TRY(find_candidates(&candidates, show));
	count = find_near(near, &candidates, part, text);
	opk_buf_add_printf(&out, "no kernel or range is like --kernel %s", show->kernel);
	for (size_t i = 0; i < count; i++)
		opk_buf_add_printf(&out, "%s%s", i ? ", " : "; the nearest: ", near[i]);
	if (strcmp(part, show->kernel) != 0)
		opk_buf_add_printf(&out, "; --kernel '%s' matches parts of names", part);
	said = opk_buf_take_text(&out);
	if (!said)
		return app_nomem(show->app);
	app_note("%s", said);
	return OPK_OK;
}
