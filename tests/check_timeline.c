/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples divided among kernels, compared with the known counts of each. */
#include <math.h>

#include "eval/door.h"
#include "random.h"
#include "recordings.h"
#include "timeline/door.h"
#include "timeline/timeline.h"

enum { INTERVAL = 10000, MAX_STRETCHES = 100000, MAX_KERNELS = 8 };

/* Steps run in turn, again and again. Lengths are in ns, amounts per ns. */
struct step {
	uint32_t kernel; /* IDLE: no kernel */
	uint32_t length;
	double rate;
};
enum { IDLE = MAX_KERNELS };

/* A program, and its samples. */
struct run {
	struct opk_stretch stretches[MAX_STRETCHES];
	double amounts[MAX_STRETCHES]; /* per ns */
	size_t count;
	struct opk_sample_time *samples;
	double *values; /* per ns */
	size_t sample_count;
	uint32_t kernels[MAX_KERNELS];
	size_t kernel_count;
};

static void sample_run(struct run *run, uint64_t first, uint64_t end)
{
	size_t count = (size_t)((end - first) / INTERVAL);

	run->samples = calloc(count + 1, sizeof *run->samples);
	run->values = calloc(count + 1, sizeof *run->values);
	ck_assert(run->samples && run->values);
	run->sample_count = count;
	for (size_t i = 0; i < count; i++)
		run->samples[i] = (struct opk_sample_time){ first + i * INTERVAL,
			                                    first + (i + 1) * INTERVAL };
	for (size_t i = 0; i < run->count; i++) {
		const struct opk_stretch *s = &run->stretches[i];
		size_t at = s->start < first ? 0 : (size_t)((s->start - first) / INTERVAL);

		for (; at < count && run->samples[at].start < s->end; at++) {
			uint64_t from = s->start > run->samples[at].start ? s->start
			                                                  : run->samples[at].start;
			uint64_t to = s->end < run->samples[at].end ? s->end : run->samples[at].end;

			if (to > from)
				run->values[at] += (double)(to - from) * run->amounts[i] / INTERVAL;
		}
	}
}

/* Kernels in sequence; lengths vary by up to a tenth, as those of real ones do. */
static struct run *make_run(const struct step *steps, size_t count, size_t repeats)
{
	struct run *run = calloc(1, sizeof *run);
	uint64_t now = 1000003;

	ck_assert_ptr_nonnull(run);
	random_restart();
	for (size_t i = 0; i < repeats * count; i++) {
		const struct step *step = &steps[i % count];
		uint64_t length = step->length + random64() % (step->length / 10 + 1);

		if (step->kernel != IDLE) {
			run->stretches[run->count] = (struct opk_stretch){ now, now + length,
				                                           step->kernel };
			run->amounts[run->count++] = step->rate;
			run->kernel_count = step->kernel >= run->kernel_count ? step->kernel + 1
			                                                      : run->kernel_count;
		}
		now += length;
	}
	for (uint32_t i = 0; i < MAX_KERNELS; i++)
		run->kernels[i] = i;
	sample_run(run, 1000000, now + 5 * INTERVAL);
	return run;
}

static void free_run(struct run *run)
{
	free(run->samples);
	free(run->values);
	free(run);
}

/* The parts of all kernels and of idle time, with their evidence. */
static void divide(struct opk_part parts[MAX_KERNELS + 1], double evidence[MAX_KERNELS + 1],
                   const struct run *run)
{
	freed(opk_ctx) *ctx = new_ctx();
	struct opk_overlaps overlaps;
	struct opk_estimator estimator;

	memset(parts, 0, (MAX_KERNELS + 1) * sizeof *parts);
	ck_ok(ctx, opk_overlaps_init(&overlaps, ctx, run->stretches, run->count, run->samples,
	                             run->sample_count));
	ck_ok(ctx, opk_estimator_init(&estimator, ctx, &overlaps, run->kernels, run->kernel_count,
	                              run->kernel_count));
	opk_estimator_divide(parts, &estimator, run->values);
	memcpy(evidence, estimator.evidence, (run->kernel_count + 1) * sizeof *evidence);
	opk_estimator_clear(&estimator);
	opk_overlaps_clear(&overlaps);
}

static void check_rate(const struct opk_part *part, double wanted, double within, const char *what)
{
	double got = part->amount / part->time;

	ck_assert_msg(fabs(got - wanted) <= within * wanted + 1e-9, "%s: %g, not %g", what, got,
	              wanted);
}

