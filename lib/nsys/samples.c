/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of GPU metrics. Nsight Systems gives their metrics labels; its User Guide says which
 * metrics these mean.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nsys/nsys.h"

enum {
	MAX_VALUES = 1 << 27, /* readers take as many */
	ROWS_OF_IMAGE = 1 << 16,
};

/* ---- labels ----------------------------------------------------------------------------- */

enum kind { PERCENT, CLOCK, COUNT };

/* What a label ends in, which older versions leave out. */
static const struct {
	const char *suffix, *unit;
} kinds[] = {
	[PERCENT] = { " [Throughput %]", "percent" },
	[CLOCK] = { " [MHz]", "cycles/second" },
	[COUNT] = { " [Requests]", "requests" },
};

#define SHARE(base) base ".avg.pct_of_peak_sustained_elapsed"
#define MEMORY(access)                                                                             \
	SHARE("dramc__" access "_throughput"), PERCENT, SHARE("dram__" access "_throughput")
struct meaning {
	const char *label, *metric;
	enum kind kind;
	const char *since_blackwell; /* another metric; NULL: it is the same */
};
static const struct meaning meanings[] = {
	{ "GPC Clock Frequency", "gpc__cycles_elapsed.avg.per_second", CLOCK, NULL },
	{ "SYS Clock Frequency", "sys__cycles_elapsed.avg.per_second", CLOCK, NULL },
	{ "GR Active", "gr__cycles_active.sum.pct_of_peak_sustained_elapsed", PERCENT, NULL },
	{ "Sync Compute in Flight", SHARE("gr__dispatch_cycles_active_queue_sync"), PERCENT, NULL },
	{ "Async Compute in Flight", SHARE("gr__dispatch_cycles_active_queue_async"), PERCENT,
	  NULL },
	{ "Draw Started", SHARE("fe__draw_count"), PERCENT, NULL },
	{ "Dispatch Started", SHARE("gr__dispatch_count"), PERCENT, NULL },
	{ "SMs Active", SHARE("sm__cycles_active"), PERCENT, NULL },
	{ "SM Active", SHARE("sm__cycles_active"), PERCENT, NULL },
	{ "SM Issue", SHARE("sm__inst_executed_realtime"), PERCENT, NULL },
	{ "Tensor Active", SHARE("sm__pipe_tensor_cycles_active_realtime"), PERCENT, NULL },
	{ "Tensor Active / FP16 Active", SHARE("sm__pipe_shared_cycles_active_realtime"), PERCENT,
	  NULL },
	{ "Vertex/Tess/Geometry Warps in Flight", SHARE("tpc__warps_active_shader_vtg_realtime"),
	  PERCENT, NULL },
	{ "Pixel Warps in Flight", SHARE("tpc__warps_active_shader_ps_realtime"), PERCENT, NULL },
	{ "Compute Warps in Flight", SHARE("tpc__warps_active_shader_cs_realtime"), PERCENT, NULL },
	{ "Active SM Unused Warp Slots", SHARE("tpc__warps_inactive_sm_active_realtime"), PERCENT,
	  NULL },
	{ "Unused Warp Slots in Active SMs", SHARE("tpc__warps_inactive_sm_active_realtime"),
	  PERCENT, NULL },
	{ "Unallocated Warps in Active SMs", SHARE("tpc__warps_inactive_sm_active_realtime"),
	  PERCENT, NULL },
	{ "Idle SM Unused Warp Slots", SHARE("tpc__warps_inactive_sm_idle_realtime"), PERCENT,
	  NULL },
	{ "Unused Warp Slots in Idle SMs", SHARE("tpc__warps_inactive_sm_idle_realtime"), PERCENT,
	  NULL },
	{ "DRAM Read Bandwidth", MEMORY("read") },
	{ "DRAM Write Bandwidth", MEMORY("write") },
	{ "VRAM Read Bandwidth", MEMORY("read") },
	{ "VRAM Write Bandwidth", MEMORY("write") },
	{ "NVLink bytes received", SHARE("nvlrx__bytes"), PERCENT, NULL },
	{ "NVLink bytes transmitted", SHARE("nvltx__bytes"), PERCENT, NULL },
	{ "PCIe RX Throughput", SHARE("pcie__read_bytes"), PERCENT, NULL },
	{ "PCIe TX Throughput", SHARE("pcie__write_bytes"), PERCENT, NULL },
	{ "PCIe Read Throughput", SHARE("pcie__read_bytes"), PERCENT, NULL },
	{ "PCIe Write Throughput", SHARE("pcie__write_bytes"), PERCENT, NULL },
	{ "PCIe Read Requests to BAR1", "pcie__rx_requests_aperture_bar1_op_read.sum", COUNT,
	  NULL },
	{ "PCIe Write Requests to BAR1", "pcie__rx_requests_aperture_bar1_op_write.sum", COUNT,
	  NULL },
};

