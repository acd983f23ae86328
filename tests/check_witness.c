/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks every number in a second way: identities between the values of one range or sample. CUPTI
 * and PerfWorks evaluate every metric of the chip for which a shipped recording has counters; they
 * must agree in every bit, and each identity of the table below is checked. Faults planted on
 * purpose must break one.
 */
#include <math.h>

#include "catalogs.h"
#include "container/container.h"
#include "eval/eval_inside.h"
#include "perfworks.h"

/* Values are computed in doubles, by formulas that differ from these: this much is rounding. */
static const double rounding = 1e-9;

enum fault { NO_FAULT, SWAPPED, UNIT, PREFIX, OTHER_BIT };

/* A throughput under one of its full names, and the base names of its parts. */
struct throughput {
	size_t metric;
	const char *suffix;
	const struct opk_strlist *parts;
};

struct witness {
	struct opk_ctx *ctx;
	const struct opk_meta *meta;
	uint32_t release; /* CUPTI's own number */
	struct opk_catalog *catalog;
	struct opk_values by, by_perfworks;
	struct opk_nv_evaluator *evaluator; /* PerfWorks'; NULL: it evaluates no samples */
	struct opk_strlist *parts;          /* one list for each base metric */
	struct throughput *throughputs;
	size_t throughput_count;
	struct opk_strlist names;
	size_t *first;          /* for each base metric, the index of its first name */
	double *values, *twins; /* of one row, one for each name; by PerfWorks */
	size_t row;
	enum fault fault;
	size_t broken;
	const char *recording;
};

struct identity {
	const char *name, *reason;
	void (*check)(struct witness *w, struct identity *identity, const struct opk_metric *base,
	              size_t number);
	void (*check_row)(struct witness *w, struct identity *identity); /* replaces the others */
	enum opk_metric_type type;
	size_t claims; /* how often it was checked */
};

enum { CUPTI_12_9 = 28 };

/* In PM samples; later releases use dram__cycles_active for the share. */
static const char mean_of_means[] = "dramc__cycles_active.avg is 80 times too low";

/* Metrics whose NVIDIA formula breaks an identity. */
static const struct {
	const char *identity, *base, *cause;
	uint32_t release; /* CUPTI's own number; 0: all */
} exceptions[] = {
	{ "order", "smsp__imc_requests_lookup_hit",
	  "requests less misses: its minimum is the difference of two minima", 0 },
	{ "whole", "dramc__sectors", mean_of_means, CUPTI_12_9 },
	{ "whole", "dramc__sectors_op_read", mean_of_means, CUPTI_12_9 },
	{ "whole", "dramc__sectors_op_write", mean_of_means, CUPTI_12_9 },
};

static double value_of(const struct witness *w, const struct opk_metric *base, size_t number,
                       const char *suffix)
{
	size_t at;

	return opk_catalog_find_submetric(&at, w->catalog, base, suffix)
	               ? w->values[w->first[number] + at]
	               : (double)NAN;
}

static bool is_exception(const struct witness *w, const struct identity *identity, const char *base)
{
	for (size_t i = 0; i < COUNT(exceptions); i++)
		if (!strcmp(exceptions[i].identity, identity->name)
		    && !strcmp(exceptions[i].base, base)
		    && (!exceptions[i].release || exceptions[i].release == w->release))
			return true;
	return false;
}

/* Counts a claim, and a broken one unless it is an exception. */
static void claim(struct witness *w, struct identity *identity, const char *base, bool holds,
                  double is, double must)
{
	identity->claims++;
	if (holds || is_exception(w, identity, base))
		return;
	w->broken++;
	if (!w->fault)
		fprintf(stderr, "%s, row %zu: %s: %s of %s: %.17g, not %.17g\n", w->recording,
		        w->row, identity->name, identity->reason, base, is, must);
}

static void claim_equal(struct witness *w, struct identity *identity, const char *base, double is,
                        double must)
{
	double most = fmax(fabs(is), fabs(must));

	if (!isnan(is) && !isnan(must))
		claim(w, identity, base, is == must || fabs(is - must) <= rounding * most, is,
		      must);
}

/* ---- the values of one counter */

