/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds NVIDIA's libraries, opens them once for each context, and binds the function table. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_find.h"
#include "adapters/nv/nv_table.h"
#include "base/buf.h"
#include "base/library.h"
#include "base/listing.h"
#include "base/option_struct.h"
#include "config.h"

/* ---- where they may be ---------------------------------------------------------------------- */

static const struct nv_wanted wanted = {
	.names = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" },
	.below = { "lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib",
	           "targets/sbsa-linux/lib", "nvidia/cu13/lib", "nvidia/cuda_cupti/lib", "." },
	.packages = { "cu13", "cuda_cupti" },
	.folder = "lib",
};

/* What the user named; NULL: nothing. */
static const char *named_folder(const struct opk_ctx *ctx)
{
	return ctx->cuda_dir ? ctx->cuda_dir : ctx->env.offpeak_cuda;
}

/* Files that may be the library, best first. */
static bool find_cupti(struct opk_strlist *out, const struct opk_ctx *ctx)
{
	const char *named = named_folder(ctx);

	/* A folder that the user named is the only candidate: another would be a surprise. */
	if (named)
		return nv_find_below(out, &wanted, named);
	if (!nv_find(out, &wanted, ctx))
		return false;
	/* A bare name makes dlopen search as the loader does. */
	for (size_t i = 0; i < NV_WANTED && wanted.names[i]; i++)
		if (!opk_strlist_add(out, wanted.names[i]))
			return false;
	return true;
}

/* A file in the same folder as another one; free(). */
static char *sibling(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash ? opk_printf("%.*s/%s", (int)(slash - path), path, name) : opk_strdup(name);
}

