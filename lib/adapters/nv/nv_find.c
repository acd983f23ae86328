/* SPDX-License-Identifier: BSD-2-Clause */
/* Where NVIDIA's files may be: toolkits, and Python's wheels. */
#include "adapters/nv/nv_find.h"

#include <elf.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "adapters/nv/nv.h"
#include "config.h"

static bool add_folder(struct opk_strlist *out, const struct nv_wanted *wanted, const char *folder)
{
	for (size_t i = 0; i < NV_WANTED && wanted->names[i]; i++)
		if (!opk_strlist_take(out, opk_printf("%s/%s", folder, wanted->names[i])))
			return false;
	return true;
}

bool nv_find_below(struct opk_strlist *out, const struct nv_wanted *wanted, const char *root)
{
	for (size_t i = 0; root && i < NV_WANTED && wanted->below[i]; i++) {
		opk_autofree char *folder = strcmp(wanted->below[i], ".")
		                                    ? opk_printf("%s/%s", root, wanted->below[i])
		                                    : opk_strdup(root);

		if (!folder || !add_folder(out, wanted, folder))
			return false;
	}
	return true;
}

static int newest_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

static bool add_found(struct opk_strlist *out, const struct nv_wanted *wanted, const char *pattern)
{
	glob_t found;
	bool ok = true;

	if (glob(pattern, GLOB_ONLYDIR, NULL, &found))
		return true;
	qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, newest_first);
	for (size_t i = 0; ok && i < found.gl_pathc; i++)
		ok = add_folder(out, wanted, found.gl_pathv[i]);
	globfree(&found);
	return ok;
}

/* Wheels install below lib/pythonX.Y of a prefix. */
static bool add_wheels(struct opk_strlist *out, const struct nv_wanted *wanted, const char *prefix)
{
	for (size_t i = 0; prefix && i < NV_WANTED && wanted->packages[i]; i++) {
		opk_autofree char *pattern = opk_printf("%s/lib/python3*/*-packages/nvidia/%s/%s",
		                                        prefix, wanted->packages[i],
		                                        wanted->folder);

		if (!pattern || !add_found(out, wanted, pattern))
			return false;
	}
	return true;
}

static bool add_user_wheels(struct opk_strlist *out, const struct nv_wanted *wanted,
                            const char *home)
{
	opk_autofree char *prefix = home ? opk_printf("%s/.local", home) : NULL;

	return !home || (prefix && add_wheels(out, wanted, prefix));
}

/* Adds what a folder may have; false when out of memory. */
typedef bool add_fn(struct opk_strlist *out, const struct nv_wanted *wanted, const char *folder);

/* Folders with colons between them. */
static bool add_each(struct opk_strlist *out, const struct nv_wanted *wanted, const char *folders,
                     add_fn *add)
{
	opk_autofree char *text = folders ? opk_strdup(folders) : NULL;
	char *rest = text;
	bool ok = !folders || text;

	for (char *folder; ok && (folder = strsep(&rest, ":"));)
		ok = add(out, wanted, folder);
	return ok;
}

/* A site-packages folder. */
static bool add_packages(struct opk_strlist *out, const struct nv_wanted *wanted, const char *site)
{
	for (size_t i = 0; *site && i < NV_WANTED && wanted->packages[i]; i++) {
		opk_autofree char *folder = opk_printf("%s/nvidia/%s/%s", site, wanted->packages[i],
		                                       wanted->folder);

		if (!folder || !add_folder(out, wanted, folder))
			return false;
	}
	return true;
}

bool nv_find(struct opk_strlist *out, const struct nv_wanted *wanted, const struct opk_ctx *ctx)
{
	const struct opk_env *env = &ctx->env;

	return nv_find_below(out, wanted, ctx->cuda_dir)
	       && nv_find_below(out, wanted, env->offpeak_cuda)
	       && nv_find_below(out, wanted, env->cuda_home)
	       && nv_find_below(out, wanted, env->cuda_path)
	       && add_each(out, wanted, env->wheels, add_packages)
	       && nv_find_below(out, wanted, *OPK_DEFAULT_CUDA ? OPK_DEFAULT_CUDA : NULL)
	       && nv_find_below(out, wanted, "/usr/local/cuda")
	       && add_wheels(out, wanted, env->virtual_env)
	       && add_user_wheels(out, wanted, env->home) && add_wheels(out, wanted, "/usr/local")
	       && add_wheels(out, wanted, "/usr");
}

/* Folders that are relative to the current one are not searched. */
static bool add_absolute(struct opk_strlist *out, const struct nv_wanted *wanted,
                         const char *folder)
{
	return *folder != '/' || add_folder(out, wanted, folder);
}

/* Scripts that start a program are not it: the confined child could not run them. */
static bool is_program(const char *path)
{
	opk_autofclose FILE *file = access(path, X_OK) ? NULL : fopen(path, "re");
	char magic[SELFMAG];

	return file && fread(magic, sizeof magic, 1, file) == 1 && !memcmp(magic, ELFMAG, SELFMAG);
}

int opk_nv_disassembler(char **out, struct opk_ctx *ctx)
{
	static const struct nv_wanted nvdisasm = {
		.names = { "nvdisasm" },
		.below = { "bin", "nvidia/cu13/bin", "." },
		.packages = { "cu13" },
		.folder = "bin",
	};
	opk_autostrlist struct opk_strlist places = { 0 };

	*out = NULL;
	if (!nv_find(&places, &nvdisasm, ctx)
	    || !add_each(&places, &nvdisasm, ctx->env.path, add_absolute))
		return opk_nomem(ctx, "places of nvdisasm");
	for (size_t i = 0; i < places.count; i++)
		if (is_program(places.items[i]) && (*out = realpath(places.items[i], NULL)))
			break;
	return OPK_OK;
}