static void check_order(struct witness *w, struct identity *identity, const struct opk_metric *base,
                        size_t number)
{
	double least = value_of(w, base, number, ".min"), mean = value_of(w, base, number, ".avg"),
	       most = value_of(w, base, number, ".max"), more = fabs(mean) * rounding;

	if (!isnan(least) && !isnan(mean) && !isnan(most))
		claim(w, identity, base->name, least <= mean + more && mean <= most + more, least,
		      most);
}

static void check_instances(struct witness *w, struct identity *identity,
                            const struct opk_metric *base, size_t number)
{
	double instances = value_of(w, base, number, ".sum.peak_sustained")
	                   / value_of(w, base, number, ".avg.peak_sustained");

	claim_equal(w, identity, base->name, value_of(w, base, number, ".avg") * instances,
	            value_of(w, base, number, ".sum"));
}

/* Checks each rollup: it is one submetric times another, divided by a third unless that is "". */
static void check_rollups(struct witness *w, struct identity *identity,
                          const struct opk_metric *base, size_t number, const char *const parts[3],
                          double scale)
{
	static const char *const rollups[] = { ".sum", ".avg", ".min", ".max" };

	for (size_t i = 0; i < COUNT(rollups); i++) {
		double product = scale;

		for (size_t j = 0; j < 3; j++) {
			opk_autofree char *suffix = opk_printf("%s%s", rollups[i], parts[j]);
			double value = *parts[j] ? value_of(w, base, number, suffix) : 1;

			product = j == 2 ? product / value : product * value;
		}
		claim_equal(w, identity, base->name, product,
		            value_of(w, base, number, rollups[i]));
	}
}

#define ROLLUPS(function, factor, peak, divisor, scale)                                            \
	static void function(struct witness *w, struct identity *identity,                         \
	                     const struct opk_metric *base, size_t number)                         \
	{                                                                                          \
		check_rollups(w, identity, base, number,                                           \
		              (const char *const[]){ factor, peak, divisor }, scale);              \
	}

ROLLUPS(check_pct_elapsed, ".pct_of_peak_sustained_elapsed", ".peak_sustained_elapsed", "", 0.01)
ROLLUPS(check_pct_active, ".pct_of_peak_sustained_active", ".peak_sustained_active", "", 0.01)
ROLLUPS(check_cycle_elapsed, ".per_cycle_elapsed", ".peak_sustained_elapsed", ".peak_sustained", 1)
ROLLUPS(check_cycle_active, ".per_cycle_active", ".peak_sustained_active", ".peak_sustained", 1)

/* ---- values of several metrics */

static double value_named(const struct witness *w, const char *name)
{
	size_t length = opk_base_length(name);
	opk_autofree char *base = opk_printf("%.*s", (int)length, name);
	const struct opk_metric *metric = opk_catalog_find(w->catalog, base);

	return metric ? value_of(w, metric, (size_t)(metric - opk_catalog_get(w->catalog, 0)),
	                         name + length)
	              : (double)NAN;
}

static void check_second(struct witness *w, struct identity *identity,
                         const struct opk_metric *base, size_t number)
{
	double time = value_named(w, "gpu__time_duration.sum") * 1e-9;
	static const char *const rollups[] = { ".sum", ".avg", ".min", ".max" };

	for (size_t i = 0; i < COUNT(rollups); i++) {
		opk_autofree char *rate = opk_printf("%s.per_second", rollups[i]);

		claim_equal(w, identity, base->name, value_of(w, base, number, rate) * time,
		            value_of(w, base, number, rollups[i]));
	}
}

/* "unit__average_A_per_B.ratio": the count of A, divided by the count of B. */
static void check_average(struct witness *w, struct identity *identity,
                          const struct opk_metric *base, size_t number)
{
	static const char word[] = "__average_";
	const char *first = strstr(base->name, word), *per;
	opk_autofree char *above = NULL, *below = NULL;

	if (!first || !(per = strstr(first, "_per_")))
		return;
	above = opk_printf("%.*s__%.*s.sum", (int)(first - base->name), base->name,
	                   (int)(per - first - (ptrdiff_t)strlen(word)), first + strlen(word));
	below = opk_printf("%.*s__%s.sum", (int)(first - base->name), base->name, per + 5);
	claim_equal(w, identity, base->name, value_of(w, base, number, ".ratio"),
	            value_named(w, above) / value_named(w, below));
}

