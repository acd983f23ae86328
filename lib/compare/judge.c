/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies rules to rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "compare/compare.h"
#include "eval/door.h"

struct judge {
	struct opk_diff *diff;
	struct opk_ctx *ctx;
	const struct opk_compared_rule *rule;
	size_t column;         /* SIZE_MAX: neither side has it */
	bool lacks[OPK_SIDES]; /* no recording of the side lists it, and the side has no value */
	size_t rows;           /* the rule looks at */
};

static int nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "a judgement");
}

/* ---- what is said ----------------------------------------------------------------------- */

/* Takes both texts over. */
static int put(struct judge *j, const struct opk_diff_row *row, bool broken, char *name, char *text)
{
	struct opk_diff_judged *judged = opk_list_add(&j->diff->found.judged);
	bool named = opk_strlist_take(&j->diff->texts, name);

	if (!opk_strlist_take(&j->diff->texts, text) || !named || !judged)
		return nomem(j->ctx);
	*judged = (struct opk_diff_judged){
		.rule = &j->rule->rule,
		.row = row,
		.broken = broken,
		.row_name = name,
		.text = text,
	};
	j->diff->found.broken += broken;
	return OPK_OK;
}

static int put_row(struct judge *j, const struct opk_diff_row *row, bool broken, char *text)
{
	return put(j, row, broken, opk_diff_row_name(j->diff, row, j->diff->names), text);
}

/* Adds how certain the change is, and how much of it the clock explains. */
static void put_evidence(struct opk_buf *out, const struct opk_diff_value *value)
{
	if (value->verdict == OPK_VERDICT_NOISE) {
		opk_buf_add_text(out, ", which is no more than noise");
		return;
	}
	if (value->verdict == OPK_VERDICT_TOO_FEW)
		opk_buf_add_printf(out,
		                   "; %" PRIu64 " and %" PRIu64
		                   " launches are too few to tell it from noise",
		                   value->before.count, value->after.count);
	if (!isnan(value->clock) && value->clock != 0)
		opk_buf_add_printf(out, "; the SM clock's part is up to %+.4g%%", value->clock);
	if (value->verdict == OPK_VERDICT_CLOCK)
		opk_buf_add_text(out, ", and the rest is no more than noise");
}

static char *describe_change(const struct judge *j, const struct opk_diff_value *value)
{
	const char *unit = j->diff->columns.items[j->column].unit;
	struct opk_buf out = { 0 };

	if (isfinite(value->change))
		opk_buf_add_printf(&out, "%+.4g%%, ", value->change);
	opk_buf_add_printf(&out, "from %.6g to %.6g%s%s", value->before.value, value->after.value,
	                   *unit ? " " : "", unit);
	if (value->change != 0)
		put_evidence(&out, value);
	return opk_buf_take_text(&out);
}

/* The reason why there is no percentage: "nan before", "infinite on both sides"; free(). */
static char *describe_unknown(const struct judge *j, const struct opk_diff_value *value)
{
	double before = value->before.value, after = value->after.value;
	bool nan = isnan(before) || isnan(after);
	bool of_before = nan ? isnan(before) : isinf(before);
	bool of_after = nan ? isnan(after) : isinf(after);
	bool lacking = (!of_before || j->lacks[OPK_BEFORE]) && (!of_after || j->lacks[OPK_AFTER]);
	const char *what = nan ? "nan" : "infinite";

	if (of_before && of_after)
		return opk_printf("%s on both sides%s", what,
		                  lacking ? ": neither recorded it" : "");
	return opk_printf("%s %s%s", what, of_before ? "before" : "after",
	                  lacking ? ": it was not recorded" : "");
}

/* ---- values ----------------------------------------------------------------------------- */

static bool is_beyond(const struct opk_diff_rule *rule, double value)
{
	if (value == rule->limit)
		return rule->equal;
	return rule->less ? value < rule->limit : value > rule->limit;
}

static int judge_change(struct judge *j, const struct opk_diff_row *row,
                        const struct opk_diff_value *value)
{
	if (isnan(value->change))
		return put_row(j, row, true, describe_unknown(j, value));
	return put_row(j, row,
	               value->verdict != OPK_VERDICT_NOISE
	                       && is_beyond(&j->rule->rule, value->change),
	               describe_change(j, value));
}

static int judge_value(struct judge *j, const struct opk_diff_row *row,
                       const struct opk_diff_value *value)
{
	const char *unit = j->diff->columns.items[j->column].unit;

	if (isnan(value->after.value))
		return put_row(j, row, true,
		               opk_printf("nan after%s",
		                          j->lacks[OPK_AFTER] ? ": it was not recorded" : ""));
	return put_row(j, row, is_beyond(&j->rule->rule, value->after.value),
	               opk_printf("%.6g%s%s", value->after.value, *unit ? " " : "", unit));
}

/* Code may have been sampled without any sample of this row. */
static bool is_measured(const struct opk_diff_side *side)
{
	return side->count > 0 || side->value == 0;
}