static char *identity_of(const char *name)
{
	/* A relative name means another file in another folder, so the full path is used. */
	char path[PATH_MAX];
	struct stat info;

	if (!realpath(name, path) || stat(path, &info))
		return NULL;
	return opk_printf("%s %jd %jd.%09ld", path, (intmax_t)info.st_size,
	                  (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* Both libraries, as open_pair() opens them. */
static char *identity_of_pair(const char *path)
{
	opk_autofree char *cupti = identity_of(path);
	opk_autofree char *beside = cupti ? sibling(path, "libnvperf_host.so") : NULL;
	opk_autofree char *nvperf = beside ? identity_of(beside) : NULL;

	return cupti ? opk_printf("%s\n%s\n", cupti, nvperf ? nvperf : "") : NULL;
}

char *opk_nv_identity(const struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist candidates = { 0 };
	char *identity = NULL;

	/* The library that is open comes first: an earlier candidate may exist, but not open. */
	if (ctx->nv && ctx->nv->cupti_path)
		return identity_of_pair(ctx->nv->cupti_path);
	if (!find_cupti(&candidates, ctx))
		return NULL;
	for (size_t i = 0; i < candidates.count && !identity; i++)
		if (strchr(candidates.items[i], '/'))
			identity = identity_of_pair(candidates.items[i]);
	return identity;
}

/* ---- the function table */

static const struct nv_feature_state feature_names[NV_FEATURE_COUNT] = {
#define X(id, title, text) [NV_FEATURE_##id] = { .name = title, .description = text },
	NV_FEATURES(X)
#undef X
};

struct symbol {
	const char *origin; /* which of the two libraries */
	const char *name;
	size_t offset; /* of the pointer in struct nv_table */
	enum nv_feature feature;
};

static const struct symbol symbols[] = {
#define X(symbol, params, last, feature)                                                           \
	{ "libcupti", #symbol, offsetof(struct nv_table, symbol), NV_FEATURE_##feature },
	NV_CUPTI_SYMBOLS(X)
#undef X
#define X(symbol, params, last, feature)                                                           \
	{ "libnvperf_host", #symbol, offsetof(struct nv_table, symbol), NV_FEATURE_##feature },
		NV_NVPERF_SYMBOLS(X)
#undef X
};

enum { SYMBOL_COUNT = sizeof symbols / sizeof *symbols };

static void **slot(struct nv_table *table, const struct symbol *symbol)
{
	return (void **)((char *)table + symbol->offset);
}

void nv_set_features(struct opk_nv *nv)
{
	memcpy(nv->features, feature_names, sizeof feature_names);
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++)
		nv->features[i].available = true;
	for (size_t i = 0; i < SYMBOL_COUNT; i++) {
		struct nv_feature_state *feature = &nv->features[symbols[i].feature];

		if (*slot(&nv->call, &symbols[i]) || !feature->available)
			continue;
		feature->available = false;
		feature->missing = symbols[i].name;
	}
}

/* What is wrong, and what to do; free(). NULL: nothing is wrong, or out of memory. */
static char *explain_mixed(const struct opk_nv_versions *versions, const char *cupti,
                           const char *nvperf)
{
	char of[36];

	if (!nv_is_mixed(of, versions))
		return NULL;
	return opk_printf("%s is of %s, and %s of %s: they come as a pair, and values and units of "
	                  "a mixed one may be wrong; install both from one release, or set "
	                  "OFFPEAK_CUDA to its folder",
	                  cupti ? cupti : "libcupti", opk_nv_release_of(versions->cupti).name,
	                  nvperf ? nvperf : "libnvperf_host", of);
}

static void find_versions(struct opk_nv *nv)
{
	struct nv_QueryVersion asked = { .structSize = NV_END(struct nv_QueryVersion, relPatch),
		                         .apiSet = NV_SDK_VERSION };

	if (nv->call.cuptiGetVersion)
		nv->call.cuptiGetVersion(&nv->version);
	nv->versions.cupti = nv->version;
	if (!nv->call.NVPW_QueryVersionNumber || nv->call.NVPW_QueryVersionNumber(&asked))
		return;
	nv->versions.nvperf_year = asked.relMajor;
	nv->versions.nvperf_number = asked.relMinor;
	snprintf(nv->nvperf_version, sizeof nv->nvperf_version, "%u.%u.%u",
	         (unsigned)asked.relMajor, (unsigned)asked.relMinor, (unsigned)asked.relPatch);
	nv->mixed = explain_mixed(&nv->versions, nv->cupti_path, nv->nvperf_path);
}

struct opk_nv_versions opk_nv_versions(const struct opk_ctx *ctx)
{
	return ctx->nv ? ctx->nv->versions : (struct opk_nv_versions){ 0 };
}

void opk_nv_note_mixed(struct opk_ctx *ctx, const struct opk_nv_versions *versions)
{
	opk_autofree char *text = NULL;

	if (ctx->noted_mixed)
		return;
	text = explain_mixed(versions, ctx->nv ? ctx->nv->cupti_path : NULL,
	                     ctx->nv ? ctx->nv->nvperf_path : NULL);
	ctx->noted_mixed = text != NULL;
	if (text)
		opk_log(ctx, "%s", text);
}

struct opk_nv *nv_from_table(const struct nv_table *table)
{
	struct opk_nv *nv = opk_alloc(sizeof *nv);

	if (!nv)
		return NULL;
	nv->call = *table;
	nv_set_features(nv);
	find_versions(nv);
	return nv;
}

void nv_free(struct opk_nv *nv)
{
	if (!nv)
		return;
	/* The libraries stay loaded: they have their own threads and exit handlers. */
	opk_strlist_clear(&nv->tried);
	free(nv->cupti_path);
	free(nv->nvperf_path);
	free(nv->nvdisasm_path);
	free(nv->libcuda_path);
	free(nv->mixed);
	free(nv->unusable);
	free(nv);
}

static void bind(struct opk_nv *nv)
{
	if (nv->cupti)
		*(void **)&nv->call.cuptiGetVersion = dlsym(nv->cupti, "cuptiGetVersion");
	if (nv->nvperf)
		*(void **)&nv->call.NVPW_QueryVersionNumber = dlsym(nv->nvperf,
		                                                    "NVPW_QueryVersionNumber");
	for (size_t i = 0; i < SYMBOL_COUNT; i++) {
		void *library = strcmp(symbols[i].origin, "libcupti") ? nv->nvperf : nv->cupti;

		*slot(&nv->call, &symbols[i]) = library ? dlsym(library, symbols[i].name) : NULL;
	}
	nv_set_features(nv);
	for (size_t i = 0; nv->lacks_driver && i < NV_FEATURE_COUNT; i++) {
		nv->features[i].available = false;
		nv->features[i].missing = "libcuda.so.1";
	}
	if (!nv->lacks_driver)
		find_versions(nv);
}

/* ---- opening */

/* Says why a file that is there can't be used; keeps the first such reason for the error. */
static int give_flaw(struct opk_nv *nv, const char *path, const char *flaw, const char *reason)
{
	if (!nv->unusable)
		nv->unusable = flaw ? opk_printf("%s %s", path, flaw) : opk_strdup(reason);
	return nv_give_reason(nv,
	                      flaw ? opk_printf("%s, which %s", path, flaw) : opk_strdup(reason));
}

/* The loader refused a file that had no flaw before: the first library may have used the memory. */
static int give_refused(struct opk_nv *nv, const char *path, const char *reason)
{
	const char *flaw = opk_library_flaw(path);

	return flaw || reason ? give_flaw(nv, path, flaw, reason) : OPK_OK;
}

/* Before the loader reads them; *flawed is the file. */
static const char *flaw_of_pair(const char **flawed, const char *cupti, const char *nvperf)
{
	const char *flaw = opk_library_flaw(*flawed = cupti);

	return flaw ? flaw : opk_library_flaw(*flawed = nvperf);
}

static int open_host(struct opk_nv *nv, const char *path)
{
	nv->nvperf = nv_open_host(path);
	return nv->nvperf || access(path, F_OK) ? OPK_OK : give_refused(nv, path, dlerror());
}

static int open_cupti(struct opk_nv *nv, const char *path)
{
	int code;

	nv->cupti = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (nv->cupti)
		return OPK_OK;
	code = strchr(path, '/') ? give_refused(nv, path, dlerror()) : OPK_OK;
	if (nv->nvperf)
		dlclose(nv->nvperf);
	nv->nvperf = NULL;
	return code;
}

/* Opens libnvperf_host of the same folder first, so that libcupti uses that one. */
static int open_pair(struct opk_nv *nv, const char *cupti_path)
{
	opk_autofree char *nvperf_path = sibling(cupti_path, "libnvperf_host.so");
	bool in_folder = strchr(cupti_path, '/');
	const char *flaw = NULL, *flawed = cupti_path;

	if (!nvperf_path || !opk_strlist_add(&nv->tried, cupti_path))
		return OPK_ENOMEM;
	if (in_folder && access(cupti_path, F_OK) && errno != EACCES)
		return OPK_OK;
	if (in_folder)
		flaw = flaw_of_pair(&flawed, cupti_path, nvperf_path);
	if (flaw)
		return give_flaw(nv, flawed, flaw, NULL);
	TRY(open_host(nv, nvperf_path));
	if (in_folder && !nv->nvperf && !access(nvperf_path, F_OK))
		return OPK_OK;
	TRY(open_cupti(nv, cupti_path));
	if (!nv->cupti)
		return OPK_OK;
	nv->cupti_path = opk_strdup(cupti_path);
	nv->nvperf_path = nv->nvperf ? opk_take(nvperf_path) : NULL;
	return nv->cupti_path ? OPK_OK : OPK_ENOMEM;
}

static atomic_bool loaded;

bool opk_nv_loaded(void)
{
	return atomic_load(&loaded);
}

static int load(struct opk_nv *nv, struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist candidates = { 0 };

	int code = OPK_OK;

	if (!find_cupti(&candidates, ctx))
		return OPK_ENOMEM;
	nv_enter_first();
	for (size_t i = 0; !code && i < candidates.count && !nv->cupti; i++)
		code = open_pair(nv, candidates.items[i]);
	if (!code)
		code = nv_open_driver(nv, ctx);
	if (!code)
		bind(nv);
	if (nv->cupti)
		atomic_store(&loaded, true);
	nv_leave();
	return code;
}

static int ensure_loaded(struct opk_ctx *ctx)
{
	struct opk_nv *nv;

	if (ctx->nv)
		return OPK_OK;
	nv = opk_alloc(sizeof *nv);
	if (!nv || load(nv, ctx)) {
		nv_free(nv);
		return opk_nomem(ctx, "NVIDIA's libraries");
	}
	ctx->nv = nv;
	ctx->nv_free = nv_free;
	return OPK_OK;
}

/* How many paths before `end` are in the folder of the last one, with nothing said of them. */
static size_t of_one_folder(const struct opk_strlist *tried, size_t end)
{
	const char *last = tried->items[end - 1], *name = strrchr(last, '/');
	size_t count = 1;

	while (count < end && name) {
		const char *path = tried->items[end - 1 - count];

		if (strncmp(path, last, (size_t)(name - last) + 1)
		    || strchr(path + (name - last) + 1, '/') || strchr(path, ',')
		    || strchr(last, ','))
			break;
		count++;
	}
	return count;
}

/* A line for each folder; the causes come in the opposite order. */
static int add_tried(struct opk_ctx *ctx, const struct opk_strlist *tried)
{
	for (size_t end = tried->count, count; end; end -= count) {
		opk_autobuf struct opk_buf line = { 0 };

		count = of_one_folder(tried, end);
		for (size_t i = end - count; i < end; i++) {
			const char *path = tried->items[i];

			opk_buf_add_printf(&line, "%s%s", i > end - count ? ", " : "",
			                   i > end - count ? strrchr(path, '/') + 1 : path);
		}
		opk_buf_add(&line, "", 1);
		if (line.failed)
			return opk_nomem(ctx, "NVIDIA's libraries");
		opk_add_tried(ctx, OPK_ENVIDIA, (const char *)line.data);
	}
	return OPK_OK;
}

static int fail_not_found(struct opk_ctx *ctx, const struct opk_nv *nv)
{
	const char *named = named_folder(ctx), *wheel;
	struct stat info;

	opk_clear_errors(ctx);
	TRY(add_tried(ctx, &nv->tried));
	if (nv->unusable)
		return opk_add(ctx, OPK_ENVIDIA, "no libcupti that works: %s", nv->unusable);
	if (named && !stat(named, &info) && S_ISREG(info.st_mode))
		return opk_add(ctx, OPK_ENVIDIA,
		               "%s is a file: name its folder, or the folder of the CUDA toolkit",
		               named);
	wheel = ctx->env.wheels ? "install it: pip install \"pyoffpeak[cupti]\""
	                        : "install " NV_CUPTI_WHEEL ", which wants no driver";
	if (named) {
		opk_add(ctx, OPK_ENVIDIA,
		        "libcupti not found in %s%s: name the CUDA toolkit's folder; or leave it "
		        "out, and %s",
		        named, ctx->cuda_dir ? "" : ", which OFFPEAK_CUDA names", wheel);
		return opk_advise(ctx, OPK_ENVIDIA, OPK_REMEDY_CUDA);
	}
	opk_add(ctx, OPK_ENVIDIA,
	        "libcupti not found: set OFFPEAK_CUDA to the CUDA toolkit's folder, or %s", wheel);
	return opk_advise(ctx, OPK_ENVIDIA, OPK_REMEDY_CUDA);
}

static int fail_missing(struct opk_ctx *ctx, const struct opk_nv *nv,
                        const struct nv_feature_state *feature)
{
	bool cupti = !strncmp(feature->missing, "cupti", 5);

	return opk_fail(ctx, OPK_ENVIDIA, "%s lacks the symbol %s, which '%s' (%s) needs%s",
	                cupti ? (nv->cupti_path ? nv->cupti_path : "libcupti")
	                      : (nv->nvperf_path ? nv->nvperf_path : "libnvperf_host"),
	                feature->missing, feature->name, feature->description,
	                feature == &nv->features[NV_FEATURE_HOST] ? ": CUDA 12.6 and later have it"
	                                                          : "");
}

static int initialize_nvperf(struct opk_nv *nv, struct opk_ctx *ctx)
{
	NV_PARAMS(params, InitializeHost);

	if (nv->nvperf_ready || !nv->call.NVPW_InitializeHost)
		return OPK_OK;
	if (NV_NVPW(nv, ctx, NVPW_InitializeHost, &params))
		return opk_add(ctx, OPK_ENVIDIA, "libnvperf_host can't be used");
	nv->nvperf_ready = true;
	return OPK_OK;
}

int nv_need(struct opk_nv **out, struct opk_ctx *ctx, enum nv_feature feature)
{
	TRY(ensure_loaded(ctx));
	if (!ctx->nv->cupti && !ctx->nv->call.cuptiProfilerHostInitialize)
		return fail_not_found(ctx, ctx->nv);
	if (ctx->nv->lacks_driver)
		return nv_fail_driver(ctx, ctx->nv);
	if (ctx->nv->mixed)
		opk_nv_note_mixed(ctx, &ctx->nv->versions);
	if (!ctx->nv->features[NV_FEATURE_HOST].available)
		feature = NV_FEATURE_HOST;
	/* libcupti is useless without libnvperf_host. */
	if (ctx->nv->cupti && !ctx->nv->nvperf && ctx->nv->features[NV_FEATURE_HOST].available)
		return ctx->nv->unusable
		               ? fail_not_found(ctx, ctx->nv)
		               : opk_fail(
				       ctx, OPK_ENVIDIA,
				       "libnvperf_host.so not found beside %s, which can do nothing without it "
				       "(NVPW_InitializeHost, ...): they come as a pair",
				       ctx->nv->cupti_path);
	if (!ctx->nv->features[feature].available)
		return fail_missing(ctx, ctx->nv, &ctx->nv->features[feature]);
	if (feature != NV_FEATURE_HOST)
		TRY(initialize_nvperf(ctx->nv, ctx));
	*out = ctx->nv;
	return OPK_OK;
}

/*
 * libcupti's first call opens libnvperf_host, which must happen before a fork: a child that was
 * forked while another thread was in the loader would wait for the loader's lock forever.
 */
static void first_call(struct opk_nv *nv)
{
	NV_PARAMS(params, HostGetSupportedChips);

	if (nv->features[NV_FEATURE_HOST].available)
		NV_CALL(nv, cuptiProfilerHostGetSupportedChips, &params);
}

/* Once: where there is none, all folders were searched in vain. */
static int seek_disassembler(struct opk_nv *nv, struct opk_ctx *ctx)
{
	if (!nv || nv->nvdisasm_sought)
		return OPK_OK;
	TRY(opk_nv_disassembler(&nv->nvdisasm_path, ctx));
	nv->nvdisasm_sought = true;
	return OPK_OK;
}

int opk_nvidia_get_info(struct opk_nvidia_info *info, struct opk_ctx *ctx)
{
	struct opk_nvidia_info found = { 0 };
	struct opk_nv *nv;
	int code = nv_need(&nv, ctx, NV_FEATURE_HOST);

	if (!code)
		first_call(ctx->nv);
	TRY(seek_disassembler(ctx->nv, ctx));
	if (ctx->nv)
		found = (struct opk_nvidia_info){
			.cupti_path = ctx->nv->cupti_path,
			.nvperf_host_path = ctx->nv->nvperf_path,
			.cupti_version = ctx->nv->version,
			.libcuda_path = ctx->nv->libcuda_path,
			.needs_libcuda = ctx->nv->libcuda_path || ctx->nv->lacks_driver,
			.nvperf_host_version = ctx->nv->nvperf_version,
			.mixed = ctx->nv->mixed,
			.nvdisasm_path = ctx->nv->nvdisasm_path,
		};
	opk_fill_sized(info, &found, sizeof found);
	return code;
}

static int list_features(struct opk_listing **out, struct opk_ctx *ctx)
{
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new(
		"feature available? missing description");

	TRY(ensure_loaded(ctx));
	for (size_t i = 0; i < NV_FEATURE_COUNT; i++) {
		const struct nv_feature_state *feature = &ctx->nv->features[i];

		opk_listing_row(rows, cell_text(feature->name), cell_flag(feature->available),
		                cell_text(feature->missing), cell_text(feature->description));
	}
	return opk_listing_finish(out, ctx, opk_take(rows));
}

int opk_nvidia_list(struct opk_listing **out, struct opk_ctx *ctx, enum opk_nvidia_list list)
{
	struct opk_listing *rows;

	if (list == OPK_NVIDIA_FEATURES)
		return list_features(out, ctx);
	rows = opk_listing_new("tried");
	for (size_t i = 0; ctx->nv && i < ctx->nv->tried.count; i++)
		opk_listing_row(rows, cell_text(ctx->nv->tried.items[i]));
	return opk_listing_finish(out, ctx, rows);
}

void opk_nv_load(struct opk_ctx *ctx)
{
	struct opk_nv *nv;

	if (!nv_need(&nv, ctx, NV_FEATURE_HOST))
		first_call(nv);
	opk_clear_errors(ctx);
}

struct opk_nv_release opk_nv_release(struct opk_ctx *ctx)
{
	struct opk_nv_release out;

	/* Earlier answers may have come from the cache. Does not overwrite existing causes. */
	if (!ctx->nv && !opk_error_count(ctx))
		opk_nv_load(ctx);
	out = opk_nv_release_of(ctx->nv ? ctx->nv->version : 0);
	if (!*out.name)
		strcpy(out.name, "this libcupti");
	return out;
}
