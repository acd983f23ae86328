/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces: samples, launches and ranges become events; odd names and times. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "allocation.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "random.h"
#include "recordings.h"
#include "trace/door.h"

/* ---- recordings ------------------------------------------------------------------------- */

/* A record; the arguments after its times differ from the defaults. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define RAN(name_, start_, end_, ...)                                                              \
	{                                                                                          \
		.kind = OPK_ACTIVITY_KERNEL, .name = name_, .start_ns = start_, .end_ns = end_,    \
		.rank = -1, .stream = 7, .context = 1, .process = 10, .host = "node",              \
		.gpu = "GPU-1", __VA_ARGS__                                                        \
	}
#define NVTX(name_, start_, end_)                                                                  \
	RAN(name_, start_, end_, .kind = OPK_ACTIVITY_RANGE, .device = -1, .gpu = "", .thread = 5)

static const struct opk_meta trace_meta = {
	.kind = "recording", .chip = "FA100", .profiler = OPK_PROFILER_PM, .mode = "trace"
};

static void put_ran(const char *name, const struct opk_activity *activities, const size_t *counts,
                    size_t sections)
{
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &trace_meta));
	for (size_t i = 0; i < sections; activities += counts[i++])
		ck_ok(ctx, opk_writer_add_activities(writer, activities, counts[i]));
	ck_ok(ctx, opk_writer_finish(writer));
}

/* Samples of 1,000 ns from `start` on, three an image; the first of an image begins earlier. */
struct sampled {
	uint64_t start;
	int64_t device;
};

static void put_samples(const char *name, const struct sampled *images, size_t count,
                        const struct opk_activity *activities, size_t activity_count)
{
	static const struct opk_property run[] = { { "hostname", "node" },
		                                   { "process", "10" },
		                                   { "device.0.uuid", "GPU-1" },
		                                   { "device.1.uuid", "GPU-2" },
		                                   { "env.RANK", "3" } };
	const struct opk_meta meta = { .kind = "recording",
		                       .chip = "FA100",
		                       .metrics = names,
		                       .metric_count = METRICS,
		                       .passes = 1,
		                       .profiler = OPK_PROFILER_PM,
		                       .run = run,
		                       .run_count = COUNT(run) };
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < count; i++) {
		struct opk_time times[RANGES];

		for (size_t k = 0; k < RANGES; k++)
			times[k] = (struct opk_time){ images[i].start + 1000 * k,
				                      images[i].start + 1000 * (k + 1),
				                      images[i].device };
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
		ck_ok(ctx, opk_writer_add_times(writer, times, RANGES, sizeof(struct opk_time)));
	}
	if (activity_count)
		ck_ok(ctx, opk_writer_add_activities(writer, activities, activity_count));
	ck_ok(ctx, opk_writer_finish(writer));
}

/* ---- traces ----------------------------------------------------------------------------- */

/* A trace and its events, except those that name processes and rows. */
struct traced {
	struct opk_ctx *ctx;
	struct opk_file *files[2];
	size_t file_count;
	struct opk_buf text;
	struct opk_trace_counts counts;
	struct opk_json *root;
	const struct opk_json *events[64];
	size_t event_count;
};

static int take(void *buf, const void *bytes, size_t size)
{
	opk_buf_add(buf, bytes, size);
	return 0;
}

static void begin(struct traced *t, struct opk_ctx *ctx, const char *first, const char *second)
{
	*t = (struct traced){ .ctx = ctx };
	t->files[t->file_count++] = open_file(ctx, first);
	if (second)
		t->files[t->file_count++] = open_file(ctx, second);
}

static int trace(struct traced *t, const struct opk_trace_options *options)
{
	return opk_trace_write(&t->counts, t->ctx, t->files, t->file_count, options,
	                       &(struct opk_sink){ take, &t->text });
}

