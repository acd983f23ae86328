/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's libraries in offpeak's own terms: host objects, images, evaluators.
 * Each function opens the libraries on first use, and fails with OPK_ENVIDIA if the library or the
 * symbol that it calls is missing. Images must be 8-byte aligned, and either trusted or used in a
 * child process: NVIDIA's code does not check them.
 */
#ifndef OPK_NV_H
#define OPK_NV_H

#include "base/ctx.h"
#include "base/metric.h"
#include "base/strlist.h"

/*
 * Identifies the version of NVIDIA's libraries without opening them: paths, sizes, times of change;
 * free(). NULL if the searched folders have none (the loader's own path does not count).
 */
char *opk_nv_identity(const struct opk_ctx *ctx);

/* The status's name: 27 is "CUPTI_ERROR_NOT_SUPPORTED". */
const char *opk_nv_status_name(int cupti_status);

/*
 * A release of CUPTI by the number of cuptiGetVersion: 24 is "CUPTI 12.6", 130100 is "CUPTI 13.1".
 * A number that no CUDA release has, such as 25, is "CUPTI (API version 25)". 0 means not known:
 * the name is "".
 */
struct opk_nv_release {
	char name[36];
	bool old;        /* before 13.0, the first with all names of shipped sets and recordings */
	bool lists_sets; /* from 13.2 on: has its own single-pass sets */
};
struct opk_nv_release opk_nv_release_of(uint32_t version);
/* Opens the library and returns its release; named "this libcupti" if there is no library. */
struct opk_nv_release opk_nv_release(struct opk_ctx *ctx);

/* The versions that the two libraries report; 0 for a library that is not loaded. */
struct opk_nv_versions {
	uint32_t cupti, nvperf_year, nvperf_number;
};
struct opk_nv_versions opk_nv_versions(const struct opk_ctx *ctx);
/* Logs once if they are of different releases. A child may have loaded the libraries. */
void opk_nv_note_mixed(struct opk_ctx *ctx, const struct opk_nv_versions *versions);

/*
 * Whether `code` means that NVIDIA's libraries refused the request, and not that the call was
 * interrupted.
 */
bool opk_nv_refused(struct opk_ctx *ctx, int code);

/* Loads the libraries into this process now. On failure, a later call that needs them says why. */
void opk_nv_load(struct opk_ctx *ctx);

/* Whether any context has loaded them into this process. */
bool opk_nv_loaded(void);

/* cuptiProfilerHostGetSupportedChips */
int opk_nv_chips(struct opk_strlist *out, struct opk_ctx *ctx);

/* cuptiProfilerHostGetMaxNumHardwareMetricsPerPass */
int opk_nv_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);

/* Appends the names of CUPTI's PM-sampling sets: cuptiProfilerHostGetSinglePassSets. */
int opk_nv_single_pass_sets(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip);
/* Appends the set's base metrics, possibly none: cuptiProfilerHostGetMetricsInSinglePassSet. */
int opk_nv_single_pass_metrics(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip,
                               const char *set);

/* A host object of one chip and profiler: cuptiProfilerHostInitialize. */
struct opk_nv_host;
int opk_nv_host_new(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const void *availability);
/*
 * The same for one of CUPTI's single-pass sets, which are for PM sampling, or NULL: from 13.2 on,
 * the library knows some metrics only in a host object for their set. Earlier ones ignore the set.
 */
int opk_nv_host_new_for_set(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler, const void *availability, const char *set);
void opk_nv_host_free(struct opk_nv_host *host);
OPK_DEFINE_AUTO(opk_nv_host)
/* Whether the chip has the profiler. */
int opk_nv_host_supported(bool *out, struct opk_ctx *ctx, const char *chip,
                          enum opk_profiler profiler);

/* Appends base metrics: cuptiProfilerHostGetBaseMetrics. */
int opk_nv_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                        enum opk_metric_type type);
/* The base metrics of all types. */
int opk_nv_all_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host);
/*
 * cuptiProfilerHostGetSubMetrics: the suffixes of a base metric (".sum.per_second"), borrowed from
 * the host object until the next call. OPK_EUSAGE: the library has no metric of this name.
 */
int opk_nv_submetrics(const char *const **out, size_t *count, struct opk_ctx *ctx,
                      struct opk_nv_host *host, enum opk_metric_type type, const char *name);
/*
 * cuptiProfilerHostGetMetricProperties without the scope, which would take 60 times as long.
 * Strings are borrowed from the host object. OPK_EUSAGE: the library has no metric of this name.
 * From 13.1 on, a full name gets the unit of its base metric.
 */
