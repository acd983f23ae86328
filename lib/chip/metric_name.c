/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a metric's name. */
#include <string.h>

#include "chip/chip.h"

/*
 * "dram__bytes.sum" -> "dram__bytes". Names of single-pass sets have dots of their own before the
 * double underscore: "CTC.TriageCompute.ctc__rx_bytes.sum".
 */
size_t opk_base_length(const char *name)
{
	const char *unit_end = strstr(name, "__");
	const char *dot = strchr(unit_end ? unit_end : name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

bool opk_same_hardware_unit(const char *a, const char *b)
{
	const char *end_a = strstr(a, "__"), *end_b = strstr(b, "__");

	/* Endings and legacy names have no hardware unit. */
	if (!end_a && !end_b)
		return true;
	return end_a && end_b && end_a - a == end_b - b && !strncmp(a, b, (size_t)(end_a - a));
}