static void read_events(struct traced *t)
{
	const struct opk_json *events;

	ck_ok(t->ctx, opk_json_parse(&t->root, t->ctx, (const char *)t->text.data, t->text.size));
	events = opk_json_get(t->root, "traceEvents", OPK_JSON_ARRAY);
	ck_assert_ptr_nonnull(events);
	ck_assert_uint_eq(t->counts.events, events->count);
	for (size_t i = 0; i < events->count; i++) {
		if (!strcmp(opk_json_string(&events->children[i], "ph"), "M"))
			continue;
		ck_assert_uint_lt(t->event_count, COUNT(t->events));
		t->events[t->event_count++] = &events->children[i];
	}
}

static void trace_files(struct traced *t, struct opk_ctx *ctx, const char *first,
                        const char *second, const struct opk_trace_options *options)
{
	begin(t, ctx, first, second);
	ck_ok(ctx, trace(t, options));
	read_events(t);
}

static void end(struct traced *t)
{
	opk_json_free(t->root);
	opk_buf_clear(&t->text);
	for (size_t i = 0; i < t->file_count; i++)
		opk_file_free(t->files[i]);
}

/* The name of a process or a row, by kind and id. */
static const char *name_of(const struct traced *t, const char *what, const struct opk_json *event,
                           const char *id)
{
	const struct opk_json *events = opk_json_get(t->root, "traceEvents", OPK_JSON_ARRAY);
	uint64_t wanted, number;

	ck_assert(opk_json_u64(&wanted, event, id));
	for (size_t i = 0; i < events->count; i++) {
		const struct opk_json *one = &events->children[i];

		if (!strcmp(opk_json_string(one, "name"), what) && opk_json_u64(&number, one, id)
		    && number == wanted)
			return opk_json_string(opk_json_member(one, "args"), "name");
	}
	return "(none)";
}

/* "X tracks/of the event name 1.000+2.000": all fields of a slice. */
static const char *say(const struct traced *t, const struct opk_json *event)
{
	static char text[400];
	const struct opk_json *time = opk_json_get(event, "ts", OPK_JSON_NUMBER);
	const struct opk_json *length = opk_json_get(event, "dur", OPK_JSON_NUMBER);
	const struct opk_json *args = opk_json_get(event, "args", OPK_JSON_OBJECT);
	const char *phase = opk_json_string(event, "ph");
	bool counter = !strcmp(phase, "C");

	ck_assert_ptr_nonnull(time);
	snprintf(text, sizeof text, "%s %s|%s|%s|%s%s%s%s%s", phase,
	         name_of(t, "process_name", event, "pid"),
	         length || *phase == 's' || *phase == 'f' ? name_of(t, "thread_name", event, "tid")
	                                                  : "",
	         opk_json_string(event, "name"), time->text, length ? "+" : "",
	         length ? length->text : "", counter ? "=" : "",
	         counter ? args->children[0].text : "");
	return text;
}

static void check_events(const struct traced *t, const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < t->event_count && i < count; i++)
		ck_assert_msg(!strcmp(say(t, t->events[i]), wanted[i]), "event %zu:\n%s\nnot\n%s",
		              i, say(t, t->events[i]), wanted[i]);
	ck_assert_uint_eq(t->event_count, count);
}

/* ---- what ran --------------------------------------------------------------------------- */

