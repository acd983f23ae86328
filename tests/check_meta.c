/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata and range tables of .opk files. */
#include <inttypes.h>
#include <sys/resource.h>

#include "container/container.h"
#include "containers.h"

static struct opk_file *file_with(struct opk_ctx *ctx, uint32_t type, const char *text)
{
	freed(opk_writer) *writer = NULL;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	if (type == OPK_SECTION_RANGES)
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add(writer, type, text, strlen(text)));
	ck_ok(ctx, opk_writer_finish(writer));
	return open_file(ctx);
}

static void check_same_lists(const struct opk_meta *got, const struct opk_meta *wanted)
{
	ck_assert_uint_eq(got->metric_pass_count, wanted->metric_pass_count);
	for (size_t i = 0; i < wanted->metric_pass_count; i++) {
		size_t count = wanted->metric_passes[i].count;

		ck_assert_uint_eq(got->metric_passes[i].count, count);
		ck_assert_mem_eq(got->metric_passes[i].passes, wanted->metric_passes[i].passes,
		                 count * sizeof(uint32_t));
	}
	ck_assert_uint_eq(got->inflated_count, wanted->inflated_count);
	for (size_t i = 0; i < wanted->inflated_count; i++)
		ck_assert_str_eq(got->inflated[i], wanted->inflated[i]);
	ck_assert_uint_eq(got->run_count, wanted->run_count);
	for (size_t i = 0; i < wanted->run_count; i++) {
		ck_assert_str_eq(got->run[i].name, wanted->run[i].name);
		ck_assert_str_eq(got->run[i].value, wanted->run[i].value);
	}
}

static void check_same_meta(const struct opk_meta *got, const struct opk_meta *wanted)
{
	ck_assert_str_eq(got->kind, wanted->kind);
	ck_assert_str_eq(got->generator, wanted->generator);
	ck_assert_str_eq(got->chip, wanted->chip);
	ck_assert_int_eq(got->profiler, wanted->profiler);
	ck_assert_str_eq(got->set_name, wanted->set_name);
	ck_assert_str_eq(got->set_description, wanted->set_description);
	ck_assert_uint_eq(got->metric_count, wanted->metric_count);
	for (size_t i = 0; i < wanted->metric_count; i++)
		ck_assert_str_eq(got->metrics[i], wanted->metrics[i]);
	ck_assert_uint_eq(got->passes, wanted->passes);
	ck_assert_int_eq(got->keep_instances, wanted->keep_instances);
	ck_assert_str_eq(got->config_hash, wanted->config_hash);
	ck_assert_uint_eq(got->rotation.passes, wanted->rotation.passes);
	ck_assert_uint_eq(got->rotation.metric_pass_count, wanted->rotation.metric_pass_count);
	if (wanted->rotation.passes)
		ck_assert_str_eq(got->rotation.config_hash, wanted->rotation.config_hash);
	ck_assert_uint_eq(got->cupti_version, wanted->cupti_version);
	ck_assert_str_eq(got->source, wanted->source);
	ck_assert_int_eq(got->has_gpu_time_shift, wanted->has_gpu_time_shift);
	ck_assert_int_eq(got->gpu_time_shift, wanted->gpu_time_shift);
	ck_assert_str_eq(got->mode, wanted->mode);
	ck_assert_str_eq(got->join, wanted->join);
	ck_assert_str_eq(got->backend, wanted->backend);
	check_same_lists(got, wanted);
	ck_assert(same_set(got, wanted));
}