TEST(long_kernels)
{
	static const struct step steps[] = {
		{ 0, 1000000, 80 }, { 1, 300000, 20 }, { IDLE, 25000, 0 },
		{ 2, 100000, 50 },  { 3, 30000, 5 },
	};
	struct run *run = make_run(steps, COUNT(steps), 20);
	struct opk_part parts[MAX_KERNELS + 1];
	double evidence[MAX_KERNELS + 1], all = 0, sum = 0;

	divide(parts, evidence, run);
	check_rate(&parts[0], 80, 0.001, "1 ms");
	check_rate(&parts[1], 20, 0.001, "0.3 ms");
	check_rate(&parts[2], 50, 0.005, "0.1 ms");
	check_rate(&parts[3], 5, 0.02, "30 us");
	ck_assert(fabs(parts[4].amount / parts[4].time) < 0.05);
	ck_assert(evidence[0] > 1980 && evidence[0] < 2300);
	ck_assert(evidence[3] > 40);
	/* Nothing is lost. */
	for (size_t i = 0; i <= run->kernel_count; i++)
		sum += parts[i].amount;
	for (size_t i = 0; i < run->sample_count; i++)
		all += run->values[i] * INTERVAL;
	ck_assert(fabs(sum - all) < 1e-6 * all);
	free_run(run);
}

/* Kernels shorter than a sample are never alone in one; many launches tell them apart. */
TEST(short_kernels)
{
	static const struct step steps[] = {
		{ 0, 23000, 60 },
		{ 1, 6000, 10 },
		{ 2, 41000, 90 },
		{ 3, 6000, 30 },
	};
	struct run *run = make_run(steps, COUNT(steps), 2000);
	struct opk_part parts[MAX_KERNELS + 1];
	double evidence[MAX_KERNELS + 1];

	divide(parts, evidence, run);
	check_rate(&parts[0], 60, 0.01, "23 us");
	check_rate(&parts[1], 10, 0.1, "6 us beside 60 and 90");
	check_rate(&parts[2], 90, 0.01, "41 us");
	check_rate(&parts[3], 30, 0.1, "6 us beside 90 and 60");
	ck_assert(evidence[1] > 100);
	free_run(run);
}

/* All samples have both kernels in the same proportion: each kernel gets its share of time. */
TEST(inseparable_kernels)
{
	static const struct step steps[] = { { 0, 1000, 30 }, { 1, 1000, 10 } };
	struct run *run = make_run(steps, COUNT(steps), 5000);
	struct opk_part parts[MAX_KERNELS + 1];
	double evidence[MAX_KERNELS + 1];

	for (size_t i = 0; i < run->count; i++) {
		run->stretches[i].start = 1000000 + i * 1000;
		run->stretches[i].end = run->stretches[i].start + 1000;
	}
	free(run->samples);
	free(run->values);
	sample_run(run, 1000000, run->stretches[run->count - 1].end);
	divide(parts, evidence, run);
	check_rate(&parts[0], 20, 0.01, "one");
	check_rate(&parts[1], 20, 0.01, "the other");
	ck_assert_msg(evidence[0] < 1 && evidence[1] < 1, "%g %g", evidence[0], evidence[1]);
	free_run(run);
}

/* Two streams: the amounts of concurrent kernels add up. */
TEST(kernels_at_once)
{
	static const struct step steps[] = { { 0, 400000, 40 }, { IDLE, 10000, 0 } };
	struct run *run = make_run(steps, COUNT(steps), 50);
	struct opk_part parts[MAX_KERNELS + 1];
	double evidence[MAX_KERNELS + 1];
	size_t count = run->count;

	/* Another kernel begins in the middle of each, and ends after it. */
	for (size_t i = count; i-- > 0;) {
		run->stretches[2 * i] = run->stretches[i];
		run->stretches[2 * i + 1] = run->stretches[i];
		run->stretches[2 * i + 1].start += 200000;
		run->stretches[2 * i + 1].end += 5000;
		run->stretches[2 * i + 1].row = 1;
		run->amounts[2 * i] = 40;
		run->amounts[2 * i + 1] = 15;
	}
	run->count = 2 * count;
	run->kernel_count = 2;
	free(run->samples);
	free(run->values);
	sample_run(run, 1000000, run->stretches[run->count - 1].end + INTERVAL);
	divide(parts, evidence, run);
	check_rate(&parts[0], 40, 0.02, "the first");
	check_rate(&parts[1], 15, 0.05, "the second");
	free_run(run);
}