static void check_hit_rate(struct witness *w, struct identity *identity,
                           const struct opk_metric *base, size_t number)
{
	static const char word[] = "_hit_rate";
	size_t length = strlen(base->name);
	opk_autofree char *hits = NULL, *all = NULL;

	if (length < strlen(word) || strcmp(base->name + length - strlen(word), word) != 0)
		return;
	length -= strlen(word);
	hits = opk_printf("%.*ss_lookup_hit.sum", (int)length, base->name);
	all = opk_printf("%.*ss.sum", (int)length, base->name);
	claim_equal(w, identity, base->name, value_of(w, base, number, ".pct"),
	            100 * value_named(w, hits) / value_named(w, all));
}

/* The one pass of a recorded metric; 0: several, or unknown. */
static uint32_t pass_of(const struct witness *w, const char *name)
{
	const struct opk_meta *meta = w->meta;

	if (meta->passes == 1)
		return 1;
	for (size_t i = 0; i < meta->metric_pass_count; i++)
		if (!strcmp(meta->metrics[i], name))
			return meta->metric_passes[i].count == 1 ? meta->metric_passes[i].passes[0]
			                                         : 0;
	return 0;
}

/* Metrics that parts of the chip count, which have no other parts; "": no such part. */
static const char *const splits[][4] = {
	{ "_lookup_hit", "_lookup_miss", "", "" },
	{ "_read", "_write", "", "" },
	{ "_aperture_device", "_aperture_peer", "_aperture_sysmem", "" },
	{ "_threads_uniform", "_threads_divergent", "", "" },
};

/* Other passes are other runs of a kernel: only parts in one pass add up. */
static void check_splits(struct witness *w, struct identity *identity,
                         const struct opk_metric *base, size_t number)
{
	opk_autofree char *whole = opk_printf("%s.sum", base->name);
	uint32_t pass = pass_of(w, whole);

	for (size_t i = 0; pass && i < COUNT(splits); i++) {
		double sum = 0;

		for (size_t j = 0; j < COUNT(*splits) && *splits[i][j]; j++) {
			opk_autofree char *part = opk_printf("%s%s.sum", base->name, splits[i][j]);

			sum += pass_of(w, part) == pass ? value_named(w, part) : (double)NAN;
		}
		claim_equal(w, identity, base->name, sum, value_of(w, base, number, ".sum"));
	}
}

/* Cycles counted separately from what they divide may differ slightly within a pass. */
static void check_whole(struct witness *w, struct identity *identity, const struct opk_metric *base,
                        size_t number)
{
	static const char *const shares[] = { ".avg.pct_of_peak_sustained_active",
		                              ".avg.pct_of_peak_sustained_elapsed" };

	for (size_t i = 0; i < COUNT(shares); i++) {
		opk_autofree char *name = opk_printf("%s%s", base->name, shares[i]);
		double value = value_of(w, base, number, shares[i]);

		if (opk_is_share(name) && (w->meta->passes == 1 || pass_of(w, name)))
			claim(w, identity, base->name, !(value > 101), value, 100);
	}
}

static double part_value(const struct witness *w, const char *part, const char *suffix)
{
	opk_autofree char *name = opk_printf("%s%s", part, suffix);

	return value_named(w, name);
}

/* The peak that ".avg.pct_of_peak_sustained_active" is a share of: ".avg.peak_sustained_active". */
static double part_peak(const struct witness *w, const char *part, const char *suffix)
{
	const char *share = strstr(suffix, ".pct_of_");
	opk_autofree char *name = NULL;

	ck_assert_ptr_nonnull(share);
	name = opk_printf("%s%.*s.%s", part, (int)(share - suffix), suffix, share + 8);
	return value_named(w, name);
}

/* A nan part is ignored if its unit was idle; otherwise the whole is nan. */
static double highest(const struct witness *w, const struct throughput *t)
{
	double most = NAN;

	for (size_t i = 0; i < t->parts->count; i++) {
		const char *part = t->parts->items[i];
		double value = part_value(w, part, t->suffix);

		if (isnan(value)
		    && (isnan(part_value(w, part, ".sum")) || part_peak(w, part, t->suffix) != 0))
			return NAN;
		most = fmax(most, value);
	}
	return most;
}

