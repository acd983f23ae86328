/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists sets, with what their files say. */
#include <string.h>

#include "base/buf.h"
#include "base/listing.h"
#include "set/set.h"
#include "set/set_read.h"

static int add_set(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_set *set,
                   const char *name)
{
	opk_autofree const char **chips = opk_alloc_array(set->chips.count + 1, sizeof *chips);

	if (!chips)
		return opk_nomem(ctx, "a list of sets");
	for (size_t i = 0; i < set->chips.count; i++)
		chips[i] = set->chips.items[i].text;
	opk_listing_row(rows, cell_text(name),
	                cell_text(set->has_profiler ? opk_profiler_name(set->profiler) : NULL),
	                cell_number(set->metrics.count), cell_text(set->description),
	                cell_text(set->path), cell_number(set->version),
	                cell_list(chips, set->chips.count), cell_texts(&set->metrics),
	                cell_text(NULL));
	return OPK_OK;
}

/* Adds a row for a bad file, so that the others are still listed. */
static int add_bad(struct opk_listing *rows, struct opk_ctx *ctx, const char *name,
                   const char *path)
{
	opk_autobuf struct opk_buf lines = { 0 };
	opk_autofree char *text = NULL;

	for (size_t i = opk_error_count(ctx); i > 0; i--)
		opk_buf_add_printf(&lines, "%s%s", lines.size ? "\n" : "",
		                   opk_error_message(ctx, i - 1));
	text = opk_buf_take_text(&lines);
	opk_clear_errors(ctx);
	if (!text)
		return opk_nomem(ctx, "a list of sets");
	opk_listing_row(rows, cell_text(name), cell_text(NULL), cell_number(0), cell_text(""),
	                cell_text(path), cell_number(0), cell_list(NULL, 0), cell_list(NULL, 0),
	                cell_text(text));
	return OPK_OK;
}

static int add_file(struct opk_listing *rows, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	opk_autofree char *name = opk_strndup(file, (size_t)(strrchr(file, '.') - file));
	int code = name ? opk_set_load(&set, ctx, path) : opk_nomem(ctx, "a list of sets");

	if (code == OPK_EINPUT)
		return add_bad(rows, ctx, name, path);
	return code ? code : add_set(rows, ctx, set, name);
}

static int add_all(struct opk_listing *rows, struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist paths = { 0 };

	TRY(opk_set_paths(&paths, ctx));
	for (size_t i = 0; i < paths.count; i++)
		TRY(add_file(rows, ctx, paths.items[i]));
	return OPK_OK;
}

int opk_set_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_set *set)
{
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new(
		"set profiler metrics# description path version# chips* entries* error");

	TRY(set ? add_set(rows, ctx, set, set->name) : add_all(rows, ctx));
	return opk_listing_finish(out, ctx, opk_take(rows));
}
