/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out for each chip which metrics need the values of hardware instances: an image without
 * counts is made with instances and one without, as if the GPU of a recording were of that chip. A
 * metric needs no instances if both images give the same number, or 0 / 0; it needs them if only
 * the image with instances gives a value. If neither does, nothing is known: the GPU lacks the
 * metric's unit, or the image lacks a counter.
 */
#include <math.h>

#include "adapters/nv/nv.h"
#include "base/extreme.h"
#include "catalogs.h"
#include "container/container.h"
#include "plan/plan.h"
#include "real.h"

enum { CUPTI_13_1 = 130101 };

/* Metrics that only one of the two images has: these metrics' sum and mean. */
static const struct expected {
	const char *chips; /* each chip whose name begins so */
	enum opk_profiler profiler;
	bool instances; /* of the image that has them */
	uint32_t since; /* this release of CUPTI */
	const char *metrics[2];
} all_expected[] = {
	{ "GH100",
	  OPK_PROFILER_RANGE,
	  true,
	  0,
	  { "sm__mio2rf_writeback_active", "smsp__mio2rf_writeback_active_pipe_lsu_op_gmma" } },
	{ "GH100", OPK_PROFILER_PM, true, 0, { "sm__mio2rf_writeback_active", NULL } },
	/* PerfWorks names a counter other than those that it evaluates from such an image. */
	{ "GB20",
	  OPK_PROFILER_RANGE,
	  false,
	  CUPTI_13_1,
	  { "sm__pipe_fmaheavy_cycles_active", "smsp__pipe_fmaheavy_cycles_active" } },
	{ "GB20",
	  OPK_PROFILER_PM,
	  false,
	  CUPTI_13_1,
	  { "sm__pipe_fmaheavy_cycles_active", "smsp__pipe_fmaheavy_cycles_active" } },
};

struct finding {
	struct opk_ctx *ctx;
	const char *chip;
	enum opk_profiler profiler;
	struct opk_nv_evaluator *evaluator;
	struct opk_nv_host *host;
	struct opk_strlist names, raw;
	void *gpu; /* an image of it */
};

/* All ratios and throughputs, and each counter's sum and mean: all others derive from these. */
static bool is_asked(enum opk_metric_type type, const char *suffix)
{
	return type != OPK_COUNTER || !strcmp(suffix, ".sum") || !strcmp(suffix, ".avg");
}

static void add_name(struct finding *f, const char *name)
{
	opk_autostrlist struct opk_strlist raw = { 0 };

	if (opk_metric_is_extreme(name) || !opk_has_listed_suffix(name)
	    || opk_nv_raw_counters(&raw, f->ctx, f->evaluator, name))
		return;
	ck_assert(opk_strlist_add(&f->names, name));
	for (size_t i = 0; i < raw.count; i++)
		if (!opk_strlist_contains(&f->raw, raw.items[i]))
			ck_assert(opk_strlist_add(&f->raw, raw.items[i]));
}

static void add_names(struct finding *f)
{
	freed(opk_catalog) *catalog = NULL;
	size_t count;
	opk_autofree struct opk_full_name *names = NULL;

	ck_ok(f->ctx, opk_catalog_new(&catalog, f->ctx, f->chip, f->profiler));
	ck_ok(f->ctx, opk_catalog_complete(catalog, f->ctx));
	names = all_names(catalog, &count);
	for (size_t i = 0; i < count; i++) {
		const struct opk_metric *base = names[i].metric;
		const char *suffix = opk_catalog_submetric(catalog, base, names[i].submetric)
		                             .suffix;
		opk_autofree char *name = opk_printf("%s%s", base->name, suffix);

		if (is_asked(base->type, suffix))
			add_name(f, name);
	}
	opk_clear_errors(f->ctx);
}

/* An image of one range or sample without counts. */
static void *make_image(size_t *size, const struct finding *f, bool instances)
{
	struct opk_nv_image_plan plan = { .gpu = f->gpu, .slots = 1, .name_size = 8 };
	opk_autofree bool *keep = opk_alloc_array(f->raw.count + 1, sizeof *keep);
	freed(opk_nv_combiner) *combiner = NULL;
	opk_autofree void *prefix = NULL;
	void *image;

	memset(keep, instances, f->raw.count);
	ck_ok(f->ctx,
	      opk_nv_prefix(&prefix, &plan.prefix_size, f->ctx, f->chip,
	                    &(struct opk_strlist){ .items = (char **)opk_strlist_items(&f->raw),
	                                           .count = f->raw.count },
	                    keep));
	plan.prefix = prefix;
	ck_ok(f->ctx, opk_nv_image_of(&image, size, f->ctx, &plan));
	ck_ok(f->ctx, opk_nv_combiner_new(&combiner, f->ctx, image));
	if (f->profiler == OPK_PROFILER_RANGE)
		ck_ok(f->ctx, opk_nv_combiner_ranges(f->ctx, combiner, 1, NULL));
	return image;
}