int opk_nv_properties(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                      const char *name);
/* The same call for the scope only, which is unknown before 13.1. It takes a millisecond. */
int opk_nv_scope(enum opk_scope *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                 const char *name);

/*
 * cuptiProfilerHostConfigAddMetrics. OPK_EUSAGE: a name is unknown; OPK_EFAILED: not schedulable;
 * OPK_ENOMEM does not mean that the metrics are at fault. After a failure the host object can't be
 * used: free it.
 */
int opk_nv_add_metrics(struct opk_ctx *ctx, struct opk_nv_host *host, const char *const *names,
                       size_t count);
/* The CUPTI status of the opk_nv_add_metrics() that failed. */
int opk_nv_host_status(const struct opk_nv_host *host);
/* cuptiProfilerHostGetConfigImage; free(). */
int opk_nv_config_image(void **out, size_t *size, struct opk_ctx *ctx, struct opk_nv_host *host);
/* cuptiProfilerHostGetNumOfPasses */
int opk_nv_passes(size_t *out, struct opk_ctx *ctx, const void *config, size_t size);
/* Appends the raw counters of one pass: NVPW_Config_GetRawCounters. */
int opk_nv_config_counters(struct opk_strlist *out, struct opk_ctx *ctx, const void *config,
                           size_t size, size_t pass);
/* NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize: hardware record bytes per sample. */
int opk_nv_sample_size(size_t *out, struct opk_ctx *ctx, const void *config, size_t size);

/*
 * PerfWorks' view of a chip's metrics: NVPW_CUDA_MetricsEvaluator_Initialize. All functions return
 * OPK_EUSAGE if PerfWorks has no metric of the name.
 */
struct opk_nv_evaluator;
int opk_nv_evaluator_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip);
/* For a profiler. PM sampling needs its own evaluator: NVPW_Device_MetricsEvaluator_Initialize */
int opk_nv_evaluator_of_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);
void opk_nv_evaluator_free(struct opk_nv_evaluator *evaluator);
OPK_DEFINE_AUTO(opk_nv_evaluator)
/* Appends the raw counters that a full metric name needs, each once. */
int opk_nv_raw_counters(struct opk_strlist *out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *metric);
/* The unit of a full metric name, "bytes/second"; "" if PerfWorks has no name for it; free(). */
int opk_nv_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                const char *metric);
/* The same in the spelling of CUPTI 13.0, "byte/second", "gpc_cyclewarp"; free(). */
int opk_nv_cupti_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const char *metric);
/*
 * Appends the constituents of a throughput metric: base names of counters and of other throughputs.
 * Its value is the highest value of a constituent. A metric of another type has no constituents.
 * NVPW_MetricsEvaluator_GetThroughputMetricProperties
 */
int opk_nv_constituents(struct opk_strlist *counters, struct opk_strlist *throughputs,
                        struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                        const char *metric);
/*
 * Evaluates ranges, bit for bit like opk_nv_evaluate(), but converts names only once. Not for PM
 * samples: OPK_EFAILED. Call opk_nv_set_device() first: the last one sets the device.
 * NVPW_MetricsEvaluator_SetDeviceAttributes, NVPW_MetricsEvaluator_EvaluateToGpuValues
 */
struct opk_nv_requests;
/* A range of a counter data image, or a sample. */
struct opk_nv_range {
	const void *image;
	size_t size;
	size_t index;
};
/* free() */
int opk_nv_requests_new(struct opk_nv_requests **out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *const *metrics,
                        size_t count);
int opk_nv_set_device(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator, const void *image,
                      size_t size);
int opk_nv_request_values(double *values, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                          const struct opk_nv_requests *requests, const struct opk_nv_range *range);
/* NVPW_CUDA_CounterDataBuilder; free(). */
int opk_nv_prefix(void **out, size_t *size, struct opk_ctx *ctx, const char *chip,
                  const struct opk_strlist *raw_counters, const bool *keep_instances);

/*
 * PerfWorks' scheduler of raw counters over one empty pass of all domains:
 * NVPW_CUDA_RawCounterConfig_Create.
 */
struct opk_nv_scheduler;
/*
 * `chip` is borrowed, as is `availability`: a counter-availability image; NULL: all counters of the
 * chip.
 */
int opk_nv_scheduler_new(struct opk_nv_scheduler **out, struct opk_ctx *ctx, const char *chip,
                         const void *availability);
