/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of lib/chip, besides the public functions. */
#ifndef OPK_CHIP_DOOR_H
#define OPK_CHIP_DOOR_H

#include "base/ctx.h"
#include "base/metric.h"
#include "base/nearest.h"
#include "base/strlist.h"

/* ---- chips */

struct opk_chip {
	const char *name; /* upper case: "GH100" */
	bool range;       /* the range profiler knows it */
	bool pm_sampling; /* PM sampling knows it */
	bool sass;        /* it has metrics of instructions; false: their list is not installed */
};

/* The chips that opk_chip_list() lists. A struct opk_chip is valid until opk_chips_free(). */
struct opk_chips;
int opk_chips_new(struct opk_chips **out, struct opk_ctx *ctx);
void opk_chips_free(struct opk_chips *chips);
size_t opk_chips_count(const struct opk_chips *chips);
const struct opk_chip *opk_chips_get(const struct opk_chips *chips, size_t i);
/* Finds a chip by its name, ignoring case; NULL if unknown. */
const struct opk_chip *opk_chips_find(const struct opk_chips *chips, const char *name);
/* Finds a chip by any word that opk_chip_list() accepts. */
int opk_chips_resolve(const struct opk_chip **out, struct opk_ctx *ctx,
                      const struct opk_chips *chips, const char *name);
/* OPK_EFAILED: the chip does not have this profiler. */
int opk_chip_metric_count(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler);
/* The chip must have the profiler. OPK_ENVIDIA: libcupti has no such function. */
int opk_chip_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                              enum opk_profiler profiler);
/*
 * Whether any metric of the profiler, which the chip must have, counts the whole device: enum
 * opk_scope. Asks about as few metrics as it can: CUPTI 13.1 takes a millisecond for each.
 * OPK_ENVIDIA: libcupti has no such function.
 */
int opk_chip_device_level(bool *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler);

/* ---- metrics */

/* "counter", "ratio", "throughput", and back; parsing any other name returns false. */
const char *opk_metric_type_name(enum opk_metric_type type);
bool opk_metric_type_parse(enum opk_metric_type *out, const char *name);
/* "context", "device"; NULL if unknown. */
const char *opk_scope_name(enum opk_scope scope);

/* How the GPU counts: by its hardware, by code that CUPTI patches into kernels (SASS), or both. */
enum opk_method { OPK_METHOD_UNKNOWN, OPK_METHOD_HARDWARE, OPK_METHOD_SASS, OPK_METHOD_BOTH };
const char *opk_method_name(enum opk_method method); /* "hardware", "sass", "both"; "" */

/* A suffix that makes a full name of a base metric. */
struct opk_submetric {
	const char *suffix;   /* ".sum.per_second" */
	const char *dim_unit; /* the submetric's own unit: "byte/second", "percent" */
	int passes;           /* 0: not counted; negative: CUPTI refuses it with this status */
	enum opk_method
		method; /* known with the passes; not for PM sampling, nor before CUPTI 12.9 */
};
/* "CUPTI_ERROR_NOT_SUPPORTED" for the passes of a refused submetric; "" for all others. */
const char *opk_refusal_name(int passes);

/*
 * All base metrics of one chip and profiler with their properties, sorted by name. If the cache
 * folder of the context's options has them, NVIDIA's libraries are not needed. OPK_EFAILED: the
 * chip does not have this profiler.
 */
struct opk_catalog;
int opk_catalog_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler);
/*
 * What a recording with values says of the metrics that it has; *out is NULL if it says nothing.
 * Needs no NVIDIA library. `chip` and `profiler` are the recording's.
 */
int opk_catalog_of_file(struct opk_catalog **out, struct opk_ctx *ctx, const struct opk_file *file,
                        const char *chip, enum opk_profiler profiler);
void opk_catalog_free(struct opk_catalog *catalog);
const char *opk_catalog_chip(const struct opk_catalog *catalog);
/*
 * Asks for the submetrics of all metrics, where they did not come from the cache
 * (cuptiProfilerHostGetSubMetrics; 0.1 s for the 150,179 full names of GH100), and fills the cache.
 * Metrics don't move, but their text does: borrow it again. CUPTI 12.x lists no submetrics: it gets
 * those of 13.0 that it has properties for (cuptiProfilerHostGetMetricProperties). OPK_ENVIDIA: it
 * has neither function.
 */
int opk_catalog_complete(struct opk_catalog *catalog, struct opk_ctx *ctx);
/*
 * How many submetrics a metric of this catalog has; 0 before the catalog is complete. Their texts
 * are borrowed from the catalog.
 */
size_t opk_catalog_submetric_count(const struct opk_catalog *catalog,
                                   const struct opk_metric *metric);
struct opk_submetric opk_catalog_submetric(const struct opk_catalog *catalog,
                                           const struct opk_metric *metric, size_t i);
/*
 * Finds which profiler of instructions, sass or pc, has a metric of this name on the chip.
 * OPK_EFAILED: their lists are not installed.
 */
int opk_code_profiler_of(bool *found, enum opk_profiler *out, struct opk_ctx *ctx, const char *chip,
                         const char *name);
/* The unit of such a metric's values, as PerfWorks writes units: "instructions"; "": not known. */
const char *opk_code_unit(const char *metric);
/* The base metric of a base or full name; NULL if the chip has no such metric. */
const struct opk_metric *opk_catalog_find(const struct opk_catalog *catalog, const char *name);

