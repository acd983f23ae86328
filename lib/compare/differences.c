/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what else differs between two sides: it may be why values do. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "compare/compare.h"

/* Clocks that differ by a larger share affect times. */
static const double clock_drift = 0.01;

typedef const char *text_fn(const struct opk_meta *meta, char room[64]);

static const char *chip_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return meta->chip;
}

static const char *cupti_of(const struct opk_meta *meta, char room[64])
{
	snprintf(room, 64, "%" PRIu32, meta->cupti_version);
	return meta->cupti_version ? room : "";
}

static const char *set_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return meta->set_name;
}

static const char *set_hash_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return *meta->set_hash ? meta->set_hash : "";
}

static const char *mode_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return meta->mode;
}

static const char *driver_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return opk_meta_fact(meta, "driver");
}

/* The first device's GPU; other devices of a host are most often the same. */
static const char *gpu_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	for (size_t i = 0; i < meta->run_count; i++) {
		const char *name = meta->run[i].name;
		size_t length = strlen(name);

		if (!strncmp(name, "device.", 7) && length > 5
		    && !strcmp(name + length - 5, ".name"))
			return meta->run[i].value;
	}
	return "";
}

/* PM samples have an interval of another kind. */
static const char *interval_of(const struct opk_meta *meta, char room[64])
{
	(void)room;
	return meta->profiler == OPK_PROFILER_PC ? opk_meta_fact(meta, "interval") : "";
}

static const struct {
	const char *what;
	text_fn *text;
} facts[] = {
	{ "chip", chip_of },     { "gpu", gpu_of },           { "cupti_version", cupti_of },
	{ "driver", driver_of }, { "set", set_of },           { "set_hash", set_hash_of },
	{ "mode", mode_of },     { "interval", interval_of },
};
enum { FACTS = sizeof facts / sizeof *facts, CLOCKS = 2 };

static int nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "a comparison");
}

/* Adds a fact that is known on both sides and differs; takes the texts over. */
static int add(struct opk_diff *diff, struct opk_ctx *ctx, const char *what, char *texts[OPK_SIDES],
               bool differ)
{
	struct opk_diff_difference *out = &diff->found.differences[diff->found.difference_count];
	size_t first = diff->texts.count;
	bool good = opk_strlist_take(&diff->texts, texts[OPK_BEFORE]);

	/* Take both texts over, even if the first one failed. */
	if (!opk_strlist_take(&diff->texts, texts[OPK_AFTER]) || !good)
		return nomem(ctx);
	*out = (struct opk_diff_difference){ what, diff->texts.items[first],
		                             diff->texts.items[first + 1] };
	diff->found.difference_count += differ && *out->before && *out->after;
	return OPK_OK;
}

/* Joins each text of a side once, with ", " between; NULL when out of memory. */
static char *join(const struct opk_diff *diff, enum opk_compared_side side, text_fn *text_of)
{
	opk_autostrlist struct opk_strlist known = { 0 };
	struct opk_buf out = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < diff->source_count; i++) {
		char room[64];
		const char *text = text_of(diff->sources[i].meta, room);

		if (diff->sources[i].side != side || !*text || opk_strlist_contains(&known, text))
			continue;
		opk_buf_add_printf(&out, "%s%s", known.count ? ", " : "", text);
		good = opk_strlist_add(&known, text);
	}
	out.failed |= !good;
	return opk_buf_take_text(&out);
}

/* ---- clocks ----------------------------------------------------------------------------- */

struct clock {
	uint32_t least, most;
	double sum, count;
};

static void take_clock(struct clock *clock, uint32_t mhz)
{
	if (!mhz)
		return;
	clock->least = !clock->most || mhz < clock->least ? mhz : clock->least;
	clock->most = mhz > clock->most ? mhz : clock->most;
	clock->sum += mhz;
	clock->count++;
}

static int find_clocks(struct clock clocks[OPK_SIDES][CLOCKS], const struct opk_diff *diff,
                       struct opk_ctx *ctx)
{
	for (size_t i = 0; i < diff->source_count; i++) {
		const struct opk_compared_source *source = &diff->sources[i];
		const struct opk_range *ranges;
		size_t count;

		TRY(opk_file_ranges(&ranges, &count, ctx, source->file));
		for (size_t j = 0; j < count; j++) {
			take_clock(&clocks[source->side][0], ranges[j].sm_mhz);
			take_clock(&clocks[source->side][1], ranges[j].memory_mhz);
		}
	}
	return OPK_OK;
}

static char *clock_text(const struct clock *clock)
{
	if (!clock->most)
		return opk_strdup("");
	return clock->least < clock->most ? opk_printf("%u to %u", clock->least, clock->most)
	                                  : opk_printf("%u", clock->most);
}

static bool is_apart(const struct clock *before, const struct clock *after)
{
	double x = before->sum / before->count, y = after->sum / after->count;

	return fabs(x - y) > clock_drift * fmax(x, y);
}

static int add_clocks(struct opk_diff *diff, struct opk_ctx *ctx)
{
	static const char *const names[CLOCKS] = { "sm_mhz", "memory_mhz" };
	struct clock clocks[OPK_SIDES][CLOCKS] = { 0 };

	TRY(find_clocks(clocks, diff, ctx));
	for (size_t i = 0; i < CLOCKS; i++) {
		const struct clock *before = &clocks[OPK_BEFORE][i], *after = &clocks[OPK_AFTER][i];
		char *texts[OPK_SIDES] = { clock_text(before), clock_text(after) };

		TRY(add(diff, ctx, names[i], texts, is_apart(before, after)));
	}
	return OPK_OK;
}

static bool set_differs(const struct opk_diff *diff)
{
	return diff->found.difference_count
	       && !strcmp(diff->found.differences[diff->found.difference_count - 1].what, "set");
}

int opk_find_differences(struct opk_diff *diff, struct opk_ctx *ctx)
{
	diff->found.differences = opk_alloc_array(FACTS + CLOCKS + 1,
	                                          sizeof *diff->found.differences);
	if (!diff->found.differences)
		return nomem(ctx);
	for (size_t i = 0; i < FACTS; i++) {
		/* Sets with different names differ in contents anyway. */
		bool known = !strcmp(facts[i].what, "set_hash") && i && set_differs(diff);
		char *texts[OPK_SIDES] = { join(diff, OPK_BEFORE, facts[i].text),
			                   join(diff, OPK_AFTER, facts[i].text) };
		bool differ = !known && texts[0] && texts[1] && strcmp(texts[0], texts[1]) != 0;

		TRY(add(diff, ctx, facts[i].what, texts, differ));
	}
	return add_clocks(diff, ctx);
}