/* Rows of streams: concurrent slices take a second row; slices that touch share one. */
CTX_TEST(rows_of_streams)
{
	static const struct opk_activity ran[] = {
		RAN("a(int)", 1000000000000000000, 1000000000000002001),
		RAN("b", 1000000000000002001, 1000000000000003000),
		RAN("c", 1000000000000001000, 1000000000000002500),
		RAN("d", 1000000000000002600, 1000000000000002600),
		RAN("memcpy HtoD", 1000000000000005000, 1000000000000005001, .stream = 8,
		    .kind = OPK_ACTIVITY_COPY, .bytes = 4096),
		RAN("memset", 1000000000000005000, 1000000000000005001, .context = 2,
		    .kind = OPK_ACTIVITY_SET),
		RAN("x", 1000000000000005000, 1000000000000005001, .device = -1, .rank = 2),
	};
	static const char *const wanted[] = {
		"X process 10 on node|GPU 0, stream 7|a|0.000+2.001",
		"X process 10 on node|GPU 0, stream 7 (2)|c|1.000+1.500",
		"X process 10 on node|GPU 0, stream 7|b|2.001+0.999",
		"X process 10 on node|GPU 0, stream 7 (2)|d|2.600+0.000",
		"X process 10 on node|GPU 0, stream 8|memcpy HtoD|5.000+0.001",
		"X process 10 on node|GPU 0, stream 7, context 2|memset|5.000+0.001",
		"X rank 2, process 10 on node|stream 7|x|5.000+0.001",
	};
	struct opk_trace_options options = OPTIONS(options, .kernel_names = OPK_KERNEL_SHORT);
	struct traced t;
	uint64_t bytes;

	put_ran("in.opk", ran, (size_t[]){ COUNT(ran) }, 1);
	trace_files(&t, ctx, "in.opk", NULL, &options);
	check_events(&t, wanted, COUNT(wanted));
	ck_assert_str_eq(opk_json_string(opk_json_member(t.events[0], "args"), "kernel"), "a(int)");
	ck_assert(opk_json_u64(&bytes, opk_json_member(t.events[4], "args"), "bytes"));
	ck_assert_uint_eq(bytes, 4096);
	ck_assert_str_eq(opk_json_string(opk_json_member(t.root, "otherData"), "origin_ns"),
	                 "1000000000000000000");
	ck_assert(t.counts.kernels == 5 && t.counts.copies == 1 && t.counts.sets == 1);
	end(&t);
}

/*
 * Calls are in rows of threads; an arrow goes from a call to the first work that it launched, in
 * any order of the file.
 */
CTX_TEST(rows_of_calls)
{
#define OF_CALL(name_, start_, end_, number_)                                                      \
	RAN(name_, start_, end_, .kind = OPK_ACTIVITY_CALL, .device = -1, .gpu = "", .thread = 5,  \
	    .correlation = number_)
	static const struct opk_activity ran[] = {
		OF_CALL("cuInit", 1000, 1500, 1),
		OF_CALL("cudaGraphLaunch", 2000, 2500, 2),
		OF_CALL("cuGraphLaunch", 2100, 2400, 2),
		RAN("other process", 2200, 2300, .correlation = 2, .process = 11),
		RAN("a", 3000, 4000, .correlation = 2),
		RAN("b", 4000, 5000, .correlation = 2),
		RAN("unknown", 5000, 6000, .correlation = 3),
		NVTX("range", 5000, 6000),
	};
	static const char *const wanted[] = {
		"X process 10 on node|calls, thread 5|cuInit|0.000+0.500",
		"X process 10 on node|calls, thread 5|cudaGraphLaunch|1.000+0.500",
		"s process 10 on node|calls, thread 5|launch|1.000",
		"X process 10 on node|calls, thread 5|cuGraphLaunch|1.100+0.300",
		"X process 11 on node|GPU 0, stream 7|other process|1.200+0.100",
		"X process 10 on node|GPU 0, stream 7|a|2.000+1.000",
		"f process 10 on node|GPU 0, stream 7|launch|2.000",
		"X process 10 on node|GPU 0, stream 7|b|3.000+1.000",
		"X process 10 on node|GPU 0, stream 7|unknown|4.000+1.000",
		"X process 10 on node|NVTX, thread 5|range|4.000+1.000",
	};
	enum { CALLS = 3, OTHERS = COUNT(ran) - CALLS };
	struct opk_activity calls_last[COUNT(ran)];

	memcpy(calls_last, ran + CALLS, OTHERS * sizeof *ran);
	memcpy(calls_last + OTHERS, ran, CALLS * sizeof *ran);
	for (size_t i = 0; i < 2; i++) {
		struct traced t;
		uint64_t ids[2];

		put_ran("in.opk", i ? calls_last : ran, (size_t[]){ COUNT(ran) }, 1);
		trace_files(&t, ctx, "in.opk", NULL, NULL);
		check_events(&t, wanted, COUNT(wanted));
		ck_assert(opk_json_u64(&ids[0], t.events[2], "id"));
		ck_assert(opk_json_u64(&ids[1], t.events[6], "id"));
		ck_assert_uint_eq(ids[0], ids[1]);
		ck_assert_str_eq(opk_json_string(t.events[6], "bp"), "e");
		ck_assert(t.counts.calls == 3 && t.counts.nvtx_ranges == 1
		          && t.counts.kernels == 4);
		end(&t);
	}
}

