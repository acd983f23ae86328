/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SASS metrics: CUPTI patches the code of functions when they are launched first, and counts at
 * each instruction. Counting is switched on and off around the chosen launches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/profilers/profilers.h"
#include "collect/ranges/ranges.h"

struct sass {
	const struct profiling *profiling;
	CUcontext context;
	int device;
	bool on, broken;
	uint64_t *metrics;        /* CUPTI's numbers */
	struct launched launched; /* since counts were written */
	const char *last;         /* symbol of the launch that was recorded last */
	uint64_t launch;          /* its number */
	uint64_t waiting;         /* launches whose counts were not written */
	struct timespec begun;    /* the first of them */
	struct counts counts;
};

static const double write_interval_s = 0.75;

/* ---- one configuration for each device ----------------------------------------------------- */

static bool find_metrics(struct sass *sass)
{
	const struct opk_meta *meta = sass->profiling->set->meta;

	sass->metrics = opk_alloc_array(meta->metric_count + 1, sizeof *sass->metrics);
	for (size_t i = 0; sass->metrics && i < meta->metric_count; i++) {
		CUpti_SassMetrics_GetProperties_Params params = {
			CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
			.pChipName = meta->chip,
			.pMetricName = meta->metrics[i],
		};

		if (!TARGET_CALL(cuptiSassMetricsGetProperties, &params))
			return say(false, "%s does not count %s on %s", target.cupti_path,
			           meta->metrics[i], meta->chip);
		sass->metrics[i] = params.metric.metricId;
	}
	return sass->metrics != NULL;
}

/* A device takes one configuration; a second one after it was removed fails. */
static bool configure(const struct sass *sass)
{
	static bool configured[MAX_DEVICES];
	size_t count = sass->profiling->set->meta->metric_count;
	opk_autofree CUpti_SassMetrics_Config *configs = opk_alloc_array(count, sizeof *configs);
	TARGET_PARAMS(params, SassMetricsSetConfig, .numOfMetricConfig = count, .pConfigs = configs,
	              .deviceIndex = (uint32_t)sass->device);

	if (configured[sass->device])
		return true;
	for (size_t i = 0; configs && i < count; i++)
		configs[i] = (CUpti_SassMetrics_Config){
			sass->metrics[i], CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU
		};
	configured[sass->device] = configs && TARGET_CALL(cuptiSassMetricsSetConfig, &params);
	return configured[sass->device];
}

struct sass *sass_new(const struct profiling *profiling, CUcontext context, int device)
{
	struct sass *sass = calloc(1, sizeof *sass);

	if (!sass)
		return NULL;
	sass->profiling = profiling;
	sass->context = context;
	sass->device = device;
	/* Never freed: rows that wait to be written have its names. */
	sass->launched.kernels = kernels_new(NULL);
	if (sass->launched.kernels && find_metrics(sass) && configure(sass))
		return sass;
	free(sass->metrics);
	free(sass);
	return NULL;
}

/* ---- on and off ---------------------------------------------------------------------------- */

static bool enable(struct sass *sass)
{
	TARGET_PARAMS(params, SassMetricsEnable, .ctx = sass->context, .enableLazyPatching = 1);

	if (!sass->on && !sass->broken) {
		sass->on = TARGET_CALL(cuptiSassMetricsEnable, &params);
		sass->broken = !sass->on;
	}
	return sass->on;
}

/* The number of records that CUPTI dropped. */
static uint64_t disable(struct sass *sass)
{
	TARGET_PARAMS(params, SassMetricsDisable, .ctx = sass->context);

	if (!sass->on)
		return 0;
	sass->on = false;
	return TARGET_CALL(cuptiSassMetricsDisable, &params) ? params.numOfDroppedRecords : 0;
}

/* CUPTI may still have what was counted, and would add it to the counts of later launches. */
static void give_up(struct sass *sass)
{
	sass->broken = true;
	sass->counts.drops[DROP_PROFILER] += sass->waiting;
	tally->ranges -= sass->waiting;
	disable(sass);
}

/* ---- what was counted ---------------------------------------------------------------------- */

/* Room for CUPTI's records, one for each patched instruction. */
struct records {
	CUpti_SassMetrics_Data *items;
	CUpti_SassMetrics_InstanceValue *values;
	size_t count, instances; /* values for each metric */
};

static void clear_records(struct records *records)
{
	free(records->items);
	free(records->values);
}

