/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library sees of NVIDIA: host objects, images, evaluators, in offpeak's own terms.
 * Each function opens the libraries on first use, and fails with OPK_ENVIDIA where the library or
 * the symbol that it calls is missing. Images must be 8-byte aligned, and trusted or in a child
 * process: NVIDIA's code does not check them.
 */
#ifndef OPK_NV_H
#define OPK_NV_H

#include "base/ctx.h"
#include "base/metric.h"
#include "base/strlist.h"

/*
 * What distinguishes NVIDIA's libraries from other versions, without opening them: paths, sizes,
 * times of change; free(). NULL if there are none in the folders that are searched (those in the
 * loader's own path don't count).
 */
char *opk_nv_identity(const struct opk_ctx *ctx);

/* "CUPTI_ERROR_NOT_SUPPORTED" of 27. */
const char *opk_nv_status_name(int cupti_status);

/*
 * A release of CUPTI by what cuptiGetVersion says: 24 is "CUPTI 12.6", 130100 "CUPTI 13.1", and 25,
 * which no release of CUDA came with, "CUPTI (API version 25)". 0, which is not known, has the name
 * "".
 */
struct opk_nv_release {
	char name[36];
	bool old;        /* before 13.0, which has all that shipped sets and recordings name */
	bool lists_sets; /* from 13.2 on: single-pass sets of its own */
};
struct opk_nv_release opk_nv_release_of(uint32_t version);
/* The release of the library in use, which is opened; "this libcupti" where there is none. */
struct opk_nv_release opk_nv_release(struct opk_ctx *ctx);

/* What the two libraries say that they are; 0 of one that is not loaded. */
struct opk_nv_versions {
	uint32_t cupti, nvperf_year, nvperf_number;
};
struct opk_nv_versions opk_nv_versions(const struct opk_ctx *ctx);
/* A note, the first time, where they are of different releases; a child may have loaded them. */
void opk_nv_note_mixed(struct opk_ctx *ctx, const struct opk_nv_versions *versions);

/*
 * Whether this is the code of a call by which NVIDIA's libraries refused what was asked, and not of
 * one that was interrupted.
 */
bool opk_nv_refused(struct opk_ctx *ctx, int code);

/* Loads the libraries now, into this process, if there are any. What needs them says why not. */
void opk_nv_load(struct opk_ctx *ctx);

/* Whether any context has loaded them into this process. */
bool opk_nv_loaded(void);

/* cuptiProfilerHostGetSupportedChips */
int opk_nv_chips(struct opk_strlist *out, struct opk_ctx *ctx);

/* cuptiProfilerHostGetMaxNumHardwareMetricsPerPass */
int opk_nv_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);

/* Names of the PM-sampling sets that CUPTI knows: cuptiProfilerHostGetSinglePassSets; appended. */
int opk_nv_single_pass_sets(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip);
/* Its base metrics, possibly none: cuptiProfilerHostGetMetricsInSinglePassSet; appended. */
int opk_nv_single_pass_metrics(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip,
                               const char *set);

/* A host object of one chip and profiler: cuptiProfilerHostInitialize. */
struct opk_nv_host;
int opk_nv_host_new(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const void *availability);
/*
 * With one of CUPTI's single-pass sets, which are for PM sampling, or NULL: a library that lists
 * sets (13.2 on) knows some of their metrics only in this way. An earlier one ignores the set.
 */
int opk_nv_host_new_for_set(struct opk_nv_host **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler, const void *availability, const char *set);
void opk_nv_host_free(struct opk_nv_host *host);
OPK_DEFINE_AUTO(opk_nv_host)
/* Whether the chip has the profiler at all. */
int opk_nv_host_supported(bool *out, struct opk_ctx *ctx, const char *chip,
                          enum opk_profiler profiler);

/* cuptiProfilerHostGetBaseMetrics; appends. */
int opk_nv_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                        enum opk_metric_type type);
/* The base metrics of all types. */
int opk_nv_all_base_metrics(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_nv_host *host);
/*
 * cuptiProfilerHostGetSubMetrics of a base metric: what may follow it (".sum.per_second"),
 * borrowed from the host object until the next call. OPK_EUSAGE: the library has none under this
 * name.
 */
int opk_nv_submetrics(const char *const **out, size_t *count, struct opk_ctx *ctx,
                      struct opk_nv_host *host, enum opk_metric_type type, const char *name);