/* Whether all parts are numbers: then the throughput must be one, too. */
static bool is_whole(const struct witness *w, const struct throughput *t)
{
	for (size_t i = 0; i < t->parts->count; i++)
		if (isnan(part_value(w, t->parts->items[i], t->suffix)))
			return false;
	return true;
}

static void check_throughputs(struct witness *w, struct identity *identity)
{
	for (size_t i = 0; i < w->throughput_count; i++) {
		const struct throughput *t = &w->throughputs[i];
		double is = w->values[t->metric], must = highest(w, t);

		if (!isnan(is) || is_whole(w, t))
			claim(w, identity, w->names.items[t->metric], is == must, is, must);
	}
}

/* Both of NVIDIA's evaluators compute the same bits. */
static void check_twins(struct witness *w, struct identity *identity)
{
	for (size_t i = 0; w->evaluator && i < w->names.count; i++)
		claim(w, identity, w->names.items[i],
		      !memcmp(&w->values[i], &w->twins[i], sizeof *w->values), w->twins[i],
		      w->values[i]);
}

static struct identity identities[] = {
	{ "order", "no instance is above the greatest or below the least", check_order, NULL,
	  OPK_COUNTER, 0 },
	{ "instances", "the sum is the mean times the number of instances", check_instances, NULL,
	  OPK_COUNTER, 0 },
	{ "elapsed", "a share of the peak, times that peak", check_pct_elapsed, NULL, OPK_COUNTER,
	  0 },
	{ "active", "a share of the peak, times that peak", check_pct_active, NULL, OPK_COUNTER,
	  0 },
	{ "cycles", "a rate a cycle, times the cycles", check_cycle_elapsed, NULL, OPK_COUNTER, 0 },
	{ "active cycles", "a rate a cycle, times the cycles", check_cycle_active, NULL,
	  OPK_COUNTER, 0 },
	{ "seconds", "a rate a second, times the time", check_second, NULL, OPK_COUNTER, 0 },
	{ "splits", "the parts add up to the whole", check_splits, NULL, OPK_COUNTER, 0 },
	{ "whole", "a share of one pass is at most the whole", check_whole, NULL, OPK_COUNTER, 0 },
	{ "average", "a ratio is its numerator over its denominator", check_average, NULL,
	  OPK_RATIO, 0 },
	{ "hit rate", "a share of hits is hits over all", check_hit_rate, NULL, OPK_RATIO, 0 },
	{ "throughput", "it is the highest of its parts", NULL, check_throughputs, OPK_THROUGHPUT,
	  0 },
	{ "evaluators", "CUPTI's value is PerfWorks'", NULL, check_twins, OPK_COUNTER, 0 },
};

static void check_row(struct witness *w)
{
	for (size_t i = 0; i < COUNT(identities); i++) {
		struct identity *identity = &identities[i];

		for (size_t j = 0; identity->check && j < opk_catalog_count(w->catalog); j++) {
			const struct opk_metric *base = opk_catalog_get(w->catalog, j);

			if (base->type == identity->type)
				identity->check(w, identity, base, j);
		}
		if (identity->check_row)
			identity->check_row(w, identity);
	}
}

/* ---- the rows of a recording */

static void add_names(struct witness *w)
{
	size_t count = opk_catalog_count(w->catalog);

	w->first = opk_alloc_array(count + 1, sizeof *w->first);
	for (size_t i = 0; i < count; i++) {
		const struct opk_metric *base = opk_catalog_get(w->catalog, i);

		w->first[i] = w->names.count;
		for (size_t j = 0; j < opk_catalog_submetric_count(w->catalog, base); j++) {
			opk_autofree char *name =
				opk_printf("%s%s", base->name,
			                   opk_catalog_submetric(w->catalog, base, j).suffix);

			ck_assert(opk_strlist_add(&w->names, name));
		}
	}
	w->values = opk_alloc_array(w->names.count + 1, sizeof *w->values);
	w->twins = opk_alloc_array(w->names.count + 1, sizeof *w->twins);
}