/* Writes two images, each followed by the same table. */
static void write_ranges(struct opk_ctx *ctx, const struct opk_range *ranges, size_t count)
{
	freed(opk_writer) *writer = NULL;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	for (int i = 0; i < 2; i++) {
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
		ck_ok(ctx, opk_writer_add_ranges(writer, ranges, count, sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_finish(writer));
}

static const struct opk_meta small_meta = {
	.kind = "",
	.generator = "",
	.chip = "A",
	.set_name = "",
	.set_description = "",
	.metrics = metric_names,
	.metric_count = 1,
	.config_hash = "",
	.source = "",
	.mode = "",
	.join = "",
	.backend = "",
};

CTX_TEST(meta_round_trip)
{
	const struct opk_meta *const metas[] = { &full_meta, &small_meta };

	for (size_t i = 0; i < COUNT(metas); i++) {
		const struct opk_meta *got = NULL, *again = NULL;
		struct opk_writer *writer;
		freed(opk_file) *file = NULL;

		unlink(path);
		ck_ok(ctx, opk_writer_new(&writer, ctx, path));
		ck_ok(ctx, opk_writer_add_meta(writer, metas[i]));
		ck_ok(ctx, opk_writer_finish(writer));
		opk_writer_free(writer);
		file = open_file(ctx);
		ck_ok(ctx, opk_file_meta(&got, ctx, file));
		check_same_meta(got, metas[i]);
		ck_ok(ctx, opk_file_meta(&again, ctx, file));
		ck_assert_ptr_eq(got, again);
	}
}

#define CHIP "\"chip\":\"GH100\","
#define RANGE "\"profiler\":\"range\","
#define METRICS "\"metrics\":[\"a.b\"]"
#define GOOD "{" CHIP RANGE METRICS ","

CTX_TEST(bad_metadata)
{
	static const char name_512[] = "{" CHIP RANGE "\"metrics\":[\"%0512d\"]}";
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "", "JSON, byte 0" },
		{ HERE, "chip: GH100", "JSON, byte 0" },
		{ HERE, "{" CHIP RANGE METRICS, "an object needs" },
		{ HERE, "[]", "member profiler is missing" },
		{ HERE, "null", "member profiler is missing" },
		{ HERE, "{}", "member profiler is missing" },
		{ HERE, "{" RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":100," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"gh100\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"GH 100\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"../GH\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"G\xc3\x89\"," RANGE METRICS "}", "names no usable chip" },
		{ HERE, "{\"chip\":\"ABCDEFGHIJKLMNOP\"," RANGE METRICS "}",
		  "names no usable chip" },
		{ HERE, "{" CHIP METRICS "}", "member profiler is missing" },
		{ HERE, "{" CHIP "\"profiler\":\"pcs\"," METRICS "}", "profiler is out of range" },
		{ HERE, "{" CHIP "\"profiler\":\"sass\",\"metrics\":[]}",
		  "no usable list of metrics" },
		{ HERE, "{" CHIP "\"profiler\":\"pc\",\"metrics\":[\"\"]}",
		  "metric 1 has no usable name" },
		{ HERE, "{" CHIP "\"profiler\":\"PM\"," METRICS "}", "profiler is out of range" },
		{ HERE, "{" CHIP "\"profiler\":0," METRICS "}", "profiler is of the wrong type" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[]}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":\"a.b\"}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":{\"a\":\"b\"}}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"passes\":1}", "no usable list of metrics" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a\",1]}", "metric 2 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[null]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[[\"a\"]]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a b\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a,b\"]}", "metric 1 has no usable name" },
		{ HERE, "{" CHIP RANGE "\"metrics\":[\"a\\n\"]}", "metric 1 has no usable name" },
		{ HERE, name_512, "metric 1 has no usable name" },
		{ HERE, GOOD "\"join\":\"stream\"}", "is not a way to join ranges" },
		{ HERE, GOOD "\"join\":7}", "member join is of the wrong type" },
		{ HERE, GOOD "\"groups\":[[0]]}", "made in pass groups by an earlier offpeak" },
		{ HERE, GOOD "\"kind\":\"recording\",\"join\":\"kernel\",\"groups\":[[0]]}",
		  "made in pass groups by an earlier offpeak" },
		{ HERE, GOOD "\"metric_passes\":{}}", "metric_passes is of the wrong type" },
		{ HERE, GOOD "\"metric_passes\":[1]}", "the passes of metric 1 are not an array" },
		{ HERE, GOOD "\"metric_passes\":[[],[]]}", "passes of 2 metrics, and there are 1" },
		{ HERE, GOOD "\"metric_passes\":[[1]]}", "not one of the 0" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[3]]}", "not one of the 2" },
		{ HERE, GOOD "\"rotation\":[]}", "rotation is of the wrong type" },
		{ HERE, GOOD "\"rotation\":{}}", "member passes is missing" },
		{ HERE, GOOD "\"rotation\":{\"passes\":2,\"metric_passes\":[[3]]}}",
		  "not one of the 2" },
		{ HERE, GOOD "\"rotation\":{\"passes\":2,\"metric_passes\":[[],[]]}}",
		  "passes of 2 metrics, and there are 1" },
		{ HERE, GOOD "\"passes\":100001}", "100001 passes are more than 100000" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[0]]}", "not one of the 2" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[-1]]}", "not one of the 2" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[\"1\"]]}", "not one of the 2" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[1,18446744073709551616]]}",
		  "not one of the 2" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[2,1]]}", "don't ascend" },
		{ HERE, GOOD "\"passes\":2,\"metric_passes\":[[1,1]]}", "don't ascend" },
		{ HERE, GOOD "\"availability\":{}}", "member availability is of the wrong type" },
		{ HERE, GOOD "\"availability\":[0]}", "availability 1 is not an object" },
		{ HERE, GOOD "\"availability\":[{\"chip\":\"GH100\",\"profiler\":\"pm\"}]}",
		  "availability 1: member device is missing" },
		{ HERE,
		  GOOD "\"availability\":[{\"chip\":\"GH100\",\"profiler\":\"pm\",\"device\":-1}]}",
		  "availability 1: member device is out of range" },
		{ HERE,
		  GOOD "\"availability\":[{\"chip\":\"GH100\",\"profiler\":\"x\",\"device\":0}]}",
		  "availability 1: member profiler is out of range" },
		{ HERE, GOOD "\"availability\":[{\"chip\":\"\",\"profiler\":\"pm\",\"device\":0}]}",
		  "availability 1 names no usable chip" },
		{ HERE, GOOD "\"inflated\":\"a.b\"}", "member inflated is of the wrong type" },
		{ HERE, GOOD "\"inflated\":[\"a.c\"]}", "inflated metric 1 is not in" },
		{ HERE, GOOD "\"inflated\":[\"a.b\",0]}", "inflated 2 is not a text" },
		{ HERE, GOOD "\"run\":[]}", "member run is of the wrong type" },
		{ HERE, GOOD "\"run\":{\"a\":1}}", "run: member a is of the wrong type" },
		{ HERE, GOOD "\"run\":{\"a\":\"\",\"\":\"b\"}}", "fact 2 about the run" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *text = rows[i].text == name_512 ? opk_printf(name_512, 0)
		                                                   : opk_strdup(rows[i].text);
		freed(opk_file) *file = file_with(ctx, OPK_SECTION_META, text);
		const struct opk_meta *meta = NULL;
		int code = opk_file_meta(&meta, ctx, file);

		ck_row(&rows[i], code == OPK_EINPUT && !meta, "code %d", code);
		ck_row(&rows[i], strstr(opk_error_message(ctx, 0), rows[i].wanted), "got %s",
		       errors_of(ctx));
		ck_row(&rows[i], strstr(opk_error_message(ctx, 1), "t.opk: section 1 (META)"),
		       "got %s", errors_of(ctx));
	}
}