/* A million samples in which 100,000 kernels ran: seconds, or this test takes too long. */
TEST(many)
{
	static const struct step steps[] = {
		{ 0, 100000, 60 }, { 1, 60000, 10 },  { 2, 200000, 90 },
		{ 3, 16000, 30 },  { IDLE, 9000, 0 },
	};
	struct run *run = make_run(steps, COUNT(steps), is_long() ? 25000 : 1000);
	struct opk_part parts[MAX_KERNELS + 1];
	double evidence[MAX_KERNELS + 1], all = 0, sum = 0;

	divide(parts, evidence, run);
	for (size_t i = 0; i <= run->kernel_count; i++)
		sum += parts[i].amount;
	for (size_t i = 0; i < run->sample_count; i++)
		all += run->values[i] * INTERVAL;
	ck_assert(fabs(sum - all) < 1e-6 * all);
	check_rate(&parts[3], 30, 0.02, "16 us");
	free_run(run);
}

CTX_TEST(times_of_samples)
{
	static const struct opk_stretch stretches[] = {
		{ 100, 200, 0 },
		{ 150, 250, 1 },
		{ 150, 150, 2 },
		{ 250, 300, 0 },
	};
	static const struct opk_sample_time samples[] = { { 0, 100 }, { 100, 240 }, { 240, 400 } };
	struct opk_overlaps o;

	ck_ok(ctx, opk_overlaps_init(&o, ctx, stretches, COUNT(stretches), samples, 3));
	ck_assert_uint_eq(o.first[1], 0);
	ck_assert_uint_eq(o.first[2], 3);
	ck_assert_uint_eq(o.first[3], 5);
	/* 100 to 150 alone, 150 to 200 shared by two. */
	ck_assert(fabsf(o.items[0].time - 100) < 1e-3F && fabsf(o.items[0].share - 75) < 1e-3F);
	ck_assert(fabsf(o.items[1].time - 90) < 1e-3F && fabsf(o.items[1].share - 65) < 1e-3F);
	ck_assert(o.items[2].time == 0);
	ck_assert(fabsf(o.idle[0] - 100) < 1e-3F && fabsf(o.idle[1]) < 1e-3F);
	ck_assert(fabsf(o.idle[2] - 100) < 1e-3F);
	ck_assert(fabs(o.busy - 200) < 1e-9 && fabs(o.shared - 50) < 1e-9);
	ck_assert(fabs(o.shared_of[0] - 50) < 1e-9 && o.shared_of[3] == 0);
	opk_overlaps_clear(&o);
}

/* A row that overlaps itself has one item in each sample. */
CTX_TEST(row_beside_itself)
{
	static const struct opk_stretch stretches[] = {
		{ 0, 300, 0 }, { 50, 250, 1 }, { 110, 190, 0 }, { 220, 290, 0 }, { 310, 320, 0 }
	};
	static const struct opk_sample_time samples[] = {
		{ 0, 100 }, { 100, 200 }, { 200, 300 }, { 300, 400 }
	};
	static const float times[] = { 100, 50, 180, 100, 170, 50, 10 };
	struct opk_overlaps o;

	ck_ok(ctx, opk_overlaps_init(&o, ctx, stretches, COUNT(stretches), samples, 4));
	ck_assert_uint_eq(o.first[4], COUNT(times));
	for (size_t i = 0; i < COUNT(times); i++) {
		ck_assert_uint_eq(o.items[i].row, i % 2);
		ck_assert_msg(fabsf(o.items[i].time - times[i]) < 1e-3F, "%zu: %g", i,
		              (double)o.items[i].time);
	}
	opk_overlaps_clear(&o);
}

/* Half a million launches in one sample, each a row: a linear search took minutes. */
CTX_TEST(launches_of_a_sample)
{
	enum { LAUNCHES = 500000 };
	static struct opk_stretch stretches[LAUNCHES];
	const struct opk_sample_time sample = { 0, 10 * LAUNCHES };
	struct opk_overlaps o;

	for (uint32_t i = 0; i < LAUNCHES; i++)
		stretches[i] = (struct opk_stretch){ 10 * i, 10 * i + 5, i };
	ck_ok(ctx, opk_overlaps_init(&o, ctx, stretches, LAUNCHES, &sample, 1));
	ck_assert_uint_eq(o.first[1], LAUNCHES);
	ck_assert(o.items[LAUNCHES - 1].row == LAUNCHES - 1 && o.items[LAUNCHES - 1].time == 5);
	opk_overlaps_clear(&o);
}