/* The parts of each throughput, as this test finds them. */
static void add_throughputs(struct witness *w)
{
	size_t count = opk_catalog_count(w->catalog);
	struct perfworks perfworks;

	w->parts = opk_alloc_array(count + 1, sizeof *w->parts);
	w->throughputs = opk_alloc_array(w->names.count + 1, sizeof *w->throughputs);
	perfworks_open(&perfworks, w->ctx, w->meta->chip, w->meta->profiler);
	for (size_t i = 0; i < count; i++) {
		const struct opk_metric *base = opk_catalog_get(w->catalog, i);

		if (base->type != OPK_THROUGHPUT)
			continue;
		perfworks_parts(&w->parts[i], &perfworks, base->name);
		for (size_t j = 0; j < opk_catalog_submetric_count(w->catalog, base); j++)
			w->throughputs[w->throughput_count++] = (struct throughput){
				w->first[i] + j,
				opk_catalog_submetric(w->catalog, base, j).suffix,
				&w->parts[i],
			};
	}
	perfworks_close(&perfworks);
}

static void swap_values(struct witness *w, const char *one, const char *other)
{
	double *values[2] = { NULL, NULL };

	for (size_t i = 0; i < w->names.count; i++)
		for (size_t j = 0; j < 2; j++)
			if (!strcmp(w->names.items[i], j ? other : one))
				values[j] = &w->values[i];
	if (values[0] && values[1]) {
		double kept = *values[0];

		*values[0] = *values[1];
		*values[1] = kept;
	}
}

static void put_fault(struct witness *w)
{
	if (w->fault == SWAPPED)
		swap_values(w, "smsp__inst_executed.sum", "smsp__inst_executed.avg");
	for (size_t i = 0; w->fault == UNIT && i < w->names.count; i++)
		if (strstr(w->names.items[i], "gpu__time_duration."))
			w->values[i] *= 1000;
	for (size_t i = 0; w->fault == OTHER_BIT && i < w->names.count; i++)
		if (!strcmp(w->names.items[i], "smsp__inst_executed.sum"))
			w->twins[i] = nextafter(w->values[i], INFINITY);
}

static void evaluate_image(struct witness *w, struct opk_values *by, const void *image, size_t size)
{
	opk_autofree bool *wanted = opk_alloc_array(w->names.count + 1, sizeof *wanted);

	memset(wanted, true, w->names.count);
	ck_ok(w->ctx, opk_values_of_image(by, w->ctx, image, size, wanted));
}

/* Some rows of an image, from the second on: the first sample spans more than an interval. */
static void check_image(struct witness *w, const void *image, size_t size, size_t most)
{
	struct opk_nv_image_info info;

	ck_ok(w->ctx, opk_nv_image_info(&info, w->ctx, image, size));
	evaluate_image(w, &w->by, image, size);
	if (w->evaluator)
		evaluate_image(w, &w->by_perfworks, image, size);
	/* The two evaluators are different ones. */
	ck_assert(w->by.host && !w->by.asked.requests);
	ck_assert(!w->evaluator || (!w->by_perfworks.host && w->by_perfworks.asked.requests));
	for (size_t i = 0; i < most && i + 1 < info.completed; i++) {
		w->row = 1 + i * (info.completed - 1) / most;
		ck_ok(w->ctx, opk_values_of_range(w->values, &w->by, w->ctx, w->row));
		if (w->evaluator)
			ck_ok(w->ctx,
			      opk_values_of_range(w->twins, &w->by_perfworks, w->ctx, w->row));
		put_fault(w);
		check_row(w);
	}
}

static void begin_values(struct witness *w, struct opk_values *by,
                         struct opk_nv_evaluator *evaluator)
{
	*by = (struct opk_values){
		.chip = w->meta->chip,
		.profiler = w->meta->profiler,
		.metrics = opk_strlist_items(&w->names),
		.metric_count = w->names.count,
		.evaluator = evaluator,
	};
	ck_ok(w->ctx, opk_values_begin(by, w->ctx));
	/* Parts are not checked in this case, as before the check existed. */
	if (w->fault == PREFIX)
		by->throughputs.count = 0;
}

