/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several submetrics of one counter cost in one call, and which of them equal, bit for bit, a
 * quotient of two others.
 *   bench_submetrics FILE.opk...
 * Uses the first image of each recording and all of its base counters that evaluate. Prints the
 * processor's nanoseconds per range for a list, and for its members one by one; then for how many
 * values each identity holds.
 */
#include <math.h>

#include "adapters/nv/nv.h"
#include "container/container.h"
#include "program.h"

enum { MOST = 8, REPEATS = 60 };

/* ---- one image -------------------------------------------------------------------------- */

struct subject {
	const struct opk_meta *meta;
	const void *image;
	size_t size;
	size_t ranges;
	struct opk_nv_host *host;
	struct opk_nv_evaluator *evaluator;
};

static bool evaluate(double *out, const struct subject *s, struct opk_nv_requests *requests,
                     const char *const *names, size_t count, size_t range)
{
	int code = requests ? opk_nv_request_values(out, ctx, s->evaluator, requests,
	                                            &(struct opk_nv_range){ s->image, s->size,
	                                                                    range })
	                    : opk_nv_evaluate(out, ctx, s->host,
	                                      &(struct opk_nv_range){ s->image, s->size, range },
	                                      names, count);

	if (code)
		opk_clear_errors(ctx);
	return !code;
}

/* Nanoseconds a range; NaN if the list can't be evaluated. */
static double cost(const struct subject *s, const char *const *names, size_t count, bool perfworks)
{
	struct opk_nv_requests *requests = NULL;
	double values[MOST];
	clock_t begun;

	if (perfworks && opk_nv_requests_new(&requests, ctx, s->evaluator, names, count)) {
		opk_clear_errors(ctx);
		return (double)NAN;
	}
	if (!evaluate(values, s, requests, names, count, 0)) {
		free(requests);
		return (double)NAN;
	}
	begun = clock();
	for (size_t i = 0; i < REPEATS; i++)
		evaluate(values, s, requests, names, count, i % s->ranges);
	free(requests);
	return (double)(clock() - begun) / CLOCKS_PER_SEC * 1e9 / REPEATS;
}

/* ---- lists ------------------------------------------------------------------------------ */

static const struct list {
	const char *what;
	const char *names[MOST];
} lists[] = {
	{ "sum", { ".sum" } },
	{ "sum, again", { ".sum", ".sum" } },
	{ "sum avg", { ".sum", ".avg" } },
	{ "sum avg max min", { ".sum", ".avg", ".max", ".min" } },
	{ "sum, per_second", { ".sum", ".sum.per_second" } },
	{ "sum, per_second, pct",
	  { ".sum", ".sum.per_second", ".sum.pct_of_peak_sustained_elapsed" } },
	{ "pct elapsed, pct active",
	  { ".sum.pct_of_peak_sustained_elapsed", ".sum.pct_of_peak_sustained_active" } },
};
enum { LISTS = sizeof lists / sizeof *lists };

struct costs {
	double together, apart;
	size_t counters;
} costs[LISTS][2];

static void measure(const struct subject *s, const char *base)
{
	for (size_t i = 0; i < LISTS * 2; i++) {
		const struct list *list = &lists[i / 2];
		char text[MOST][300];
		const char *names[MOST];
		double apart = 0, together;
		size_t count = 0;

		for (; count < MOST && list->names[count]; count++) {
			snprintf(text[count], sizeof text[count], "%s%s", base, list->names[count]);
			names[count] = text[count];
			apart += cost(s, &names[count], 1, i % 2);
		}
		together = cost(s, names, count, i % 2);
		if (isnan(together) || isnan(apart))
			continue;
		costs[i / 2][i % 2].together += together;
		costs[i / 2][i % 2].apart += apart;
		costs[i / 2][i % 2].counters++;
	}
}

/* ---- identities ------------------------------------------------------------------------- */

enum { SUM, AVG, PER_SECOND, PCT, PEAK, TIME, OPERANDS };
static const char *const operands[OPERANDS] = {
	".sum",
	".avg",
	".sum.per_second",
	".sum.pct_of_peak_sustained_elapsed",
	".sum.peak_sustained_elapsed",
};

static double avg(const double v[], double n)
{
	return v[SUM] / n;
}
static double avg_inverse(const double v[], double n)
{
	return v[SUM] * (1 / n);
}
static double rate_1(const double v[], double n)
{
	(void)n;
	return v[SUM] / (v[TIME] * 1e-9);
}
static double rate_2(const double v[], double n)
{
	(void)n;
	return v[SUM] / (v[TIME] / 1e9);
}
static double rate_3(const double v[], double n)
{
	(void)n;
	return v[SUM] * 1e9 / v[TIME];
}
static double rate_4(const double v[], double n)
{
	(void)n;
	return v[SUM] / v[TIME] * 1e9;
}
static double pct_1(const double v[], double n)
{
	(void)n;
	return v[SUM] / v[PEAK] * 100;
}
static double pct_2(const double v[], double n)
{
	(void)n;
	return v[SUM] * 100 / v[PEAK];
}
static double pct_3(const double v[], double n)
{
	(void)n;
	return v[SUM] * (100 / v[PEAK]);
}
static double pct_4(const double v[], double n)
{
	(void)n;
	return v[SUM] / (v[PEAK] / 100);
}