_Static_assert(sizeof meanings / sizeof *meanings <= OPK_NSYS_METRICS, "");

/* NULL: the label is not known, or is of another unit, such as warps. */
static const struct meaning *find_meaning(const char *label)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
		size_t size = strlen(meanings[i].label);

		/* Versions differ in capital letters. */
		if (!strncasecmp(meanings[i].label, label, size)
		    && (!label[size] || !strcmp(label + size, kinds[meanings[i].kind].suffix)))
			return &meanings[i];
	}
	return NULL;
}

/* The number of a metric, which is added where it is new. */
static size_t number_metric(struct opk_nsys_samples *out, const struct meaning *meaning,
                            const char *chip)
{
	bool blackwell = !strncmp(chip, "GB", 2) && meaning->since_blackwell;
	const char *name = blackwell ? meaning->since_blackwell : meaning->metric;
	size_t i = opk_texts_find(out->names, out->metric_count, name);

	if (i == out->metric_count) {
		out->names[i] = name;
		out->units[i] = kinds[meaning->kind].unit;
		out->metric_count++;
	}
	return i;
}

static const struct opk_nsys_label *find_label(const struct opk_nsys_samples *samples, int64_t type,
                                               int64_t id)
{
	for (size_t i = 0; i < samples->labels.count; i++)
		if (samples->labels.items[i].type == type && samples->labels.items[i].id == id)
			return &samples->labels.items[i];
	return NULL;
}

/* Whether one of the type's labels means the metric; of two, the first counts. */
static bool has_metric(const struct opk_nsys_samples *samples, int64_t type, size_t metric)
{
	for (size_t i = 0; i < samples->labels.count; i++)
		if (samples->labels.items[i].type == type
		    && samples->labels.items[i].metric == metric)
			return true;
	return false;
}

struct reading {
	struct opk_nsys_samples *out;
	struct opk_nsys_imported *counts;
	struct opk_nsys_source *source;
	const char *chip;
	bool any; /* the database has samples */
};

static int keep_name(struct opk_strlist *list, struct opk_ctx *ctx, const char *name)
{
	return opk_strlist_contains(list, name) || opk_strlist_add(list, name)
	               ? OPK_OK
	               : opk_nomem(ctx, "labels");
}

static int take_label(void *data, const struct opk_statement *row)
{
	enum { TYPE, METRIC, NAME };
	struct reading *r = data;
	struct opk_nsys_samples *out = r->out;
	const char *name = opk_statement_get_text(row, NAME);
	int64_t type = opk_statement_get_int(row, TYPE), id = opk_statement_get_int(row, METRIC);
	const struct meaning *meaning = name ? find_meaning(name) : NULL;
	struct opk_nsys_label *added;
	size_t metric;

	if (!meaning)
		return name ? keep_name(&r->counts->labels, r->source->ctx, name) : OPK_OK;
	metric = number_metric(out, meaning, r->chip);
	if (find_label(out, type, id))
		return OPK_OK;
	if (has_metric(out, type, metric))
		return keep_name(&r->counts->second, r->source->ctx, name);
	added = opk_list_add(&out->labels);
	if (!added)
		return opk_nomem(r->source->ctx, "labels");
	*added = (struct opk_nsys_label){
		.type = type,
		.id = id,
		.metric = metric,
		.is_clock = meaning->kind == CLOCK,
	};
	return OPK_OK;
}

/* ---- samples ---------------------------------------------------------------------------- */

/* The first sample of a GPU is left out: nothing says when it began. */
static int begin_group(struct opk_nsys_samples *out, struct opk_ctx *ctx, int64_t type,
                       uint64_t time)
{
	struct opk_nsys_group *group = opk_list_add(&out->groups);

	if (!group)
		return opk_nomem(ctx, "samples");
	*group = (struct opk_nsys_group){ type, time, out->ends.count };
	return OPK_OK;
}

