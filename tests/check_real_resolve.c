/* SPDX-License-Identifier: BSD-2-Clause */
/* The good sets of tests/files on chips of NVIDIA's own library. */
#include <dirent.h>

#include "plan/plan.h"
#include "golden.h"
#include "metric_sets.h"
#include "plan/door.h"
#include "real.h"
#include "resolved.h"

static const char *const chips[] = { "GH100", "GB202", "TU102" };

static void list_files(struct opk_strlist *out)
{
	DIR *dir = opendir(FILES);

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (!strncmp(entry->d_name, "good-", 5))
			ck_assert(opk_strlist_add(out, entry->d_name));
	closedir(dir);
	opk_strlist_sort(out);
}

static struct opk_set *load(struct opk_ctx *ctx, const char *file)
{
	char path[512];
	struct opk_set *set = NULL;

	snprintf(path, sizeof path, FILES "%s", file);
	ck_ok(ctx, opk_set_load(&set, ctx, path));
	return set;
}

static void add_resolved(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_set *set,
                         const char *chip)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };

	if (opk_set_resolve(&resolved, ctx, set, chip, opk_set_profiler(set))) {
		for (size_t i = 0; i < opk_error_count(ctx); i++)
			opk_buf_add_printf(out, "%s\n", message(ctx, i));
		return;
	}
	describe_resolved(out, &resolved);
	opk_buf_add_printf(out, "%s\n", resolved.hash);
}

TEST(good_sets)
{
	struct opk_ctx *ctx = new_ctx();
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_autobuf struct opk_buf out = { 0 };

	/* The release whose metrics are known. */
	if (version_of(ctx) != CUPTI_13_0) {
		opk_ctx_free(ctx);
		return;
	}
	list_files(&names);
	for (size_t i = 0; i < names.count; i++) {
		freed(opk_set) *set = load(ctx, names.items[i]);

		for (size_t j = 0; j < COUNT(chips); j++) {
			opk_buf_add_printf(&out, "== %s on %s\n", names.items[i], chips[j]);
			add_resolved(&out, ctx, set, chips[j]);
		}
	}
	ck_golden("good-sets.txt", out.data, out.size);
	opk_ctx_free(ctx);
}

/* A resolved set can be planned as a whole. */
CTX_TEST(planned_sets)
{
	static const struct {
		struct here here;
		const char *file, *chip;
	} rows[] = {
		{ HERE, "good-patterns.yaml", "GH100" },   { HERE, "good-choices.yaml", "GB202" },
		{ HERE, "good-constants.yaml", "TU102" },  { HERE, "good-derived.yaml", "GB202" },
		{ HERE, "good-include.yaml", "GH100" },    { HERE, "good-legacy.yaml", "TU102" },
		{ HERE, "good-parameters.yaml", "GB202" }, { HERE, "good-pm.yaml", "GH100" },
	};
	bool known = version_of(ctx) == CUPTI_13_0;

	for (size_t i = 0; known && i < COUNT(rows); i++) {
		freed(opk_set) *set = load(ctx, rows[i].file);
		freed(opk_plan) *plan = NULL;
		int code;
		struct opk_plan_options options = OPTIONS(options, .chip = rows[i].chip,
		                                          .effort = -1);

		code = opk_plan_new(&plan, ctx, set, &options);
		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		ck_row(&rows[i], opk_plan_metrics(plan)->count == plan->resolved.metrics.count,
		       "%zu metrics", opk_plan_metrics(plan)->count);
	}
}

static bool has_roof_of(const struct opk_meta_roofline *roofline, const char *work)
{
	for (size_t i = 0; i < roofline->roof_count; i++)
		if (!strcmp(roofline->roofs[i].work, work))
			return true;
	return false;
}

/* The types of tensor operations that the set compares with a peak. */
static size_t count_types(const struct opk_resolved *resolved)
{
	size_t count = 0;

	for (size_t i = 0; i < resolved->columns.count; i++) {
		const char *column = resolved->columns.items[i];
		opk_autofree char *peak = opk_printf("%s_peak", column);

		if (strncmp(column, "tensor_", 7) != 0
		    || !opk_strlist_contains(&resolved->columns, peak))
			continue;
		ck_assert_msg(has_roof_of(&resolved->roofline, column), "no roof of %s", column);
		count++;
	}
	return count;
}

/* Each type, integers included, has its count and a roof of its own. */
CTX_TEST(types_of_operations)
{
	static const struct {
		struct here here;
		const char *chip;
		size_t types, work; /* floating-point ones have four columns, integers one */
	} rows[] = { { HERE, "GH100", 6, 5 }, { HERE, "TU102", 3, 5 }, { HERE, "TU116", 0, 4 } };
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_load(&set, ctx, TEST_DATA_DIR "/sets/roofline-hierarchical.yaml"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autoresolved struct opk_resolved resolved = { 0 };

		ck_ok(ctx, opk_set_resolve(&resolved, ctx, set, rows[i].chip, OPK_PROFILER_RANGE));
		ck_row(&rows[i], count_types(&resolved) == rows[i].types, "%zu types",
		       count_types(&resolved));
		ck_row(&rows[i], resolved.roofline.work_count == rows[i].work, "%zu columns",
		       resolved.roofline.work_count);
	}
}

SUITE(.needs = have_cupti, .seconds = 300);