/* An empty scheduler for the same GPU, with the chosen domains of these names; NULL: all. */
int opk_nv_scheduler_like(struct opk_nv_scheduler **out, struct opk_ctx *ctx,
                          const struct opk_nv_scheduler *other, const struct opk_strlist *domains);
void opk_nv_scheduler_free(struct opk_nv_scheduler *scheduler);
OPK_DEFINE_AUTO(opk_nv_scheduler)
/*
 * Whether the counters, each named once, fit one pass together; the scheduler does not change.
 * A counter that the chip lacks does not fit, without an error; an empty list fits.
 * NVPW_RawCounterConfig_AreRawCountersSchedulable
 */
int opk_nv_scheduler_fits(bool *out, struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count);
/*
 * Puts counters that fit one pass, each named once, into the pass. Later questions are about
 * counters that fit besides them. NVPW_RawCounterConfig_AddRawCounters
 */
int opk_nv_scheduler_hold(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count);
/*
 * Limits the scheduler to some of its domains: later questions and passes use counters in these
 * only. A pass of few domains takes less time.
 */
int opk_nv_scheduler_choose(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                            bool (*wanted)(const void *data, const char *domain), const void *data);
/*
 * Appends the domains that can count a raw counter, by NVIDIA's names, each once: single domains
 * ("gpu_sm_a") before pairs that work together ("gpu_sm_c_sm_a"). "gpu_sass" is software: code
 * patched into kernels. OPK_EUSAGE: the chip has no counter of this name.
 * NVPW_RawCounterConfig_GetRawCounterProperties
 */
int opk_nv_counter_domains(struct opk_strlist *out, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler, const char *counter);
/*
 * Appends the single domains that may count the counter, each once, including both members of each
 * pair. *ways, which may be NULL, becomes the number of domains and pairs. OPK_EFAILED as above.
 * NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains
 */
int opk_nv_counter_places(struct opk_strlist *out, size_t *ways, struct opk_ctx *ctx,
                          struct opk_nv_scheduler *scheduler, const char *counter);
/*
 * Adds a pass of these counters, or several if they don't fit one. Afterwards the scheduler can't
 * be asked. NVPW_RawCounterConfig_AddRawCounters, NVPW_RawCounterConfig_EndPassGroup
 */
int opk_nv_scheduler_add_pass(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                              const char *const *counters, size_t count);
/*
 * Makes the config image of the added passes, free(). CUPTI's own calls make the same image for the
 * same counters in the same passes. NVPW_RawCounterConfig_GenerateConfigImage
 */
int opk_nv_scheduler_image(void **out, size_t *size, size_t *passes, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler);

/* NVPW_CounterData_GetChipName; borrowed from the library. */
int opk_nv_image_chip(const char **out, struct opk_ctx *ctx, const void *image, size_t size);

struct opk_nv_image_info {
	size_t slots;     /* ranges or samples that fit */
	size_t populated; /* ranges or samples that were begun */
	size_t completed; /* all ranges, or the complete samples */
};
/*
 * cuptiPmSamplingGetCounterDataInfo, which counts ranges as well as samples. From 13.1 on it
 * reports one begun range too few, or 0 if passes are missing, and reads past the image's end:
 * NVPW_CounterData_GetNumRanges of PerfWorks counts ranges correctly.
 */
int opk_nv_image_info(struct opk_nv_image_info *out, struct opk_ctx *ctx, const void *image,
                      size_t size);
/* Whether the image has samples or ranges: only samples have times. */
int opk_nv_image_profiler(enum opk_profiler *out, struct opk_ctx *ctx, const void *image);
/* cuptiProfilerHostGetRangeName with '/' between levels; free(). Not for PM samples: it crashes. */
int opk_nv_range_name(char **out, struct opk_ctx *ctx, const void *image, size_t size,
                      size_t index);
/* NVPW_PeriodicSampler_CounterData_GetSampleTime: GPU time in ns. */
int opk_nv_sample_time(uint64_t *start, uint64_t *end, struct opk_ctx *ctx, const void *image,
                       size_t index);
struct opk_nv_room {
	size_t slots;     /* free ones, for a range each */
	size_t name_size; /* bytes of all range names, each with its NUL */
};
/*
 * Makes an image for the counters and GPU of another one; free(). The head before the first slot
 * depends on the GPU and the counters only: it is the same for two images whose ranges can be
 * summed. An image without slots is only the head, and takes 4 us.
 * NVPW_CounterData_ExtractCounterDataPrefix, NVPW_CounterData_InitializeCounterDataImageCopy
 */
