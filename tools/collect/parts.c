/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/parts.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/settings.h"

/* A file without its end is told: its process was killed, or the disk was full. */
static void check(const char *path, bool verbose)
{
	struct opk_file *file = NULL;
	struct opk_ctx *ctx;

	if (opk_ctx_new(&ctx, NULL))
		return;
	if (opk_file_open(&file, ctx, path))
		fprintf(stderr, "offpeak-collect: %s\n", opk_error_message(ctx, 0));
	else if (!opk_file_complete(file))
		fprintf(stderr,
		        "offpeak-collect: %s: cut off; its %zu whole sections evaluate with "
		        "--allow-incomplete\n",
		        path, opk_file_section_count(file));
	else if (verbose)
		fprintf(stderr, "offpeak-collect: %s: %ju bytes\n", path,
		        (uintmax_t)opk_file_size(file));
	opk_file_free(file);
	opk_ctx_free(ctx);
}

/* "run.opk" and "run.opk.123.part" make "run-123.opk". */
static void name_of_several(char path[PATH_MAX], const char *output, const char *part)
{
	const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
	int stem = dot && (!slash || dot > slash) ? (int)(dot - output) : (int)strlen(output);
	const char *pid = part + strlen(output) + 1;

	snprintf(path, PATH_MAX, "%.*s-%.*s%s", stem, output, (int)strspn(pid, "0123456789"), pid,
	         output + stem);
}

static bool find_parts(glob_t *found, const char *output)
{
	char pattern[PATH_MAX + 16];

	snprintf(pattern, sizeof pattern, "%s.*" PART_ENDING, output);
	return !glob(pattern, 0, NULL, found);
}

void parts_clear(const char *output)
{
	glob_t found;

	unlink(output);
	if (!find_parts(&found, output))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
}

void parts_collect(const char *output, bool verbose)
{
	char path[PATH_MAX];
	glob_t found;

	if (!find_parts(&found, output)) {
		fprintf(stderr, "offpeak-collect: nothing was recorded\n");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (found.gl_pathc == 1)
			snprintf(path, sizeof path, "%s", output);
		else
			name_of_several(path, output, found.gl_pathv[i]);
		if (rename(found.gl_pathv[i], path))
			fprintf(stderr, "offpeak-collect: %s: %s\n", path, strerror(errno));
		else
			check(path, verbose);
	}
	globfree(&found);
}