/*
 * cuptiProfilerHostGetMetricProperties, without the scope, which would take 60 times as long;
 * strings borrowed from the host object. OPK_EUSAGE: the library has none under this name. From
 * 13.1 on the unit of a full name is that of its base metric.
 */
int opk_nv_properties(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                      const char *name);
/* The same call, for the scope alone: unknown before 13.1. It takes a millisecond. */
int opk_nv_scope(enum opk_scope *out, struct opk_ctx *ctx, struct opk_nv_host *host,
                 const char *name);

/*
 * cuptiProfilerHostConfigAddMetrics. OPK_EUSAGE: a name is unknown; OPK_EFAILED: not schedulable;
 * OPK_ENOMEM, as anywhere, says nothing of the metrics. After a failure the host object is
 * poisoned: free it.
 */
int opk_nv_add_metrics(struct opk_ctx *ctx, struct opk_nv_host *host, const char *const *names,
                       size_t count);
/* The CUPTI status with which opk_nv_add_metrics() was refused. */
int opk_nv_host_status(const struct opk_nv_host *host);
/* cuptiProfilerHostGetConfigImage; free(). */
int opk_nv_config_image(void **out, size_t *size, struct opk_ctx *ctx, struct opk_nv_host *host);
/* cuptiProfilerHostGetNumOfPasses */
int opk_nv_passes(size_t *out, struct opk_ctx *ctx, const void *config, size_t size);
/* NVPW_Config_GetRawCounters of one pass; appends. */
int opk_nv_config_counters(struct opk_strlist *out, struct opk_ctx *ctx, const void *config,
                           size_t size, size_t pass);
/* NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize: hardware record bytes per sample. */
int opk_nv_sample_size(size_t *out, struct opk_ctx *ctx, const void *config, size_t size);

/*
 * PerfWorks' view of a chip's metrics: NVPW_CUDA_MetricsEvaluator_Initialize. All questions are
 * OPK_EUSAGE if it knows no metric by the name.
 */
struct opk_nv_evaluator;
int opk_nv_evaluator_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip);
/* For a profiler; that of PM sampling knows its metrics: NVPW_Device_MetricsEvaluator_Initialize */
int opk_nv_evaluator_of_new(struct opk_nv_evaluator **out, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);
void opk_nv_evaluator_free(struct opk_nv_evaluator *evaluator);
OPK_DEFINE_AUTO(opk_nv_evaluator)
/* Raw counters that a full metric name needs; appends, each once. */
int opk_nv_raw_counters(struct opk_strlist *out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *metric);
/* The unit of a full metric name, "bytes/second"; "" where PerfWorks has no name for it; free(). */
int opk_nv_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                const char *metric);
/* The same as CUPTI 13.0 spells it, "byte/second", "gpc_cyclewarp"; free(). */
int opk_nv_cupti_unit(char **out, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const char *metric);
/*
 * A throughput metric is the highest of several: base names of these counters and of other
 * throughputs; appended. A metric of another type has none.
 * NVPW_MetricsEvaluator_GetThroughputMetricProperties
 */
int opk_nv_constituents(struct opk_strlist *counters, struct opk_strlist *throughputs,
                        struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                        const char *metric);
/*
 * Values of ranges, the same bits as opk_nv_evaluate() gives; names are converted once. Not for PM
 * samples: OPK_EFAILED. The device is that of the last opk_nv_set_device(), and there must be one.
 * NVPW_MetricsEvaluator_SetDeviceAttributes, NVPW_MetricsEvaluator_EvaluateToGpuValues
 */
struct opk_nv_requests;
/* free() */
int opk_nv_requests_new(struct opk_nv_requests **out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *const *metrics,
                        size_t count);
int opk_nv_set_device(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator, const void *image,
                      size_t size);
int opk_nv_request_values(double *values, struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                          const struct opk_nv_requests *requests, const void *image, size_t size,
                          size_t index);
/* NVPW_CUDA_CounterDataBuilder; free(). */
int opk_nv_prefix(void **out, size_t *size, struct opk_ctx *ctx, const char *chip,
                  const char *const *raw_counters, size_t count, const bool *keep_instances);

/*
 * PerfWorks' scheduler of raw counters over one empty pass of all domains:
 * NVPW_CUDA_RawCounterConfig_Create.
 */
