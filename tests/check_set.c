/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets: from names, joined, supported, found, shipped. */
#include <dirent.h>

#include "allocation.h"
#include "folder.h"
#include "metric_sets.h"
#include "set/door.h"
#include "testing.h"

/* ---- sets from names, joined sets -------------------------------------------------------- */

CTX_TEST(sets_from_names)
{
	static const struct {
		struct here here;
		const char *names;
		const char *wanted; /* NULL: refused */
	} rows[] = {
		{ HERE, "a__b.sum", "a__b.sum " },
		{ HERE, "b__b.sum,a__a.avg", "b__b.sum a__a.avg " },
		{ HERE, "a__b.sum,a__b.sum,a__b.avg", "a__b.sum a__b.avg " },
		{ HERE, ",a__b.sum,,c__d.sum,", "a__b.sum c__d.sum " },
		{ HERE, "anything", "anything " },
		{ HERE, "", NULL },
		{ HERE, ",,", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_set) *set = NULL;
		int code = opk_set_from_names(&set, ctx, rows[i].names);

		ck_row(&rows[i], code == (rows[i].wanted ? OPK_OK : OPK_EUSAGE), "code %d", code);
		if (code) {
			ck_row(&rows[i], strstr(cause(ctx), "names no metric"), "%s", cause(ctx));
			continue;
		}
		ck_row(&rows[i], !strcmp(metrics_of(set), rows[i].wanted), "%s", metrics_of(set));
		ck_assert_str_eq(opk_set_name(set), "custom");
		ck_assert_str_eq(opk_set_path(set), "");
		ck_assert(!opk_set_has_profiler(set));
	}
	opk_set_free(NULL);
}

static struct opk_set *load(struct opk_ctx *ctx, const char *file)
{
	char path[512];
	struct opk_set *set = NULL;

	snprintf(path, sizeof path, FILES "%s", file);
	ck_ok(ctx, opk_set_load(&set, ctx, path));
	return set;
}

static struct opk_set *names(struct opk_ctx *ctx, const char *text)
{
	struct opk_set *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, text));
	return set;
}

CTX_TEST(joined_sets)
{
	struct opk_set *sets[] = { load(ctx, "good-minimal.yaml"), names(ctx, "a__b.sum,x__y.sum"),
		                   load(ctx, "good-json.yaml") };
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)sets, 3));
	ck_assert_str_eq(metrics_of(set), "sm__cycles_elapsed.sum a__b.sum x__y.sum c__d.avg ");
	ck_assert_str_eq(opk_set_name(set), "minimal+custom+json");
	ck_assert_str_eq(opk_set_path(set), "");
	ck_assert(opk_set_has_profiler(set));
	ck_assert_int_eq(opk_set_profiler(set), OPK_PROFILER_RANGE);
	for (size_t i = 0; i < COUNT(sets); i++)
		opk_set_free(sets[i]);
	/* The parts may be freed: the joined set keeps their metrics. */
	ck_assert_str_eq(opk_set_metric(set, 3), "c__d.avg");
}

CTX_TEST(one_set_joined)
{
	freed(opk_set) *full = load(ctx, "good-full.yaml"), *set = NULL;

	ck_ok(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)&full, 1));
	ck_assert_str_eq(opk_set_name(set), "full");
	ck_assert_str_eq(opk_set_path(set), opk_set_path(full));
	ck_assert_str_eq(opk_set_description(set), opk_set_description(full));
	ck_assert_uint_eq(opk_set_metric_count(set), 3);
	ck_assert_int_eq(opk_set_profiler(set), OPK_PROFILER_PM);
	ck_assert_str_eq(chips_of(set), "GH100 GB100 ");
}

CTX_TEST(sets_that_do_not_join)
{
	struct opk_set *sets[] = { load(ctx, "good-full.yaml"), names(ctx, "a__b.sum"),
		                   load(ctx, "good-json.yaml") };
	struct opk_set *set = NULL;

	ck_code(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)sets, 3), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "set json is for profiler range, a set before it for pm: "
	                             "build them apart");
	ck_code(ctx, opk_set_join(&set, ctx, NULL, 0), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "no metric set was named");
	ck_assert_ptr_null(set);
	for (size_t i = 0; i < COUNT(sets); i++)
		opk_set_free(sets[i]);
}