static bool read_records(struct records *records, const struct sass *sass)
{
	size_t metrics = sass->profiling->set->meta->metric_count;
	TARGET_PARAMS(has, SassMetricsGetDataProperties, .ctx = sass->context);
	CUpti_SassMetricsFlushData_Params params = { CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
		                                     .ctx = sass->context };

	if (!TARGET_CALL(cuptiSassMetricsGetDataProperties, &has))
		return false;
	records->count = has.numOfPatchedInstructionRecords;
	records->instances = has.numOfInstances;
	if (!records->count)
		return true;
	records->items = opk_alloc_array(records->count, sizeof *records->items);
	records->values = opk_alloc_array(records->count * metrics * has.numOfInstances,
	                                  sizeof *records->values);
	if (!records->items || !records->values)
		return say(false, "out of memory");
	for (size_t i = 0; i < records->count; i++) {
		records->items[i].structSize = sizeof *records->items;
		records->items[i].pInstanceValues = records->values
		                                    + i * metrics * has.numOfInstances;
	}
	params.numOfPatchedInstructionRecords = records->count;
	params.numOfInstances = has.numOfInstances;
	params.pMetricsData = records->items;
	/* The struct's size leaves out the last member, which the call fills. */
	return TARGET_CALL(cuptiSassMetricsFlushData, &params);
}

static bool has_count(const CUpti_SassMetrics_Data *record, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (record->pInstanceValues[i].value)
			return true;
	return false;
}

/* CUPTI also has records of functions that were patched, but not launched since. */
static void add_record(struct code_rows *rows, struct sass *sass,
                       const CUpti_SassMetrics_Data *record, size_t instances)
{
	size_t count = rows->metric_count * instances;
	const char *symbol = record->functionName ? record->functionName : "";
	const struct launched_function *function = launched_find(&sass->launched, symbol);
	struct opk_instruction place = {
		.module = record->cubinCrc,
		.function = function ? function->names->symbol : NULL,
		.name = function ? function->names->name : NULL,
		.offset = record->pcOffset,
		.launches = function ? function->launches : 0,
		.device = sass->device,
		.process = (uint32_t)getpid(),
		.rank = sass->profiling->rank,
	};
	uint64_t *values;

	if (!function || (!function->launches && !has_count(record, count)))
		return;
	if (sass->profiling->settings->per == PER_LAUNCH)
		place.launch = (uint32_t)sass->launch;
	values = code_rows_at(rows, &place);
	for (size_t i = 0; values && i < count; i++)
		for (size_t j = 0; j < rows->metric_count; j++)
			if (sass->metrics[j] == record->pInstanceValues[i].metricId)
				values[j] += record->pInstanceValues[i].value;
}

static void write_counts(struct sass *sass)
{
	const struct opk_meta *meta = sass->profiling->set->meta;
	struct code_rows rows = { .metrics = meta->metrics, .metric_count = meta->metric_count };
	struct records records = { 0 };

	if (!sass->on || !sass->waiting)
		return;
	if (target.cuCtxSynchronize() || !read_records(&records, sass)) {
		give_up(sass);
	} else {
		for (size_t i = 0; i < records.count; i++)
			add_record(&rows, sass, &records.items[i], records.instances);
		code_rows_hand_on(&rows, sass->profiling->segments);
		sass->counts.ranges += sass->waiting;
	}
	clear_records(&records);
	sass->waiting = 0;
	for (size_t i = 0; i < sass->launched.functions.count; i++)
		sass->launched.functions.items[i].launches = 0;
}

/* ---- launches ------------------------------------------------------------------------------ */

void sass_flush(struct sass *sass)
{
	if (sass->waiting && clock_seconds_since(&sass->begun) > write_interval_s)
		write_counts(sass);
}

bool sass_begin(struct sass *sass, const char *symbol, uint64_t launch)
{
	/* A program that launches all the time leaves the thread that flushes no turn. */
	sass_flush(sass);
	sass->last = symbol;
	sass->launch = launch;
	if (enable(sass))
		return true;
	sass->counts.drops[DROP_PROFILER]++;
	return false;
}

void sass_end(struct sass *sass, bool launched)
{
	struct launched_function *function = launched ? launched_find(&sass->launched, sass->last)
	                                              : NULL;

	if (!function)
		return;
	function->launches++;
	if (!sass->waiting++)
		sass->begun = clock_now();
	tally->ranges++;
	if (sass->profiling->settings->per == PER_LAUNCH)
		write_counts(sass);
}

void sass_rest(struct sass *sass)
{
	write_counts(sass);
	sass->counts.drops[DROP_PATCHED] += disable(sass);
}

void sass_close(struct sass *sass, struct counts *counts)
{
	sass_rest(sass);
	counts_add(counts, &sass->counts);
	launched_clear(&sass->launched);
	free(sass->metrics);
	free(sass);
}