static int add_sample(struct opk_nsys_samples *out, struct opk_nsys_source *source, uint64_t time)
{
	uint64_t *end;

	if ((out->ends.count + 1) * out->metric_count > MAX_VALUES)
		return opk_fail(source->ctx, OPK_EFAILED, "%s: more than %d values of GPU metrics",
		                source->path, MAX_VALUES);
	end = opk_list_add(&out->ends);
	if (!end)
		return opk_nomem(source->ctx, "samples");
	*end = time;
	for (size_t i = 0; i < out->metric_count; i++) {
		double *value = opk_list_add(&out->values);

		if (!value)
			return opk_nomem(source->ctx, "samples");
		*value = (double)NAN;
	}
	return OPK_OK;
}

/* Clocks are in Hz, although their label says MHz; below 100,000 a number can only be in MHz. */
static double value_of(struct opk_nsys_imported *counts, const struct opk_nsys_label *label,
                       double number)
{
	if (number < 0) {
		counts->negative++;
		return (double)NAN;
	}
	return label->is_clock && number < 1e5 ? 1e6 * number : number;
}

/* False: no sample can have this time. It counts from 1970; rows are in the order of times. */
static bool read_time(int64_t *out, const struct opk_nsys_samples *samples, int64_t base,
                      const struct opk_nsys_group *group, const struct opk_statement *row,
                      int column)
{
	size_t count = samples->ends.count;
	uint64_t least = 0;

	if (group)
		least = count > group->first ? samples->ends.items[count - 1] : group->begin;
	return opk_statement_is_number(row, column)
	       && !__builtin_add_overflow(base, opk_statement_get_int(row, column), out)
	       && *out >= 0 && (uint64_t)*out >= least;
}

/* The group of a type's samples, if it is the last one: rows are in the order of types. */
static const struct opk_nsys_group *last_group(const struct opk_nsys_samples *samples, int64_t type)
{
	size_t count = samples->groups.count;

	return count && samples->groups.items[count - 1].type == type
	               ? &samples->groups.items[count - 1]
	               : NULL;
}

/* Where the sample of this time is among the rows; SIZE_MAX: it is the first of its GPU. */
static int find_sample(size_t *row, struct opk_nsys_samples *out, struct opk_nsys_source *source,
                       int64_t type, uint64_t time)
{
	const struct opk_nsys_group *group = last_group(out, type);

	*row = SIZE_MAX;
	if (!group)
		return begin_group(out, source->ctx, type, time);
	if (group->begin == time)
		return OPK_OK;
	if (out->ends.count == group->first || out->ends.items[out->ends.count - 1] != time)
		TRY(add_sample(out, source, time));
	*row = out->ends.count - 1;
	return OPK_OK;
}

/*
 * Rows of the database are in the order of types and times. SQLite lets times and values be texts,
 * which would be read as 0. One odd value stops nothing.
 */
static int take_value(void *data, const struct opk_statement *row)
{
	enum { TYPE, TIME, METRIC, VALUE };
	struct reading *r = data;
	struct opk_nsys_samples *out = r->out;
	int64_t type = opk_statement_get_int(row, TYPE), id = opk_statement_get_int(row, METRIC);
	const struct opk_nsys_label *label = find_label(out, type, id);
	bool number = opk_statement_is_number(row, VALUE);
	int64_t time;
	size_t sample;

	r->any = true;
	if (!label || (!number && !opk_statement_get_text(row, VALUE)))
		return OPK_OK;
	if (!read_time(&time, out, r->source->base, last_group(out, type), row, TIME)) {
		r->counts->odd_records++;
		return OPK_OK;
	}
	r->counts->texts += !number;
	TRY(find_sample(&sample, out, r->source, type, (uint64_t)time));
	if (sample != SIZE_MAX && number)
		out->values.items[sample * out->metric_count + label->metric] =
			value_of(r->counts, label, opk_statement_get_double(row, VALUE));
	return OPK_OK;
}

int opk_nsys_samples_read(struct opk_nsys_samples *out, struct opk_nsys_imported *counts,
                          struct opk_nsys_source *source, const char *chip)
{
	static const struct opk_nsys_column labels[] = { COLUMN("typeId"), COLUMN("metricId"),
		                                         COLUMN("metricName") };
	static const struct opk_nsys_column values[] = { COLUMN("typeId"), REQUIRED("timestamp"),
		                                         COLUMN("metricId"), COLUMN("value") };
	static const struct opk_nsys_query queries[] = {
		QUERY("TARGET_INFO_GPU_METRICS", labels, take_label, "1 ORDER BY 1, 2"),
		QUERY(OPK_NSYS_SAMPLES, values, take_value,
		      "t.timestamp IS NOT NULL ORDER BY 1, 2"),
	};
	struct reading r = { out, counts, source, chip, false };