/* ---- recordings ------------------------------------------------------------------------- */

#define RAN(name_, start_, end_)                                                                   \
	{                                                                                          \
		.kind = OPK_ACTIVITY_KERNEL, .name = name_, .symbol = "_Z" name_,                  \
		.start_ns = start_, .end_ns = end_, .rank = -1, .stream = 7, .context = 1          \
	}

/*
 * What ran during two images of three samples each. The first sample of an image begins at an
 * earlier event. In the other samples x runs alone: two launches have two samples each, a third
 * launch has none.
 */
static const struct opk_activity ran[] = {
	RAN("x", 5000, 7000),
	RAN("x", 2000, 4000),
	RAN("y", 9000, 9400),
	RAN("x", 7000, 9000),
	{ .kind = OPK_ACTIVITY_RANGE, .name = "step", .device = -1, .rank = -1, .end_ns = 9000 },
};

/* Each device has the same samples. */
static uint32_t devices = 1;

static void put_images(const char *name, const struct opk_activity *activities, size_t count,
                       size_t times_each, uint64_t shift)
{
	const struct opk_meta meta = { .kind = "recording",
		                       .chip = "FA100",
		                       .metrics = names,
		                       .metric_count = METRICS,
		                       .passes = 1,
		                       .profiler = OPK_PROFILER_PM };
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t j = 0; j < 2 * times_each * devices; j++) {
		uint32_t device = (uint32_t)j % devices;
		size_t i = j / devices;
		uint64_t at = 1000 + i % 2 * 3000 + i / 2 * shift;
		const struct opk_time times[RANGES] = { { at, at + 1000, device },
			                                { at + 1000, at + 2000, device },
			                                { at + 2000, at + 3000, device } };

		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
		ck_ok(ctx, opk_writer_add_times(writer, times, RANGES, sizeof(struct opk_time)));
	}
	if (count)
		ck_ok(ctx, opk_writer_add_activities(writer, activities, count));
	ck_ok(ctx, opk_writer_finish(writer));
}

static void put_samples(const char *name, size_t count)
{
	put_images(name, ran, count, 1, 0);
}

static void check_row(const struct opk_row *row, const char *name, uint64_t launches,
                      const double *values)
{
	ck_assert_str_eq(row->name, name);
	ck_assert_uint_eq(row->ran->launches, launches);
	for (size_t i = 0; i < METRICS; i++)
		ck_assert_msg(isnan(values[i]) ? isnan(row->values[i])
		                               : fabs(row->values[i] - values[i]) < 1e-4,
		              "%s: metric %zu: %.17g", name, i, row->values[i]);
}

FAKE_TEST(values_of_kernels)
{
	/* Additive metrics have the value of the mean launch, also for launches without samples. */
	static const double of_x[] = { 301, 151.5, 305 }, none[] = { NAN, NAN, NAN };
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	fake.image_is_pm = true;
	put_samples("in.opk", COUNT(ran));
	file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, false));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 3);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	check_row(row, "x", 3, of_x);
	ck_assert_uint_eq(row->ran->samples, 4);
	ck_assert_uint_eq(row->ran->samples_alone, 4);
	ck_assert(row->ran->time_ns == 6000 && row->range->duration_ns == 2000);
	ck_assert(!row->ran->unknown);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	check_row(row, "y", 1, none);
	ck_assert(row->ran->unknown && !row->ran->samples);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	check_row(row, "(idle)", 1, none);
	ck_assert_uint_eq(row->ran->time_ns, 1000);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_ptr_null(row);
}

#define OF_CALL(start_, number_)                                                                   \
	{                                                                                          \
		.kind = OPK_ACTIVITY_CALL, .name = "cuLaunchKernel", .start_ns = start_,           \
		.end_ns = start_ + 50, .correlation = number_, .device = -1, .rank = -1            \
	}
#define CALLED(name_, start_, end_, number_)                                                       \
	{                                                                                          \
		.kind = OPK_ACTIVITY_KERNEL, .name = name_, .symbol = "_Z" name_,                  \
		.start_ns = start_, .end_ns = end_, .rank = -1, .stream = 7, .context = 1,         \
		.correlation = number_                                                             \
	}

#define OF_RANGE(name_, start_, end_, thread_)                                                     \
	{                                                                                          \
		.kind = OPK_ACTIVITY_RANGE, .name = name_, .start_ns = start_, .end_ns = end_,     \
		.thread = thread_, .device = -1, .rank = -1                                        \
	}