static void begin(struct witness *w, struct opk_file *file)
{
	struct opk_ctx *ctx = w->ctx;

	ck_ok(ctx, opk_file_meta(&w->meta, ctx, file));
	ck_ok(ctx, opk_catalog_new(&w->catalog, ctx, w->meta->chip, w->meta->profiler));
	ck_ok(ctx, opk_catalog_complete(w->catalog, ctx));
	add_names(w);
	add_throughputs(w);
	begin_values(w, &w->by, NULL);
	if (w->meta->profiler != OPK_PROFILER_RANGE)
		return;
	ck_ok(ctx, opk_nv_evaluator_new(&w->evaluator, ctx, w->meta->chip));
	begin_values(w, &w->by_perfworks, w->evaluator);
}

static void end(struct witness *w)
{
	opk_values_clear(&w->by);
	opk_values_clear(&w->by_perfworks);
	opk_nv_evaluator_free(w->evaluator);
	for (size_t i = 0; i < opk_catalog_count(w->catalog); i++)
		opk_strlist_clear(&w->parts[i]);
	opk_strlist_clear(&w->names);
	opk_catalog_free(w->catalog);
	free(w->parts);
	free(w->throughputs);
	free(w->first);
	free(w->values);
	free(w->twins);
}

/* How many identities break in some rows of each of the file's first images. */
static size_t witness(struct opk_ctx *ctx, const char *path, enum fault fault, size_t rows)
{
	struct witness w = { .ctx = ctx, .fault = fault, .recording = path };
	struct opk_nvidia_info info = OPK_INIT(info);
	const struct opk_segment *segments;
	freed(opk_file) *file = NULL;
	size_t count;

	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	w.release = info.cupti_version;
	ck_ok(ctx, opk_file_open(&file, ctx, path));
	begin(&w, file);
	ck_ok(ctx, opk_file_segments(&segments, &count, ctx, file));
	for (size_t i = 0; i < count && i < 2; i++) {
		void *image;
		size_t size;

		ck_ok(ctx, opk_file_read(&image, &size, ctx, file, segments[i].image));
		check_image(&w, image, size, rows);
		free(image);
	}
	end(&w);
	return w.broken;
}

/* ---- tests */

#define RECORDING(name) TEST_DATA_DIR "/recordings/gh100-" name ".opk"

/* All shipped recordings that have values; those for make check come first. */
static const char *const recordings[] = {
	RECORDING("witness"),       RECORDING("wide-auto"),
	RECORDING("pm-small"),      RECORDING("training-nvtx"),
	RECORDING("after"),         RECORDING("before"),
	RECORDING("legacy-noinst"), RECORDING("legacy-user"),
	RECORDING("nested"),        RECORDING("ranks"),
	RECORDING("ranks-pm"),      RECORDING("roofline"),
	RECORDING("rotated"),       RECORDING("simple"),
	RECORDING("tensor"),        RECORDING("top-down"),
	RECORDING("training"),      RECORDING("training-gemm"),
	RECORDING("training-pm"),   RECORDING("training-kernels"),
};

CTX_TEST(identities_hold)
{
	size_t count = is_long() ? COUNT(recordings) : 4, broken = 0;

	for (size_t i = 0; i < count; i++)
		broken += witness(ctx, recordings[i], NO_FAULT, is_long() ? 9 : 1);
	ck_assert_uint_eq(broken, 0);
	for (size_t i = 0; i < COUNT(identities); i++) {
		fprintf(stderr, "%-13s %8zu\n", identities[i].name, identities[i].claims);
		ck_assert_msg(identities[i].claims, "%s: nothing to check", identities[i].name);
	}
}

/* The witness must find planted faults. */
CTX_TEST(faults_are_found)
{
	static const struct {
		struct here here;
		const char *path;
		enum fault fault;
	} rows[] = {
		{ HERE, RECORDING("witness"), SWAPPED },
		{ HERE, RECORDING("witness"), UNIT },
		{ HERE, RECORDING("witness"), OTHER_BIT },
		{ HERE, TEST_SOURCE_DIR "/files/half-throughput.opk", PREFIX },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_row(&rows[i], witness(ctx, rows[i].path, rows[i].fault, 2) > 0, "not found");
	ck_assert_uint_eq(witness(ctx, rows[COUNT(rows) - 1].path, NO_FAULT, 2), 0);
}

SUITE(.needs = have_cupti, .seconds = 600);
