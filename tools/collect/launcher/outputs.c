/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that processes left: renamed, or merged. */
#include "collect/launcher/launcher.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/shared/shared.h"

void parts_find(glob_t *parts, const char *output)
{
	char name[PATH_MAX], pattern[PATH_MAX + 64];

	*parts = (glob_t){ 0 };
	if (!name_pattern(name, sizeof name, output))
		return;
	snprintf(pattern, sizeof pattern, "%s.%d-*" PART_ENDING, name, (int)getpid());
	if (glob(pattern, 0, NULL, parts))
		*parts = (glob_t){ 0 };
}

OPK_DEFINE_AUTO(opk_ctx)
OPK_DEFINE_AUTO(opk_file)

/* Reports a file without its end: its process was killed, or the disk was full. */
static void check(const char *path, bool verbose)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;

	if (opk_ctx_new(&ctx, NULL))
		return;
	if (opk_file_open(&file, ctx, path))
		launcher_fail(0, "%s", opk_error_message(ctx, 0));
	else if (!opk_file_complete(file))
		launcher_fail(
			0, "%s: cut off; its %zu whole sections evaluate with --allow-incomplete",
			path, opk_file_section_count(file));
	else if (verbose)
		launcher_fail(0, "%s: %" PRIu64 " bytes", path, opk_file_size(file));
}

/* A process that was killed wrote no statistics, but no image either before it had something. */
static bool has_rows(const char *path)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_stats *stats = NULL;

	if (opk_ctx_new(&ctx, NULL) || opk_file_open(&file, ctx, path))
		return false;
	if (!opk_file_stats(&stats, ctx, file) && stats)
		return stats->ranges > 0;
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA)
			return true;
	return false;
}

bool parts_recorded(const glob_t *parts)
{
	for (size_t i = 0; i < parts->gl_pathc; i++)
		if (has_rows(parts->gl_pathv[i]))
			return true;
	return false;
}

/* The length of "run.opk" in "run.opk.12-34.part". */
static size_t name_length(const char *part)
{
	size_t length = strlen(part) - strlen(PART_ENDING);

	while (length && part[length - 1] != '.')
		length--;
	return length ? length - 1 : 0;
}

static bool shares_name(const glob_t *parts, size_t i)
{
	size_t length = name_length(parts->gl_pathv[i]);

	for (size_t k = 0; k < parts->gl_pathc; k++)
		if (k != i && name_length(parts->gl_pathv[k]) == length
		    && !strncmp(parts->gl_pathv[k], parts->gl_pathv[i], length))
			return true;
	return false;
}

/* "run.opk", or "run-34.opk" where several processes would have that name. */
static void final_name(char path[PATH_MAX], const char *part, bool shared)
{
	size_t length = name_length(part);
	const char *pid = strchr(part + length, '-');
	char name[PATH_MAX], *dot, *slash;

	snprintf(name, sizeof name, "%.*s", (int)length, part);
	if (!shared || !pid) {
		snprintf(path, PATH_MAX, "%s", name);
		return;
	}
	dot = strrchr(name, '.');
	slash = strrchr(name, '/');
	length = dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
	snprintf(path, PATH_MAX, "%.*s%.*s%s", (int)length, name,
	         (int)strspn(pid + 1, "0123456789") + 1, pid, name + length);
}

int parts_rename(const glob_t *parts, bool verbose)
{
	char path[PATH_MAX];
	int code = OPK_OK;

	for (size_t i = 0; i < parts->gl_pathc; i++) {
		final_name(path, parts->gl_pathv[i], shares_name(parts, i));
		if (rename(parts->gl_pathv[i], path))
			code = launcher_fail(OPK_EFAILED, "%s: %s", path, strerror(errno));
		else
			check(path, verbose);
	}
	return code;
}

int parts_merge(const glob_t *parts, const char *output, const char *join, bool verbose)
{
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	struct opk_merge_options options = OPK_INIT(options);
	int code;

	if (opk_ctx_new(&ctx, NULL))
		return launcher_fail(OPK_EFAILED, "out of memory");
	options.join = join;
	code = opk_merge(ctx, (const char *const *)parts->gl_pathv, parts->gl_pathc, &options,
	                 output);
	if (code)
		return launcher_fail(code, "%s; the processes' own files stay: %s...",
		                     opk_error_message(ctx, opk_error_count(ctx) - 1),
		                     parts->gl_pathv[0]);
	for (size_t i = 0; i < parts->gl_pathc; i++)
		unlink(parts->gl_pathv[i]);
	check(output, verbose);
	return OPK_OK;
}

unsigned parts_depth(const glob_t *parts)
{
	unsigned deepest = 1;

	for (size_t i = 0; i < parts->gl_pathc; i++) {
		opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
		opk_auto(opk_file) struct opk_file *file = NULL;
		const struct opk_stats *stats = NULL;

		if (!opk_ctx_new(&ctx, NULL) && !opk_file_open(&file, ctx, parts->gl_pathv[i])
		    && !opk_file_stats(&stats, ctx, file) && stats && stats->depth > deepest)
			deepest = stats->depth;
	}
	return deepest;
}

void parts_keep(glob_t *kept, const glob_t *parts, unsigned run)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < parts->gl_pathc; i++) {
		snprintf(path, sizeof path, "%s.run%03u", parts->gl_pathv[i], run);
		if (rename(parts->gl_pathv[i], path)
		    || glob(path, kept->gl_pathc ? GLOB_APPEND | GLOB_NOCHECK : GLOB_NOCHECK, NULL,
		            kept))
			launcher_fail(0, "%s: %s", path, strerror(errno));
	}
}