/* Ranges of a thread nest; a pair that only overlaps takes two rows. */
CTX_TEST(rows_of_ranges)
{
	static const struct opk_activity ran[] = {
		NVTX("inner", 2000, 3000), NVTX("outer", 1000, 5000),  NVTX("crossing", 4000, 6000),
		NVTX("after", 5000, 5500), NVTX("inmost", 2000, 2500),
	};
	static const char *const wanted[] = {
		"X process 10 on node|NVTX, thread 5|outer|0.000+4.000",
		"X process 10 on node|NVTX, thread 5|inner|1.000+1.000",
		"X process 10 on node|NVTX, thread 5|inmost|1.000+0.500",
		"X process 10 on node|NVTX, thread 5 (2)|crossing|3.000+2.000",
		"X process 10 on node|NVTX, thread 5|after|4.000+0.500",
	};
	struct traced t;

	put_ran("in.opk", ran, (size_t[]){ COUNT(ran) }, 1);
	trace_files(&t, ctx, "in.opk", NULL, NULL);
	check_events(&t, wanted, COUNT(wanted));
	ck_assert_uint_eq(t.counts.nvtx_ranges, 5);
	end(&t);
}

/* The trace does not depend on the sections that hold records, nor on their order. */
CTX_TEST(order_of_sections)
{
	enum { RECORDS = 300 };
	static struct opk_activity ran[RECORDS], shuffled[RECORDS];
	static char kernels[RECORDS][16];
	struct traced sorted, other;

	for (size_t i = 0; i < RECORDS; i++) {
		snprintf(kernels[i], sizeof kernels[i], "k%zu", i);
		ran[i] = (struct opk_activity)RAN(kernels[i], 1000 * i, 1000 * i + 1500);
		shuffled[i * 77 % RECORDS] = ran[i];
	}
	put_ran("sorted.opk", ran, (size_t[]){ RECORDS }, 1);
	begin(&sorted, ctx, "sorted.opk", NULL);
	ck_ok(ctx, trace(&sorted, NULL));
	for (size_t first = 1; first < RECORDS - 20; first += 60) {
		put_ran("other.opk", shuffled, (size_t[]){ first, 1, 17, RECORDS - first - 18 }, 4);
		begin(&other, ctx, "other.opk", NULL);
		ck_ok(ctx, trace(&other, NULL));
		ck_assert_uint_eq(other.text.size, sorted.text.size);
		ck_assert_mem_eq(other.text.data, sorted.text.data, sorted.text.size);
		end(&other);
	}
	end(&sorted);
}

/* Any bytes in a name are kept or, if they are not UTF-8, replaced. */
CTX_TEST(hostile_names)
{
	static const char *const hostile[] = {
		"\"quoted\" \\ back\\slash",     "line\nand\ttab\rand\x01\x1f\x7f", "</script><!--",
		"\xe2\x80\xa8 \xf0\x9f\x98\x80", "]}}],\"traceEvents\":[",          "",
	};
	struct opk_activity ran[COUNT(hostile) + 1];
	struct traced t;

	for (size_t i = 0; i < COUNT(hostile); i++)
		ran[i] = (struct opk_activity)NVTX(hostile[i], 10 + i, 11 + i);
	ran[COUNT(hostile)] = (struct opk_activity)NVTX("bad \xff\xc3(", 20, 21);
	ran[0].host = "\"host\"\n";
	put_ran("in.opk", ran, (size_t[]){ COUNT(ran) }, 1);
	trace_files(&t, ctx, "in.opk", NULL, NULL);
	ck_assert_uint_eq(t.event_count, COUNT(ran));
	for (size_t i = 0; i < COUNT(hostile); i++)
		ck_assert_str_eq(opk_json_string(t.events[i], "name"), hostile[i]);
	ck_assert_str_eq(opk_json_string(t.events[COUNT(hostile)], "name"),
	                 "bad \xef\xbf\xbd\xef\xbf\xbd(");
	ck_assert_str_eq(name_of(&t, "process_name", t.events[0], "pid"),
	                 "process 10 on \"host\"\n");
	end(&t);
}

