/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces NVIDIA's libraries: every function of the table, with statuses and behaviors that the
 * real ones do not show on demand. Its state is one global that a test sets up before it calls the
 * library; a child that evaluates inherits it.
 */
#ifndef OPK_FAKE_NV_H
#define OPK_FAKE_NV_H

#include "adapters/nv/nv_table.h"

enum fake_call {
#define X(symbol, params, last, feature) FAKE_##symbol,
	NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
		FAKE_SYMBOL_COUNT,
	/* The scheduler's calls come last; check_scheduler.c lets them fail or be missing. */
	FAKE_CALL_COUNT = FAKE_NVPW_CUDA_RawCounterConfig_Create
};

/* A call and its name, for rows of tables. */
#define CALL(symbol) FAKE_##symbol, #symbol

/* What a call does instead of returning. */
enum fake_deed {
	FAKE_RETURNS,
	FAKE_SEGFAULTS,
	FAKE_ABORTS,
	FAKE_EXITS,
	FAKE_EXITS_HAPPY, /* exit(0) */
	FAKE_LOOPS,
};

enum { FAKE_MAX_SIZES = 8, FAKE_MAX_FACTORS = 4, FAKE_CONFIG_SIZE = 16, FAKE_PREFIX_SIZE = 100 };

enum { FAKE_MAX_NEEDED = 8 };

struct fake_nv {
	/* For each call: its error status, the first call that returns it, and the calls so far. */
	int status[FAKE_SYMBOL_COUNT];
	unsigned from[FAKE_SYMBOL_COUNT]; /* 0: the first */
	unsigned calls[FAKE_SYMBOL_COUNT];
	/* Struct sizes that the two calls accept, and the sizes that callers passed. */
	size_t initialize_size, properties_size; /* 13.0's; the larger properties have scopes */
	bool lists_no_submetrics;                /* as 12.x; it has no properties of base names */
	size_t sizes[FAKE_MAX_SIZES];
	size_t size_count;
	const char *device_metric; /* its scope is the device, if scopes are known */
	/* The status when more than one metric is added at once. */
	int together_status;
	/* The raw counter of a link, whose metrics CUPTI refuses together with others; or NULL. */
	const char *link;
	/* CUPTI's single-pass sets: "Triage", and one without metrics. */
	bool sets_fail; /* sets are listed, but creating their host object fails: GR100 */
	bool no_sets, named_sets;
	size_t name_beyond;      /* if not 0, a name is so far outside the buffer */
	unsigned hosts_of_sets;  /* made for a single-pass set */
	bool calls_share_passes; /* later ConfigAddMetrics calls need no passes of their own */
	/* What HostInitialize does with a counter-availability image. */
	enum fake_deed availability_deed;
	/* Objects that were made and not destroyed. */
	int hosts, evaluators, builders, schedulers, combiners;
	unsigned needless_passes; /* added to each of CUPTI's plans */
	/* The unit of every metric. */
	struct nv_DimUnitFactor factors[FAKE_MAX_FACTORS];
	size_t factor_count;
	bool odd_constituents; /* one constituent belongs to an unknown throughput */
	bool undivided;        /* fake__other_throughput has no parts */
	bool hides_parts;      /* fake__throughput counts more than its parts do */
	/* A full name that no evaluator knows, and one that can't be evaluated; or NULL. */
	const char *refused, *failing;
	const char *nan_part; /* the base name of a part that is NaN; or NULL */
	bool part_is_idle;    /* that part is NaN because its peak is 0 */
	/* What the last prefix was made of. */
	size_t prefix_counters;
	size_t prefix_instances; /* counters that keep their instances */
	/* The counter data image. */
	const char *image_chip;
	bool image_is_pm;
	size_t slots, populated, completed;
	bool miscounts;     /* as CUPTI 13.1 and later, which also read past an image */
	size_t name_length; /* 0: "range<index>" */
	size_t path_length; /* of source files' folders; 0: "/src" */
	/* What evaluation does when it reaches this range. */
	enum fake_deed evaluate_deed;
	size_t evaluate_at;
	enum fake_deed sum_deed; /* what the combiner does with a range */
	double nan_or_inf;       /* value of the first metric in range evaluate_at, if not 0 */
	/* Passes that the n-th metric of a combined image needs, as bits 1 << pass; 0: any pass. */
	unsigned needed[FAKE_MAX_NEEDED];
};

extern struct fake_nv fake;

/* Sets up a fake that works: three chips, six metrics, an image of three ranges. */
void fake_reset(void);
/* A table with all symbols. */
struct nv_table fake_table(void);
/* The symbol's slot in a table. */
void **fake_slot(struct nv_table *table, enum fake_call call);
/* A context over a table; free with opk_ctx_free(). */
struct opk_ctx *fake_ctx_of(const struct nv_table *table);
/* fake_reset(), and a context over all symbols. */
struct opk_ctx *fake_ctx(void);
/*
 * A counter data image that only the fake understands: 8-byte aligned, of FAKE_IMAGE_SIZE. Images
 * can be summed if their 16-bit numbers at FAKE_GPU_AT are equal, or 0.
 */
enum { FAKE_IMAGE_SIZE = 4096, FAKE_GPU_AT = 16 };
const void *fake_image(void);
/* Makes it an image of one pass, less than 4; 0: of all passes. */
void fake_mark_pass(void *image, unsigned pass);

/* FA100 has both profilers, FB100 only the range profiler, FC100 neither. */
extern const char *const fake_chips[3];

#endif
