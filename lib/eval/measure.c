/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with a unit, as people write them. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "eval/eval_inside.h"

/* For "us", "GB/s", "%": the unit's name and its prefix's factor. NULL: not a unit. */
static const char *find_base_unit(double *factor, const char *text)
{
	static const struct {
		const char *text;
		double factor;
	} prefixes[] = {
		{ "", 1 },          { "n", 1e-9 },    { "u", 1e-6 },    { "\u00b5", 1e-6 },
		{ "\u03bc", 1e-6 }, { "m", 1e-3 },    { "k", 1e3 },     { "K", 1e3 },
		{ "M", 1e6 },       { "G", 1e9 },     { "T", 1e12 },    { "Ki", 0x1p10 },
		{ "Mi", 0x1p20 },   { "Gi", 0x1p30 }, { "Ti", 0x1p40 },
	};
	static const char *const units[][2] = {
		{ "s", "seconds" }, { "B", "bytes" },   { "B/s", "bytes a second" },
		{ "Hz", "Hz" },     { "%", "percent" },
	};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		size_t length = strlen(prefixes[i].text);

		*factor = prefixes[i].factor;
		for (size_t j = 0; j < sizeof units / sizeof *units; j++)
			if (!strncmp(text, prefixes[i].text, length)
			    && !strcmp(text + length, units[j][0]))
				return units[j][1];
	}
	return NULL;
}

bool opk_measure_find(struct opk_measure *out, const char *pattern)
{
	const char *digits = pattern + (*pattern == '-' || *pattern == '+');
	double number, factor;
	char *end;

	/* strtod() also reads the beginning of "infinite". */
	if (!opk_is_digit(*digits) && *digits != '.')
		return false;
	number = strtod(pattern, &end);
	if (end == pattern)
		return false;
	out->unit = find_base_unit(&factor, end + strspn(end, " "));
	out->number = number * factor;
	return out->unit != NULL;
}