static uint64_t ns_of(const struct opk_json *event, const char *name)
{
	const char *text = opk_json_get(event, name, OPK_JSON_NUMBER)->text;
	char *point;
	uint64_t us = strtoull(text, &point, 10);

	ck_assert(*point == '.' && strlen(point) == 4);
	return 1000 * us + strtoull(point + 1, NULL, 10);
}

/* Viewers lose slices of a row that overlap without nesting. */
static void check_rows(const struct traced *t)
{
	for (size_t i = 0; i < t->event_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct opk_json *a = t->events[k], *b = t->events[i];
			uint64_t row_of_a, row_of_b, start = ns_of(b, "ts"), end_of_a;

			ck_assert(opk_json_u64(&row_of_a, a, "tid")
			          && opk_json_u64(&row_of_b, b, "tid"));
			end_of_a = ns_of(a, "ts") + ns_of(a, "dur");
			if (row_of_a != row_of_b || end_of_a <= start)
				continue;
			ck_assert(!strcmp(opk_json_string(b, "cat"), "nvtx")
			          || !strcmp(opk_json_string(b, "cat"), "call"));
			ck_assert_uint_le(start + ns_of(b, "dur"), end_of_a);
		}
}

/* For any records the trace is JSON with all of them, and no slices of a row cross. */
CTX_TEST(any_records)
{
	enum { RECORDS = 40 };
	struct traced t;

	random_restart();
	for (size_t i = 0; i < enough(500); i++) {
		struct opk_activity ran[RECORDS];

		for (size_t k = 0; k < RECORDS; k++) {
			uint64_t start = random64() % 500;

			ran[k] = (struct opk_activity){
				.kind = (enum opk_activity_kind)(1 + random64() % 5),
				.device = (int32_t)(random64() % 3) - 1,
				.start_ns = start,
				.end_ns = start + random64() % 60,
				.stream = random64() % 2,
				.context = (uint32_t)(random64() % 3),
				.thread = random64() % 2,
				.process = (uint32_t)(random64() % 2),
				.rank = (int32_t)(random64() % 2) - 1,
				.name = random64() % 8 ? "k" : NULL,
				.grid = { (uint32_t)random64(), 1, 1 },
			};
		}
		put_ran("in.opk", ran, (size_t[]){ 10, 0, 30 }, 3);
		trace_files(&t, ctx, "in.opk", NULL, NULL);
		ck_assert_uint_eq(t.event_count, RECORDS);
		check_rows(&t);
		end(&t);
	}
}

/* Too many rows to look at would also take forever. */
CTX_TEST(too_many_at_once)
{
	enum { RECORDS = 5000 };
	static struct opk_activity ran[RECORDS];
	struct traced t;

	for (size_t i = 0; i < RECORDS; i++)
		ran[i] = (struct opk_activity)RAN("k", i, 100000);
	put_ran("in.opk", ran, (size_t[]){ RECORDS }, 1);
	begin(&t, ctx, "in.opk", NULL);
	ck_assert_int_eq(trace(&t, NULL), OPK_EFAILED);
	ck_assert(
		told(ctx, "GPU 0, stream 7: more than 4096 slices at the same time, at start_ns"));
	end(&t);
}

