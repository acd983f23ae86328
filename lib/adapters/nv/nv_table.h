/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function table: one typed pointer for each symbol of nv_symbols.h. Everything in this
 * folder calls through it, so a test that fills one in takes the place of NVIDIA.
 */
#ifndef OPK_NV_TABLE_H
#define OPK_NV_TABLE_H

#include "adapters/nv/nv.h"
#include "adapters/nv/nv_abi.h"
#include "adapters/nv/nv_symbols.h"
#include "base/ctx.h"
#include "base/strlist.h"

struct nv_table {
	/* The two functions that report versions: no feature needs them. */
	int (*cuptiGetVersion)(uint32_t *version);
	int (*NVPW_QueryVersionNumber)(struct nv_QueryVersion *params);
#define X(symbol, params, last, feature) int (*symbol)(struct nv_##params *);
	NV_CUPTI_SYMBOLS(X)
	NV_NVPERF_SYMBOLS(X)
#undef X
};

enum nv_feature {
#define X(id, name, description) NV_FEATURE_##id,
	NV_FEATURES(X)
#undef X
		NV_FEATURE_COUNT
};

/* One line of the feature list: what it is for, and which symbol it lacks, if any. */
struct nv_feature_state {
	const char *name;
	const char *description;
	bool available;
	const char *missing; /* "libnvperf_host: NVPW_..."; NULL if available */
};

struct opk_nv {
	struct nv_table call;
	void *cupti;
	void *nvperf;
	char *cupti_path;
	char *nvperf_path;
	char *nvdisasm_path; /* NULL: not found, or not sought yet */
	bool nvdisasm_sought;
	char *libcuda_path;
	uint32_t version;
	struct opk_nv_versions versions;
	char nvperf_version[40]; /* "2025.4.2"; "" */
	char *mixed;             /* the problem if the two are of different releases; or NULL */
	char *unusable;          /* the first libcupti that is there and can't be opened, and why */
	bool lacks_driver;       /* libcupti is there, but can't work on this machine */
	bool nvperf_ready;       /* NVPW_InitializeHost was called */
	struct opk_strlist tried;
	size_t driver_tried; /* index in `tried` of the first path of libcuda */
	struct nv_feature_state features[NV_FEATURE_COUNT];
	/* Struct sizes that this library accepted, see nv_host.c; 0: not known yet. */
	size_t initialize_size;
	size_t properties_size, scope_size;
};

/* An adapter over a table that the caller filled in; missing entries are NULL. */
struct opk_nv *nv_from_table(const struct nv_table *table);
void nv_free(struct opk_nv *nv);
/* Sets the features whose symbols are bound. */
void nv_set_features(struct opk_nv *nv);

/* Replaces the path that was tried last by the reason it failed; takes `reason` over. */
int nv_give_reason(struct opk_nv *nv, char *reason);
/* dlopen() of libnvperf_host, with huge pages if the kernel has them. */
void *nv_open_host(const char *path);
/*
 * If this libcupti needs the driver's library, opens a usable one, or sets lacks_driver. Call it
 * before any call of libcupti. May fail with OPK_ENOMEM.
 */
int nv_open_driver(struct opk_nv *nv, const struct opk_ctx *ctx);
/* A libcupti that works without a driver. */
#define NV_CUPTI_WHEEL "the wheel nvidia-cuda-cupti==13.0.*"
/* OPK_ENVIDIA: lists the paths that were tried, and says where to get the library. */
int nv_fail_driver(struct opk_ctx *ctx, const struct opk_nv *nv);

/*
 * Finds and opens the libraries on first use; OPK_ENVIDIA names the missing symbol if the feature
 * is missing.
 */
int nv_need(struct opk_nv **out, struct opk_ctx *ctx, enum nv_feature feature);

/* Whether two known releases differ; `of` becomes the release of PerfWorks. */
bool nv_is_mixed(char of[36], const struct opk_nv_versions *versions);

/* One of NVIDIA's status codes. A NULL name ends each table. */
struct nv_status {
	int number;
	const char *name;
	const char *advice; /* or NULL */
};
extern const struct nv_status nv_cupti_statuses[];
extern const struct nv_status nv_nvpa_statuses[];
/* "unknown status" if the table lacks the number. */
const char *nv_status_name(const struct nv_status *table, int number);
/*
 * OPK_OK, or a code and a cause chain: "cuptiX: NAME (number)", with any advice. OPK_EUSAGE: CUPTI
 * knows no such metric; OPK_EFAILED: any other status, or the context was interrupted.
 */
int nv_check_cupti(struct opk_ctx *ctx, const char *function, int status);
int nv_check_nvpw(struct opk_ctx *ctx, const char *function, int status);

/* Surround each call into NVIDIA's code. nv_enter_first() also installs the fork handlers. */
void nv_enter(void);
void nv_enter_first(void);
void nv_leave(void);

/* Calls an entry point and returns its status. */
#define NV_CALL(nv, symbol, params)                                                                \
	({                                                                                         \
		int nv_status_;                                                                    \
                                                                                                   \
		nv_enter();                                                                        \
		nv_status_ = (nv)->call.symbol(params);                                            \
		nv_leave();                                                                        \
		nv_status_;                                                                        \
	})
/* Calls an entry point and checks its status. */
#define NV_CUPTI(nv, ctx, symbol, params) nv_check_cupti(ctx, #symbol, NV_CALL(nv, symbol, params))
#define NV_NVPW(nv, ctx, symbol, params) nv_check_nvpw(ctx, #symbol, NV_CALL(nv, symbol, params))

enum {
	NV_SUCCESS = 0,
	NV_CUPTI_INVALID_PARAMETER = 1,
	NV_CUPTI_OUT_OF_MEMORY = 8,
	NV_CUPTI_INVALID_METRIC_NAME = 17,
	NV_CUPTI_NOT_SUPPORTED = 27,
	NV_CUPTI_INVALID_CHIP_NAME = 46,
	NV_CUPTI_UNKNOWN = 999,
	NV_NVPA_INVALID_ARGUMENT = 8,
	NV_NVPA_INVALID_CONTEXT_STATE = 18,
};

/* The size of a call's parameters in all releases. */
enum {
#define X(symbol, params, last, feature) NV_SIZE_##params = NV_END(struct nv_##params, last),
	NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
};

/* Declares the parameters of a call; other fields are 0. */
#define NV_PARAMS(name, type, ...)                                                                 \
	struct nv_##type name = { .structSize = NV_SIZE_##type, ##__VA_ARGS__ }

#endif
