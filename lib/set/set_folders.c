/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds sets by name in the folders for sets. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "chip/chip.h"
#include "set/set.h"
#include "set/set_read.h"

bool opk_set_folders(struct opk_strlist *out, const struct opk_ctx *ctx)
{
	if (ctx->env.sets && !opk_strlist_add(out, ctx->env.sets))
		return false;
	return opk_strlist_take(out, opk_printf("%s/sets", opk_data_dir(ctx)));
}

bool opk_set_has_ending(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

bool opk_set_is_path(const char *text)
{
	return strchr(text, '/') || opk_set_has_ending(text);
}

static bool list_folder(struct opk_strlist *out, const char *folder)
{
	DIR *dir = opendir(folder);
	bool ok = true;

	for (struct dirent *entry; dir && ok && (entry = readdir(dir));)
		if (opk_set_has_ending(entry->d_name) && entry->d_name[0] != '.')
			ok = opk_strlist_take(out, opk_printf("%s/%s", folder, entry->d_name));
	if (dir)
		closedir(dir);
	return ok;
}

/* Compares without the ending, so that "l1" comes before "l1-more". */
static int compare_names(const void *a, const void *b)
{
	const char *first = strrchr(*(char *const *)a, '/'),
		   *second = strrchr(*(char *const *)b, '/');
	size_t first_length = (size_t)(strrchr(first, '.') - first);
	size_t second_length = (size_t)(strrchr(second, '.') - second);
	size_t shorter = first_length < second_length ? first_length : second_length;
	int order = strncmp(first, second, shorter);

	return order ? order : (first_length > second_length) - (first_length < second_length);
}

static bool is_listed(const struct opk_strlist *paths, char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (!compare_names(&paths->items[i], &path))
			return true;
	return false;
}

/* Adds a folder's sets by name, except those that an earlier folder has, too. */
static bool add_folder(struct opk_strlist *paths, const char *folder)
{
	opk_autostrlist struct opk_strlist found = { 0 };
	bool ok = list_folder(&found, folder);

	if (ok && found.count)
		qsort(found.items, found.count, sizeof *found.items, compare_names);
	for (size_t i = 0; ok && i < found.count; i++)
		if (!is_listed(paths, found.items[i]))
			ok = opk_strlist_add(paths, found.items[i]);
	return ok;
}

int opk_set_paths(struct opk_strlist *out, struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist where = { 0 };
	bool ok = opk_set_folders(&where, ctx);

	for (size_t i = 0; ok && i < where.count; i++)
		ok = add_folder(out, where.items[i]);
	return ok ? OPK_OK : opk_nomem(ctx, "metric sets");
}

/* "…/memory.yaml" -> "memory" */
static char *stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return opk_strndup(name, (size_t)(strrchr(name, '.') - name));
}

/* The data was not installed beside the library, or was moved: says where it was looked for. */
static int fail_without_folder(struct opk_ctx *ctx, const char *name)
{
	return opk_fail(ctx, OPK_EUSAGE,
	                "no metric set '%s': no shipped sets were found: there are none in "
	                "%s/sets%s%s; OFFPEAK_SETS names their folder, which is data/sets in the "
	                "source tree",
	                name, opk_data_dir(ctx), ctx->env.sets ? " and in " : "",
	                ctx->env.sets ? ctx->env.sets : "");
}

int opk_set_none_shipped(struct opk_ctx *ctx, const char *name, const char *near)
{
	opk_autostrlist struct opk_strlist paths = { 0 }, stems = { 0 };
	struct opk_nearest nearest = { .name = name };

	TRY(opk_set_paths(&paths, ctx));
	if (!paths.count)
		return fail_without_folder(ctx, name);
	for (size_t i = 0; i < paths.count; i++)
		if (opk_strlist_take(&stems, stem(paths.items[i])))
			opk_nearest_try(&nearest, stems.items[stems.count - 1]);
	near = nearest.best ? nearest.best : near;
	opk_fail(ctx, OPK_EUSAGE, "no metric set '%s'" OPK_DID_YOU_MEAN, name, OPK_NEAR(near));
	return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_LIST_SETS);
}

char *opk_set_sampled(struct opk_ctx *ctx, const char *name)
{
	opk_autofree char *sampled = opk_printf("pm-%s", name), *path = NULL;

	if (sampled && !opk_set_shipped(&path, ctx, sampled) && path)
		return opk_take(sampled);
	return NULL;
}

int opk_set_shipped(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autostrlist struct opk_strlist where = { 0 };

	*out = NULL;
	if (!opk_set_folders(&where, ctx))
		return opk_nomem(ctx, "metric sets");
	for (size_t i = 0; i < 2 * where.count; i++) {
		opk_autofree char *path = opk_printf("%s/%s.%s", where.items[i / 2], name,
		                                     i % 2 ? "yml" : "yaml");

		if (!path)
			return opk_nomem(ctx, "metric sets");
		if (access(path, F_OK))
			continue;
		*out = opk_take(path);
		return OPK_OK;
	}
	return OPK_OK;
}
