/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts values to places; round numbers for axes, and short numbers for labels. */
#include <math.h>
#include <string.h>

#include "output/output.h"
#include "picture/svg.h"

double opk_axis_at(const struct opk_axis *axis, double value)
{
	double from = axis->log ? log10(axis->from) : axis->from;
	double to = axis->log ? log10(axis->to) : axis->to;
	double at = axis->log ? log10(value) : value;

	return axis->begin + (at - from) / (to - from) * (axis->end - axis->begin);
}

/* The next of 1, 2, 5 and 10 times a power of ten that is not below the number. */
static double round_up(double number)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = pow(10, floor(log10(number)));

	for (size_t i = 0; i < 4; i++)
		if (steps[i] * power >= number * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}

/* The next such number that is not above it. */
static double round_down(double number)
{
	return 1 / round_up(1 / number);
}

static double linear_step(const struct opk_axis *axis, size_t wanted)
{
	return round_up((axis->to - axis->from) / (double)wanted);
}

void opk_axis_round(struct opk_axis *axis)
{
	enum { STEPS = 5 };

	if (axis->log) {
		axis->from = round_down(axis->from);
		axis->to = round_up(axis->to);
		if (axis->to <= axis->from * (1 + 1e-9)) {
			axis->from /= 10;
			axis->to *= 10;
		}
	} else if (axis->to > axis->from) {
		double step = linear_step(axis, STEPS);

		axis->from = floor(axis->from / step + 1e-9) * step;
		axis->to = ceil(axis->to / step - 1e-9) * step;
		axis->step = step;
	}
}

static void add(struct opk_ticks *ticks, const struct opk_axis *axis, double value, bool major)
{
	if (ticks->count == sizeof ticks->values / sizeof *ticks->values
	    || value < axis->from * (1 - 1e-9) || value > axis->to * (1 + 1e-9))
		return;
	ticks->values[ticks->count] = value;
	ticks->major[ticks->count++] = major;
}

/* Adds powers of ten; on short axes also 2 and 5 times these. */
static void add_log(struct opk_ticks *ticks, const struct opk_axis *axis)
{
	int from = (int)floor(log10(axis->from) + 1e-9), to = (int)ceil(log10(axis->to) - 1e-9);
	int step = (to - from + 15) / 16;

	for (int power = from; power <= to; power += step) {
		add(ticks, axis, pow(10, power), true);
		if (to - from <= 4)
			add(ticks, axis, 2 * pow(10, power), to - from <= 2);
		if (to - from <= 4)
			add(ticks, axis, 5 * pow(10, power), to - from <= 2);
	}
}

void opk_axis_ticks(struct opk_ticks *ticks, const struct opk_axis *axis, size_t wanted)
{
	double step;

	ticks->count = 0;
	if (axis->log) {
		add_log(ticks, axis);
		return;
	}
	if (!(axis->to > axis->from))
		return;
	step = axis->step > 0 ? axis->step : linear_step(axis, wanted ? wanted : 1);
	for (double i = ceil(axis->from / step - 1e-9); i * step <= axis->to + step * 1e-9; i++)
		add(ticks, &(struct opk_axis){ .from = -INFINITY, .to = INFINITY }, i * step + 0.0,
		    true);
}

/* ---- numbers */

void opk_put_short(struct opk_buf *out, double value)
{
	static const char *const prefixes[] = { "", " k", " M", " G", " T", " P", " E" };
	size_t at = 0;

	if (isnan(value)) {
		opk_buf_add_text(out, "nan");
		return;
	}
	while (at < 6 && fabs(value) >= 999.5) {
		value /= 1000;
		at++;
	}
	opk_buf_add_printf(out, "%.3g%s", value, prefixes[at]);
}

void opk_put_value(struct opk_buf *out, double value, const char *unit)
{
	struct opk_scale scale;

	opk_scale_find(&scale, unit, fabs(value));
	if (!*scale.unit || scale.divisor == 1)
		opk_put_short(out, value);
	else
		opk_buf_add_printf(out, "%.3g", value / scale.divisor);
	if (*scale.unit)
		opk_buf_add_printf(out, " %s", scale.unit);
}

void opk_value_text(char out[OPK_VALUE_TEXT], double value, const char *unit)
{
	opk_autobuf struct opk_buf text = { 0 };

	opk_put_value(&text, value, unit);
	snprintf(out, OPK_VALUE_TEXT, "%.*s", (int)text.size, (const char *)text.data);
}