static double *evaluate(const struct finding *f, bool instances)
{
	size_t size;
	opk_autofree void *image = make_image(&size, f, instances);
	double *values = opk_alloc_array(f->names.count + 1, sizeof *values);

	ck_ok(f->ctx,
	      opk_nv_evaluate(values, f->ctx, f->host, &(struct opk_nv_range){ image, size, 0 },
	                      opk_strlist_items(&f->names), f->names.count));
	return values;
}

/* Whether all raw counters of a listed metric are in `known`; marks them. */
static bool is_known(bool *found, const struct finding *f, const struct opk_counters *known,
                     const char *name)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	bool any = false;

	ck_ok(f->ctx, opk_nv_raw_counters(&raw, f->ctx, f->evaluator, name));
	for (size_t i = 0; i < known->metric_count; i++) {
		bool all = true;

		for (size_t j = known->first[i]; j < known->first[i + 1]; j++)
			all &= opk_strlist_contains(&raw, known->names.items[known->needs[j]]);
		found[i] |= all;
		any |= all;
	}
	return any;
}

static bool is_sum_or_mean(const char *name, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(name, base, length)
	       && (!strcmp(name + length, ".sum") || !strcmp(name + length, ".avg"));
}

static bool is_expected(const struct finding *f, const char *name, bool instances)
{
	for (size_t i = 0; i < COUNT(all_expected); i++) {
		const struct expected *e = &all_expected[i];

		if (e->profiler != f->profiler || e->instances != instances
		    || version_of(f->ctx) < e->since
		    || strncmp(f->chip, e->chips, strlen(e->chips)) != 0)
			continue;
		for (size_t j = 0; j < COUNT(e->metrics) && e->metrics[j]; j++)
			if (is_sum_or_mean(name, e->metrics[j]))
				return true;
	}
	return false;
}

/* A value that can't be computed is a nan with its sign set, unlike a nan from a division. */
static bool is_computed(double value)
{
	return !isnan(value) || signbit(value);
}

static void compare(const struct finding *f)
{
	opk_autocounters struct opk_counters known = { 0 };
	opk_autofree double *with = evaluate(f, true), *without = evaluate(f, false);
	bool found[8] = { false };

	ck_ok(f->ctx, opk_by_instance(&known, f->ctx, f->chip));
	ck_assert_uint_le(known.metric_count, COUNT(found));
	for (size_t i = 0; i < f->names.count; i++) {
		const char *name = f->names.items[i];
		bool needs = is_computed(with[i]) && !is_computed(without[i]);
		bool lacks = !is_computed(with[i]) && is_computed(without[i]);

		ck_assert_msg(needs == is_expected(f, name, true)
		                      && lacks == is_expected(f, name, false),
		              "%s, %s: %s: %g with instances, %g without", f->chip,
		              opk_profiler_name(f->profiler), name, with[i], without[i]);
		ck_assert_msg(!needs || is_known(found, f, &known, name),
		              "%s, %s: %s needs instances: lib/plan/instances.c", f->chip,
		              opk_profiler_name(f->profiler), name);
	}
	/* Listed metrics need instances; samples lack some of them. */
	for (size_t i = 0; i < known.metric_count; i++)
		ck_assert_msg(found[i] || f->profiler == OPK_PROFILER_PM,
		              "%s: metric %zu of lib/plan/instances.c needs no instances", f->chip,
		              i);
}

/* The first image of a recording with that profiler. */
static void *gpu_of(struct opk_ctx *ctx, enum opk_profiler profiler)
{
	const struct opk_segment *segments;
	freed(opk_file) *file = NULL;
	size_t count, size;
	void *image;

	ck_ok(ctx, opk_file_open(&file, ctx,
	                         profiler == OPK_PROFILER_PM
	                                 ? TEST_DATA_DIR "/recordings/gh100-pm-small.opk"
	                                 : TEST_DATA_DIR "/recordings/gh100-simple.opk"));
	ck_ok(ctx, opk_file_segments(&segments, &count, ctx, file));
	ck_ok(ctx, opk_file_read(&image, &size, ctx, file, segments[0].image));
	return image;
}

static void find(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	struct finding f = { .ctx = ctx, .chip = chip, .profiler = profiler };
	bool has = false;

	ck_ok(ctx, opk_nv_host_supported(&has, ctx, chip, profiler));
	if (!has)
		return;
	f.gpu = gpu_of(ctx, profiler);
	ck_ok(ctx, opk_nv_host_new(&f.host, ctx, chip, profiler, NULL));
	ck_ok(ctx, opk_nv_evaluator_of_new(&f.evaluator, ctx, chip, profiler));
	add_names(&f);
	ck_assert_uint_gt(f.names.count, 500);
	compare(&f);
	opk_nv_evaluator_free(f.evaluator);
	opk_nv_host_free(f.host);
	opk_strlist_clear(&f.names);
	opk_strlist_clear(&f.raw);
	free(f.gpu);
}

CTX_TEST(all_chips)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	ck_ok(ctx, opk_nv_chips(&chips, ctx));
	for (size_t i = 0; i < chips.count; i++) {
		if (!is_sampled(chips.items[i]))
			continue;
		find(ctx, chips.items[i], OPK_PROFILER_RANGE);
		find(ctx, chips.items[i], OPK_PROFILER_PM);
	}
}

SUITE(.needs = have_cupti, .seconds = 600);
