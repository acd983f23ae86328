/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of the collector by themselves: turns, names, kernels, settings, metrics' names. */
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>

#include "collect/ranges/ranges.h"
#include "collect/shared/shared.h"
#include "testing.h"

DEFINE_FREED(kernels)

/* ---- turns ------------------------------------------------------------------------------ */

TEST(rotation)
{
	for (size_t passes = 1; passes < 20; passes++) {
		struct rotation turns = { .passes = passes };
		uint64_t launches[20] = { 0 };
		uint32_t least = UINT32_MAX, most = 0;

		for (size_t turn = 0; turn < 62 * passes; turn++, rotation_next(&turns, false)) {
			uint32_t batch = rotation_batch(&turns, 500);
			size_t round = turn / passes;

			ck_assert_uint_eq(rotation_pass(&turns), turn % passes);
			ck_assert(rotation_is_round(&turns) == (round > 0));
			/* Short turns first, equal for all passes, then longer ones. */
			if (round < 2)
				ck_assert_uint_eq(batch, round ? 64 : 8);
			/* Then turns nearly fill an image, and differ. */
			else {
				least = batch < least ? batch : least;
				most = batch > most ? batch : most;
			}
			launches[turn % passes] += batch;
		}
		ck_assert_uint_ge(least, 375);
		ck_assert_uint_gt(most, least);
		ck_assert_uint_le(most, 500);
		ck_assert_uint_eq(rotation_room(&turns, 500), 500);
		ck_assert_uint_eq(rotation_room(&turns, 20), 20);
		/* No pass gets many more launches than another. */
		for (size_t i = 0; i < passes; i++)
			ck_assert_uint_lt(launches[i], launches[0] + launches[0] / 10);
	}
}

/* Passes in which launches are slow get fewer of them, but not at once. */
TEST(slow_passes_take_fewer_launches)
{
	enum { PASSES = 3 };
	double launch_us[PASSES] = { 0 };
	struct rotation turns = { .passes = PASSES, .launch_us = launch_us };
	static const double took[PASSES] = { 1000, 100, 400 };
	/* The most of a turn in each round: a fifth of 512 launches, all, and half. */
	static const uint32_t most[PASSES][6] = { { 8, 64, 128, 102, 102, 102 },
		                                  { 8, 64, 512, 512, 512, 512 },
		                                  { 8, 64, 256, 256, 256, 256 } };

	for (size_t turn = 0; turn < 6 * (size_t)PASSES; turn++, rotation_next(&turns, false)) {
		size_t pass = turn % PASSES, round = turn / PASSES;
		uint32_t batch = rotation_batch(&turns, 512);

		ck_assert_uint_le(batch, most[pass][round]);
		ck_assert_uint_ge(batch, most[pass][round] * 3 / 4);
		/* The program's pauses do not count. */
		rotation_note(&turns, took[pass]);
		rotation_note(&turns, took[pass] * 50);
		rotation_note(&turns, 0);
	}
}

/* A round of images with these kinds of launches each, as letters. */
static uint32_t room_after(const char *const *images, size_t count)
{
	static char names['z' + 1];
	static const struct opk_range graph = { .kernel = names }, range = { .name = "step" };
	struct rotation turns = { .passes = count };

	for (size_t i = 0; i < count; i++, rotation_next(&turns, false)) {
		ck_assert_uint_eq(rotation_room(&turns, 512), FIRST_ROOM);
		for (const char *kind = images[i]; *kind; kind++) {
			struct opk_range row = {
				.kernel = &names[*kind / 2],
				.grid = { 1 + *kind % 2, 1, 1 },
				.block = { 32, 1, 1 },
			};

			rotation_saw(&turns, *kind == 'G' ? &graph : *kind == 'R' ? &range : &row);
		}
	}
	return rotation_room(&turns, 512);
}

