/* SPDX-License-Identifier: BSD-2-Clause */
/* Each nvprof name on chips of NVIDIA's own library: its metric there, or why it has none. */
#include "chip/chip.h"
#include "plan/door.h"
#include "plan/plan.h"
#include "real.h"
#include "resolve/resolve.h"

static const char *const chips[] = {
	"GV100", "TU102", "GA100", "GH100", "AD102", "GB100", "GB202"
};

static bool ends(const char *name, const char *ending)
{
	size_t length = strlen(name), part = strlen(ending);

	return length >= part && !strcmp(name + length - part, ending);
}

/* ---- quantities of nvprof, in today's units */

static const struct {
	struct here here;
	const char *ending, *unit;
	const char *but; /* names that contain this have another unit; "": no exception */
} units[] = {
	{ HERE, "_bytes", "byte", "" },
	{ HERE, "data_received", "byte", "overhead" },
	{ HERE, "data_transmitted", "byte", "overhead" },
	{ HERE, "_throughput", "byte/second", "" },
	{ HERE, "_utilization", "percent", "" },
	{ HERE, "_fu_utilization", "percent", "" },
	{ HERE, "_execution_efficiency", "percent", "" },
	{ HERE, "achieved_occupancy", "percent", "" },
	{ HERE, "ipc", "instruction/gpc_cycle", "" },
	{ HERE, "inst_replay_overhead", "", "" },
	{ HERE, "inst_executed", "instruction", "" },
};

/* 12.8 gives some metrics of GB202 no unit. */
static bool may_lack_units;

static void check_unit(const char *chip, const char *name, const char *unit)
{
	for (size_t i = 0; i < COUNT(units); i++)
		if (ends(name, units[i].ending) && !(*units[i].but && strstr(name, units[i].but)))
			ck_row(&units[i],
			       !strcmp(unit, units[i].unit)
			               || (!*units[i].unit && !strcmp(unit, "unitless")),
			       "%s on %s: unit '%s'", name, chip, unit);
	if (strstr(name, "flop_count_"))
		ck_assert_msg(!strcmp(unit, "flop"), "%s on %s: unit '%s'", name, chip, unit);
	if (strstr(name, "transactions") && !strstr(name, "_per_request"))
		ck_assert_msg(strstr(unit, "sector") || strstr(unit, "wavefront")
		                      || strstr(unit, "tag")
		                      || (may_lack_units && !strcmp(unit, "unitless")),
		              "%s on %s: unit '%s'", name, chip, unit);
}

/* Reads do not become writes, nor half precision double. */
static const struct {
	struct here here;
	const char *name, *other;
} wrong[] = {
	{ HERE, "_read", "_write" },
	{ HERE, "_write", "_read" },
	{ HERE, "_load", "_st." },
	{ HERE, "_load", "_write" },
	{ HERE, "_store", "_ld." },
	{ HERE, "_store", "_read" },
	{ HERE, "gst_", "_op_ld" },
	{ HERE, "gld_", "_op_st" },
	{ HERE, "received", "nvltx" },
	{ HERE, "transmitted", "nvlrx" },
	{ HERE, "half_precision", "fp64" },
	{ HERE, "half_precision", "fp32" },
	{ HERE, "double_precision", "fp16" },
	{ HERE, "surface", "shared" },
	{ HERE, "global", "local_" },
};

static void check_term(const char *chip, const char *name, const char *term)
{
	for (size_t i = 0; term && i < COUNT(wrong); i++)
		ck_row(&wrong[i],
		       !strstr(name, wrong[i].name) || strstr(name, "local_global")
		               || !strstr(term, wrong[i].other),
		       "%s on %s: %s", name, chip, term);
}

/* ---- names */

static void list_names(struct opk_strlist *out)
{
	FILE *file = fopen(TEST_DATA_DIR "/legacy_names.tsv", "r");
	char line[4096];

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
	while (fgets(line, sizeof line, file)) {
		char *rest = line;

		strsep(&rest, "\t");
		ck_assert(opk_strlist_add(out, strsep(&rest, "\t")));
	}
	fclose(file);
}

static void check_lack(const struct opk_legacy *l, const char *chip)
{
	ck_assert_msg(*l->lack, "%s on %s: nothing says why", l->name, chip);
}

