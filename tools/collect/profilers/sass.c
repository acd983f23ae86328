/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SASS metrics: CUPTI patches the code of functions when they are launched first, and counts at
 * each instruction. Counting is switched on and off around the chosen launches.
 */
#include "collect/profilers/profilers.h"
#include "collect/ranges/launch.h"
#include "collect/ranges/ranges.h"

struct sass {
	const struct profiling *profiling;
	CUcontext context;
	int device;
	bool on, broken;
	uint64_t *metrics;        /* CUPTI's numbers */
	struct launched launched; /* since counts were written, each from one module */
	const char *last;         /* symbol of the launch that is recorded */
	uint64_t launch;          /* number of the one that was recorded last */
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

/* The modules whose records have a function's name: one of each kind, and how often it changes. */
struct origin {
	uint64_t counted, recorded; /* CRCs: with counts, or in any case */
	size_t counted_modules, recorded_modules;
};

/* Room for CUPTI's records, one for each patched instruction. */
struct records {
	CUpti_SassMetrics_Data *items;
	CUpti_SassMetrics_InstanceValue *values;
	size_t count, instances; /* values for each metric */
	struct origin *origins;  /* of functions, in the order of those that were launched */
};

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

static const char *symbol_of(const CUpti_SassMetrics_Data *record)
{
	return record->functionName ? record->functionName : "";
}

static void add_origin(uint64_t *module, size_t *modules, uint64_t crc)
{
	*modules += !*modules || *module != crc;
	*module = crc;
}

/* CUPTI also has records of functions that were patched, but not launched since. */
static bool find_origins(struct records *records, struct sass *sass, size_t values)
{
	const struct launched_function *functions = sass->launched.functions.items;
	size_t known = sass->launched.functions.count, number;

	records->origins = opk_alloc_array(known + 1, sizeof *records->origins);
	if (!records->origins)
		return say(false, "out of memory");
	for (size_t i = 0; i < records->count; i++) {
		const CUpti_SassMetrics_Data *record = &records->items[i];
		struct origin *origin;

		if (!opk_index_find(&number, &sass->launched.index, symbol_of(record))
		    || !functions[number].launches)
			continue;
		origin = &records->origins[number];
		add_origin(&origin->recorded, &origin->recorded_modules, record->cubinCrc);
		if (has_count(record, values))
			add_origin(&origin->counted, &origin->counted_modules, record->cubinCrc);
	}
	return true;
}

/*
 * How often a function of that module was launched. Another module may have a function of its name,
 * without counts; where nothing has counts, it is the module that had them before.
 */
static uint32_t launches_in(struct launched_function *function, const struct origin *origin,
                            uint64_t module)
{
	if (origin->counted_modules == 1)
		function->module = origin->counted;
	else if (!function->module && origin->recorded_modules == 1)
		function->module = origin->recorded;
	return origin->counted_modules <= 1 && module == function->module ? function->launches : 0;
}

static void add_record(struct code_rows *rows, struct sass *sass, const struct records *records,
                       const CUpti_SassMetrics_Data *record)
{
	size_t count = rows->metric_count * records->instances, number;
	bool launched = opk_index_find(&number, &sass->launched.index, symbol_of(record))
	                && sass->launched.functions.items[number].launches;
	struct launched_function *function = launched || has_count(record, count)
	                                             ? launched_find(&sass->launched,
	                                                             symbol_of(record))
	                                             : NULL;
	struct opk_instruction place = {
		.module = record->cubinCrc,
		.offset = record->pcOffset,
		.device = sass->device,
		.process = (uint32_t)getpid(),
		.rank = sass->profiling->rank,
	};
	uint64_t *values;

	if (!function)
		return;
	place.function = function->names->symbol;
	place.name = function->names->name;
	if (launched)
		place.launches = launches_in(function, &records->origins[number], place.module);
	if (!place.launches && !has_count(record, count))
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
	if (target.cuCtxSynchronize() || !read_records(&records, sass)
	    || !find_origins(&records, sass, rows.metric_count * records.instances)) {
		give_up(sass);
	} else {
		for (size_t i = 0; i < records.count; i++)
			add_record(&rows, sass, &records, &records.items[i]);
		code_rows_hand_on(&rows, sass->profiling->segments);
		sass->counts.ranges += sass->waiting;
	}
	free(records.items);
	free(records.values);
	free(records.origins);
	clocks_look(sass->device);
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

/* Functions of the same name in two modules: counts between two writings are of one of them. */
static void separate(struct sass *sass, const struct launch *launch)
{
	struct launched_function *function = launched_find(&sass->launched, launch->symbol);

	if (!function || !launched_from(function, launch->function))
		return;
	if (function->launches)
		write_counts(sass);
	function->module = 0;
}

bool sass_begin(struct sass *sass, const struct launch *launch, uint64_t number)
{
	/* A program that launches all the time leaves the thread that flushes no turn. */
	sass_flush(sass);
	separate(sass, launch);
	sass->last = launch->symbol;
	sass->launch = number;
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
