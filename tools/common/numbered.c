/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/numbered.h"

#include <stdio.h>
#include <string.h>

char *numbered_path(const char *output, size_t number)
{
	const char *slash = strrchr(output, '/');
	const char *name = slash ? slash + 1 : output;
	const char *dot = strrchr(name, '.');
	char *path;

	if (!dot || dot == name)
		dot = name + strlen(name);
	return asprintf(&path, "%.*s-%zu%s", (int)(dot - output), output, number, dot) < 0 ? NULL
	                                                                                  : path;
}
