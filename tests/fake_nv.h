/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for NVIDIA's libraries: every function of the table, with statuses and behaviours
 * that the real ones won't give on demand. It lives in one global that a test sets up before it
 * calls the library; a child that evaluates inherits it.
 */
#ifndef OPK_FAKE_NV_H
#define OPK_FAKE_NV_H

#include "adapters/nv/nv_table.h"

enum fake_call {
#define X(symbol, params, last, feature) FAKE_##symbol,
	NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
		FAKE_SYMBOL_COUNT,
	/* The scheduler's, which come last, are failed and missed by check_scheduler.c. */
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
	/* For each call: the status that it fails with, from which call on, how often made. */
	int status[FAKE_SYMBOL_COUNT];
	unsigned from[FAKE_SYMBOL_COUNT]; /* 0: the first */
	unsigned calls[FAKE_SYMBOL_COUNT];
	/* Struct sizes that the two calls accept, and those that they were given. */
	size_t initialize_size, properties_size; /* 13.0's; the larger properties tell scopes */
	bool lists_no_submetrics;                /* nor properties of base names: 12.x */
	size_t sizes[FAKE_MAX_SIZES];
	size_t size_count;
	const char *device_metric; /* is of the device, where scopes are known */
	/* Status of an add of more than one metric. */
	int together_status;
	/* The raw counter of a link, whose metrics CUPTI refuses beside others; or NULL. */
	const char *link;
	/* CUPTI's single-pass sets: "Triage", and one without metrics. */
	bool sets_fail; /* they are listed, and no host object can be had for them: GR100 */
	bool no_sets, named_sets;
	size_t name_beyond;      /* so far is a name outside the buffer */
	unsigned hosts_of_sets;  /* made for a single-pass set */
	bool calls_share_passes; /* later ConfigAddMetrics need none of their own */
	/* What HostInitialize does with a counter-availability image. */
	enum fake_deed availability_deed;
	/* Objects that were made and not given back. */
	int hosts, evaluators, builders, schedulers, combiners;
	unsigned needless_passes; /* of CUPTI's plans */
	/* The unit of every metric. */
	struct nv_DimUnitFactor factors[FAKE_MAX_FACTORS];
	size_t factor_count;
	bool odd_constituents; /* one of a throughput that there is not */
	bool undivided;        /* fake__other_throughput: it has no parts */
	bool hides_parts;      /* fake__throughput counts more than its parts do */
	/* Full names that no evaluator knows, and that can't be evaluated; or NULL. */
	const char *refused, *failing;
	const char *nan_part; /* the base of a part that is nan; or NULL */
	bool part_is_idle;    /* because its peak is 0 */
	/* What the last prefix was made of. */
	size_t prefix_counters;
	size_t prefix_instances; /* counters that keep theirs */
	/* The counter data image. */
	const char *image_chip;
	bool image_is_pm;
	size_t slots, populated, completed;
	bool miscounts;     /* as CUPTI 13.1 and later, which also read past an image */
	size_t name_length; /* 0: "range<index>" */
	/* What evaluation does once it comes to this range. */
	enum fake_deed evaluate_deed;
	size_t evaluate_at;
	enum fake_deed sum_deed; /* what the combiner does with a range */
	double nan_or_inf;       /* value of the first metric in range evaluate_at, if not 0 */
	/* Passes that the n-th metric of a combined image needs, 1 << pass each; 0: any. */
	unsigned needed[FAKE_MAX_NEEDED];
};

extern struct fake_nv fake;

/* Everything works: three chips, six metrics, an image of three ranges. */
void fake_reset(void);
/* All symbols. */
struct nv_table fake_table(void);
/* The symbol's place in a table. */
void **fake_slot(struct nv_table *table, enum fake_call call);
/* A context over a table; opk_ctx_free(). */
struct opk_ctx *fake_ctx_of(const struct nv_table *table);
/* fake_reset(), and a context over all symbols. */
struct opk_ctx *fake_ctx(void);
/*
 * A counter data image that only the fake understands: 8-byte aligned, of FAKE_IMAGE_SIZE. Images
 * can be summed where they have the same 16-bit number at FAKE_GPU_AT, or 0.
 */
enum { FAKE_IMAGE_SIZE = 4096, FAKE_GPU_AT = 16 };
const void *fake_image(void);
/* Makes it one of a pass, less than 4; 0: of all passes. */
void fake_mark_pass(void *image, unsigned pass);

/* FA100 has both profilers, FB100 only the range profiler, FC100 neither. */
extern const char *const fake_chips[3];

#endif