struct opk_nv_scheduler;
/*
 * `chip`, borrowed; `availability`: a counter-availability image, borrowed; NULL: all that the chip
 * has.
 */
int opk_nv_scheduler_new(struct opk_nv_scheduler **out, struct opk_ctx *ctx, const char *chip,
                         const void *availability);
/* An empty one for the same GPU, with those chosen domains that have these names; NULL: all. */
int opk_nv_scheduler_like(struct opk_nv_scheduler **out, struct opk_ctx *ctx,
                          const struct opk_nv_scheduler *other, const struct opk_strlist *domains);
void opk_nv_scheduler_free(struct opk_nv_scheduler *scheduler);
OPK_DEFINE_AUTO(opk_nv_scheduler)
/*
 * Whether the counters, each named once, fit one pass together; the scheduler stays as it was.
 * One that the chip lacks does not fit, and is no error; none at all do.
 * NVPW_RawCounterConfig_AreRawCountersSchedulable
 */
int opk_nv_scheduler_fits(bool *out, struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count);
/*
 * Puts counters that fit one pass, each named once, into the pass: from now on it is asked what
 * fits beside them. NVPW_RawCounterConfig_AddRawCounters
 */
int opk_nv_scheduler_hold(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *const *counters, size_t count);
/*
 * Goes on with some of its domains: what is asked about, and passes that are added from now on,
 * have no counters elsewhere. A pass of few domains takes less time.
 */
int opk_nv_scheduler_choose(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                            bool (*wanted)(const void *data, const char *domain), const void *data);
/*
 * The domains that can count a raw counter, by NVIDIA's names, single ones ("gpu_sm_a") before
 * pairs that work together ("gpu_sm_c_sm_a"); appended, each once. "gpu_sass" is software: code
 * patched into kernels. OPK_EUSAGE: the chip counts none under this name.
 * NVPW_RawCounterConfig_GetRawCounterProperties
 */
int opk_nv_counter_domains(struct opk_strlist *out, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler, const char *counter);
/*
 * The single domains where the counter may take room: its own, and both of each pair; appended,
 * each once. *ways, which may be NULL, is in how many of these and pairs. OPK_EFAILED as above.
 * NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains
 */
int opk_nv_counter_places(struct opk_strlist *out, size_t *ways, struct opk_ctx *ctx,
                          struct opk_nv_scheduler *scheduler, const char *counter);
/*
 * Adds a pass of these counters, or several if they don't fit one. After it no question can be
 * asked. NVPW_RawCounterConfig_AddRawCounters, NVPW_RawCounterConfig_EndPassGroup
 */
int opk_nv_scheduler_add_pass(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                              const char *const *counters, size_t count);
/*
 * Ends with the config image of what was added, free(); it is what CUPTI's own calls give for the
 * same counters in the same passes. NVPW_RawCounterConfig_GenerateConfigImage
 */
int opk_nv_scheduler_image(void **out, size_t *size, size_t *passes, struct opk_ctx *ctx,
                           struct opk_nv_scheduler *scheduler);

/* NVPW_CounterData_GetChipName; borrowed from the library. */
int opk_nv_image_chip(const char **out, struct opk_ctx *ctx, const void *image, size_t size);

struct opk_nv_image_info {
	size_t slots;     /* room for so many ranges or samples */
	size_t populated; /* begun */
	size_t completed; /* done: all ranges, or the samples that are whole */
};
/*
 * cuptiPmSamplingGetCounterDataInfo, which counts ranges as well as samples. From 13.1 on it says
 * one begun range too few, or none where passes are missing, and reads past the image's end:
 * PerfWorks' NVPW_CounterData_GetNumRanges knows how many there are.
 */
int opk_nv_image_info(struct opk_nv_image_info *out, struct opk_ctx *ctx, const void *image,
                      size_t size);
/* Whether samples or ranges are in it: only the former have times. */
int opk_nv_image_profiler(enum opk_profiler *out, struct opk_ctx *ctx, const void *image);
/* cuptiProfilerHostGetRangeName with '/' between levels; free(). Not for PM samples: it crashes. */
int opk_nv_range_name(char **out, struct opk_ctx *ctx, const void *image, size_t size,
                      size_t index);