/* By call: before the GPU is free, while it waits, and a graph's, which has two kernels. */
static const struct opk_activity called[] = {
	CALLED("a", 1100, 2000, 1),
	OF_CALL(1000, 1),
	OF_CALL(1500, 2),
	CALLED("b", 2010, 3000, 2),
	OF_CALL(3400, 3),
	OF_CALL(3410, 3), /* inside the other one */
	CALLED("b", 3500, 4000, 3),
	CALLED("c", 3900, 4100, 3),
	OF_CALL(5000, 9), /* what it launched began before: it is another one's number */
	CALLED("d", 4500, 4600, 9),
	CALLED("d", 4700, 4800, 10), /* its call is not recorded */
	OF_CALL(9000, 11),           /* launches nothing */
	/* The thread of the calls was in these, and another one in the last. */
	OF_RANGE("outer/1", 990, 3600, 0),
	OF_RANGE("D@in", 1400, 1600, 0),
	OF_RANGE("inner", 1450, 1550, 0),
	OF_RANGE("late", 3605, 8000, 0),
	OF_RANGE("elsewhere", 900, 9000, 6),
};

static void check_called(const struct opk_row *row, const char *name, uint64_t launches,
                         const uint64_t *wanted)
{
	const struct opk_ran *got = row->ran;

	ck_assert_str_eq(row->name, name);
	ck_assert_uint_eq(got->called, launches);
	ck_assert_msg(got->latency_ns == wanted[0] && got->gap_ns == wanted[1]
	                      && got->host_gap_ns == wanted[2],
	              "%s: %ju %ju %ju", name, (uintmax_t)got->latency_ns, (uintmax_t)got->gap_ns,
	              (uintmax_t)got->host_gap_ns);
}

FAKE_TEST(calls)
{
	static const struct {
		const char *name;
		uint64_t called, wanted[3];
		const char *nvtx;
	} launches[] = {
		{ "a", 1, { 100, 0, 0 }, "outer\\/1" },
		{ "b", 1, { 510, 10, 0 }, "outer\\/1/inner/D@in" },
		{ "b", 1, { 100, 500, 400 }, "outer\\/1" },
		{ "c", 1, { 500, 0, 0 }, "outer\\/1" },
		{ "d", 0, { 0, 0, 0 }, "" },
		{ "d", 0, { 0, 0, 0 }, "" },
	};
	freed(opk_evaluation) *evaluation = NULL, *kernels = NULL;
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	bool has_calls = false, has_nodes = false;
	struct opk_fact_text text;

	fake.image_is_pm = true;
	put_images("in.opk", called, COUNT(called), 1, 0);
	file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, true));
	opk_evaluation_find_ran(&has_calls, &has_nodes, evaluation);
	ck_assert(has_calls && !has_nodes);
	for (size_t i = 0; i < COUNT(launches); i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		check_called(row, launches[i].name, launches[i].called, launches[i].wanted);
		ck_assert_str_eq(row->range->nvtx, launches[i].nvtx);
		ck_assert_int_eq(opk_fact_get(&text, OPK_FACT_LATENCY, row).optional.known,
		                 launches[i].called > 0);
	}
	/* A kernel has the mean latency, and sums of gaps. */
	ck_ok(ctx, opk_timeline_eval(&kernels, ctx, file, NULL, false));
	ck_ok(ctx, opk_evaluation_next(&row, ctx, kernels));
	ck_ok(ctx, opk_evaluation_next(&row, ctx, kernels));
	check_called(row, "b", 2, (const uint64_t[]){ 610, 510, 400 });
	ck_assert_uint_eq(opk_fact_get(&text, OPK_FACT_LATENCY, row).optional.uint, 305);
	ck_assert_uint_eq(opk_fact_get(&text, OPK_FACT_HOST_GAP, row).optional.uint, 400);
}

/* The sum over all rows: a kernel has the value of one launch, and idle time its whole value. */
static double add_rows(struct opk_ctx *ctx, struct opk_file *file, bool each_launch)
{
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;
	double sum = 0;

	ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, each_launch));
	while (!opk_evaluation_next(&row, ctx, evaluation) && row) {
		struct opk_fact_text text;
		union opk_cell cell = opk_fact_get(&text, OPK_FACT_LAUNCHES, row);
		bool idle = !strcmp(row->ran->kind, "idle");

		ck_assert_msg(cell.optional.known == !idle, "%s", row->name);
		sum += row->values[0] * (idle ? 1 : (double)cell.optional.uint);
	}
	return sum;
}

