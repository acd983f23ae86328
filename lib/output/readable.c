/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and units for people: five digits, "GB/s" and "us". */
#include <math.h>
#include <string.h>

#include "output/output.h"

static bool is_one_of(const char *text, size_t length, const char *name, const char *plural)
{
	return (strlen(name) == length && !memcmp(text, name, length))
	       || (strlen(plural) == length && !memcmp(text, plural, length));
}

/* The largest step that is not above the number, or else the first step. */
static size_t step_below(const double *steps, size_t count, double number)
{
	size_t at = 0;

	while (at + 1 < count && number >= steps[at + 1])
		at++;
	return at;
}

static void scale_time(struct opk_scale *scale, double second, double most)
{
	static const double steps[] = { 1e-9, 1e-6, 1e-3, 1 };
	static const char *const names[] = { "ns", "us", "ms", "s" };
	size_t at = most > 0 ? step_below(steps, 4, most * second) : second < 1e-3 ? 0 : 3;

	scale->divisor = steps[at] / second;
	snprintf(scale->unit, sizeof scale->unit, "%s", names[at]);
}

/* Counts of up to five digits stay whole. */
static void scale_count(struct opk_scale *scale, const char *unit, size_t length, bool small,
                        double most)
{
	static const double steps[] = { 1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18 };
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t at = small || most >= 99999.5 ? step_below(steps, 7, most) : 0;
	bool bytes = is_one_of(unit, length, "byte", "bytes");
	const char *rest = strcmp(unit + length, "/second") != 0 ? unit + length : "/s";

	scale->divisor = steps[at];
	if (bytes)
		snprintf(scale->unit, sizeof scale->unit, "%sB%s", prefixes[at], rest);
	else if (is_one_of(unit, length, "1", "unitless"))
		snprintf(scale->unit, sizeof scale->unit, "%s%s", prefixes[at], rest);
	else if (is_one_of(unit, length, "flop", "flops"))
		snprintf(scale->unit, sizeof scale->unit, "%sflop%s", prefixes[at], rest);
	else
		snprintf(scale->unit, sizeof scale->unit, "%s%s%.*s%s", prefixes[at], at ? " " : "",
		         (int)length, unit, rest);
}

void opk_scale_find(struct opk_scale *scale, const char *unit, double most)
{
	size_t length = strcspn(unit, "/");
	bool alone = !unit[length];

	*scale = (struct opk_scale){ .divisor = 1 };
	if (is_one_of(unit, length, "percent", "%"))
		snprintf(scale->unit, sizeof scale->unit, "%%%s", unit + length);
	else if (alone && is_one_of(unit, length, "nanosecond", "nanoseconds"))
		scale_time(scale, 1e-9, most);
	else if (alone && is_one_of(unit, length, "second", "seconds"))
		scale_time(scale, 1, most);
	else if (*unit && !(alone && is_one_of(unit, length, "unitless", "unitless")))
		scale_count(scale, unit, length, !alone || is_one_of(unit, length, "byte", "bytes"),
		            most);
}

/* A whole number keeps all its digits. */
void opk_put_readable(struct opk_buf *out, double number)
{
	if (isnan(number))
		opk_buf_add_text(out, "nan");
	else if (fabs(number) >= 99999.5 && fabs(number) < 1e15)
		opk_buf_add_printf(out, "%.0f", number);
	else
		opk_buf_add_printf(out, "%.5g", number);
}

double opk_most_of(double most, double number)
{
	return isfinite(number) && fabs(number) > most ? fabs(number) : most;
}