/* Members of wrong types or out of range are read as absent. */
CTX_TEST(odd_metadata)
{
	static const char *const texts[] = {
		"\"kind\":1,\"set\":null,\"source\":[],\"config_hash\":{},\"generator\":true",
		"\"passes\":\"3\",\"cupti_version\":true,\"keep_instances\":\"no\"",
		"\"passes\":-3,\"cupti_version\":-1,\"gpu_time_shift_ns\":\"5\"",
		"\"passes\":1.5,\"cupti_version\":13e4,\"gpu_time_shift_ns\":5.5",
		"\"passes\":18446744073709551616,\"gpu_time_shift_ns\":9223372036854775808",
		"\"cupti_version\":4294967297",
		"\"future\":{\"a\":[1]}",
		"\"mode\":1,\"backend\":[],\"join\":\"\"",
		"\"groups\":[],\"inflated\":[],\"run\":{}",
	};
	struct opk_meta wanted = small_meta;

	wanted.keep_instances = true; /* the default of files that lack it */
	wanted.metrics = (const char *[]){ "a.b" };
	wanted.chip = "GH100";
	for (size_t i = 0; i < COUNT(texts); i++) {
		opk_autofree char *text = opk_printf("{" CHIP RANGE METRICS ",%s}", texts[i]);
		freed(opk_file) *file = file_with(ctx, OPK_SECTION_META, text);
		const struct opk_meta *meta = NULL;

		ck_ok(ctx, opk_file_meta(&meta, ctx, file));
		check_same_meta(meta, &wanted);
	}
}