static double add_samples(struct opk_ctx *ctx, struct opk_file *file)
{
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;
	double sum = 0;

	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, NULL));
	while (!opk_evaluation_next(&row, ctx, evaluation) && row)
		sum += row->spans_earlier ? 0 : row->values[0];
	return sum;
}

/* The total is kept: sampling begins before the first record, and ends after the last. */
FAKE_TEST(all_that_was_sampled)
{
	static const struct opk_activity inside[][2] = {
		{ RAN("x", 5000, 7000), RAN("y", 5000, 7000) },
		{ RAN("x", 2000, 4000), RAN("y", 2000, 4000) },
		{ RAN("x", 11000, 13000), RAN("y", 11000, 13000) },
	};

	fake.image_is_pm = true;
	for (size_t i = 0; i < 4 * COUNT(inside); i++) {
		freed(opk_file) *file = NULL;
		double sampled, divided;

		/* Nothing ran on the second device. */
		devices = i < 2 * COUNT(inside) ? 1 : 2;
		put_images("in.opk", inside[i / 2 % COUNT(inside)], 2, 2, 6000);
		file = open_file(ctx, "in.opk");
		sampled = add_samples(ctx, file);
		divided = add_rows(ctx, file, i % 2);
		ck_assert_msg(fabs(divided - sampled) < 1e-6 * sampled, "%zu: %.17g of %.17g", i,
		              divided, sampled);
	}
	devices = 1;
}

/* Two recordings of the same time: overlapping samples are not counted twice. */
FAKE_TEST(samples_twice)
{
	static const double of_x[] = { 301, 151.5, 305 };
	struct opk_evaluation *evaluation;
	const struct opk_row *row;
	struct opk_file *file;

	fake.image_is_pm = true;
	for (uint64_t shift = 0; shift <= 100; shift += 100) {
		put_images("in.opk", ran, COUNT(ran), 2, shift);
		file = open_file(ctx, "in.opk");
		ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, false));
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		/* Samples that begin a little later add a tenth of their time. */
		ck_assert_uint_eq(row->ran->samples, shift ? 7 : 4);
		if (!shift)
			check_row(row, "x", 3, of_x);
		ck_assert(row->values[0] > 250 && row->values[0] < 350);
		opk_evaluation_free(evaluation);
		opk_file_free(file);
	}
}

/* The estimate has room for 767 kernels: the others have too few facts, also concurrent ones. */
FAKE_TEST(many_kernels_at_once)
{
	enum { KERNELS = 800, ROOM = OPK_MAX_ESTIMATED - 1 };
	static struct opk_activity beside[KERNELS];
	static char kernels[KERNELS][8];
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	for (size_t i = 0; i < KERNELS; i++) {
		snprintf(kernels[i], sizeof kernels[i], "k%zu", i);
		beside[i] = (struct opk_activity)RAN("", 2000, 4000);
		beside[i].name = kernels[i];
	}
	fake.image_is_pm = true;
	put_images("in.opk", beside, KERNELS, 1, 0);
	file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, false));
	for (size_t i = 0; i < KERNELS; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_str_eq(row->name, kernels[i]);
		ck_assert_msg(row->ran->unknown == (i >= ROOM), "%zu", i);
		ck_assert(isnan(row->values[0]) == (i >= ROOM));
	}
}

/* Launches come in the order of time. They have no values: too few samples are theirs alone. */
FAKE_TEST(values_of_launches)
{
	struct opk_evaluation *evaluation;
	const struct opk_row *row;
	struct opk_file *file;

	fake.image_is_pm = true;
	put_samples("in.opk", COUNT(ran));
	file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, true));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 5);
	for (size_t i = 0; i < 4; i++) {
		static const uint64_t starts[] = { 2000, 5000, 7000, 9000 };

		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_uint_eq(row->start_ns, starts[i]);
		ck_assert(row->ran->unknown && isnan(row->values[0]));
		ck_assert_uint_eq(row->ran->samples, i < 2 ? 2 : 0);
	}
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	put_samples("none.opk", 0);
	file = open_file(ctx, "none.opk");
	ck_fails(ctx, opk_timeline_eval(&evaluation, ctx, file, NULL, false), OPK_EUSAGE,
	         "does not say which kernels ran when");
	opk_file_free(file);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