static const struct {
	struct here here;
	const char *file;
	struct opk_chip chip;
	bool wanted;
} supported_chips_rows[] = {
	{ HERE, "good-full.yaml", { "GH100", true, true, false }, true },
	{ HERE, "good-full.yaml", { "GB100", false, true, false }, true },
	{ HERE, "good-full.yaml", { "GH100", true, false, false }, false },
	{ HERE, "good-full.yaml", { "GA100", true, true, false }, false },
	{ HERE, "good-json.yaml", { "GA100", true, false, false }, true },
	{ HERE, "good-json.yaml", { "GA100", false, true, false }, false },
	{ HERE, "good-minimal.yaml", { "GA100", true, false, false }, true },
	{ HERE, "good-minimal.yaml", { "GA100", false, true, false }, false },
};

CTX_TEST_EACH(supported_chips, supported_chips_rows)
{
	freed(opk_set) *set = load(ctx, row->file);

	ck_row(row, opk_set_supports(set, &row->chip) == row->wanted, "%s", row->chip.name);
}

/* ---- finding sets ----------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *spec, *name;
} found_sets_rows[] = {
	{ HERE, "memory", "memory" },
	{ HERE, "pm-overview", "pm-overview" },
	{ HERE, FILES "good-json.yaml", "json" },
	{ HERE, "sm__cycles_elapsed.sum", "custom" },
	{ HERE, "sm__cycles_elapsed.sum,ipc", "custom" },
	{ HERE, "achieved_occupancy", "custom" },
	{ HERE, "memory,roofline", "memory+roofline" },
	{ HERE, "ipc,memory,dram__bytes.sum," FILES "good-json.yaml,", "custom+memory+json" },
};

CTX_TEST_EACH(found_sets, found_sets_rows)
{
	freed(opk_set) *set = NULL;
	int code = opk_set_find(&set, ctx, row->spec);

	ck_row(row, code == OPK_OK, "%s", errors_of(ctx));
	ck_row(row, !strcmp(opk_set_name(set), row->name), "%s", opk_set_name(set));
}

static const struct {
	struct here here;
	const char *spec;
	int code;
	const char *wanted;
} sets_not_found_rows[] = {
	{ HERE, "memroy", OPK_EUSAGE, "no metric set 'memroy', did you mean memory?" },
	{ HERE, "speed-of-ligth", OPK_EUSAGE, "did you mean speed-of-light?" },
	{ HERE, "Memory", OPK_EUSAGE, "did you mean memory?" },
	{ HERE, "somethingelse", OPK_EUSAGE, "no metric set 'somethingelse'" },
	{ HERE, "sm_throughput", OPK_EUSAGE,
	  "no metric set 'sm_throughput', did you mean sm__throughput?" },
	{ HERE, "sm_cycles_active.avg", OPK_EUSAGE, ", did you mean sm__cycles_active.avg?" },
	{ HERE, "sm_eficiency", OPK_EUSAGE, ", did you mean sm_efficiency?" },
	{ HERE, "", OPK_EUSAGE, "no metric set ''" },
	{ HERE, ",", OPK_EUSAGE, "',' names no metric" },
	{ HERE, "none.yaml", OPK_EINPUT, "none.yaml: can't open" },
	{ HERE, "none.yml", OPK_EINPUT, "none.yml: can't open" },
	{ HERE, "no/ne", OPK_EINPUT, "no/ne: can't open" },
};

CTX_TEST_EACH(sets_not_found, sets_not_found_rows)
{
	struct opk_set *set = NULL;
	int code = opk_set_find(&set, ctx, row->spec);

	ck_row(row, code == row->code && !set, "code %d", code);
	ck_row(row, strstr(cause(ctx), row->wanted), "got %s", cause(ctx));
}

/* Writes a metric set to the scratch folder. */
static void write_set(const char *name)
{
	static const char text[] = "name: own\nmetrics: [own__metric.sum]\n";

	put_file(name, text, sizeof text - 1);
}

/* A context whose OFFPEAK_SETS is the scratch folder. */
static struct opk_ctx *new_ctx_with_folder(void)
{
	struct opk_env env = { .size = sizeof env, .sets = folder };
	struct opk_ctx *ctx;
	struct opk_ctx_options options = OPTIONS(options, .env = &env, .log = unexpected_log,
	                                         .data_dir = TEST_DATA_DIR);

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	return ctx;
}

TEST(own_folder_comes_first)
{
	freed(opk_ctx) *ctx = new_ctx_with_folder();
	struct opk_set *set;

	write_set("memory.yaml");
	ck_ok(ctx, opk_set_find(&set, ctx, "memory"));
	ck_assert_str_eq(opk_set_name(set), "own");
	opk_set_free(set);
	ck_ok(ctx, opk_set_find(&set, ctx, "roofline"));
	ck_assert_str_eq(opk_set_name(set), "roofline");
	opk_set_free(set);
}