/* Where each image of 8 has had all kinds of launches, large images follow. */
TEST(few_kinds_need_no_second_round)
{
	static const struct {
		const char *images[3];
		uint32_t room;
	} cases[] = {
		{ { "aaaaaaaa", "aaaaaaaa", "aaaaaaaa" }, 512 },
		{ { "abcdefgh", "hgfedcba", "abcdefgh" }, 512 },
		{ { "abab", "ab", "baba" }, 512 },
		{ { "aaaaaaaa", "bbbbbbbb", "cccccccc" }, 64 }, /* in blocks */
		{ { "abcdefgh", "abcdefgh", "abcdefg" }, 64 },
		{ { "aaaaaaaa", "abababab", "abababab" }, 64 },
		{ { "abcdefgh", "abcdefgh", "bcdefghi" }, 64 },
		{ { "aaaaaaaa", "aaaaGaaa", "aaaaaaaa" }, 64 },
		{ { "RRRRRRRR", "RRRRRRRR", "RRRRRRRR" }, 64 },
		{ { "", "", "" }, 64 },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(room_after(cases[i].images, 3) == cases[i].room, "case %zu", i);
}

/* Images that hold few ranges take at least one. */
TEST(small_images_take_launches)
{
	for (uint32_t most = 1; most < 8; most++) {
		double launch_us[2] = { 1000, 100 };
		struct rotation turns = { .passes = 2, .launch_us = launch_us };

		for (size_t turn = 0; turn < 20; turn++, rotation_next(&turns, false)) {
			uint32_t batch = rotation_batch(&turns, most);

			ck_assert_uint_ge(batch, 1);
			ck_assert_uint_le(batch, most);
		}
	}
}

static void check_rhythm(size_t passes, uint32_t room, size_t period)
{
	enum { MOST_GROUPS = 19, MOST = 2048 };
	static bool seen[MOST_GROUPS][MOST];
	struct rotation turns = { .passes = passes };
	size_t launch = 0;

	memset(seen, 0, sizeof seen);
	for (size_t turn = 0; turn < 5000; turn++, rotation_next(&turns, false))
		for (uint32_t k = rotation_batch(&turns, room); k; k--, launch++)
			seen[rotation_pass(&turns)][launch % period] = true;
	for (size_t pass = 0; pass < passes; pass++)
		for (size_t k = 0; k < period; k++)
			ck_assert_msg(seen[pass][k], "launch %zu of %zu, pass %zu of %zu, room %u",
			              k, period, pass, passes, room);
}

/* If a program repeats itself, each pass soon gets each of its launches. */
TEST(rotation_does_not_resonate)
{
	static const size_t periods[] = { 10, 100, 125, 250, 375, 500, 1000, 1024, 2048 };
	static const size_t passes[] = { 2, 4, 7, 19 };
	static const uint32_t rooms[] = { 64, 100, 128 };

	for (size_t i = 0; i < COUNT(periods); i++)
		for (size_t j = 0; j < COUNT(passes); j++)
			for (size_t k = 0; k < COUNT(rooms); k++)
				check_rhythm(passes[j], rooms[k], periods[i]);
}

/* The same holds if the program's own work ends the images. */
TEST(cut_turns_do_not_resonate)
{
	for (size_t passes = 2; passes < 20; passes++) {
		struct rotation turns = { .passes = passes };
		bool seen[20] = { false };

		/* A fixed share of images has only launches of one kind. */
		for (size_t turn = 0; turn < 2000; turn++, rotation_next(&turns, true))
			if (turn % passes == 0)
				seen[rotation_pass(&turns)] = true;
		for (size_t pass = 0; pass < passes; pass++)
			ck_assert_msg(seen[pass], "pass %zu of %zu", pass, passes);
	}
}

/* Runs of a program begin with different passes, and are equal otherwise. */
TEST(runs_of_rotation)
{
	struct rotation runs[3];

	for (size_t i = 0; i < 3; i++)
		runs[i] = (struct rotation){ .passes = 3, .first = i };
	for (size_t turn = 0; turn < 500; turn++) {
		bool seen[3] = { false };

		for (size_t i = 0; i < 3; i++) {
			seen[rotation_pass(&runs[i])] = true;
			ck_assert_uint_eq(rotation_batch(&runs[i], 100),
			                  rotation_batch(&runs[0], 100));
		}
		ck_assert_msg(seen[0] && seen[1] && seen[2], "turn %zu", turn);
		for (size_t i = 0; i < 3; i++)
			rotation_next(&runs[i], turn % 5 == 0);
	}
}

TEST(repetitions)
{
	static struct repetitions seen;

	for (size_t round = 0; round < 3; round++)
		for (size_t level = 1; level <= 2; level++)
			for (size_t pass = 0; pass < 3; pass++) {
				struct turn a = repetitions_next(&seen, "a", 3, 2);
				struct turn b = repetitions_next(&seen, "b", 3, 2);

				ck_assert_uint_eq(a.pass, pass);
				ck_assert_uint_eq(a.level, level);
				ck_assert_uint_eq(b.pass, pass);
				ck_assert_uint_eq(b.level, level);
			}
	ck_assert_uint_eq(seen.count, 2);
	/* A level that appears later gets its turn. */
	ck_assert_uint_eq(repetitions_next(&seen, "c", 1, 1).level, 1);
	ck_assert_uint_eq(repetitions_next(&seen, "c", 1, 3).level, 2);
	ck_assert_uint_eq(repetitions_next(&seen, "c", 1, 3).level, 3);
	ck_assert_uint_eq(repetitions_next(&seen, "c", 1, 3).level, 1);
}

TEST(too_many_names)
{
	static struct repetitions seen;
	char name[32];

	for (int i = 0; i < 4200; i++) {
		snprintf(name, sizeof name, "range %d", i);
		ck_assert_uint_eq(repetitions_next(&seen, name, 5, 1).pass, 0);
	}
	ck_assert_uint_eq(seen.count, 4096);
	/* Known ranges continue; the others stay at the first turn. */
	ck_assert_uint_eq(repetitions_next(&seen, "range 4095", 5, 1).pass, 1);
	ck_assert_uint_eq(repetitions_next(&seen, "range 4096", 5, 1).pass, 0);
	ck_assert_uint_eq(repetitions_next(&seen, "range 4096", 5, 1).pass, 0);
}

/* ---- names ------------------------------------------------------------------------------ */

/* "<host>" and "<pid>" in `wanted`; NULL: refused. */
static const struct {
	struct here here;
	const char *format, *expanded, *pattern;
	bool varies;
} name_rows[] = {
	{ HERE, "run.opk", "run.opk", "run.opk", false },
	{ HERE, "%h.opk", "<host>.opk", "*.opk", false },
	{ HERE, "r-%p.opk", "r-<pid>.opk", "r-*.opk", true },
	{ HERE, "%q{SET}", "value", "*", true },
	{ HERE, "a%q{UNSET}b", "ab", "a*b", true },
	{ HERE, "%q{}x", "x", "*x", true },
	{ HERE, "100%%", "100%", "100%", false },
	{ HERE, "%%p", "%p", "%p", false },
	{ HERE, "%%%p", "%<pid>", "%*", true },
	{ HERE, "%h-%p-%q{SET}%%", "<host>-<pid>-value%", "*-*-*%", true },
	{ HERE, "a*b?c[d]\\e", "a*b?c[d]\\e", "a\\*b\\?c\\[d]\\\\e", false },
	{ HERE, "%q{PERCENT}", "%p", "*", true },
	{ HERE, "", "", "", false },
	{ HERE, "%", NULL, NULL, false },
	{ HERE, "a%", NULL, NULL, false },
	{ HERE, "%z", NULL, NULL, false },
	{ HERE, "%d", NULL, NULL, false },
	{ HERE, "%H", NULL, NULL, false },
	{ HERE, "%q", NULL, NULL, true },
	{ HERE, "%qSET", NULL, NULL, true },
	{ HERE, "%q{SET", NULL, NULL, true },
	{ HERE, "% h", NULL, NULL, false },
};

static const char *fill_in(const char *text)
{
	static char out[1024];
	char *at = out;

	for (; *text; text++) {
		if (!strncmp(text, "<host>", 6)) {
			gethostname(at, 256);
			text += 5;
		} else if (!strncmp(text, "<pid>", 5)) {
			snprintf(at, 32, "%d", (int)getpid());
			text += 4;
		} else {
			at[0] = *text;
			at[1] = '\0';
		}
		at += strlen(at);
	}
	*at = '\0';
	return out;
}

TEST(names)
{
	setenv("SET", "value", 1);
	setenv("PERCENT", "%p", 1);
	unsetenv("UNSET");
	for (size_t i = 0; i < COUNT(name_rows); i++) {
		char expanded[1024] = "", pattern[1024] = "";
		bool good = name_expand(expanded, sizeof expanded, name_rows[i].format);
		bool good_pattern = name_pattern(pattern, sizeof pattern, name_rows[i].format);

		ck_row(&name_rows[i], good == (name_rows[i].expanded != NULL), "%d", good);
		ck_row(&name_rows[i], good_pattern == (name_rows[i].pattern != NULL), "%d",
		       good_pattern);
		if (good)
			ck_row(&name_rows[i], !strcmp(expanded, fill_in(name_rows[i].expanded)),
			       "%s", expanded);
		if (good_pattern)
			ck_row(&name_rows[i], !strcmp(pattern, name_rows[i].pattern), "%s",
			       pattern);
		ck_row(&name_rows[i], name_varies(name_rows[i].format) == name_rows[i].varies, "%s",
		       name_rows[i].varies ? "does not vary" : "varies");
	}
}

static const struct {
	struct here here;
	const char *format, *file, *problem;
} file_rows[] = {
	{ HERE, "run.opk", "run.opk", NULL },
	{ HERE, "/a/b/run.opk", "run.opk", NULL },
	{ HERE, "%q{SLASHED}/run.opk", "run.opk", NULL },
	{ HERE, "a/%q{B/C}.opk", "%q{B/C}.opk", NULL },
	{ HERE, "a/%%q{B/C}.opk", "C}.opk", NULL },
	{ HERE, "a/r-%q{SLASHED}.opk", "r-%q{SLASHED}.opk",
	  "the value of an item of the name has a '/'" },
	{ HERE, "a/%q{UNSET}", "%q{UNSET}", "the name is empty" },
	{ HERE, "a/", "", "the name is empty" },
	{ HERE, "%q{LONG}%q{LONG}", "%q{LONG}%q{LONG}", "the name is too long" },
};

TEST(names_of_files)
{
	char text[NAME_MAX];

	memset(text, 'x', sizeof text - 1);
	text[110] = '\0';
	setenv("LONG", text, 1);
	setenv("SLASHED", "x/y", 1);
	unsetenv("UNSET");
	for (size_t i = 0; i < COUNT(file_rows); i++) {
		const char *file = name_of_file(file_rows[i].format);
		const char *problem = name_problem(file_rows[i].format);

		ck_row(&file_rows[i], !strcmp(file, file_rows[i].file), "%s", file);
		ck_row(&file_rows[i],
		       !strcmp(problem ? problem : "",
		               file_rows[i].problem ? file_rows[i].problem : ""),
		       "%s", problem ? problem : "no problem");
	}
}

TEST(names_without_room)
{
	static const char *const formats[] = { "12345678", "%q{EIGHT}", "1234%q{FOUR}",
		                               "%%%%%%%%%%%%%%%%" };
	char out[9];

	setenv("EIGHT", "12345678", 1);
	setenv("FOUR", "5678", 1);
	for (size_t i = 0; i < COUNT(formats); i++)
		for (size_t room = 0; room <= sizeof out; room++) {
			memset(out, 'x', sizeof out);
			ck_assert_msg(name_expand(out, room, formats[i]) == (room == sizeof out),
			              "%s in %zu", formats[i], room);
			/* Nothing is written past the end. */
			ck_assert(room == sizeof out || out[room] == 'x');
		}
	ck_assert(!name_pattern(out, 8, "****"));
	ck_assert(name_pattern(out, 9, "****"));
	ck_assert(!name_expand(out, sizeof out, "%q{"));
}

/* ---- kernels ---------------------------------------------------------------------------- */

static bool can_demangle(void)
{
	return dlopen("libstdc++.so.6", RTLD_LAZY) != NULL;
}

TEST(kernels_by_symbol)
{
	struct kernels *kernels = kernels_new(NULL);
	char symbol[] = "_Z4vaddPKfS0_Pfi";
	const struct kernel *first = kernels_find(kernels, symbol), *other;

	ck_assert_str_eq(first->symbol, symbol);
	ck_assert(first->wanted);
	if (can_demangle())
		ck_assert_str_eq(first->name, "vadd(float const*, float const*, float*, int)");
	other = kernels_find(kernels, "no_mangled_name");
	ck_assert_str_eq(other->symbol, "no_mangled_name");
	ck_assert_str_eq(other->name, "no_mangled_name");
	/* Equal texts are the same kernel, found by text: CUPTI may reuse the pointer. */
	ck_assert_ptr_eq(kernels_find(kernels, "_Z4vaddPKfS0_Pfi"), first);
	strcpy(symbol, "_Z3xyzv");
	ck_assert_str_eq(first->symbol, "_Z4vaddPKfS0_Pfi");
	ck_assert_ptr_ne(kernels_find(kernels, symbol), first);
	ck_assert_str_eq(kernels_find(kernels, "")->name, "");
	kernels_free(kernels);
	kernels_free(NULL);
}

/* More kernels than buckets: found kernels do not move. */
TEST(many_kernels)
{
	enum { MANY = 5000 };
	static const struct kernel *found[MANY];
	freed(kernels) *kernels = kernels_new(NULL);
	char symbol[32];

	for (int i = 0; i < 2 * MANY; i++) {
		const struct kernel *kernel;

		snprintf(symbol, sizeof symbol, "kernel_%d", i % MANY);
		kernel = kernels_find(kernels, symbol);
		ck_assert_str_eq(kernel->symbol, symbol);
		if (i >= MANY)
			ck_assert_ptr_eq(kernel, found[i - MANY]);
		else
			found[i] = kernel;
	}
}

static const struct {
	struct here here;
	const char *filter, *symbol;
	bool wanted, demangled; /* needs a demangler */
} kernel_rows[] = {
	{ HERE, "vadd", "_Z4vaddPKfS0_Pfi", true, false },
	{ HERE, "^_Z4vadd", "_Z4vaddPKfS0_Pfi", true, false },
	{ HERE, "^vadd\\(float const\\*", "_Z4vaddPKfS0_Pfi", true, true },
	{ HERE, "^Vadd", "_Z4vaddPKfS0_Pfi", false, false },
	{ HERE, "int>", "_Z1kIiEvv", true, true },
	{ HERE, "a|b", "c", false, false },
	{ HERE, "a|b", "b", true, false },
	/* Not "float", its meaning as a type. */
	{ HERE, "float", "f", false, false },
};

TEST(kernels_wanted)
{
	for (size_t i = 0; i < COUNT(kernel_rows); i++) {
		struct kernels *kernels;
		struct kernel_filter filter = { .in_name = true, .in_symbol = true };

		if (kernel_rows[i].demangled && !can_demangle())
			continue;
		ck_assert_int_eq(regcomp(&filter.regex, kernel_rows[i].filter,
		                         REG_EXTENDED | REG_NOSUB),
		                 0);
		kernels = kernels_new(&filter);
		ck_row(&kernel_rows[i],
		       kernels_find(kernels, kernel_rows[i].symbol)->wanted
		               == kernel_rows[i].wanted,
		       "%s", kernel_rows[i].symbol);
		kernels_free(kernels);
		regfree(&filter.regex);
	}
}

/* ---- metrics' names --------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *metric;
	bool inflated;
} metric_rows[] = {
	{ HERE, "sm__inst_executed.sum", false },
	{ HERE, "sm__cycles_elapsed.max", true },
	{ HERE, "sm__throughput.avg.pct_of_peak_sustained_elapsed", true },
	{ HERE, "dram__bytes.sum.per_second", true },
	{ HERE, "gpu__time_duration.sum", true },
	{ HERE, "sm__warps_active.avg.pct_of_peak_sustained_active", false },
	{ HERE, "sm__inst_executed.avg.per_cycle_active", false },
	{ HERE, "sm__inst_executed.avg.per_cycle_elapsed", true },
	{ HERE, "sm__inst_executed.avg.per_cycle_in_region", true },
	{ HERE, "sm__inst_executed.avg.peak_sustained_frame", false },
	{ HERE, "smsp__sass_inst_executed.sum", false },
};

TEST(metric_names)
{
	const char *metrics[COUNT(metric_rows)];
	struct opk_meta meta = { .metrics = metrics, .metric_count = COUNT(metric_rows) };
	size_t wanted = 0, count;
	const char **found;

	for (size_t i = 0; i < COUNT(metric_rows); i++) {
		const char *metric = metrics[i] = metric_rows[i].metric;

		ck_row(&metric_rows[i], metric_is_inflated(metric) == metric_rows[i].inflated, "%s",
		       metric);
	}
	found = inflated_metrics(&count, &meta);
	for (size_t i = 0; i < COUNT(metric_rows); i++)
		if (metric_rows[i].inflated)
			ck_assert_ptr_eq(found[wanted++], metrics[i]);
	ck_assert_uint_eq(count, wanted);
	free(found);
	meta.metric_count = 1;
	free(inflated_metrics(&count, &meta));
	ck_assert_uint_eq(count, 0);
}

/* ---- settings --------------------------------------------------------------------------- */

#define VARIABLE(id) "OFFPEAK_COLLECT_" #id

static void set_needed(void)
{
	clearenv();
	setenv(VARIABLE(SET), "/set.opk", 1);
	setenv(VARIABLE(OUTPUT), "/run.opk", 1);
	setenv(VARIABLE(TOKEN), "42", 1);
}

TEST(settings_by_default)
{
	struct settings settings;

	set_needed();
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert_str_eq(settings.set_path, "/set.opk");
	ck_assert_str_eq(settings.output, "/run.opk");
	ck_assert_str_eq(settings.token, "42");
	ck_assert_str_eq(settings.cupti_path, "libcupti.so");
	ck_assert_ptr_null(settings.command);
	ck_assert_ptr_null(settings.nvtx_include);
	ck_assert_int_eq(settings.mode, MODE_KERNEL_REPLAY);
	ck_assert_int_eq(settings.turns, TURNS_NONE);
	ck_assert_int_eq(settings.device, -1);
	ck_assert_uint_eq(settings.level, 1);
	ck_assert(!settings.kernel && !settings.backend && !settings.verbose);
	ck_assert(!(settings.pass | settings.skip | settings.count | settings.every
	            | settings.max_ranges | settings.max_samples | settings.buffer_bytes));
	ck_assert_uint_eq(settings.interval_ns, 10000);
	ck_assert(!settings_filter(&settings));
}

static const char *const needed[] = { VARIABLE(SET), VARIABLE(OUTPUT), VARIABLE(TOKEN) };

TEST(settings_that_are_needed)
{
	struct settings settings;

	for (size_t i = 0; i < COUNT(needed); i++) {
		set_needed();
		unsetenv(needed[i]);
		ck_assert_str_eq(settings_read(&settings), "not started by offpeak-collect");
	}
}

/* Variables and their fields. */
static const struct {
	struct here here;
	const char *variable, *text;
	size_t offset;
	bool filters;
} setting_rows[] = {
	{ HERE, VARIABLE(PASS), "8589934597", offsetof(struct settings, pass), false },
	{ HERE, VARIABLE(LEVEL), "8589934597", offsetof(struct settings, level), false },
	{ HERE, VARIABLE(SKIP), "8589934597", offsetof(struct settings, skip), true },
	{ HERE, VARIABLE(COUNT), "8589934597", offsetof(struct settings, count), true },
	{ HERE, VARIABLE(EVERY), "8589934597", offsetof(struct settings, every), true },
	{ HERE, VARIABLE(MAX_RANGES), "8589934597", offsetof(struct settings, max_ranges), true },
	{ HERE, VARIABLE(INTERVAL), "8589934597ns", offsetof(struct settings, interval_ns), false },
	{ HERE, VARIABLE(MAX_SAMPLES), "8589934597", offsetof(struct settings, max_samples),
	  false },
	{ HERE, VARIABLE(BUFFER), "8589934597", offsetof(struct settings, buffer_bytes), false },
};

TEST(settings_by_number)
{
	for (size_t i = 0; i < COUNT(setting_rows); i++) {
		struct settings settings;
		uint64_t value;

		set_needed();
		setenv(setting_rows[i].variable, setting_rows[i].text, 1);
		ck_assert_ptr_null(settings_read(&settings));
		memcpy(&value, (char *)&settings + setting_rows[i].offset, sizeof value);
		ck_row(&setting_rows[i], value == 8589934597, "%ju", (uintmax_t)value);
		ck_row(&setting_rows[i], settings_filter(&settings) == setting_rows[i].filters,
		       "filter");
	}
}

/* Conditions of --dump-when; without a metric: it is refused. */
static const struct {
	struct here here;
	const char *text;
	struct dump_when when;
} conditions[] = {
	{ HERE, "a.avg<5 for 1s", { "a.avg", true, false, 5, 1000000000, "<5 for 1s" } },
	{ HERE,
	  "  a.avg  <= -0.5e1  for 500us",
	  { "a.avg", true, true, -5, 500000, "<= -0.5e1  for 500us" } },
	{ HERE, "a>90", { "a", false, false, 90, 0, ">90" } },
	{ HERE, "a >=1e3 for 2min", { "a", false, true, 1000, 120000000000, ">=1e3 for 2min" } },
	{ HERE, "a b<1", { "a b", true, false, 1, 0, "<1" } },
	{ HERE, "<1", { "", false, false, 0, 0, "" } },
	{ HERE, " <1", { "", false, false, 0, 0, "" } },
	{ HERE, "a=1", { "", false, false, 0, 0, "" } },
	{ HERE, "a<", { "", false, false, 0, 0, "" } },
	{ HERE, "a<1x", { "", false, false, 0, 0, "" } },
	{ HERE, "a<inf", { "", false, false, 0, 0, "" } },
	{ HERE, "a<1 for", { "", false, false, 0, 0, "" } },
	{ HERE, "a<1 for 3", { "", false, false, 0, 0, "" } },
	{ HERE, "a<1 for 2^9", { "", false, false, 0, 0, "" } },
	{ HERE, "a<1 for 0s", { "", false, false, 0, 0, "" } },
};

TEST(conditions_of_dumps)
{
	for (size_t i = 0; i < COUNT(conditions); i++) {
		const struct dump_when *wanted = &conditions[i].when;
		struct settings settings;
		const char *problem;

		set_needed();
		setenv(VARIABLE(DUMP_WHEN), conditions[i].text, 1);
		problem = settings_read(&settings);
		ck_row(&conditions[i], !problem == (*wanted->metric != 0), "%s", problem);
		if (problem)
			continue;
		ck_row(&conditions[i],
		       !strcmp(settings.dump_when.metric, wanted->metric)
		               && settings.dump_when.below == wanted->below
		               && settings.dump_when.equal == wanted->equal
		               && settings.dump_when.value == wanted->value
		               && settings.dump_when.for_ns == wanted->for_ns
		               && !strcmp(settings.dump_when.text, wanted->text),
		       "read otherwise");
	}
	unsetenv(VARIABLE(DUMP_WHEN));
}

TEST(settings_by_name)
{
	struct settings settings;

	for (int mode = MODE_KERNEL_REPLAY; mode <= MODE_SAMPLING; mode++)
		for (int turns = TURNS_NONE; turns <= TURNS_REPEAT; turns++) {
			set_needed();
			setenv(VARIABLE(MODE), settings_word(SETTING_MODE, (unsigned)mode), 1);
			setenv(VARIABLE(TURNS), settings_word(SETTING_TURNS, (unsigned)turns), 1);
			ck_assert_ptr_null(settings_read(&settings));
			ck_assert_int_eq(settings.mode, mode);
			ck_assert_int_eq(settings.turns, turns);
		}
	set_needed();
	setenv(VARIABLE(DEVICE), "3", 1);
	setenv(VARIABLE(KERNEL), "^v.*d$", 1);
	setenv(VARIABLE(CUPTI), "/x/libcupti.so.12", 1);
	setenv(VARIABLE(BACKEND), "legacy", 1);
	setenv(VARIABLE(VERBOSE), "1", 1);
	setenv(VARIABLE(TIGHT), "1", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert_int_eq(settings.device, 3);
	ck_assert(settings.kernel && settings.backend == BACKEND_LEGACY && settings.verbose
	          && settings.tight);
	ck_assert_str_eq(settings.cupti_path, "/x/libcupti.so.12");
	ck_assert_int_eq(regexec(&settings.kernel->regex, "vadd", 0, NULL, 0), 0);
	ck_assert(settings_filter(&settings));
	kernel_filter_free(settings.kernel);
	setenv(VARIABLE(KERNEL), "(", 1);
	ck_assert_str_eq(settings_read(&settings),
	                 "--kernel '(' is not an extended regular expression, which may have name: "
	                 "or symbol: before it and #N or #N-M after it");
	setenv(VARIABLE(KERNEL), "regex:^v.*d$", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert_int_eq(regexec(&settings.kernel->regex, "vadd", 0, NULL, 0), 0);
	kernel_filter_free(settings.kernel);
	setenv(VARIABLE(KERNEL), "regex::match", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert_int_eq(regexec(&settings.kernel->regex, "std::regex::match", 0, NULL, 0), 0);
	ck_assert_int_ne(regexec(&settings.kernel->regex, "match", 0, NULL, 0), 0);
	kernel_filter_free(settings.kernel);
	setenv(VARIABLE(KERNEL), "", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert(!settings.kernel && !settings_filter(&settings));
	setenv(VARIABLE(NVTX_INCLUDE), "a", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert_ptr_nonnull(settings.nvtx_include);
	ck_assert(settings_filter(&settings));
	nvtx_filter_free(settings.nvtx_include);
	unsetenv(VARIABLE(NVTX_INCLUDE));
	setenv(VARIABLE(NVTX_EXCLUDE), "lib@", 1);
	ck_assert_ptr_null(settings_read(&settings));
	ck_assert(settings.nvtx_exclude && settings_filter(&settings));
	nvtx_filter_free(settings.nvtx_exclude);
	unsetenv(VARIABLE(NVTX_EXCLUDE));
}

static const struct {
	struct here here;
	const char *text;
	const char *symbol; /* of a kernel; NULL: the text is refused */
	const char *wanted; /* of its first five launches, 'y' or 'n' each */
} kernel_texts[] = {
	{ HERE, "vadd", "_Z4vaddPKfS0_Pfi", "yyyyy" },
	{ HERE, "vadd#2", "_Z4vaddPKfS0_Pfi", "nynnn" },
	{ HERE, "vadd#2-4", "_Z4vaddPKfS0_Pfi", "nyyyn" },
	{ HERE, "vadd#2-4", "other", "nnnnn" },
	{ HERE, "#3-3", "other", "nnynn" },
	{ HERE, "symbol:^_Z", "_Z4vaddPKfS0_Pfi", "yyyyy" },
	{ HERE, "name:^_Z", "_Z4vaddPKfS0_Pfi", "nnnnn" },
	{ HERE, "symbol:^vadd", "_Z4vaddPKfS0_Pfi", "nnnnn" },
	{ HERE, "name:^vadd#1", "_Z4vaddPKfS0_Pfi", "ynnnn" },
	{ HERE, "symbol:#5", "_Z4vaddPKfS0_Pfi", "nnnny" },
	{ HERE, "symbol:regex:vadd", "_Z4vaddPKfS0_Pfi", "yyyyy" },
	{ HERE, "name::space", "name::space", "yyyyy" },
	{ HERE, "lambda()#1}", "lambda#1}", "yyyyy" },
	{ HERE, "a[#]1", "a#1", "yyyyy" },
	{ HERE, "a#b", "a#b", "yyyyy" },
	{ HERE, "a#", "a#", "yyyyy" },
	{ HERE, "a#0", NULL, NULL },
	{ HERE, "a#4-2", NULL, NULL },
	{ HERE, "a#0-2", NULL, NULL },
	{ HERE, "a#1-", NULL, NULL },
	{ HERE, "a#-", NULL, NULL },
	{ HERE, "a#1-2-3", NULL, NULL },
	{ HERE, "a#99999999999999999999", NULL, NULL },
	{ HERE, "name:(#1", NULL, NULL },
};

TEST(launches_of_kernels)
{
	for (size_t i = 0; i < COUNT(kernel_texts); i++) {
		const char *wanted = kernel_texts[i].wanted;
		freed(kernels) *kernels = NULL;
		struct settings settings;
		struct kernel *kernel;

		set_needed();
		setenv(VARIABLE(KERNEL), kernel_texts[i].text, 1);
		ck_row(&kernel_texts[i], !settings_read(&settings) == (wanted != NULL), "%s",
		       wanted ? "refused" : "not refused");
		kernels = wanted ? kernels_new(settings.kernel) : NULL;
		kernel = wanted ? kernels_find(kernels, kernel_texts[i].symbol) : NULL;
		for (; wanted && *wanted && can_demangle(); wanted++)
			ck_row(&kernel_texts[i],
			       kernels_launch(kernels, kernel) == (*wanted == 'y'), "launch %ju",
			       (uintmax_t)kernel->launches);
		if (kernels)
			kernel_filter_free(settings.kernel);
	}
	unsetenv(VARIABLE(KERNEL));
}

/* Where ranges are pushed: ranges of the program, and launches that a filter selects. */
TEST(pushing)
{
	for (int mode = MODE_KERNEL_REPLAY; mode <= MODE_SAMPLING; mode++)
		for (int bits = 0; bits < 4; bits++) {
			struct settings settings = {
				.mode = (enum collect_mode)mode,
				.skip = bits & 1,
				.tight = bits & 2,
			};
			bool wanted = mode == MODE_USER_RANGE
			              || (mode == MODE_LAUNCH_RANGE && bits == 1);

			ck_assert_msg(settings_push(&settings) == wanted, "mode %d, %d", mode,
			              bits);
		}
}
