/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what is wrong with a set: in its files, and on each chip. */
#include <string.h>
#include <time.h>

#include "base/listing.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "plan/door.h"
#include "resolve/resolve.h"
#include "set/set.h"

/* An error, which several chips may share; the texts are the first chip's. */
struct found {
	struct opk_cause cause; /* its texts are owned */
	struct opk_strlist chips;
};

/* One run, over several chips. */
struct check {
	struct opk_ctx *ctx;
	const struct opk_set *set;
	const struct opk_set_check_options *options;
	struct opk_chips *chips;
	struct opk_listing *rows;
	OPK_LIST(struct found) errors;
	double begun; /* start time, by CLOCK_MONOTONIC */
};

/* ---- errors: each listed once, for all chips that have it */

static void forget(struct found *found)
{
	opk_cause_clear(&found->cause);
	opk_strlist_clear(&found->chips);
}

static void clear(struct check *check)
{
	for (size_t i = 0; i < check->errors.count; i++)
		forget(&check->errors.items[i]);
	free(check->errors.items);
	opk_listing_free(check->rows);
	opk_chips_free(check->chips);
}

static bool is_same_file(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct found *find(const struct check *check, const struct opk_cause *cause)
{
	for (size_t i = 0; i < check->errors.count; i++) {
		const struct opk_cause *found = &check->errors.items[i].cause;

		if (found->line == cause->line && found->column == cause->column
		    && !strcmp(found->general, cause->general)
		    && is_same_file(found->file, cause->file))
			return &check->errors.items[i];
	}
	return NULL;
}

/* Moves the cause out of the chain. */
static struct found *add(struct check *check, struct opk_cause *cause)
{
	struct found *added = opk_list_add(&check->errors);

	if (!added)
		return NULL;
	added->cause = *cause;
	*cause = (struct opk_cause){ 0 };
	return added;
}

/* Takes all messages except the outermost one, which the chip's row shows. */
static int take(struct check *check, const char *chip)
{
	struct opk_causes *causes = &check->ctx->causes;
	size_t count = causes->count;

	if (count > 1 && causes->items[count - 1].kind == OPK_CAUSE_WHILE)
		count--;
	while (count-- > 0) {
		struct found *found = find(check, &causes->items[count]);

		if (!found)
			found = add(check, &causes->items[count]);
		if (!found || (chip && !opk_strlist_add(&found->chips, chip)))
			return opk_nomem(check->ctx, "a check");
	}
	opk_clear_errors(check->ctx);
	return OPK_OK;
}

static int list_errors(struct opk_listing **out, const struct check *check)
{
	struct opk_listing *rows = opk_listing_new(
		"message file line# column# text excerpt caret is_error? chips*");

	for (size_t i = 0; i < check->errors.count; i++) {
		const struct found *found = &check->errors.items[i];
		const struct opk_cause *cause = &found->cause;

		opk_listing_row(rows, cell_text(cause->message), cell_text(cause->file),
		                cell_number(cause->line), cell_number(cause->column),
		                cell_text(cause->text), cell_text(cause->excerpt),
		                cell_text(cause->caret), cell_flag(cause->kind == OPK_CAUSE_ERROR),
		                cell_texts(&found->chips));
	}
	return opk_listing_finish(out, check->ctx, rows);
}

/* ---- rows */

static int put_row(struct check *check, const char *chip, const struct opk_plan *plan,
                   const char *status, bool failed)
{
	bool known = plan != NULL;

	opk_listing_row(check->rows, cell_text(chip),
	                cell_known(known ? opk_plan_passes(plan) : 0, known),
	                cell_known(known ? opk_plan_metrics(plan)->count : 0, known),
	                cell_known(known ? opk_plan_missing(plan)->count : 0, known),
	                cell_text(status), cell_flag(failed));
	return OPK_OK;
}

/* Adds the row of a chip that has errors. */
static int put_failed(struct check *check, const char *chip)
{
	size_t lines = opk_error_count(check->ctx);

	put_row(check, chip, NULL,
	        lines ? opk_error_message(check->ctx, lines - 1) : "out of memory", true);
	return take(check, chip);
}

/* Finds what else is wrong with a set whose files have errors. */
static int judge_on(struct check *check, const char *chip)
{
	int code = opk_set_check_on(check->ctx, check->set, chip);

	if (!code)
		return put_row(check, chip, NULL, "not planned: its files have errors", false);
	return code == OPK_EINPUT || code == OPK_EUSAGE ? put_failed(check, chip) : code;
}

/* Used if no effort is given. */
enum { ALL_SECONDS = 60 };

static double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* For all chips together; after it, they are planned as CUPTI does. */
static double effort_left(const struct check *check)
{
	double effort = check->options->effort;
	double left = effort - (seconds_of(CLOCK_MONOTONIC) - check->begun);

	if (effort > 0)
		return left > 0 ? left : -1;
	/* Processor time, so that the machine's load does not matter. */
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID) < ALL_SECONDS ? effort : -1;
}