/* A SET of all names that the chip lacks: each is reported without a counterpart. */
static void check_lacks(struct opk_ctx *ctx, const char *names, size_t count, const char *chip)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	opk_autofree char *said = opk_printf("has no counterpart on %s: ", chip);
	freed(opk_set) *set = NULL;
	size_t found = 0;

	ck_ok(ctx, opk_set_find(&set, ctx, names));
	ck_code(ctx, opk_set_resolve(&resolved, ctx, set, chip, OPK_PROFILER_RANGE), OPK_EUSAGE);
	for (size_t i = 0; i < opk_error_count(ctx); i++)
		found += strstr(opk_error_message(ctx, i), said) != NULL;
	ck_assert_msg(found == count, "%zu of %zu on %s", found, count, chip);
	opk_clear_errors(ctx);
}

/* A SET of all names that the chip has; the metrics' names are added to `all`. */
static void check_set(struct opk_strlist *all, struct opk_ctx *ctx, const char *names,
                      const char *chip)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_find(&set, ctx, names));
	ck_ok(ctx, opk_set_resolve(&resolved, ctx, set, chip, OPK_PROFILER_RANGE));
	for (size_t i = 0; i < resolved.derived_count; i++)
		check_unit(chip, resolved.derived[i].name, resolved.derived[i].unit);
	for (size_t i = 0; i < resolved.metrics.count; i++)
		ck_assert(opk_strlist_add(all, resolved.metrics.items[i]));
}

/* Halves are computed in pairs, which the chip counts as one: the note must say so. */
static void check_halves(const struct opk_legacy *l)
{
	if (strstr(l->name, "flop_count_hp"))
		ck_assert_msg(strstr(l->note, "half2"), "%s: %s", l->name, l->note);
}

/* Whether the chip has it. */
static bool check_name(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *name)
{
	const char *chip = opk_catalog_chip(catalog);
	freed(opk_legacy) *l = NULL;
	bool there;

	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, name));
	ck_assert_ptr_nonnull(l);
	there = !l->lack;
	ck_assert_int_eq(there, *l->formula != '\0');
	for (size_t i = 0; i < l->term_count; i++) {
		ck_assert_msg(!there || l->terms[i].exists, "%s on %s: %s", name, chip,
		              l->terms[i].name);
		check_term(chip, name, l->terms[i].exists ? l->terms[i].name : NULL);
		check_term(chip, name, l->terms[i].nearest);
	}
	if (!there)
		check_lack(l, chip);
	check_halves(l);
	return there;
}

/* Checks that CUPTI plans each metric. */
static void check_passes(struct opk_ctx *ctx, struct opk_catalog *catalog,
                         const struct opk_strlist *names)
{
	opk_autofree struct opk_full_name *full = opk_alloc_array(names->count, sizeof *full);

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];

		full[i].metric = opk_catalog_find(catalog, name);
		ck_assert_ptr_nonnull(full[i].metric);
		ck_assert(opk_catalog_find_submetric(&full[i].submetric, catalog, full[i].metric,
		                                     name + strlen(full[i].metric->name)));
	}
	ck_ok(ctx, opk_catalog_count_passes(catalog, ctx, full, names->count, NULL));
	for (size_t i = 0; i < names->count; i++)
		ck_assert_msg(opk_catalog_submetric(catalog, full[i].metric, full[i].submetric)
		                              .passes
		                      > 0,
		              "%s on %s", names->items[i], opk_catalog_chip(catalog));
}

/* Chips that differ most; make check-long takes the others. */
static bool is_taken(const char *chip)
{
	return is_long() || !strcmp(chip, "GH100") || !strcmp(chip, "GB202");
}

CTX_TEST_EACH(all_names, chips)
{
	const char *chip = *row;
	opk_autostrlist struct opk_strlist names = { 0 }, all = { 0 };
	opk_autobuf struct opk_buf there = { 0 }, lacking = { 0 };
	freed(opk_catalog) *catalog = NULL;
	size_t lacks = 0;

	/* 12.6 knows no Blackwell chip. */
	if (!is_taken(chip) || (version_of(ctx) < CUPTI_12_8 && !strncmp(chip, "GB", 2)))
		return;
	may_lack_units = version_of(ctx) == CUPTI_12_8;
	list_names(&names);
	ck_assert_uint_eq(names.count, 261);
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, chip, OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	for (size_t i = 0; i < names.count; i++) {
		bool has = check_name(ctx, catalog, names.items[i]);

		opk_buf_add_printf(has ? &there : &lacking, "%s,", names.items[i]);
		lacks += !has;
	}
	ck_assert_msg(lacks >= 22 && lacks <= 36, "%zu of 261 names on %s", lacks, chip);
	opk_buf_add(&there, "", 1);
	opk_buf_add(&lacking, "", 1);
	check_set(&all, ctx, (const char *)there.data, chip);
	check_lacks(ctx, (const char *)lacking.data, lacks, chip);
	check_passes(ctx, catalog, &all);
}

SUITE(.needs = have_cupti, .seconds = 300);