static int judge_row(struct judge *j, const struct opk_diff_row *row)
{
	const struct opk_diff_value *value = j->column == SIZE_MAX ? NULL : &row->values[j->column];
	bool relative = j->rule->rule.relative;

	if (!value || (!is_measured(&value->before) && !is_measured(&value->after)))
		return put_row(j, row, true, opk_strdup("neither side measured it"));
	if (relative && !is_measured(&value->before))
		return put_row(j, row, true, opk_strdup("it was not measured before"));
	if (!is_measured(&value->after))
		return put_row(j, row, true, opk_strdup("it was not measured after"));
	return relative ? judge_change(j, row, value) : judge_value(j, row, value);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Whether the rule looks at the row; if so, counts the row. */
static int look_at(bool *accepted, struct judge *j, const struct opk_diff_row *diff_row)
{
	struct opk_row row = { .name = diff_row->code ? diff_row->range.kernel : diff_row->name,
		               .range = &diff_row->range,
		               .code = diff_row->code };
	enum opk_profiler profiler = row.code ? OPK_PROFILER_SASS : OPK_PROFILER_RANGE;

	TRY(opk_filter_accepts(accepted, j->ctx, j->rule->filter, profiler, &row, 0));
	j->rows += *accepted;
	return OPK_OK;
}

static int judge_matched(struct judge *j)
{
	for (size_t i = 0; i < j->diff->found.row_count; i++) {
		bool accepted;

		TRY(look_at(&accepted, j, &j->diff->found.rows[i]));
		if (accepted)
			TRY(judge_row(j, &j->diff->found.rows[i]));
	}
	return OPK_OK;
}

/* A limit holds for new rows, too. */
static int judge_new(struct judge *j)
{
	for (size_t i = 0; i < j->diff->found.unmatched_count; i++) {
		const struct opk_diff_row *row = &j->diff->found.unmatched[i];
		bool accepted = false;

		if (row->after_launches)
			TRY(look_at(&accepted, j, row));
		if (accepted)
			TRY(judge_row(j, row));
	}
	return OPK_OK;
}

static bool has_value(const struct judge *j, const struct opk_diff_row *rows, size_t count,
                      enum opk_compared_side side)
{
	for (size_t i = 0; j->column != SIZE_MAX && i < count; i++) {
		const struct opk_diff_value *value = &rows[i].values[j->column];

		if (!isnan((side == OPK_BEFORE ? &value->before : &value->after)->value))
			return true;
	}
	return false;
}

static int find_in_meta(bool *found, struct judge *j, const struct opk_meta *meta)
{
	struct opk_meta_names names;

	TRY(opk_meta_names_init(&names, j->ctx, meta));
	*found |= opk_meta_names_find(&names, j->rule->rule.metric) != NULL;
	opk_meta_names_clear(&names);
	return OPK_OK;
}

/* A rule may name any metric of the chip; a metric that was not recorded is nan. */
static int find_lacking(struct judge *j, enum opk_compared_side side)
{
	const struct opk_diff *diff = j->diff;
	bool found = has_value(j, diff->found.rows, diff->found.row_count, side)
	             || has_value(j, diff->found.unmatched, diff->found.unmatched_count, side);
	int code = OPK_OK;

	for (size_t i = 0; !code && !found && i < diff->source_count; i++)
		if (diff->sources[i].side == side)
			code = find_in_meta(&found, j, diff->sources[i].meta);
	j->lacks[side] = !found;
	return code;
}

static int judge_values(struct judge *j)
{
	const struct opk_diff_rule *rule = &j->rule->rule;
	int code = OPK_OK;

	if (!opk_index_find(&j->column, &j->diff->numbers, rule->metric))
		j->column = SIZE_MAX;
	for (int side = 0; !code && side < OPK_SIDES; side++)
		code = find_lacking(j, (enum opk_compared_side)side);
	if (!code)
		code = judge_matched(j);
	return code || rule->relative ? code : judge_new(j);
}

static int judge_unmatched(struct judge *j)
{
	size_t unmatched = 0;
	bool accepted;

	for (size_t i = 0; i < j->diff->found.row_count; i++)
		TRY(look_at(&accepted, j, &j->diff->found.rows[i]));
	for (size_t i = 0; i < j->diff->found.unmatched_count; i++) {
		const struct opk_diff_row *row = &j->diff->found.unmatched[i];

		TRY(look_at(&accepted, j, row));
		if (!accepted)
			continue;
		unmatched++;
		TRY(put_row(j, row, true,
		            opk_printf("it is there only %s",
		                       row->before_launches ? "before" : "after")));
	}
	if (unmatched || !j->rows)
		return OPK_OK;
	return put(j, NULL, false, opk_strdup(""), opk_strdup("all rows are on both sides"));
}

/* Why a gate looks at nothing, considering all rules; NULL: it looks at something. */
static const char *find_nothing(const struct judge *j)
{
	if (!j->diff->found.row_count)
		return "no row matches";
	if (j->rows)
		return NULL;
	return j->rule->rule.relative ? "no row of both sides is like its 'where'"
	                              : "no row is like its 'where'";
}

static int judge(struct judge *j)
{
	int code = *j->rule->rule.metric ? judge_values(j) : judge_unmatched(j);
	const char *nothing = find_nothing(j);

	return code || !nothing ? code : put(j, NULL, true, opk_strdup(""), opk_strdup(nothing));
}

int opk_compared_judge(struct opk_diff *diff, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < diff->rules.rules.count; i++) {
		struct judge j = { .diff = diff, .ctx = ctx, .rule = &diff->rules.rules.items[i] };

		TRY(judge(&j));
	}
	return OPK_OK;
}