static int plan_on(struct check *check, const char *chip)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	int code;

	options.chip = chip;
	options.effort = effort_left(check);
	code = opk_plan_new(&plan, check->ctx, check->set, &options);
	if (opk_interrupted(check->ctx) || code == OPK_ENVIDIA)
		return code;
	code = code ? put_failed(check, chip) : put_row(check, chip, plan, "ok", false);
	opk_plan_free(plan);
	return code;
}

static int check_on(struct check *check, const char *chip)
{
	return (check->set->errors.count ? judge_on : plan_on)(check, chip);
}

static int check_named(struct check *check, const char *name)
{
	const struct opk_chip *chip;

	TRY(opk_chips_resolve(&chip, check->ctx, check->chips, name));
	if (opk_set_has_profiler_on(check->set, chip))
		return check_on(check, chip->name);
	return put_row(check, chip->name, NULL, "the chip lacks the set's profiler", false);
}

/* Checks that every given name is a chip before the first chip is checked. */
static int check_chips(struct check *check)
{
	const struct opk_set_check_options *options = check->options;
	const struct opk_chip *chip;

	for (size_t i = 0; i < options->chip_count; i++)
		TRY(opk_chips_resolve(&chip, check->ctx, check->chips, options->chips[i]));
	for (size_t i = 0; i < options->chip_count; i++)
		TRY(check_named(check, options->chips[i]));
	for (size_t i = 0; !options->chips && i < opk_chips_count(check->chips); i++) {
		chip = opk_chips_get(check->chips, i);
		if (opk_set_supports(check->set, chip))
			TRY(check_on(check, chip->name));
	}
	return OPK_OK;
}

/* ---- all of it */

static int begin(struct check *check)
{
	check->begun = seconds_of(CLOCK_MONOTONIC);
	check->rows = opk_listing_new("chip passes~ metrics~ left_out~ status failed?");
	return opk_chips_new(&check->chips, check->ctx);
}

static int finish(struct opk_listing **chips, struct opk_listing **errors, struct check *check,
                  int code)
{
	opk_auto(opk_listing) struct opk_listing *found = NULL;

	TRY(code);
	TRY(list_errors(&found, check));
	TRY(opk_listing_finish(chips, check->ctx, opk_take(check->rows)));
	*errors = opk_take(found);
	return OPK_OK;
}

int opk_set_check_on_chips(struct opk_listing **chips, struct opk_listing **errors,
                           struct opk_ctx *ctx, const struct opk_set *set,
                           const struct opk_set_check_options *options)
{
	__attribute__((cleanup(clear))) struct check check = { .ctx = ctx,
		                                               .set = set,
		                                               .options = options };

	TRY(begin(&check));
	return finish(chips, errors, &check, check_chips(&check));
}

/* Reads what it can of a set whose files have errors, and keeps these errors. */
static int read_partly(struct opk_set **out, struct check *check)
{
	const struct opk_set_check_options *options = check->options;
	int code = options->text ? opk_set_parse_partly(out, check->ctx, options->text,
	                                                options->text_size, options->name)
	                         : opk_set_find_partly(out, check->ctx, options->spec);

	return code == OPK_EINPUT ? take(check, NULL) : code;
}

static int check_all(struct check *check)
{
	opk_auto(opk_set) struct opk_set *partly = NULL;

	TRY(begin(check));
	if (!check->set)
		TRY(read_partly(&partly, check));
	check->set = check->set ? check->set : partly;
	if (!check->set)
		return OPK_OK;
	if (opk_set_check_claims(check->ctx, check->set, check->chips))
		TRY(take(check, NULL));
	return check_chips(check);
}

int opk_set_check(struct opk_listing **chips, struct opk_listing **errors, struct opk_ctx *ctx,
                  const struct opk_set *set, const struct opk_set_check_options *given)
{
	OPK_OPTIONS(opk_set_check_options, options, given);
	__attribute__((cleanup(clear))) struct check check = { .ctx = ctx,
		                                               .set = set,
		                                               .options = &options };

	if (!set && !options.spec && !options.text)
		return opk_fail(ctx, OPK_EUSAGE, "no metric set was named");
	return finish(chips, errors, &check, check_all(&check));
}
