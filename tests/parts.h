/* SPDX-License-Identifier: BSD-2-Clause */
/* Small recordings: parts to be merged, or duplicates. */
#ifndef OPK_PARTS_H
#define OPK_PARTS_H

#include "containers.h"

static const uint32_t pass_1[] = { 1 }, pass_2[] = { 2 };
static const struct opk_pass_list metric_passes[] = { { pass_1, 1 }, { pass_2, 1 } };

/* How a part differs from a plain one. */
struct part {
	struct opk_meta meta; /* 0 and NULL: as in a plain part */
	bool images, ranges, times, incomplete;
};

static inline struct opk_meta fill_meta(const struct opk_meta *given)
{
	struct opk_meta meta = *given;

	meta.chip = meta.chip ? meta.chip : "GH100";
	/* What ran, without metrics. */
	if (meta.mode && !strcmp(meta.mode, "trace"))
		return meta;
	if (!meta.metric_count) {
		meta.metrics = metric_names;
		meta.metric_count = 2;
	}
	meta.passes = meta.passes ? meta.passes : 2;
	if (!meta.metric_pass_count) {
		meta.metric_passes = metric_passes;
		meta.metric_pass_count = 2;
	}
	return meta;
}

/* Writes two images of two samples each with their tables, marked with the part's number. */
static inline void write_part(struct opk_ctx *ctx, const struct part *part, uint32_t number,
                              const char *name)
{
	struct opk_meta meta = fill_meta(&part->meta);
	struct opk_drop drop = { "no memory", number };
	const struct opk_property facts[] = {
		{ "device.0.sm_mhz_min", number == 1 ? "900" : "1000" },
		{ "device.0.sm_mhz_mean", number == 1 ? "1000" : "1100" },
		{ "device.0.sm_mhz_max", number == 1 ? "1700" : "1800" },
		{ "device.0.power_limit_w", number == 1 ? "600" : "700" },
		{ "device.0.slowed_by",
		  number == 1 ? "heat in 1 of 4 readings"
		              : "heat in 2 of 4, the power limit in 1 of 4 readings" },
	};
	struct opk_stats stats = { 10, 2, number, &drop, 1, 0, facts, 5 };
	struct opk_writer *writer;

	ck_ok(ctx, opk_writer_new(&writer, ctx, name));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_CONFIG, &number, 4));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_PREFIX, &number, 4));
	for (uint32_t i = 0; part->images && i < 2; i++) {
		struct opk_time times[] = { { number, i, 0 }, { i, 7, 0 } };
		struct opk_range range = { .launch = 10 * number + i, .pass = i + 1 };
		const struct opk_range ranges[] = { range, range };

		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, &number, 4));
		if (part->times)
			ck_ok(ctx, opk_writer_add_times(writer, times, 2, sizeof(struct opk_time)));
		if (part->ranges)
			ck_ok(ctx,
			      opk_writer_add_ranges(writer, ranges, 2, sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	if (part->incomplete) {
		struct stat info;

		ck_assert_int_eq(stat(name, &info), 0);
		ck_assert_int_eq(truncate(name, info.st_size - 8), 0);
	}
}

#endif
