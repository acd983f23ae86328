/* SPDX-License-Identifier: BSD-2-Clause */
/* Units: every spelling of NVIDIA's, products, powers, and invalid units. */
#include "formula/formula.h"

#include "adapters/nv/nv.h"
#include "allocation.h"
#include "base/strlist.h"
#include "chip/door.h"
#include "real.h"

static struct opk_unit parsed(struct opk_ctx *ctx, const char *text)
{
	struct opk_unit unit;

	ck_ok(ctx, opk_unit_parse(&unit, ctx, text));
	return unit;
}

static const struct {
	struct here here;
	const char *text, *wanted;
} spellings[] = {
	{ HERE, "", "" },
	{ HERE, "  ", "" },
	{ HERE, "1", "" },
	{ HERE, "unitless", "" },
	{ HERE, "1/second", "1/second" },
	{ HERE, "/second", NULL },
	{ HERE, "byte", "byte" },
	{ HERE, "bytes/second", "byte/second" },
	{ HERE, " byte / second ", "byte/second" },
	{ HERE, "byte*warp/second", "byte*warp/second" },
	{ HERE, "warp*byte/second", "byte*warp/second" },
	{ HERE, "byte/second*warp", "byte*warp/second" },
	{ HERE, "byte/warp/second", "byte/second/warp" },
	{ HERE, "byte/byte", "" },
	{ HERE, "byte*byte", "byte^2" },
	{ HERE, "byte^2/byte", "byte" },
	{ HERE, "byte/second^2", "byte/second^2" },
	{ HERE, "byte*second^-1", "byte/second" },
	{ HERE, "byte^0", "" },
	{ HERE, "1/byte^-3", "byte^3" },
	{ HERE, "second/second*byte", "byte" },
	{ HERE, "percent", "percent" },
	{ HERE, "percent/percent", "" },
	{ HERE, "percent*byte", "byte*percent" },
	{ HERE, "flop/second", "flop/second" },
	{ HERE, "flops", "flops" },
	{ HERE, "l2_tags", "L2_tag" },
	{ HERE, "rf_quanta*gpc_cycles", "gpc_cycle*rf_quantum" },
	{ HERE, "bytewarpthread", "byte*thread*warp" },
	{ HERE, "bytebyte/warpwarp", "byte^2/warp^2" },
	{ HERE, "byteunknown", "byteunknown" },
	{ HERE, "pixel_shader_barrierpixel", "pixel*pixel_shader_barrier" },
	{ HERE, "gpc_cyclewarp^2", "gpc_cycle^2*warp^2" },
	{ HERE, "byte^99", "byte^99" },
};

CTX_TEST_EACH(one_spelling, spellings)
{
	struct opk_unit unit, again;
	int code = opk_unit_parse(&unit, ctx, row->text);
	opk_autofree char *text = code ? NULL : opk_unit_text(&unit);

	ck_row(row, !code == !!row->wanted, "%s", errors_of(ctx));
	if (!code) {
		ck_row(row, !strcmp(text, row->wanted), "got %s", text);
		again = parsed(ctx, text);
		ck_row(row, opk_unit_equal(&unit, &again), "%s reads otherwise", text);
	}
}

#define TEN "abcdefghij"
#define FORTY_EIGHT TEN TEN TEN TEN "abcdefgh"
#define SEVENTEEN "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q"

static const struct {
	struct here here;
	const char *text, *wanted;
} no_units_rows[] = {
	{ HERE, "/second", "'/second' is not a unit: byte 0: the name of a unit is needed" },
	{ HERE, "byte//second", "byte 5: the name of a unit" },
	{ HERE, "byte/", "byte 5: the name of a unit" },
	{ HERE, "byte second", "byte 5: '*', '/' or the end is needed" },
	{ HERE, "(byte)", "byte 0: the name of a unit" },
	{ HERE, "2*byte", "byte 0: the name of a unit" },
	{ HERE, "10", "byte 0: the name of a unit" },
	{ HERE, "%", "byte 0: the name of a unit" },
	{ HERE, "byte+warp", "byte 4: '*', '/' or the end" },
	{ HERE, "b\xc3\xa9", "byte 1: '*', '/' or the end" },
	{ HERE, "byte^", "byte 5: a power is a whole number" },
	{ HERE, "byte^x", "byte 5: a power is a whole number" },
	{ HERE, "byte^1.5", "byte 6: '*', '/' or the end" },
	{ HERE, "byte^100", "byte 7: powers go up to 99" },
	{ HERE, "byte^99999999999999999999", "powers go up to 99" },
	{ HERE, "byte^99*byte", "too many factors, or too high a power" },
	{ HERE, "byte^-99/byte", "too many factors, or too high a power" },
	{ HERE, FORTY_EIGHT, "byte 0: this name is too long" },
	{ HERE, SEVENTEEN, "too many factors" },
};