/* A full name: a metric of a catalog, and one of its submetrics. */
struct opk_full_name {
	const struct opk_metric *metric;
	size_t submetric;
};
/* The submetric; for a metric without any, the metric's own properties. */
struct opk_submetric opk_catalog_submetric_of(const struct opk_catalog *catalog,
                                              const struct opk_full_name *name);

size_t opk_catalog_count(const struct opk_catalog *catalog);
const struct opk_metric *opk_catalog_get(const struct opk_catalog *catalog, size_t i);
/* Completes the catalog if there is a cache to fill for the next query; failures are ignored. */
void opk_catalog_keep(struct opk_catalog *catalog, struct opk_ctx *ctx);

/*
 * Fills in the unknown scopes of `count` metrics of this catalog; before CUPTI 13.1 they stay
 * unknown. Ask only for scopes that are needed: CUPTI takes a millisecond for each
 * (cuptiProfilerHostGetMetricProperties). A complete catalog keeps them in the cache.
 */
int opk_catalog_ask_scopes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                           const struct opk_metric *const *metrics, size_t count);

/*
 * Counts passes for a GPU with this counter-availability image, which is copied; NULL: for any GPU.
 * Names whose counters the GPU lacks are then refused. Forgets earlier counts; counts with an image
 * are not cached. Nothing is checked here: if the image is damaged or another chip's,
 * opk_catalog_count_passes() returns OPK_EINPUT.
 */
int opk_catalog_set_availability(struct opk_catalog *catalog, struct opk_ctx *ctx,
                                 const void *image, size_t size);
/* The base metric of the chip that is most like a misspelt name; NULL if none is near. */
const struct opk_metric *opk_catalog_nearest(const struct opk_catalog *catalog, const char *name);

/*
 * The number of the metric's plainest submetric: .sum, .ratio or, of a throughput,
 * .avg.pct_of_peak_sustained_elapsed; otherwise the first. The catalog must be complete.
 */
size_t opk_catalog_plainest(const struct opk_catalog *catalog, const struct opk_metric *metric);

/*
 * The metric names that begin with a text, in order, for completion: base names or, for a text
 * with a dot, full names ("dram__bytes.s"), which CUPTI 12.x does not list. From the cache where it
 * can, else from NVIDIA's libraries without the properties (cuptiProfilerHostGetBaseMetrics,
 * cuptiProfilerHostGetSubMetrics). OPK_EFAILED: the chip does not have this profiler.
 */
int opk_complete_name(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip,
                      enum opk_profiler profiler, const char *prefix);

/*
 * Chooses metrics as the first fields of the options say. OPK_EUSAGE for a malformed regular
 * expression.
 */
struct opk_matcher;
int opk_matcher_new(struct opk_matcher **out, struct opk_ctx *ctx,
                    const struct opk_metric_list_options *filter);
void opk_matcher_free(struct opk_matcher *matcher);
bool opk_matcher_match(const struct opk_matcher *matcher, const struct opk_metric *metric);
/* For a full name of that metric: globs are over the base or the full name. */
bool opk_matcher_match_full(const struct opk_matcher *matcher, const struct opk_metric *metric,
                            const char *full);
/*
 * Short labels for people, one for each name: "DRAM throughput". Names that are not metrics stay,
 * and so do those whose labels another of them has; without the shipped data, all.
 */
int opk_metric_labels(struct opk_strlist *out, struct opk_ctx *ctx, const char *const *names,
                      size_t count);
/*
 * A misspelt name may be made of words of a label: "kernel time", "dram throughput". Takes the
 * name of the label with the fewest words that has them all as the nearest one, unless one that
 * differs by a letter is known.
 */
int opk_nearest_by_words(struct opk_nearest *nearest, struct opk_ctx *ctx, const char *const *names,
                         size_t count);
/* ---- nvprof's names */

/* A metric name in a legacy name's formula. */
struct opk_legacy_term {
	const char *name;
	bool exists; /* the chip has it */
	/* The first metric of a term with {op}, which means several. NULL: it means one. */
	const char *nearest;
};

/* A metric or event of nvprof, and what became of it: data/legacy_names.tsv. */
struct opk_legacy {
	const char *name;
	const char *kind;    /* "metric" or "event" */
	const char *formula; /* over full names of the chip; "": it has no counterpart */
	/* If a metric and an event have the same name: the other of the two; otherwise NULL. */
	const char *other_kind, *other_formula;
	/* The terms of the formula, or of the first one that the chip would need. */
	const struct opk_legacy_term *terms;
	size_t term_count;
	const char *nvidia; /* NVIDIA's own formula, which may differ; "": NVIDIA names none */
	const char *unit;   /* of the formula's value; "": it follows from its metrics */
	const char *note;   /* such as why the formula is not NVIDIA's; may be "" */
	const char *lack;   /* why the chip has no counterpart; NULL: it has one */
};

/*
 * What one of nvprof's names means on the catalog's chip; OPK_OK and NULL if nvprof had no such
 * name. The catalog must be complete, and outlive the result. Needs the shipped data.
 */
int opk_legacy_new(struct opk_legacy **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                   const char *name);
void opk_legacy_free(struct opk_legacy *legacy);

/* The chip of an availability file, free(); "" for a bare image and a probe of several chips. */
int opk_availability_chip(char **out, struct opk_ctx *ctx, const char *path);

#endif