static struct identity {
	const char *what;
	int of;
	double (*compute)(const double v[], double n);
	size_t same, different, nan_differs;
} identities[] = {
	{ "avg = sum / n", AVG, avg, 0, 0, 0 },
	{ "avg = sum * (1 / n)", AVG, avg_inverse, 0, 0, 0 },
	{ "per_second = sum / (ns * 1e-9)", PER_SECOND, rate_1, 0, 0, 0 },
	{ "per_second = sum / (ns / 1e9)", PER_SECOND, rate_2, 0, 0, 0 },
	{ "per_second = sum * 1e9 / ns", PER_SECOND, rate_3, 0, 0, 0 },
	{ "per_second = sum / ns * 1e9", PER_SECOND, rate_4, 0, 0, 0 },
	{ "pct = sum / peak * 100", PCT, pct_1, 0, 0, 0 },
	{ "pct = sum * 100 / peak", PCT, pct_2, 0, 0, 0 },
	{ "pct = sum * (100 / peak)", PCT, pct_3, 0, 0, 0 },
	{ "pct = sum / (peak / 100)", PCT, pct_4, 0, 0, 0 },
};

static void compare(struct identity *identity, double computed, double value)
{
	if (isnan(computed) != isnan(value))
		identity->nan_differs++;
	else if (isnan(value) || !memcmp(&computed, &value, sizeof value))
		identity->same++;
	else
		identity->different++;
}

static void check(const struct subject *s, const char *base)
{
	static const char *const times = "gpu__time_duration.sum";
	double v[OPERANDS];

	for (size_t range = 0; range < s->ranges; range++) {
		double n;

		for (size_t i = 0; i < OPERANDS; i++) {
			char text[300];
			const char *name = i == TIME ? times : text;

			if (i != TIME)
				snprintf(text, sizeof text, "%s%s", base, operands[i]);
			v[i] = (double)NAN;
			if (!evaluate(&v[i], s, NULL, &name, 1, range))
				return;
		}
		n = round(v[SUM] / v[AVG]);
		for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
			bool apt = identities[i].of == AVG
			                   ? v[SUM] > 0
			                   : identities[i].of != PER_SECOND || !isnan(v[TIME]);

			if (apt)
				compare(&identities[i], identities[i].compute(v, n),
				        v[identities[i].of]);
		}
	}
}

/* ---- all of it -------------------------------------------------------------------------- */

static void each_counter(const struct subject *s)
{
	opk_autostrlist struct opk_strlist counters = { 0 };
	const char *last = "";

	must(opk_nv_base_metrics(&counters, ctx, s->host, OPK_COUNTER));
	for (size_t i = 0; i < counters.count; i++) {
		char name[300];
		const char *full = name;
		double value;

		snprintf(name, sizeof name, "%s.sum", counters.items[i]);
		/* A metric that was not collected is nan or refused. */
		if (!strcmp(last, counters.items[i]) || !evaluate(&value, s, NULL, &full, 1, 0)
		    || isnan(value))
			continue;
		last = counters.items[i];
		measure(s, last);
		check(s, last);
	}
}

static void take(const char *path)
{
	struct subject s = { 0 };
	struct opk_nv_image_info info;
	struct opk_decoder decoder = { 0 };
	struct opk_file *file;
	int data;

	must(opk_file_open(&file, ctx, path));
	must(opk_file_meta(&s.meta, ctx, file));
	data = opk_file_find(file, OPK_SECTION_DATA);
	must(opk_file_decode(&s.image, &s.size, ctx, file, (size_t)data, &decoder));
	must(opk_nv_image_info(&info, ctx, s.image, s.size));
	s.ranges = info.completed;
	must(opk_nv_host_new(&s.host, ctx, s.meta->chip, s.meta->profiler, NULL));
	must(opk_nv_evaluator_new(&s.evaluator, ctx, s.meta->chip));
	must(opk_nv_set_device(ctx, s.evaluator, s.image, s.size));
	if (s.ranges && s.meta->profiler == OPK_PROFILER_RANGE)
		each_counter(&s);
	opk_nv_host_free(s.host);
	opk_nv_evaluator_free(s.evaluator);
	opk_decoder_clear(&decoder);
	opk_file_free(file);
}

static void print(void)
{
	static const char *const evaluators[] = { "CUPTI", "PerfWorks" };

	printf("%-26s %-10s %8s %12s %12s %6s\n", "list", "evaluator", "counters", "together ns",
	       "one by one", "ratio");
	for (size_t i = 0; i < LISTS * 2; i++) {
		const struct costs *c = &costs[i / 2][i % 2];
		double n = (double)c->counters;

		printf("%-26s %-10s %8zu %12.0f %12.0f %6.2f\n", lists[i / 2].what,
		       evaluators[i % 2], c->counters, c->together / n, c->apart / n,
		       c->together / c->apart);
	}
	printf("\n%-32s %8s %8s %8s\n", "identity", "same", "differs", "one nan");
	for (size_t i = 0; i < sizeof identities / sizeof *identities; i++)
		printf("%-32s %8zu %8zu %8zu\n", identities[i].what, identities[i].same,
		       identities[i].different, identities[i].nan_differs);
}

int main(int argc, char **argv)
{
	begin_program();
	for (int i = 1; i < argc; i++)
		take(argv[i]);
	print();
	opk_ctx_free(ctx);
	return 0;
}