CTX_TEST_EACH(no_units, no_units_rows)
{
	struct opk_unit unit = { .count = 77 };
	int code = opk_unit_parse(&unit, ctx, row->text);

	ck_row(row, code == OPK_EINPUT && unit.count == 77, "code %d", code);
	ck_row(row, told(ctx, row->wanted), "%s", errors_of(ctx));
}

static const struct {
	struct here here;
	const char *a, *b;
	int power;
	const char *wanted; /* NULL: refused */
} products_rows[] = {
	{ HERE, "byte", "second", -1, "byte/second" },
	{ HERE, "byte/second", "second", 1, "byte" },
	{ HERE, "byte/second", "byte/second", -1, "" },
	{ HERE, "", "second", -1, "1/second" },
	{ HERE, "byte", "", 1, "byte" },
	{ HERE, "byte", "byte", 1, "byte^2" },
	{ HERE, "percent", "byte/warp", 1, "byte*percent/warp" },
	{ HERE, "a*b*c*d*e*f*g*h", "i*j*k*l*m*n*o*p", 1, "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p" },
	{ HERE, "a*b*c*d*e*f*g*h", "i*j*k*l*m*n*o*p*q", 1, NULL },
	{ HERE, "byte^99", "byte", 1, NULL },
};

CTX_TEST_EACH(products, products_rows)
{
	struct opk_unit a = parsed(ctx, row->a), b = parsed(ctx, row->b), before = a;
	bool ok = opk_unit_multiply(&a, &b, row->power);
	opk_autofree char *text = opk_unit_text(&a);

	ck_row(row, ok == !!row->wanted, "refused or not");
	ck_row(row, ok || opk_unit_equal(&a, &before), "changed to %s", text);
	ck_row(row, !ok || !strcmp(text, row->wanted), "got %s", text);
}

CTX_TEST(roots_and_equality)
{
	struct opk_unit square = parsed(ctx, "byte^2/second^4"), odd = parsed(ctx, "byte^2*warp");
	struct opk_unit wanted = parsed(ctx, "byte/second^2"), none = parsed(ctx, "");

	ck_assert(opk_unit_root(&square) && opk_unit_equal(&square, &wanted));
	ck_assert(!opk_unit_root(&odd));
	ck_assert(opk_unit_root(&none) && !none.count);
	ck_assert(!opk_unit_equal(&none, &wanted));
	none = parsed(ctx, "byte/second");
	ck_assert(!opk_unit_equal(&none, &wanted));
	none = parsed(ctx, "warp/second^2");
	ck_assert(!opk_unit_equal(&none, &wanted));
	fail_allocation(0);
	ck_assert_ptr_null(opk_unit_text(&wanted));
	ck_assert(allocation_failed());
}

CTX_TEST(table_is_sound)
{
	const char *before = "", *plural = NULL;
	size_t count = 0;

	for (const char *name; (name = opk_unit_known(count, &plural)); count++) {
		struct opk_unit one = parsed(ctx, name);
		opk_autofree char *many = plural ? opk_strdup(plural) : opk_printf("%ss", name);
		struct opk_unit several = parsed(ctx, many);

		ck_assert_str_lt(before, name);
		ck_assert_uint_eq(one.count, 1);
		ck_assert_str_eq(one.factors[0].name, name);
		ck_assert_msg(opk_unit_equal(&one, &several), "%s", many);
		before = name;
	}
	ck_assert_uint_gt(count, 60);
}