/* Each listed set can be found. */
TEST(own_folder_with_yml)
{
	freed(opk_ctx) *ctx = new_ctx_with_folder();
	opk_autostrlist struct opk_strlist paths = { 0 };
	freed(opk_set) *set = NULL;

	write_set("mine.yml");
	write_set(".hidden.yaml");
	write_set("mine.txt");
	ck_ok(ctx, opk_set_paths(&paths, ctx));
	ck_assert_str_eq(paths.items[0], in_folder("mine.yml"));
	ck_assert_ptr_null(strstr(paths.items[1], folder));
	ck_ok(ctx, opk_set_find(&set, ctx, "mine"));
	ck_assert_str_eq(opk_set_name(set), "own");
}

/* ---- shipped sets ----------------------------------------------------------------------- */

static size_t shipped_files(void)
{
	DIR *dir = opendir(TEST_DATA_DIR "/sets");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += strstr(entry->d_name, ".yaml") != NULL;
	closedir(dir);
	return count;
}

static void check_shipped(struct opk_ctx *ctx, const char *path)
{
	freed(opk_set) *set = NULL, *found = NULL;
	char wanted[600];

	ck_ok(ctx, opk_set_load(&set, ctx, path));
	snprintf(wanted, sizeof wanted, "%s/sets/%s.yaml", TEST_DATA_DIR, opk_set_name(set));
	ck_assert_str_eq(path, wanted);
	ck_assert_msg(*opk_set_description(set), "%s: no description", path);
	ck_assert_msg(opk_set_has_profiler(set), "%s: no profiler", path);
	ck_ok(ctx, opk_set_find(&found, ctx, opk_set_name(set)));
	ck_assert_str_eq(opk_set_path(found), path);
	ck_assert_uint_eq(opk_set_metric_count(found), opk_set_metric_count(set));
}

CTX_TEST(shipped_sets)
{
	opk_autostrlist struct opk_strlist paths = { 0 };
	char last[64] = "";

	ck_ok(ctx, opk_set_paths(&paths, ctx));
	ck_assert_uint_gt(paths.count, 20);
	ck_assert_uint_eq(paths.count, shipped_files());
	for (size_t i = 0; i < paths.count; i++) {
		check_shipped(ctx, paths.items[i]);
		const char *name = strrchr(paths.items[i], '/') + 1;
		int length = (int)strcspn(name, ".");

		ck_assert_int_gt(strncmp(name, last, (size_t)length), 0);
		snprintf(last, sizeof last, "%.*s", length, name);
	}
}

/* ---- out of memory ---------------------------------------------------------------------- */

static int load_full(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_load(out, ctx, FILES "good-full.yaml");
}

static int find_memory(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_find(out, ctx, "memory");
}

static int find_names(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_find(out, ctx, "a__b.sum,c__d.sum");
}

static int find_list(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_find(out, ctx, "ipc," FILES "good-minimal.yaml,c__d.sum");
}

static const struct opk_set *to_join[2];

static int join_two(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_join(out, ctx, to_join, 2);
}

static int join_one(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_join(out, ctx, to_join, 1);
}

TEST(sets_without_memory)
{
	static const struct {
		struct here here;
		int (*make)(struct opk_set **out, struct opk_ctx *ctx);
	} rows[] = {
		{ HERE, load_full }, { HERE, find_memory }, { HERE, find_names },
		{ HERE, find_list }, { HERE, join_two },    { HERE, join_one },
	};
	freed(opk_ctx) *ctx = new_ctx();
	struct opk_set *sets[] = { load(ctx, "good-minimal.yaml"), load(ctx, "good-json.yaml") };

	to_join[0] = sets[0];
	to_join[1] = sets[1];
	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_set) *set = NULL;
		int code;

		for (long n = 0;; n++) {
			fail_allocation(n);
			code = rows[i].make(&set, ctx);
			if (!allocation_failed())
				break;
			ck_row(&rows[i], code == OPK_ENOMEM && !set, "allocation %ld: %d", n, code);
			ck_row(&rows[i], strstr(cause(ctx), "out of memory"), "%s", cause(ctx));
		}
		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
	}
	opk_set_free(sets[0]);
	opk_set_free(sets[1]);
}

/* Without memory the suggestion may be missing, but not the error. */
CTX_TEST(misspelt_without_memory)
{
	struct opk_set *set = NULL;
	int code;

	for (long n = 0;; n++) {
		fail_allocation(n);
		code = opk_set_find(&set, ctx, "memroy");
		if (!allocation_failed())
			break;
		ck_assert_msg(code == OPK_ENOMEM || code == OPK_EUSAGE, "allocation %ld: %d", n,
		              code);
	}
	ck_assert_int_eq(code, OPK_EUSAGE);
	ck_assert_ptr_nonnull(strstr(cause(ctx), "did you mean memory?"));
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