/* The writer refuses what readers would refuse. */
CTX_TEST(refused_metadata)
{
	static const uint32_t numbers[] = { 3, 1, 0, 4 };
	static const struct opk_pass_list one[] = { { numbers, 1 } };
	static const struct opk_pass_list none[] = { { numbers, 1 }, { numbers + 2, 1 } };
	static const struct opk_pass_list past[] = { { numbers + 3, 1 }, { numbers, 1 } };
	static const struct opk_pass_list back[] = { { NULL, 0 }, { numbers, 2 } };
	static const char *const other[] = { "a__b.sum" };
	static const struct opk_property nameless = { "", "x" }, valueless = { "x", NULL };
	static const struct {
		struct here here;
		struct opk_meta lists;
		const char *wanted;
	} rows[] = {
		{ HERE, { .join = "stream" }, "'stream' is not a way to join ranges" },
		{ HERE,
		  { .metric_passes = one, .metric_pass_count = 1 },
		  "passes of 1 metrics, and there are 2" },
		{ HERE,
		  { .metric_passes = none, .metric_pass_count = 2 },
		  "metric 2 is in a pass that is not one of the 3" },
		{ HERE,
		  { .metric_passes = past, .metric_pass_count = 2 },
		  "metric 1 is in a pass that is not one of the 3" },
		{ HERE,
		  { .metric_passes = back, .metric_pass_count = 2 },
		  "the passes of metric 2 don't ascend" },
		{ HERE,
		  { .inflated = other, .inflated_count = 1 },
		  "inflated metric 1 is not in the set" },
		{ HERE,
		  { .run = &nameless, .run_count = 1 },
		  "fact 1 about the run lacks a name or a text" },
		{ HERE,
		  { .run = &valueless, .run_count = 1 },
		  "fact 1 about the run lacks a name or a text" },
		{ HERE, { .run_count = 10001 }, "more than 10000 facts" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_meta meta = rows[i].lists;
		freed(opk_writer) *writer = NULL;

		meta.passes = 3;
		meta.chip = "A";
		meta.metrics = metric_names;
		meta.metric_count = 2;
		unlink(path);
		ck_ok(ctx, opk_writer_new(&writer, ctx, path));
		ck_row_ends(&rows[i], ctx, opk_writer_add_meta(writer, &meta), OPK_EUSAGE,
		            rows[i].wanted);
	}
}

/* Names and environments hold any bytes; JSON does not. */
CTX_TEST(facts_become_utf8)
{
	static const struct opk_property run[] = { { "a\xff", "b\xc3" } };
	struct opk_meta meta = small_meta;
	const struct opk_meta *got;
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;

	meta.run = run;
	meta.run_count = 1;
	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&got, ctx, file));
	ck_assert_str_eq(got->run[0].name, "a\xef\xbf\xbd");
	ck_assert_str_eq(got->run[0].value, "b\xef\xbf\xbd");
}

/* Searching all metrics for each inflated one would take 10 s and more. */
CTX_TEST(many_inflated)
{
	enum { COUNT_OF_METRICS = 100000, COUNT_OF_INFLATED = 10000, MOST_SECONDS = 1 };
	static char texts[COUNT_OF_METRICS][40];
	static const char *names[COUNT_OF_METRICS];
	struct opk_meta meta = small_meta;
	const struct opk_meta *got;
	struct opk_writer *writer;
	struct opk_file *file;
	struct rusage usage;

	for (int i = 0; i < COUNT_OF_METRICS; i++) {
		snprintf(texts[i], sizeof texts[i], "unit__counter_%d.sum", i);
		names[i] = texts[i];
	}
	meta.metrics = names;
	meta.metric_count = COUNT_OF_METRICS;
	meta.inflated = names + COUNT_OF_METRICS - COUNT_OF_INFLATED;
	meta.inflated_count = COUNT_OF_INFLATED;
	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	file = open_file(ctx);
	ck_ok(ctx, opk_file_meta(&got, ctx, file));
	ck_assert_uint_eq(got->inflated_count, COUNT_OF_INFLATED);
	ck_assert_str_eq(got->inflated[COUNT_OF_INFLATED - 1], names[COUNT_OF_METRICS - 1]);
	opk_file_free(file);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	ck_assert_int_le(usage.ru_utime.tv_sec, MOST_SECONDS);
}

