/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's libcuda.so.1. CUPTI 13.2 and later ask it for its version even in host calls and in
 * cuptiGetVersion: without it they return 999 or recurse until the stack overflows. Any real driver
 * library will do, unpacked anywhere, without a GPU or kernel module. A toolkit's stub has only the
 * symbols: 13.2 crashes with it, and 13.5 returns 999.
 */
#include <dlfcn.h>
#include <glob.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"
#include "base/library.h"
#include "config.h"

/* libcupti opens the library by this name, which is its SONAME and its file's name. */
static const char soname[] = "libcuda.so.1";

/* Below a folder where a package was unpacked: Debian's, Ubuntu's, NVIDIA's for older drivers. */
static const char *const below[] = {
	"usr/lib/*/nvidia/current",
	"usr/lib/*",
	"compat",
	".",
};

static bool add_found(struct opk_strlist *out, const char *pattern)
{
	glob_t found;
	bool ok = true;

	if (glob(pattern, 0, NULL, &found))
		return true;
	for (size_t i = 0; ok && i < found.gl_pathc; i++)
		ok = opk_strlist_add(out, found.gl_pathv[i]);
	globfree(&found);
	return ok;
}

static bool add_unpacked(struct opk_strlist *out, const char *root)
{
	for (size_t i = 0; root && *root && i < sizeof below / sizeof *below; i++) {
		opk_autofree char *pattern = opk_printf("%s/%s/%s", root, below[i], soname);

		if (!pattern || !add_found(out, pattern))
			return false;
	}
	return true;
}

/* Best first. */
static bool find_driver(struct opk_strlist *out, const struct opk_ctx *ctx)
{
	const char *named = ctx->libcuda ? ctx->libcuda : ctx->env.offpeak_libcuda;
	const char *root = ctx->cuda_dir ? ctx->cuda_dir : ctx->env.offpeak_cuda;

	/*
	 * A file that the user named is the only candidate: another would be a surprise. "./" keeps
	 * the loader from searching its path for a bare name.
	 */
	if (named)
		return opk_strlist_take(out,
		                        opk_printf("%s%s", strchr(named, '/') ? "" : "./", named));
	return opk_strlist_add(out, soname) && add_unpacked(out, root)
	       && add_unpacked(out, OPK_DEFAULT_CUDA);
}

/* Why an open library can't be used; NULL: it can. */
static const char *flaw_of(void *library)
{
	int (*get_version)(int *);
	int version = 0;
	void *known = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	if (known)
		dlclose(known);
	*(void **)&get_version = dlsym(library, "cuDriverGetVersion");
	if (!get_version)
		return "is not a libcuda.so.1";
	if (known != library)
		return "has another SONAME than libcuda.so.1, or comes after one that is loaded";
	/* A stub answers 34, CUDA_ERROR_STUB_LIBRARY, to all calls. This one needs no cuInit(). */
	if (get_version(&version) || version <= 0)
		return "is a stub, as toolkits have it to link with: there is no driver in it";
	return NULL;
}

int nv_give_reason(struct opk_nv *nv, char *reason)
{
	free(nv->tried.items[--nv->tried.count]);
	return opk_strlist_take(&nv->tried, reason) ? OPK_OK : OPK_ENOMEM;
}

static int try_driver(bool *found, struct opk_nv *nv, const char *path)
{
	const char *flaw = opk_library_flaw(path), *reason;
	void *library;

	if (!opk_strlist_add(&nv->tried, path))
		return OPK_ENOMEM;
	library = flaw ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	reason = flaw || library ? NULL : dlerror();
	if (library)
		flaw = flaw_of(library);
	*found = library && !flaw;
	if (*found)
		return OPK_OK;
	if (library)
		dlclose(library);
	return nv_give_reason(nv, flaw ? opk_printf("%s, which %s", path, flaw)
	                               : opk_strdup(reason ? reason : path));
}

/* The full path of a library that was opened by its bare name. */
static char *path_of(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, "cuDriverGetVersion") : NULL;
	Dl_info info;
	bool known = symbol && dladdr(symbol, &info) && info.dli_fname;

	if (library)
		dlclose(library);
	return opk_strdup(known ? info.dli_fname : name);
}

int nv_open_driver(struct opk_nv *nv, const struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist candidates = { 0 };
	bool found = false;

	nv->driver_tried = nv->tried.count;
	/* A call that came with 13.2 shows the version: cuptiGetVersion itself can't be called. */
	if (!nv->cupti || !dlsym(nv->cupti, "cuptiProfilerHostGetSinglePassSets"))
		return OPK_OK;
	if (!find_driver(&candidates, ctx))
		return OPK_ENOMEM;
	for (size_t i = 0; i < candidates.count && !found; i++) {
		if (try_driver(&found, nv, candidates.items[i]))
			return OPK_ENOMEM;
		if (found && !(nv->libcuda_path = path_of(candidates.items[i])))
			return OPK_ENOMEM;
	}
	nv->lacks_driver = !found;
	return OPK_OK;
}

int nv_fail_driver(struct opk_ctx *ctx, const struct opk_nv *nv)
{
	opk_clear_errors(ctx);
	for (size_t i = nv->tried.count; i-- > nv->driver_tried;)
		opk_add_tried(ctx, OPK_ENVIDIA, nv->tried.items[i]);
	opk_add(ctx, OPK_ENVIDIA,
	        "%s is CUPTI 13.2 or later, which wants the NVIDIA driver's libcuda.so.1, though "
	        "no GPU: set OFFPEAK_LIBCUDA to a real one, or install Debian's package libcuda1 "
	        "(in non-free); CUPTI 12.6 to 13.1 work without it, such as " NV_CUPTI_WHEEL,
	        nv->cupti_path);
	return opk_advise(ctx, OPK_ENVIDIA, OPK_REMEDY_LIBCUDA);
}