/* All units in catalogs of CUDA 13.0, PerfWorks' units of the same metrics, and ours. */
CTX_TEST(spellings_of_nvidia)
{
	FILE *file = fopen(TEST_SOURCE_DIR "/files/units.tsv", "r");
	char line[256];
	size_t count = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file)) {
		char *rest = line, *cupti = strsep(&rest, "\t"), *perfworks = strsep(&rest, "\t");
		char *ours = strsep(&rest, "\n");
		struct opk_unit unit;
		opk_autofree char *text = NULL;

		if (*line == '#')
			continue;
		unit = parsed(ctx, cupti);
		text = opk_unit_text(&unit);
		ck_assert_str_eq(text, ours);
		if (strcmp(perfworks, "-")) {
			struct opk_unit other = parsed(ctx, perfworks);

			ck_assert_msg(opk_unit_equal(&unit, &other), "%s, %s", cupti, perfworks);
		}
		count++;
	}
	ck_assert_uint_gt(count, 200);
	fclose(file);
}

static void check_chip(struct opk_ctx *ctx, const char *chip)
{
	opk_autostrlist struct opk_strlist seen = { 0 };
	freed(opk_nv_evaluator) *evaluator = NULL;
	freed(opk_catalog) *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, chip, OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, chip));
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		for (size_t j = 0; j < opk_catalog_submetric_count(catalog, metric); j++) {
			struct opk_submetric sub = opk_catalog_submetric(catalog, metric, j);
			opk_autofree char *full = NULL, *text = NULL;
			struct opk_unit unit, other;

			if (opk_strlist_contains(&seen, sub.dim_unit))
				continue;
			ck_assert(opk_strlist_add(&seen, sub.dim_unit));
			full = opk_printf("%s%s", metric->name, sub.suffix);
			ck_ok(ctx, opk_nv_unit(&text, ctx, evaluator, full));
			unit = parsed(ctx, sub.dim_unit);
			other = parsed(ctx, text);
			ck_assert_msg(opk_unit_equal(&unit, &other), "%s: %s, %s", full,
			              sub.dim_unit, text);
		}
	}
	ck_assert_uint_gt(seen.count, 50);
}

/* Also those of 12.x, whose PerfWorks has no name for some. */
CTX_TEST(real_names)
{
	static const struct {
		struct here here;
		const char *metric, *wanted;
	} rows[] = {
		{ HERE, "dram__bytes.sum.per_second", "bytes/second" },
		{ HERE, "dram__cycles_active.avg.per_cycle_elapsed", "unitless" },
		{ HERE, "sm__ops_path_tensor_src_fp16.sum", "math_ops" },
		{ HERE, "sm__ops_path_tensor_src_fp8.sum.peak_sustained", "math_ops/gpc_cycle" },
		{ HERE, "sm__ops_path_tensor_src_fp64.sum.per_second", "math_ops/second" },
		{ HERE, "gpc__cgas_launched.sum", "cgas" },
		{ HERE, "gpc__cgas_active.sum", "cgas*gpc_cycles" },
		{ HERE, "smsp__sass_branch_targets.avg.per_cycle_active",
		  "branch_targets/gpc_cycle" },
		{ HERE, "l1tex__average_t_sectors_per_request.ratio", "l2_sectors/l1tex_request" },
		{ HERE, "smsp__sass_average_data_bytes_per_sector_mem_global.ratio",
		  "bytes/l2_sector" },
	};
	freed(opk_nv_evaluator) *evaluator = NULL;

	if (have_cupti())
		ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "GH100"));
	for (size_t i = 0; evaluator && i < COUNT(rows); i++) {
		opk_autofree char *unit = NULL;

		ck_ok(ctx, opk_nv_unit(&unit, ctx, evaluator, rows[i].metric));
		ck_row(&rows[i], !strcmp(unit, rows[i].wanted), "got %s", unit);
	}
}

static const char *const chips[] = { "GH100", "TU102", "GB202" };

CTX_TEST_EACH(real_catalogs, chips)
{
	if (have_cupti() && version_of(ctx) >= CUPTI_13_0)
		check_chip(ctx, *row);
}