TEST(config_hash)
{
	char hash[15];

	opk_config_hash(hash, "123456789", 9);
	ck_assert_str_eq(hash, "crc32:cbf43926");
	opk_config_hash(hash, NULL, 0);
	ck_assert_str_eq(hash, "crc32:00000000");
}

#define UNKNOWN .name = "", .kernel = "", .symbol = "", .nvtx = ""
#define NOTHING_KNOWN                                                                              \
	{                                                                                          \
		UNKNOWN, .device = -1, .rank = -1                                                  \
	}

static void check_range(const struct here *here, const struct opk_range *got,
                        const struct opk_range *wanted)
{
	const struct {
		struct here here;
	} at = { *here }, *row = &at;

	ck_row(row, !strcmp(got->name, wanted->name), "%s", got->name);
	ck_row(row, !strcmp(got->kernel, wanted->kernel), "%s", got->kernel);
	ck_row(row, !strcmp(got->symbol, wanted->symbol), "%s", got->symbol);
	ck_row(row, !strcmp(got->nvtx, wanted->nvtx), "%s", got->nvtx);
	ck_row(row, !memcmp(got->grid, wanted->grid, sizeof got->grid), "grid");
	ck_row(row, !memcmp(got->block, wanted->block, sizeof got->block), "block");
	ck_row(row, got->device == wanted->device, "device %d", got->device);
	ck_row(row, got->start_ns == wanted->start_ns, "%" PRIu64, got->start_ns);
	ck_row(row, got->end_ns == wanted->end_ns, "%" PRIu64, got->end_ns);
	ck_row(row, got->shared_bytes == wanted->shared_bytes, "shared");
	ck_row(row, got->launch == wanted->launch, "launch");
	ck_row(row, got->stream == wanted->stream, "%" PRIu64, got->stream);
	ck_row(row, got->duration_ns == wanted->duration_ns, "%" PRIu64, got->duration_ns);
	ck_row(row, got->registers == wanted->registers, "%u", got->registers);
	ck_row(row, got->context == wanted->context, "%u", got->context);
	ck_row(row, got->process == wanted->process, "%u", got->process);
	ck_row(row, got->pass == wanted->pass, "%u", got->pass);
	ck_row(row, got->rank == wanted->rank, "%d", got->rank);
	ck_row(row, got->sm_mhz == wanted->sm_mhz, "%u", got->sm_mhz);
	ck_row(row, got->memory_mhz == wanted->memory_mhz, "%u", got->memory_mhz);
	ck_row(row, got->static_shared_plus_1 == wanted->static_shared_plus_1, "static");
	ck_row(row, !memcmp(got->cluster, wanted->cluster, sizeof got->cluster), "cluster");
	ck_row(row, got->carveout_plus_1 == wanted->carveout_plus_1, "carveout");
	ck_row(row, got->count == wanted->count, "%ju", (uintmax_t)got->count);
}