/* NVPW_PeriodicSampler_CounterData_GetSampleTime: GPU time in ns. */
int opk_nv_sample_time(uint64_t *start, uint64_t *end, struct opk_ctx *ctx, const void *image,
                       size_t index);
/*
 * An image of the same counters and the same GPU as another one, with `slots` slots that are all
 * free, and room for range names of `name_size` bytes, each with its NUL; free(). What it says
 * before its first slot depends on the GPU and the counters alone: it is the same for two images
 * whose ranges can be summed. An image without slots is nothing else, and takes 4 us.
 * NVPW_CounterData_ExtractCounterDataPrefix, NVPW_CounterData_InitializeCounterDataImageCopy
 */
int opk_nv_image_like(void **out, size_t *out_size, struct opk_ctx *ctx, const void *image,
                      size_t size, size_t slots, size_t name_size);
/*
 * The same for the counters of any prefix, also those of another chip: `gpu` is an image of the
 * GPU that the new one seems to be of. NVPW_CounterData_InitializeCounterDataImageCopy
 */
struct opk_nv_image_plan {
	const void *prefix, *gpu;
	size_t prefix_size, slots, name_size;
	size_t most; /* bytes for a slot and for the head, else it fails; 0: as many as it takes */
};
int opk_nv_image_of(void **out, size_t *out_size, struct opk_ctx *ctx,
                    const struct opk_nv_image_plan *plan);
/*
 * PerfWorks' combiner over such an image, which is borrowed: NVPW_CounterDataCombiner_Create. A
 * combiner over an image of other counters, or of instances where the other has none, crashes.
 */
struct opk_nv_combiner;
int opk_nv_combiner_new(struct opk_nv_combiner **out, struct opk_ctx *ctx, void *image);
void opk_nv_combiner_free(struct opk_nv_combiner *combiner);
/*
 * The slot of the range of this name; the same one, if the name is known. Slots are taken in order.
 * Samples have no names, and their slots are there. NVPW_CounterDataCombiner_CreateRange
 */
int opk_nv_combiner_range(size_t *slot, struct opk_ctx *ctx, struct opk_nv_combiner *combiner,
                          const char *name);
/*
 * So many ranges in an image that has none, in order; names NULL: "0", "1", ... OPK_EINPUT where a
 * name is there twice.
 */
int opk_nv_combiner_ranges(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t count,
                           const char *const *names);
/*
 * Adds a range or sample of another image to what is in the slot; to a free slot, it is copied bit
 * for bit (NVPW_CounterDataCombiner_CopyIntoRange is not implemented for ranges).
 * NVPW_CounterDataCombiner_SumIntoRange
 */
int opk_nv_combiner_sum(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                        const void *image, size_t index);
/*
 * Adds a range to those whose mean is in the slot: the image keeps with each counter how often it
 * was added, and values are of the mean range, bit for bit what one has where all are equal. Each
 * counter has a mean of its own, so that ranges of different passes go into one slot, as many of
 * each as there are. Slots that were made so can be added likewise. Counts have 32 bits, and grow
 * by one, or without instances by the number of the counter's units, with each range.
 * NVPW_CounterDataCombiner_AccumulateIntoRange with 1 as either multiplier; a new slot is taken 0
 * times, because 13.5 takes what is in it for a range.
 * (NVPW_CounterDataCombiner_WeightedSumIntoRange cuts each product down to a whole number.)
 */
int opk_nv_combiner_average(struct opk_ctx *ctx, struct opk_nv_combiner *combiner, size_t slot,
                            const void *image, size_t index);
/* Whether anything was added to the slot; else nothing may be made of it. */
bool opk_nv_combiner_begun(const struct opk_nv_combiner *combiner, size_t slot);
/*
 * Cuts off the slots after the last sample, in place: *size becomes less. Not for images of
 * ranges. NVPW_PeriodicSampler_CounterData_TrimInPlace
 */
int opk_nv_trim_samples(size_t *size, struct opk_ctx *ctx, void *image);

/*
 * cuptiProfilerHostEvaluateToGpuValues: `count` values of one range or sample. CUPTI keeps the
 * peaks of the device whose image it evaluated first: one of another device needs a host object of
 * its own.
 */
int opk_nv_evaluate(double *values, struct opk_ctx *ctx, struct opk_nv_host *host,
                    const void *image, size_t size, size_t index, const char *const *names,
                    size_t count);

#endif
