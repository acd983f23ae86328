/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of two images of the fake, in the scratch folder. An image has three complete ranges
 * in eight slots. In each range the n-th metric has the value 100 * range + n + 0.5; a sum of
 * ranges has the sum of their values.
 */
#ifndef OPK_RECORDINGS_H
#define OPK_RECORDINGS_H

#include "container/door.h"
#include "fake_nv.h"
#include "folder.h"

enum { RANGES = 3, METRICS = 3 };

static const char *const names[METRICS] = { "fake__a.sum", "fake__ratio.pct", "fake__c.sum" };
static const uint32_t pass_1[] = { 1 }, pass_2[] = { 2 };
static const uint32_t both_passes[] = { 1, 2 };
static const struct opk_pass_list metric_passes[] = { { pass_1, 1 }, { pass_2, 1 }, { pass_2, 1 } };
static const struct opk_pass_list shared_passes[] = { { pass_1, 1 },
	                                              { both_passes, 2 },
	                                              { both_passes, 2 } };

#define RANGE(name_, kernel_, group_)                                                              \
	{                                                                                          \
		.name = name_, .kernel = kernel_, .symbol = "", .nvtx = "", .grid = { 2, 1, 1 },   \
		.block = { 32, 1, 1 }, .pass = group_, .rank = -1, .duration_ns = 10               \
	}

static const struct opk_range plain[] = {
	RANGE("r0", "x", 0), RANGE("r1", "y", 0), RANGE("r2", "x", 0),
	RANGE("r3", "x", 0), RANGE("r4", "y", 0), RANGE("r5", "x", 0),
};
/* Kernel x has two ranges with each pass, y has one. */
static const struct opk_range rotated[] = {
	RANGE("r0", "x", 1), RANGE("r1", "y", 1), RANGE("r2", "x", 1),
	RANGE("r3", "y", 2), RANGE("r4", "x", 2), RANGE("r5", "x", 2),
};
/* Kernel x has one range with the first group's metrics, and two with the second group's. */
static const struct opk_range uneven[] = {
	RANGE("r0", "x", 1), RANGE("r1", "y", 1), RANGE("r2", "y", 1),
	RANGE("r3", "y", 2), RANGE("r4", "x", 2), RANGE("r5", "x", 2),
};

/* How a recording of two images is made. */
struct recording {
	const struct opk_range *ranges;
	const char *join;
	bool samples;
	bool code;   /* wrongly of profiler sass, which has no images */
	bool shared; /* all metrics except the first have counters in both passes */
	unsigned char gpus[2];
	bool shifted; /* the first image's table has a row of the second one's */
};

static inline void put(const char *name, const struct recording *recording)
{
	static const struct opk_stats stats = { .launches = 6, .ranges = 6 };
	struct opk_meta meta = { .kind = "recording",
		                 .chip = "FA100",
		                 .metrics = names,
		                 .metric_count = METRICS,
		                 .passes = 2,
		                 .metric_passes = recording->shared ? shared_passes : metric_passes,
		                 .metric_pass_count = recording->join ? METRICS : 0,
		                 .join = recording->join ? recording->join : "",
		                 .profiler = recording->samples ? OPK_PROFILER_PM
		                             : recording->code  ? OPK_PROFILER_SASS
		                                                : OPK_PROFILER_RANGE };
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_CONFIG, "config", 6));
	for (size_t i = 0; i < 2; i++) {
		const struct opk_time times[RANGES] = { { 1, 2, (int64_t)i },
			                                { 2, 3, (int64_t)i },
			                                { 3, 4, (int64_t)i } };
		char image[FAKE_IMAGE_SIZE];

		memcpy(image, fake_image(), sizeof image);
		image[FAKE_GPU_AT] = (char)recording->gpus[i];
		if (recording->ranges)
			fake_mark_pass(image, recording->ranges[i * RANGES].pass);
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, sizeof image));
		if (recording->samples)
			ck_ok(ctx,
			      opk_writer_add_times(writer, times, RANGES, sizeof(struct opk_time)));
		if (recording->ranges)
			ck_ok(ctx,
			      opk_writer_add_ranges(
				      writer, recording->ranges + i * (RANGES + recording->shifted),
				      RANGES + (i ? -1 : 1) * (size_t)recording->shifted,
				      sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
}

static inline struct opk_file *open_file(struct opk_ctx *ctx, const char *name)
{
	struct opk_file *file;

	ck_ok(ctx, opk_file_open(&file, ctx, in_folder(name)));
	return file;
}

#endif
