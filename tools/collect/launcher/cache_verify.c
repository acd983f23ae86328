/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a run that the cache could have spared with the kept one. Counters and times vary; the
 * launched kernels are the same in every run if all inputs of the program are known.
 */
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

static const char *known(const char *text)
{
	return text ? text : "";
}

static char *describe(const char *name, const char *kernel, const uint32_t grid[3],
                      const uint32_t block[3])
{
	if (!*known(kernel))
		return opk_printf("range %s", known(name));
	return opk_printf("%s%s%s %ux%ux%u %ux%ux%u", known(name), *known(name) ? " " : "", kernel,
	                  grid[0], grid[1], grid[2], block[0], block[1], block[2]);
}

static bool add_ranges(struct opk_strlist *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_range *ranges;
	size_t count;
	bool good = !opk_file_ranges(&ranges, &count, ctx, file);

	for (size_t i = 0; good && i < count; i++)
		good = opk_strlist_take(rows, describe(ranges[i].name, ranges[i].kernel,
		                                       ranges[i].grid, ranges[i].block));
	return good;
}

static bool add_activities(struct opk_strlist *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *ran;
	size_t count;
	bool good = !opk_file_activities(&ran, &count, ctx, file);

	for (size_t i = 0; good && i < count; i++)
		if (ran[i].kind == OPK_ACTIVITY_KERNEL)
			good = opk_strlist_take(rows, describe(NULL, ran[i].name, ran[i].grid,
			                                       ran[i].block));
	return good;
}

/* Adds a text for each launch and range; false if a file can't be read. */
static bool read_rows(struct opk_strlist *rows, const struct opk_strlist *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		opk_autopeek struct peek peek = peek_at(paths->items[i]);

		if (!peek.file || !add_ranges(rows, peek.ctx, peek.file)
		    || !add_activities(rows, peek.ctx, peek.file))
			return false;
	}
	opk_strlist_sort(rows);
	return true;
}

static size_t count_of(const struct opk_strlist *rows, size_t from, const char *row)
{
	size_t count = 0;

	while (from + count < rows->count && !strcmp(rows->items[from + count], row))
		count++;
	return count;
}

/* Counts rows that occur more often on one side, and prints the first ones. Both are sorted. */
static size_t compare(const struct opk_strlist *before, const struct opk_strlist *now)
{
	enum { MOST_SAID = 5 };
	size_t a = 0, b = 0, different = 0;

	while (a < before->count || b < now->count) {
		bool first = b == now->count
		             || (a < before->count && strcmp(before->items[a], now->items[b]) <= 0);
		const char *row = first ? before->items[a] : now->items[b];
		size_t kept = count_of(before, a, row), new = count_of(now, b, row);

		if (kept != new &&different++ < MOST_SAID)
			say(0, "cache: %s: %zu times, and %zu times in what was kept", row, new,
			    kept);
		a += kept;
		b += new;
	}
	return different;
}

int verify_recordings(const struct opk_strlist *before, const struct opk_strlist *now)
{
	opk_autostrlist struct opk_strlist kept = { 0 }, new = { 0 };
	size_t different;

	if (!read_rows(&kept, before) || !read_rows(&new, now))
		return say(OPK_EFAILED, "cache: a recording can't be read: nothing is verified");
	different = compare(&kept, &new);
	if (different)
		return say(
			OPK_EFAILED,
			"cache: not verified: the program ran otherwise than when its recording "
			"was kept, so that something it depends on is not known: --cache-input and "
			"--cache-env name such");
	if (!new.count)
		return say(
			OPK_EFAILED,
			"cache: nothing was verified: neither recording has a launch or a range");
	return say(
		OPK_OK,
		"cache: verified: %zu launches and ranges are what was kept; their values: offpeak "
		"diff %s %s",
		new.count, before->items[0], now->items[0]);
}
