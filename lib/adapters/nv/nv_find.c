/* SPDX-License-Identifier: BSD-2-Clause */
/* Where NVIDIA's libraries may be: toolkits, Python wheels, the loader's own path. */
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"
#include "config.h"

static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };

/* Below a toolkit's root, below a Python site-packages folder, or the folder itself. */
static const char *const below[] = {
	"lib64",
	"lib",
	"extras/CUPTI/lib64",
	"targets/x86_64-linux/lib",
	"targets/sbsa-linux/lib",
	"nvidia/cu13/lib",
	"nvidia/cuda_cupti/lib",
	".",
};

static bool add_folder(struct opk_strlist *out, const char *folder)
{
	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		if (!opk_strlist_take(out, opk_printf("%s/%s", folder, names[n])))
			return false;
	return true;
}

static bool add_root(struct opk_strlist *out, const char *root)
{
	if (!root)
		return true;
	for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
		opk_autofree char *folder = strcmp(below[i], ".")
		                                    ? opk_printf("%s/%s", root, below[i])
		                                    : opk_strdup(root);

		if (!folder || !add_folder(out, folder))
			return false;
	}
	return true;
}

static int newest_first(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

/* Wheels install below lib/pythonX.Y of a prefix. */
static bool add_wheels_of(struct opk_strlist *out, const char *prefix, const char *package)
{
	opk_autofree char *pattern = opk_printf("%s/lib/python3*/*-packages/nvidia/%s/lib", prefix,
	                                        package);
	glob_t found;
	bool ok = true;

	if (!pattern)
		return false;
	if (glob(pattern, GLOB_ONLYDIR, NULL, &found))
		return true;
	qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, newest_first);
	for (size_t i = 0; ok && i < found.gl_pathc; i++)
		ok = add_folder(out, found.gl_pathv[i]);
	globfree(&found);
	return ok;
}

static bool add_wheels(struct opk_strlist *out, const char *prefix)
{
	return !prefix
	       || (add_wheels_of(out, prefix, "cu13") && add_wheels_of(out, prefix, "cuda_cupti"));
}

static bool add_user_wheels(struct opk_strlist *out, const char *home)
{
	opk_autofree char *prefix = home ? opk_printf("%s/.local", home) : NULL;

	return !home || (prefix && add_wheels(out, prefix));
}

/* The bare name makes dlopen search as the loader does. */
static bool add_loader_path(struct opk_strlist *out)
{
	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		if (!opk_strlist_add(out, names[n]))
			return false;
	return true;
}

bool nv_find_cupti(struct opk_strlist *out, const struct opk_ctx *ctx)
{
	const struct opk_env *env = &ctx->env;

	/* Who names a folder wants that one: what else the machine has would be a surprise. */
	if (ctx->cuda_dir)
		return add_root(out, ctx->cuda_dir);
	if (env->offpeak_cuda)
		return add_root(out, env->offpeak_cuda);
	return add_root(out, env->cuda_home) && add_root(out, env->cuda_path)
	       && add_root(out, *OPK_DEFAULT_CUDA ? OPK_DEFAULT_CUDA : NULL)
	       && add_root(out, "/usr/local/cuda") && add_wheels(out, env->virtual_env)
	       && add_user_wheels(out, env->home) && add_wheels(out, "/usr/local")
	       && add_wheels(out, "/usr") && add_loader_path(out);
}

char *nv_sibling(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash ? opk_printf("%.*s/%s", (int)(slash - path), path, name) : opk_strdup(name);
}

static char *identity_of(const char *name)
{
	/* Relative names mean other files elsewhere. */
	char path[PATH_MAX];
	struct stat info;

	if (!realpath(name, path) || stat(path, &info))
		return NULL;
	return opk_printf("%s %jd %jd.%09ld", path, (intmax_t)info.st_size,
	                  (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* Both libraries, as nv_load.c opens them. */
static char *identity_of_pair(const char *path)
{
	opk_autofree char *cupti = identity_of(path);
	opk_autofree char *beside = cupti ? nv_sibling(path, "libnvperf_host.so") : NULL;
	opk_autofree char *nvperf = beside ? identity_of(beside) : NULL;

	return cupti ? opk_printf("%s\n%s\n", cupti, nvperf ? nvperf : "") : NULL;
}

char *opk_nv_identity(const struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist candidates = { 0 };
	char *identity = NULL;

	/* The first that is there may be one that can't be opened. */
	if (ctx->nv && ctx->nv->cupti_path)
		return identity_of_pair(ctx->nv->cupti_path);
	if (!nv_find_cupti(&candidates, ctx))
		return NULL;
	for (size_t i = 0; i < candidates.count && !identity; i++)
		if (strchr(candidates.items[i], '/'))
			identity = identity_of_pair(candidates.items[i]);
	return identity;
}