	for (size_t i = 0; opk_nsys_has(source, OPK_NSYS_SAMPLES) && i < 2; i++)
		TRY(opk_nsys_read(source, &queries[i], &r));
	counts->no_names = r.any && !out->labels.count && !counts->labels.count;
	return OPK_OK;
}

void opk_nsys_samples_clear(struct opk_nsys_samples *samples)
{
	free(samples->labels.items);
	free(samples->groups.items);
	free(samples->ends.items);
	free(samples->values.items);
	free(samples->images.items);
	*samples = (struct opk_nsys_samples){ 0 };
}

/* ---- the recording ---------------------------------------------------------------------- */

static int compare_numbers(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* A sample lasts from the one before it, or, after a gap, as long as most do. */
static int fill_times(struct opk_time *times, struct opk_ctx *ctx, const uint64_t *ends,
                      size_t count, uint64_t begin)
{
	opk_autofree uint64_t *apart = opk_alloc_array(count + 1, sizeof *apart);
	uint64_t interval;

	if (!apart)
		return opk_nomem(ctx, "samples");
	for (size_t i = 0; i < count; i++)
		apart[i] = ends[i] - (i ? ends[i - 1] : begin);
	qsort(apart, count, sizeof *apart, compare_numbers);
	interval = apart[count / 2];
	for (size_t i = 0; i < count; i++) {
		uint64_t before = i ? ends[i - 1] : begin;
		bool gap = ends[i] - before > 2 * interval;

		times[i].start = gap ? ends[i] - interval : before;
		times[i].end = ends[i];
	}
	return OPK_OK;
}

/* The places of a GPU's images, and the times of their rows. */
static int add_places(struct opk_nsys_samples *samples, struct opk_writer *writer,
                      struct opk_ctx *ctx, const struct opk_time *times, size_t count)
{
	for (size_t i = 0, rows; i < count; i += rows) {
		struct opk_baked_image *image = opk_list_add(&samples->images);

		if (!image)
			return opk_nomem(ctx, "samples");
		rows = count - i < ROWS_OF_IMAGE ? count - i : ROWS_OF_IMAGE;
		*image = (struct opk_baked_image){ .rows = rows };
		TRY(opk_writer_add_place(writer, 0, (uint32_t)samples->images.count - 1));
		TRY(opk_writer_add_times(writer, times + i, rows, sizeof *times));
	}
	return OPK_OK;
}

static int add_group(struct opk_nsys_samples *samples, struct opk_writer *writer,
                     struct opk_nsys_source *source, size_t number)
{
	const struct opk_nsys_group *group = &samples->groups.items[number];
	bool last = number + 1 == samples->groups.count;
	size_t end = last ? samples->ends.count : group[1].first, count = end - group->first;
	opk_autofree struct opk_time *times = opk_alloc_array(count + 1, sizeof *times);

	if (!times)
		return opk_nomem(source->ctx, "samples");
	TRY(fill_times(times, source->ctx, samples->ends.items + group->first, count,
	               group->begin));
	for (size_t i = 0; i < count; i++)
		times[i].device = opk_nsys_sampled_gpu(source, group->type);
	return add_places(samples, writer, source->ctx, times, count);
}

int opk_nsys_samples_place(struct opk_nsys_samples *samples, struct opk_writer *writer,
                           struct opk_nsys_source *source)
{
	for (size_t i = 0; i < samples->groups.count; i++)
		TRY(add_group(samples, writer, source, i));
	return OPK_OK;
}

int opk_nsys_samples_write(const struct opk_nsys_samples *samples, struct opk_writer *writer,
                           struct opk_ctx *ctx)
{
	return opk_writer_add_given_values(writer, ctx,
	                                   &(struct opk_given_values){
						   .metrics = samples->names,
						   .units = samples->units,
						   .metric_count = samples->metric_count,
						   .row_count = samples->ends.count,
						   .values = samples->values.items,
						   .generator = "Nsight Systems",
						   .images = samples->images.items,
						   .image_count = samples->images.count,
					   });
}