/* The clock's extremes: nothing overflows or is negative. */
CTX_TEST(odd_times)
{
	static const struct opk_activity ran[] = {
		RAN("all", 0, UINT64_MAX),
		RAN("late", UINT64_MAX, UINT64_MAX),
		RAN("early", 0, 0),
	};
	static const char *const wanted[] = {
		"X process 10 on node|GPU 0, stream 7|all|0.000+18446744073709551.615",
		"X process 10 on node|GPU 0, stream 7 (2)|early|0.000+0.000",
		"X process 10 on node|GPU 0, stream 7|late|18446744073709551.615+0.000",
	};
	struct traced t;

	put_ran("in.opk", ran, (size_t[]){ COUNT(ran) }, 1);
	trace_files(&t, ctx, "in.opk", NULL, NULL);
	check_events(&t, wanted, COUNT(wanted));
	end(&t);
}

/* ---- samples ---------------------------------------------------------------------------- */

FAKE_TEST(counters)
{
	/* The first sample of each image begins earlier, and is left out. */
	static const struct sampled images[] = { { 1000, 0 }, { 3000, 0 }, { 90000, 0 } };
	static const struct opk_activity ran[] = { RAN("k", 3000, 100000, .rank = 3) };
	static const char *const wanted[] = {
		"X rank 3, process 10 on node|GPU 0, stream 7|k|1.000+97.000",
		"C rank 3, process 10 on node||fake__a.sum|0.000=100.5",
		"C rank 3, process 10 on node||fake__ratio.pct|0.000=101.5",
		"C rank 3, process 10 on node||fake__c.sum|0.000=102.5",
		"C rank 3, process 10 on node||fake__a.sum|1.000=200.5",
		"C rank 3, process 10 on node||fake__ratio.pct|1.000=201.5",
		"C rank 3, process 10 on node||fake__c.sum|1.000=202.5",
		"C rank 3, process 10 on node||fake__a.sum|2.000=100.5",
		"C rank 3, process 10 on node||fake__ratio.pct|2.000=101.5",
		"C rank 3, process 10 on node||fake__c.sum|2.000=102.5",
		"C rank 3, process 10 on node||fake__a.sum|3.000=200.5",
		"C rank 3, process 10 on node||fake__ratio.pct|3.000=201.5",
		"C rank 3, process 10 on node||fake__c.sum|3.000=202.5",
		"b rank 3, process 10 on node||no samples|4.000",
		"e rank 3, process 10 on node||no samples|89.000",
		"C rank 3, process 10 on node||fake__a.sum|89.000=100.5",
		"C rank 3, process 10 on node||fake__ratio.pct|89.000=101.5",
		"C rank 3, process 10 on node||fake__c.sum|89.000=102.5",
		"C rank 3, process 10 on node||fake__a.sum|90.000=200.5",
		"C rank 3, process 10 on node||fake__ratio.pct|90.000=201.5",
		"C rank 3, process 10 on node||fake__c.sum|90.000=202.5",
		"b rank 3, process 10 on node||no samples|91.000",
		"e rank 3, process 10 on node||no samples|98.000",
	};
	struct traced t;

	fake.image_is_pm = true;
	put_samples("in.opk", images, COUNT(images), ran, COUNT(ran));
	trace_files(&t, ctx, "in.opk", NULL, NULL);
	check_events(&t, wanted, COUNT(wanted));
	ck_assert(t.counts.samples == 6 && t.counts.values == 18 && !t.counts.missing_values);
	ck_assert_uint_eq(t.counts.first_samples, 3);
	end(&t);
}