int opk_nv_image_like(void **out, size_t *out_size, struct opk_ctx *ctx, const void *image,
                      size_t size, const struct opk_nv_room *room);
/*
 * The same for the counters of any prefix, even of another chip: `gpu` is an image whose GPU the
 * new image gets. NVPW_CounterData_InitializeCounterDataImageCopy
 */
struct opk_nv_image_plan {
	const void *prefix, *gpu;
	size_t prefix_size, slots, name_size;
	size_t most; /* fails if a slot or the head needs more bytes; 0: no limit */
};
int opk_nv_image_of(void **out, size_t *out_size, struct opk_ctx *ctx,
                    const struct opk_nv_image_plan *plan);
/*
 * PerfWorks' combiner over such an image, which is borrowed: NVPW_CounterDataCombiner_Create. It
 * crashes if the images that it combines differ in their counters, or in having instances.
 */
struct opk_nv_combiner;
int opk_nv_combiner_new(struct opk_nv_combiner **out, struct opk_ctx *ctx, void *image);
void opk_nv_combiner_free(struct opk_nv_combiner *combiner);
/*
 * Finds or takes the slot of the range of this name. Slots are taken in order. Samples need no such
 * call: they have no names. NVPW_CounterDataCombiner_CreateRange
 */
int opk_nv_combiner_range(size_t *slot, struct opk_ctx *ctx, struct opk_nv_combiner *combiner,
                          const char *name);
/*
 * Creates `count` ranges, in order, in an image without ranges; names NULL: "0", "1", ...
 * OPK_EINPUT: a name is used twice.
 */
int opk_nv_combiner_ranges(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t count,
                           const char *const *names);
/*
 * Adds a range or sample of another image to the slot's sum; copies it to a free slot bit for bit
 * (NVPW_CounterDataCombiner_CopyIntoRange is not implemented for ranges).
 * NVPW_CounterDataCombiner_SumIntoRange
 */
int opk_nv_combiner_sum(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                        const void *image, size_t index);
/*
 * Adds a range to the mean in the slot. The image stores for each counter how often it was added,
 * and values are of the mean range: if all ranges are equal, bit for bit the values of one. Each
 * counter has its own mean, so one slot can have any number of ranges of each pass. Slots of means
 * can be added in the same way. Counts have 32 bits; each range adds one, or, without instances,
 * the number of the counter's units.
 * NVPW_CounterDataCombiner_AccumulateIntoRange with both multipliers 1; for a new slot its own
 * multiplier is 0, because 13.5 takes its content for a range.
 * (NVPW_CounterDataCombiner_WeightedSumIntoRange truncates each product to a whole number.)
 */
int opk_nv_combiner_average(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                            const void *image, size_t index);
/* Whether anything was added to the slot; otherwise its content must not be used. */
bool opk_nv_combiner_begun(const struct opk_nv_combiner *combiner, size_t slot);
/*
 * Cuts off the slots after the last sample, in place, and reduces *size. Not for images of ranges.
 * NVPW_PeriodicSampler_CounterData_TrimInPlace
 */
int opk_nv_trim_samples(size_t *size, struct opk_ctx *ctx, void *image);

/*
 * cuptiProfilerHostEvaluateToGpuValues: `count` values of one range or sample. A host object keeps
 * the peaks of the device whose image it evaluated first: use another one for each device.
 */
int opk_nv_evaluate(double *values, struct opk_ctx *ctx, struct opk_nv_host *host,
                    const struct opk_nv_range *range, const char *const *names, size_t count);

/*
 * The path of nvdisasm, of a toolkit, of the Python package nvidia-cuda-nvdisasm or in PATH;
 * free(). NULL: there is none.
 */
int opk_nv_disassembler(char **out, struct opk_ctx *ctx);

/* The source line of an instruction; free(path). A number of 0: unknown. */
struct opk_nv_line {
	char *path;
	uint32_t number;
};
/* OPK_ENVIDIA: this libcupti can't find source lines. */
int opk_nv_has_source_lines(struct opk_ctx *ctx);
/*
 * cuptiGetSassToSourceCorrelation: `offset` must be within the function. Hostile cubins crash it:
 * call it in a child.
 */
int opk_nv_source_line(struct opk_nv_line *line, struct opk_ctx *ctx, const void *cubin,
                       size_t size, const char *function, uint64_t offset);
/* cuptiGetCubinCrc: the name of a module. */
int opk_nv_cubin_crc(uint64_t *crc, struct opk_ctx *ctx, const void *cubin, size_t size);

#endif
