/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --check: a set's errors, and its result on each chip. */
#include "sets/sets_check.h"

#include <string.h>

#include "base/buf.h"
#include "common/args.h"
#include "plan/door.h"

/* Columns of the two lists of opk_set_check(). */
enum { STATUS = 4, FAILED, CHIP_COLUMNS = 5 };
enum { MESSAGE, EXCERPT = 5, CARET, IS_ERROR, CHIPS };

/* ---- errors: each once, with all chips that have it */

/* The message is the first chip's, and may contain its name. */
static void add_chips(struct opk_buf *text, const union opk_cell *error)
{
	enum { NAMED = 3 };
	const char *const *chips = error[CHIPS].list.items;
	size_t count = error[CHIPS].list.count;

	if (count < 2)
		return;
	if (!strstr(error[MESSAGE].string, chips[0]))
		opk_buf_add_printf(text, "; on %s", chips[0]);
	if (count - 1 > NAMED)
		opk_buf_add_printf(text, "; the same on %zu more chips", count - 1);
	for (size_t i = 1; count - 1 <= NAMED && i < count; i++)
		opk_buf_add_printf(text, "%s%s", i > 1 ? ", " : "; the same on ", chips[i]);
}

static void print_error(const char *prefix, const union opk_cell *error)
{
	opk_autobuf struct opk_buf text = { 0 };

	opk_buf_add_text(&text, error[MESSAGE].string);
	add_chips(&text, error);
	opk_buf_add(&text, "", 1);
	app_print_cause(prefix, text.failed ? error[MESSAGE].string : (const char *)text.data);
	if (error[EXCERPT].string)
		app_print_cause("  ", error[EXCERPT].string);
	if (error[CARET].string)
		app_print_cause("  ", error[CARET].string);
}

/* Prints what all chips have in common, if there are several. */
static void print_heading(const struct opk_set *set, const struct opk_listing *chips,
                          const struct opk_listing *errors)
{
	opk_autofree char *all = NULL;
	const char *first = NULL;
	size_t count = 0, failed = 0;

	for (size_t i = 0; i < opk_listing_count(errors); i++)
		count += opk_listing_get(errors, i)[IS_ERROR].boolean;
	for (size_t i = 0; i < opk_listing_count(chips); i++) {
		const union opk_cell *chip = opk_listing_get(chips, i);

		failed += chip[FAILED].boolean;
		if (chip[FAILED].boolean && !first)
			first = chip[STATUS].string;
	}
	if (failed > 1)
		all = opk_printf("set %s: %zu errors on %zu chips", opk_set_name(set), count,
		                 failed);
	app_print_cause("offpeak: ", all ? all : first ? first : "");
}

static void print_errors(const struct opk_set *set, const struct opk_listing *chips,
                         const struct opk_listing *errors)
{
	size_t count = opk_listing_count(errors);

	if (count > 1)
		print_heading(set, chips, errors);
	for (size_t i = 0; i < count; i++)
		print_error(count > 1 ? "  " : "offpeak: ", opk_listing_get(errors, i));
}

/* ---- the command */

bool sets_split_chips(struct opk_strlist *names, const struct option_list *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const char *rest = wanted->items[i];

		for (size_t length; *rest; rest += length + (rest[length] == ',')) {
			length = strcspn(rest, ",");
			if (length && !opk_strlist_take(names, opk_strndup(rest, length)))
				return false;
		}
	}
	return true;
}

static bool is_good(const struct opk_listing *chips)
{
	for (size_t i = 0; i < opk_listing_count(chips); i++)
		if (strcmp(opk_listing_get(chips, i)[STATUS].string, "ok"))
			return false;
	return true;
}

static int print_chips(struct app *app, struct opk_listing *chips)
{
	TRY(app_begin_output(app));
	TRY(app_list_columns(app, "chips", chips, CHIP_COLUMNS));
	return app_end_output(app);
}

/* `read` is the result of reading its files. */
static int check_set(struct app *app, const struct opk_set *set,
                     const struct opk_set_check_options *options, int read)
{
	opk_auto(opk_chips) struct opk_chips *known = NULL;
	opk_auto(opk_listing) struct opk_listing *errors = NULL;
	struct opk_listing *chips = NULL;
	int worst = read, code = opk_chips_new(&known, app->ctx);

	if (code && read) {
		app_note("without NVIDIA's libraries it was not checked on any chip");
		return OPK_EINPUT;
	}
	if (!code)
		code = opk_set_check_on_chips(&chips, &errors, app->ctx, set, options);
	if (code)
		return app_fail(app, code);
	if (opk_set_check_claims(app->ctx, set, known))
		worst = app_fail(app, OPK_EINPUT);
	if (!read && !is_good(chips))
		worst = OPK_EINPUT;
	code = print_chips(app, chips);
	if (!worst)
		return code;
	if (code)
		app_fail(app, code);
	print_errors(set, chips, errors);
	app->reported = true;
	return worst;
}

int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params, double effort)
{
	struct opk_set_check_options options = OPK_INIT(options);
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_auto(opk_set) struct opk_set *set = NULL;
	int code, read = opk_set_find_partly(&set, app->ctx, spec);

	if (read)
		app_fail(app, read);
	if (!set)
		return read;
	code = give_parameters(app, params, set);
	if (!code && !sets_split_chips(&names, chips))
		code = app_nomem(app);
	if (code)
		return app_fail(app, code);
	options.chips = names.count ? opk_strlist_items(&names) : NULL;
	options.chip_count = names.count;
	options.effort = effort;
	return check_set(app, set, &options, read);
}