/* nan and infinities are not events: a slice shows their time. */
FAKE_TEST(missing_values)
{
	static const struct sampled images[] = { { 1000, 0 } };
	static const char *const wanted[] = {
		"b rank 3, process 10 on node||no value: fake__a.sum|0.000",
		"C rank 3, process 10 on node||fake__ratio.pct|0.000=101.5",
		"e rank 3, process 10 on node||no value: fake__a.sum|1.000",
		"C rank 3, process 10 on node||fake__a.sum|1.000=200.5",
		"C rank 3, process 10 on node||fake__ratio.pct|1.000=201.5",
	};
	static const char *const asked[] = { "fake__a.sum", "fake__ratio.pct" };
	struct opk_trace_options options = OPK_INIT(options);
	struct opk_eval_options eval = OPTIONS(eval, .metrics = asked,
	                                       .metric_count = COUNT(asked));
	struct traced t;

	fake.image_is_pm = true;
	options.eval = &eval;
	put_samples("in.opk", images, COUNT(images), NULL, 0);
	for (int i = 0; i < 2; i++) {
		fake.evaluate_at = 1;
		fake.nan_or_inf = i ? (double)INFINITY : (double)NAN;
		trace_files(&t, ctx, "in.opk", NULL, &options);
		check_events(&t, wanted, COUNT(wanted));
		ck_assert(t.counts.values == 3 && t.counts.missing_values == 1);
		end(&t);
	}
}

/* Counters are in the process that used the GPU; with several GPUs their names say which. */
FAKE_TEST(processes_of_counters)
{
	static const struct sampled both[] = { { 1000, 0 }, { 1000, 1 } };
	static const struct opk_activity ran[] = { RAN("k", 1, 2, .gpu = "GPU-2", .device = 1) };
	static const char *const apart[] = {
		"X process 10 on node|GPU 1, stream 7|k|0.000+0.001",
		"C rank 3, process 10 on node||fake__a.sum|1.999=100.5",
		"C rank 3, process 10 on node||fake__a.sum|2.999=200.5",
		"C process 10 on node||fake__a.sum|1.999=100.5",
		"C process 10 on node||fake__a.sum|2.999=200.5",
	};
	static const char *const together[] = {
		"C rank 3, process 10 on node||GPU 0 fake__a.sum|0.000=100.5",
		"C rank 3, process 10 on node||GPU 0 fake__a.sum|1.000=200.5",
		"C rank 3, process 10 on node||GPU 1 fake__a.sum|0.000=100.5",
		"C rank 3, process 10 on node||GPU 1 fake__a.sum|1.000=200.5",
	};
	static const char *const device[] = { "device=1" };
	struct opk_trace_options options = OPK_INIT(options);
	struct opk_eval_options eval = OPTIONS(eval, .metrics = names, .metric_count = 1);
	struct traced t;

	fake.image_is_pm = true;
	options.eval = &eval;
	put_samples("apart.opk", both, COUNT(both), ran, COUNT(ran));
	put_samples("together.opk", both, COUNT(both), NULL, 0);
	trace_files(&t, ctx, "apart.opk", NULL, &options);
	check_events(&t, apart, COUNT(apart));
	end(&t);
	trace_files(&t, ctx, "together.opk", NULL, &options);
	check_events(&t, together, COUNT(together));
	end(&t);
	eval.where = device;
	eval.where_count = 1;
	trace_files(&t, ctx, "apart.opk", NULL, &options);
	ck_assert(t.counts.kernels == 1 && t.counts.samples == 2);
	end(&t);
}

/* ---- conditions and failures ------------------------------------------------------------ */

static const struct opk_activity few[] = {
	RAN("a", 100, 200),
	RAN("b", 300, 400, .stream = 9),
	NVTX("n", 50, 500),
};

static const struct {
	const char *condition;
	uint64_t kernels, ranges;
	const char *refused;
} conditions_rows[] = {
	{ "kernel=a", 1, 1, NULL },
	{ "stream=9", 1, 1, NULL },
	{ "start_ns>=100", 2, 0, NULL },
	{ "end_ns<=400", 2, 0, NULL },
	{ "duration_ns>100", 0, 1, NULL },
	{ "fake__a.sum>1", 0, 0, "what ran has no such fact, and there are no samples" },
};

