/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges inside others: chooses the ranges of a key to add up, so that nothing counts twice. */
#include <string.h>

#include "base/buf.h"
#include "container/container.h"
#include "images/images.h"

int opk_level_parse(enum opk_level *out, struct opk_ctx *ctx, const char *text)
{
	static const char *const words[] = {
		[OPK_OUTERMOST] = "outermost",
		[OPK_INNERMOST] = "innermost",
		[OPK_ALL_LEVELS] = "all",
	};

	*out = OPK_OUTERMOST;
	for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
		if (!strcmp(text, words[i])) {
			*out = (enum opk_level)i;
			return OPK_OK;
		}
	return text ? opk_fail(ctx, OPK_EUSAGE,
	                       "'%s' is not a level: use outermost, innermost or all", text)
	            : OPK_OK;
}

/* Ranges with the same name, key, GPU and rank. */
struct holder {
	size_t row;   /* the first of them */
	size_t inner; /* a row inside; SIZE_MAX: none */
};

struct levels {
	struct opk_ctx *ctx;
	const struct opk_survey *survey;
	struct opk_grouping scopes;
	char **keys; /* one per row; NULL: it is not inside others */
	struct opk_nesting nesting;
	struct holder *holders; /* by their numbers in `nesting` */
	size_t *outer;          /* one per row: the outermost holder that it is in, or SIZE_MAX */
	size_t *own;            /* one per row: the holder that it is, or SIZE_MAX */
};

static bool is_kernel(const struct opk_range *range)
{
	return range && *range->kernel;
}

/* A range's name is its path; a kernel has the path of the NVTX ranges that it ran in. */
static const char *path_of(const struct opk_survey *survey, size_t row)
{
	const struct opk_range *range = opk_survey_range(survey, row);

	return is_kernel(range) ? range->nvtx : opk_survey_name(survey, row);
}

static int add_row(struct levels *l, size_t row)
{
	const struct opk_range *range = opk_survey_range(l->survey, row);
	const char *name = opk_survey_name(l->survey, row), *path = path_of(l->survey, row);
	bool may_be_inside = is_kernel(range) ? *path : strchr(path, '/') != NULL;
	char scope[24];
	size_t number;

	TRY(opk_grouping_add(&number, &l->scopes, l->ctx, name, range));
	snprintf(scope, sizeof scope, "%zu", number);
	if (may_be_inside)
		l->keys[row] = opk_nesting_key(scope, path, is_kernel(range));
	if (may_be_inside && !l->keys[row])
		return opk_nomem(l->ctx, "levels of ranges");
	if (is_kernel(range) || !*name)
		return OPK_OK;
	number = l->nesting.keys.count;
	if (!opk_nesting_add(&l->own[row], &l->nesting, opk_nesting_key(scope, name, false)))
		return opk_nomem(l->ctx, "levels of ranges");
	if (l->own[row] == number)
		l->holders[number] = (struct holder){ row, SIZE_MAX };
	return OPK_OK;
}

/* Finds all holders of the row. */
static void find_holders(struct levels *l, size_t row)
{
	size_t number, end = 0;

	while (l->keys[row] && opk_nesting_next(&number, &end, &l->nesting, l->keys[row])) {
		if (l->outer[row] == SIZE_MAX)
			l->outer[row] = number;
		if (l->holders[number].inner == SIZE_MAX)
			l->holders[number].inner = row;
	}
}

/* ---- the choice ------------------------------------------------------------------------- */

static bool is_dropped(const struct levels *l, size_t row, enum opk_level level)
{
	if (level == OPK_OUTERMOST)
		return l->outer[row] != SIZE_MAX;
	return l->own[row] != SIZE_MAX && l->holders[l->own[row]].inner != SIZE_MAX;
}

/* `dropped` is a row that is not added. */
static void explain(const struct levels *l, size_t count, size_t dropped, enum opk_level level)
{
	const struct holder
		*holder = &l->holders[level == OPK_OUTERMOST ? l->outer[dropped] : l->own[dropped]];
	size_t inner = level == OPK_OUTERMOST ? dropped : holder->inner;
	bool kernel = is_kernel(opk_survey_range(l->survey, inner));

	opk_log(l->ctx,
	        "%s: ranges are inside others, such as %s'%s' in '%s': only the %s are added, "
	        "%zu %s left out (level)",
	        opk_survey_image(l->survey, dropped)->file->path, kernel ? "a kernel of " : "",
	        path_of(l->survey, inner), opk_survey_name(l->survey, holder->row),
	        level == OPK_OUTERMOST ? "outermost" : "innermost", count,
	        count == 1 ? "is" : "are");
}

static int choose(struct levels *l, bool *left_out, const struct opk_sums_options *options)
{
	size_t rows = l->survey->row_count, count = 0, first = 0;

	for (size_t i = 0; i < rows; i++) {
		l->outer[i] = l->own[i] = SIZE_MAX;
		if (!left_out[i])
			TRY(add_row(l, i));
	}
	for (size_t i = 0; i < rows; i++)
		if (!left_out[i])
			find_holders(l, i);
	for (size_t i = rows; i-- > 0;) {
		if (left_out[i] || !is_dropped(l, i, options->level))
			continue;
		left_out[i] = true;
		first = i;
		count++;
	}
	if (count && !options->explained)
		explain(l, count, first, options->level);
	return OPK_OK;
}

int opk_levels_choose(bool *left_out, struct opk_ctx *ctx, const struct opk_survey *survey,
                      const struct opk_sums_options *options)
{
	size_t rows = survey->row_count + 1;
	opk_autofree char **keys = opk_alloc_array(rows, sizeof *keys);
	opk_autofree struct holder *holders = opk_alloc_array(rows, sizeof *holders);
	opk_autofree size_t *outer = opk_alloc_array(rows, sizeof *outer);
	opk_autofree size_t *own = opk_alloc_array(rows, sizeof *own);
	struct levels l = {
		.ctx = ctx,
		.survey = survey,
		.scopes.key = options->key | OPK_KEY_GPU | OPK_KEY_RANK | OPK_KEY_PASS,
		.keys = keys,
		.holders = holders,
		.outer = outer,
		.own = own,
	};
	int code;

	if (options->level == OPK_ALL_LEVELS)
		return OPK_OK;
	code = keys && holders && outer && own ? choose(&l, left_out, options)
	                                       : opk_nomem(ctx, "levels of ranges");
	for (size_t i = 0; keys && i < rows; i++)
		free(keys[i]);
	opk_nesting_clear(&l.nesting);
	opk_grouping_clear(&l.scopes);
	return code;
}
