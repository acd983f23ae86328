/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes small containers with every kind of section: seeds of fuzz_container and fuzz_torn. */
#include <string.h>

#include "baked/baked_inside.h"
#include "container/door.h"
#include "fuzz.h"

static const char meta_text[] =
	"{\"kind\":\"recording\",\"chip\":\"GH100\",\"profiler\":\"range\",\"metrics\":[\"a__b.sum\",\"c__d.sum\"],"
	"\"passes\":1,\"metric_passes\":[[1],[1]],\"join\":\"kernel\",\"inflated\":[\"a__b.sum\"],\"run\":{\"env.RANK\":\"0\"},"
	"\"derived\":[{\"name\":\"d\",\"formula\":\"a__b.sum / 2\"}]}";

static void check(int code)
{
	if (code)
		abort();
}

static void add_images(struct opk_writer *writer, bool times)
{
	static const struct opk_time moments[] = { { 5, 7, 0 }, { 7, 9, 0 } };
	char image[400] = "LOPDATA";

	for (uint32_t i = 1; i < 4; i++) {
		const struct opk_range ranges[] = {
			{ .kernel = "k", .launch = i, .pass = 1, .grid = { 1, 2, 3 } },
			{ .name = "n", .nvtx = "a/b", .device = 1, .rank = 2, .pass = 1 },
		};

		image[100 * i] = (char)i;
		check(opk_writer_add(writer, OPK_SECTION_DATA, image, sizeof image));
		check(times ? opk_writer_add_times(writer, moments, 2, sizeof(struct opk_time))
		            : opk_writer_add_ranges(writer, ranges, 2, sizeof(struct opk_range)));
	}
}

static void add_code(struct opk_writer *writer)
{
	static const char *const metrics[] = { "a__b.sum", "stall" };
	static const uint64_t values[] = { 1, 0, 7, 9 };
	static const struct opk_instruction rows[] = {
		{ .module = 0xd06011c0, .function = "_Z1fv", .offset = 16, .launch = 1, .rank = 2 },
		{ .module = 0xd06011c0,
		  .function = "_Z1fv",
		  .offset = 32,
		  .host = "h",
		  .gpu = "g" },
	};

	check(opk_writer_add_module(writer, &(struct opk_module){ 0xd06011c0, 8, true,
	                                                          "\x7f"
	                                                          "ELF\2\1\1" }));
	check(opk_writer_add_instructions(writer, &(struct opk_instruction_table){ metrics, 2, rows,
	                                                                           2, values }));
}

static void write_seed(struct opk_ctx *ctx, const char *folder, const char *name, bool times)
{
	const struct opk_drop drop = { "no memory", 3 };
	const struct opk_stats stats = { 9, 6, 1, &drop, 1, 2 };
	const struct opk_activity ran[] = {
		{ .kind = OPK_ACTIVITY_KERNEL, .name = "k(int)", .start_ns = 5, .end_ns = 7 },
		{ .kind = OPK_ACTIVITY_COPY, .name = "memcpy HtoD", .bytes = 8, .device = 1 },
	};
	struct opk_writer *writer;
	char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	check(opk_writer_new(&writer, ctx, path));
	check(opk_writer_add(writer, OPK_SECTION_META, meta_text, strlen(meta_text)));
	check(opk_writer_add(writer, OPK_SECTION_CONFIG, "config", 6));
	check(opk_writer_add(writer, OPK_SECTION_PREFIX, "prefix", 6));
	check(opk_writer_add(writer, OPK_SECTION_AVAILABILITY, "available", 9));
	add_images(writer, times);
	check(opk_writer_add_activities(writer, ran, 2));
	add_code(writer);
	check(opk_writer_add_stats(writer, &stats));
	check(opk_writer_finish(writer));
	opk_writer_free(writer);
}

/* A table of the same rows with another metric. */
static void add_values(struct opk_writer *writer, struct opk_ctx *ctx)
{
	opk_autovalues struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS, .count = 2 };
	uint64_t *entries;

	check(opk_value_table_add(&entries, &table, ctx, OPK_VALUE_METRIC, "c__d.sum", ""));
	check(opk_value_table_write(writer, ctx, &table, NULL, NULL));
}

/* A recording that has values in the place of its image. */
static void write_values(struct opk_ctx *ctx, const char *folder)
{
	static const char *const metrics[] = { "a__b.sum" };
	static const char *const units[] = { "cycle" };
	static const double values[] = { 7, 0.1 };
	static const struct opk_baked_image images[] = { { 2, 0 } };
	static const struct opk_range ranges[2] = { { .name = "a" }, { .name = "b" } };
	const struct opk_given_values given = { .metrics = metrics,
		                                .units = units,
		                                .metric_count = 1,
		                                .row_count = 2,
		                                .values = values,
		                                .generator = "seeds",
		                                .images = images,
		                                .image_count = 1 };
	struct opk_writer *writer;
	char path[512];

	snprintf(path, sizeof path, "%s/values.opk", folder);
	check(opk_writer_new(&writer, ctx, path));
	check(opk_writer_add(writer, OPK_SECTION_META, meta_text, strlen(meta_text)));
	check(opk_writer_add(writer, OPK_SECTION_LEFT_OUT, "01234567", 8));
	check(opk_writer_add_ranges(writer, ranges, 2, sizeof *ranges));
	check(opk_writer_add_given_values(writer, ctx, &given));
	add_values(writer, ctx);
	check(opk_writer_finish(writer));
	opk_writer_free(writer);
}

int main(int argc, char **argv)
{
	struct opk_ctx *ctx = fuzz_ctx();

	if (argc != 2)
		return 2;
	write_seed(ctx, argv[1], "ranges.opk", false);
	write_seed(ctx, argv[1], "times.opk", true);
	write_values(ctx, argv[1]);
	opk_ctx_free(ctx);
	return 0;
}