CTX_TEST(range_rows)
{
	static const struct {
		struct here here;
		const char *text;
		struct opk_range wanted;
	} rows[] = {
		{ HERE, "{}", NOTHING_KNOWN },
		{ HERE, "null", NOTHING_KNOWN },
		{ HERE, "[1,2]", NOTHING_KNOWN },
		{ HERE,
		  "{\"name\":\"a/b\",\"kernel\":\"k<int>\",\"grid\":[1,2,3],\"block\":[4,5,6],"
		  "\"device\":2,\"start_ns\":7,\"end_ns\":18446744073709551615,"
		  "\"shared_bytes\":16,\"launch\":3,\"symbol\":\"_Zk\",\"rank\":0}",
		  { .name = "a/b",
		    .kernel = "k<int>",
		    .symbol = "_Zk",
		    .nvtx = "",
		    .grid = { 1, 2, 3 },
		    .block = { 4, 5, 6 },
		    .device = 2,
		    .start_ns = 7,
		    .end_ns = UINT64_MAX,
		    .shared_bytes = 16,
		    .launch = 3 } },
		{ HERE,
		  "{\"nvtx\":\"step/gemm\",\"stream\":18446744073709551615,\"duration_ns\":5,"
		  "\"registers\":255,\"context\":2,\"process\":4294967295,\"pass\":9,\"rank\":7,"
		  "\"sm_mhz\":1980,\"memory_mhz\":2619,\"count\":12}",
		  { .name = "",
		    .kernel = "",
		    .symbol = "",
		    .nvtx = "step/gemm",
		    .device = -1,
		    .stream = UINT64_MAX,
		    .duration_ns = 5,
		    .registers = 255,
		    .context = 2,
		    .process = UINT32_MAX,
		    .pass = 9,
		    .rank = 7,
		    .sm_mhz = 1980,
		    .memory_mhz = 2619,
		    .count = 12 } },
		{ HERE,
		  "{\"static_shared_bytes\":0,\"cluster\":[2,1,1],\"carveout\":4294967294}",
		  { .name = "",
		    .kernel = "",
		    .symbol = "",
		    .nvtx = "",
		    .device = -1,
		    .rank = -1,
		    .static_shared_plus_1 = 1,
		    .cluster = { 2, 1, 1 },
		    .carveout_plus_1 = UINT32_MAX } },
		{ HERE, "{\"static_shared_bytes\":\"0\",\"cluster\":[2],\"carveout\":null}",
		  NOTHING_KNOWN },
		{ HERE,
		  "{\"nvtx\":1,\"stream\":null,\"duration_ns\":\"5\",\"registers\":[],\"rank\":{}}",
		  NOTHING_KNOWN },
		{ HERE, "{\"name\":1,\"kernel\":[]}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[1,2],\"block\":[1,2,3,4]}", NOTHING_KNOWN },
		{ HERE, "{\"grid\":[1,2,\"3\"],\"block\":5}", NOTHING_KNOWN },
		{ HERE,
		  "{\"grid\":[4294967295,1,1]}",
		  { UNKNOWN, .grid = { UINT32_MAX, 1, 1 }, .device = -1, .rank = -1 } },
		{ HERE, "{\"device\":2147483647}", { UNKNOWN, .device = INT32_MAX, .rank = -1 } },
		{ HERE, "{\"end_ns\":\"8\"}", NOTHING_KNOWN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *text = opk_printf("[{\"name\":\"first\"},%s]", rows[i].text);
		freed(opk_file) *file = file_with(ctx, OPK_SECTION_RANGES, text);
		const struct opk_range *got = NULL, *wanted = &rows[i].wanted;
		size_t count = 0;

		ck_ok(ctx, opk_file_ranges(&got, &count, ctx, file));
		ck_row(&rows[i], count == 2 && !strcmp(got->name, "first"), "%zu rows", count);
		got++;
		check_range(&rows[i].here, got, wanted);
	}
}

static const struct {
	struct here here;
	const char *text;
	const char *wanted; /* NULL: good, and empty */
} range_tables_rows[] = {
	{ HERE, "[]", NULL },
	{ HERE, "{}", "the range table is not an array" },
	{ HERE, "\"r\"", "the range table is not an array" },
	{ HERE, "", "JSON, byte 0" },
	{ HERE, "[{}", "an array needs" },
	{ HERE, "[{},{\"device\":-5}]", "range table: row 2: member device is out of range" },
	{ HERE, "[{\"device\":2147483648}]", "range table: row 1: member device is out of range" },
	{ HERE, "[{\"rank\":2147483648}]", "member rank is out of range" },
	{ HERE, "[{\"count\":-3}]", "member count is out of range" },
	{ HERE, "[{\"count\":1.5}]", "member count is out of range" },
	{ HERE, "[{\"grid\":[1,2,-3]}]", "member grid is out of range" },
	{ HERE, "[{\"block\":[4294967296,1,1]}]", "member block is out of range" },
	{ HERE, "[{\"registers\":4294967296}]", "member registers is out of range" },
	{ HERE, "[{\"carveout\":4294967295}]", "member carveout is out of range" },
	{ HERE, "[{\"static_shared_bytes\":-1}]", "member static_shared_bytes is out of range" },
	{ HERE, "[{\"cluster\":[1,1,4294967296]}]", "member cluster is out of range" },
	{ HERE, "[{\"pass\":4294967296}]", "member pass is out of range" },
	{ HERE, "[{},{\"group\":1}]", "row 2 of the range table is of a pass group" },
	{ HERE, "[{\"process\":-3}]", "member process is out of range" },
	{ HERE, "[{\"context\":1.5}]", "member context is out of range" },
	{ HERE, "[{\"start_ns\":-7}]", "member start_ns is out of range" },
	{ HERE, "[{\"end_ns\":18446744073709551616}]", "member end_ns is out of range" },
	{ HERE, "[{\"stream\":-1}]", "member stream is out of range" },
};

CTX_TEST_EACH(range_tables, range_tables_rows)
{
	freed(opk_file) *file = file_with(ctx, OPK_SECTION_RANGES, row->text);
	const struct opk_range *ranges;
	size_t count = 7;
	int code = opk_file_ranges(&ranges, &count, ctx, file);

	ck_row(row, code == (row->wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
	ck_row(row, code || count == 0, "count %zu", count);
	ck_row(row, !code || strstr(errors_of(ctx), row->wanted), "%s", errors_of(ctx));
	ck_row(row, !code || strstr(errors_of(ctx), "t.opk: section 2 (RNGS)"), "%s",
	       errors_of(ctx));
}

/* All facts of a row can be read back; unknown facts are not written. */
CTX_TEST(range_round_trip)
{
	static const struct opk_range ranges[] = {
		{ .name = "n",
		  .kernel = "k",
		  .symbol = "s",
		  .nvtx = "a/b",
		  .grid = { 1, 2, 3 },
		  .block = { 4, 5, 6 },
		  .device = 0,
		  .start_ns = 7,
		  .end_ns = 8,
		  .shared_bytes = 9,
		  .launch = 10,
		  .stream = 11,
		  .duration_ns = 12,
		  .registers = 13,
		  .context = 14,
		  .process = 15,
		  .pass = 16,
		  .rank = 0,
		  .count = 17,
		  .static_shared_plus_1 = 18,
		  .carveout_plus_1 = 1,
		  .cluster = { 2, 4, 1 } },
		{ .name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1 },
	};
	static const struct here here = HERE;
	opk_autobuf struct opk_buf text = { 0 };
	const struct opk_range *got;
	freed(opk_file) *file = NULL;
	size_t count;

	opk_ranges_to_json(&text, ranges + 1, 1);
	ck_assert_msg(text.size == 4 && !memcmp(text.data, "[{}]", 4), "%.*s", (int)text.size,
	              (char *)text.data);
	write_ranges(ctx, ranges, COUNT(ranges));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_ranges(&got, &count, ctx, file));
	ck_assert_uint_eq(count, 2 * COUNT(ranges));
	for (size_t i = 0; i < count; i++)
		check_range(&here, &got[i], &ranges[i % 2]);
}

/* Programs of other versions pass shorter or longer rows. */
CTX_TEST(range_sizes)
{
	struct {
		struct opk_range range;
		uint64_t later;
	} longer[2] = { { .range = { .name = "a", .device = 3 }, .later = UINT64_MAX },
		        { .range = { .name = "b", .count = 5 } } };
	enum { SHORTER = offsetof(struct opk_range, kernel) };
	const struct opk_range *got;
	freed(opk_writer) *writer = NULL;
	freed(opk_file) *file = NULL;
	static const char *const shorter[] = { "c", "d" };
	static const char *const names[] = { "a", "b", "c", "d" };
	size_t count;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add_ranges(writer, &longer[0].range, 2, sizeof(longer[0])));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_ok(ctx, opk_writer_add_ranges(writer, (const void *)shorter, 2, SHORTER));
	ck_ok(ctx, opk_writer_finish(writer));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_ranges(&got, &count, ctx, file));
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(got[0].device, 3);
	ck_assert_uint_eq(got[1].count, 5);
	for (size_t i = 0; i < count; i++)
		ck_assert_str_eq(got[i].name, names[i]);
	ck_assert_str_eq(got[3].kernel, "");
}

CTX_TEST(ranges_without_size)
{
	static const struct opk_range range = { .name = "a" };
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, "image", 5));
	ck_fails(ctx, opk_writer_add_ranges(writer, &range, 1, 0), OPK_EUSAGE, "rows of 0 bytes");
}

SUITE(.set_up = make_path, .tear_down = remove_path);