CTX_TEST_EACH(conditions, conditions_rows)
{
	struct traced t;
	struct opk_trace_options options = OPK_INIT(options);
	struct opk_eval_options eval = OPK_INIT(eval);

	put_ran("in.opk", few, (size_t[]){ COUNT(few) }, 1);
	options.eval = &eval;
	eval.where = &row->condition;
	eval.where_count = 1;
	begin(&t, ctx, "in.opk", NULL);
	if (row->refused) {
		ck_assert_int_eq(trace(&t, &options), OPK_EUSAGE);
		ck_assert(told(ctx, row->refused));
		ck_assert(!t.text.size);
	} else {
		ck_ok(ctx, trace(&t, &options));
		ck_assert_msg(t.counts.kernels == row->kernels
		                      && t.counts.nvtx_ranges == row->ranges,
		              "%s: %" PRIu64 ", %" PRIu64, row->condition, t.counts.kernels,
		              t.counts.nvtx_ranges);
	}
	end(&t);
}

static int refuse(void *left, const void *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return --*(int *)left < 0 ? OPK_EFAILED : 0;
}

CTX_TEST(failures)
{
	struct opk_trace_options options = OPK_INIT(options);
	struct traced t;
	int left = 0;

	put_ran("none.opk", few, (size_t[]){ 0 }, 0);
	begin(&t, ctx, "none.opk", NULL);
	ck_assert_int_eq(trace(&t, NULL), OPK_EUSAGE);
	ck_assert(
		told(ctx, "there is nothing on a time axis: no sample and no launch is recorded"));
	ck_assert(!t.text.size);
	end(&t);
	put_ran("in.opk", few, (size_t[]){ COUNT(few) }, 1);
	begin(&t, ctx, "in.opk", NULL);
	for (int i = 0; i < 2; i++) {
		options.gzip = i;
		ck_assert_int_eq(opk_trace_write(NULL, ctx, t.files, 1, &options,
		                                 &(struct opk_sink){ refuse, &left }),
		                 OPK_EFAILED);
	}
	end(&t);
}

/* Each allocation in turn fails: an error, and nothing leaks. */
CTX_TEST(out_of_memory)
{
	struct opk_eval_options eval = OPK_INIT(eval);
	struct opk_trace_options options = OPK_INIT(options);
	int room = INT_MAX;
	bool failed;
	long i = 0;

	options.gzip = true;
	options.eval = &eval;
	eval.where = (const char *const[]){ "process=10" };
	eval.where_count = 1;
	put_ran("in.opk", few, (size_t[]){ COUNT(few) }, 1);
	do {
		struct traced t;
		int code;

		begin(&t, ctx, "in.opk", NULL);
		fail_allocation(i);
		code = opk_trace_write(NULL, ctx, t.files, 1, &options,
		                       &(struct opk_sink){ refuse, &room });
		failed = was_short(ctx, i++, code);
		end(&t);
	} while (failed);
	ck_assert_int_gt(i, 50);
}

/* Peak memory, in kB, of a trace of this many consecutive sections. */
static long peak_of(struct opk_ctx *ctx, size_t sections)
{
	enum { EACH = 5000 };
	static struct opk_activity ran[EACH];
	struct opk_writer *writer;
	struct rusage usage;
	int room = INT_MAX, status;
	struct traced t;
	pid_t child;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("many.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &trace_meta));
	for (size_t i = 0; i < sections; i++) {
		for (size_t k = 0; k < EACH; k++)
			ran[k] = (struct opk_activity)RAN("k", (i * EACH + k) * 1000,
			                                  (i * EACH + k) * 1000 + 900);
		ck_ok(ctx, opk_writer_add_activities(writer, ran, EACH));
	}
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	begin(&t, ctx, "many.opk", NULL);
	child = fork();
	if (!child)
		_exit(opk_trace_write(NULL, ctx, t.files, 1, NULL,
		                      &(struct opk_sink){ refuse, &room }));
	ck_assert(wait4(child, &status, 0, &usage) == child && !status);
	end(&t);
	return usage.ru_maxrss;
}

/* Memory does not grow with the number of launches. Sanitizers keep freed memory. */
CTX_TEST(memory, .needs = is_plain_build)
{
	long few_sections = peak_of(ctx, 4), many = peak_of(ctx, is_long() ? 200 : 20);

	ck_assert_msg(many < few_sections + 2000, "%ld kB, and %ld kB", few_sections, many);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
