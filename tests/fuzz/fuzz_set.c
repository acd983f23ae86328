/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a metric set, on a chip of the fake library. */
#define TEST_DATA_DIR "data"
#include "testing.h"
/* No libcheck test runs here. */
#undef ck_assert_ptr_nonnull
#define ck_assert_ptr_nonnull(pointer) ((pointer) ? (void)0 : abort())
#include "../fake_nv.c"
#include "../fake_nv_perfworks.c"
#include "../fake_nv_scheduler.c"
#include "container/container.h"
#include "plan/plan.h"
#include "fuzz.h"
#include "no_child.h"

/* A resolved set can be written, unless it is too large. */
static void check_meta(struct opk_ctx *ctx, const struct opk_resolved *resolved)
{
	opk_autofree struct opk_meta_label *labels = NULL;
	struct opk_plan plan = { .resolved = *resolved, .metrics = resolved->metrics };
	struct opk_meta meta = {
		.kind = "set",
		.chip = "FA100",
		.metrics = opk_strlist_items(&plan.metrics),
		.metric_count = plan.metrics.count,
		.passes = 1,
	};

	if (opk_plan_to_meta(&meta, &labels, ctx, &plan) || opk_meta_check(ctx, &meta)) {
		fprintf(stderr, "%s\n", opk_error_message(ctx, 0));
		abort();
	}
}

/* Keeps one metric, as a plan that is cut to one pass does. */
static void keep_one(struct opk_ctx *ctx, struct opk_resolved *resolved)
{
	opk_autostrlist struct opk_strlist first = { 0 };

	if (!opk_strlist_add(&first, resolved->metrics.items[0])
	    || opk_resolved_keep(resolved, ctx, "name", &first))
		abort();
	check_meta(ctx, resolved);
}

static void resolve(struct opk_ctx *ctx, struct opk_set *set, enum opk_profiler profiler)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };

	if (opk_set_resolve(&resolved, ctx, set, opk_profiler_is_code(profiler) ? "GH100" : "FA100",
	                    profiler))
		return;
	check_meta(ctx, &resolved);
	keep_one(ctx, &resolved);
}

static void ignore(void *data, const char *message)
{
	(void)data;
	(void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_set *set = NULL, *joined;
	char path[32];
	int fd = fuzz_file(path, data, size), code;

	ctx->log = ignore;
	code = opk_set_find_partly(&set, ctx, path);
	if (set) {
		opk_set_judge(ctx, set, "FA100", OPK_PROFILER_RANGE);
		opk_set_judge(ctx, set, "FA100", OPK_PROFILER_PM);
		opk_set_judge(ctx, set, "GH100", OPK_PROFILER_SASS);
	}
	if (!code) {
		resolve(ctx, set, OPK_PROFILER_RANGE);
		resolve(ctx, set, OPK_PROFILER_PM);
		resolve(ctx, set, OPK_PROFILER_SASS);
		resolve(ctx, set, OPK_PROFILER_PC);
		if (!opk_set_join(&joined, ctx, (const struct opk_set *const[]){ set, set }, 2)) {
			opk_set_parameter(joined, ctx, "p", "?");
			resolve(ctx, joined, OPK_PROFILER_RANGE);
			opk_set_free(joined);
		}
	}
	opk_set_free(set);
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
