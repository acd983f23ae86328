/* SPDX-License-Identifier: BSD-2-Clause */
/* Chips and catalogs from NVIDIA's own libraries, and the paths of the libraries. */
#include <ctype.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "real.h"
#include "testing.h"

/* ---- chips and catalogs */

CTX_TEST(chips)
{
	static const struct {
		struct here here;
		const char *name, *wanted; /* NULL: unknown */
		bool range, pm;
	} rows[] = {
		{ HERE, "GH100", "GH100", true, true },   { HERE, "gh100", "GH100", true, true },
		{ HERE, "Gh100", "GH100", true, true },   { HERE, "gv100", "GV100", true, false },
		{ HERE, "GV11b", "GV11B", false, false }, { HERE, "TU102", "TU102", true, true },
		{ HERE, "GH10", NULL, false, false },     { HERE, "GH100 ", NULL, false, false },
		{ HERE, "", NULL, false, false },
	};
	bool known = version_of(ctx) == CUPTI_13_0;
	freed(opk_chips) *list = NULL;

	ck_ok(ctx, opk_chips_new(&list, ctx));
	if (known)
		ck_assert_uint_eq(opk_chips_count(list), 30);
	ck_assert_uint_gt(opk_chips_count(list), 10);
	for (size_t i = 0; i < opk_chips_count(list); i++)
		for (const char *c = opk_chips_get(list, i)->name; *c; c++)
			ck_assert(!islower((unsigned char)*c));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_chip *chip = opk_chips_find(list, rows[i].name);

		/* 13.1 drops Volta. */
		if (!known && tolower((unsigned char)rows[i].name[1]) == 'v')
			continue;
		ck_row(&rows[i], !chip == !rows[i].wanted, "found: %d", !!chip);
		if (!chip)
			continue;
		ck_row(&rows[i], !strcmp(chip->name, rows[i].wanted), "%s", chip->name);
		ck_row(&rows[i], chip->range == rows[i].range, "range %d", chip->range);
		ck_row(&rows[i], chip->pm_sampling == rows[i].pm, "pm %d", chip->pm_sampling);
	}
}

/* NVIDIA describes nearly all metrics; a missing description is "", never NULL. */
static void check_sorted(const struct opk_catalog *catalog, bool described)
{
	size_t count = opk_catalog_count(catalog), silent = 0;

	for (size_t i = 0; i < count; i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		silent += !*metric->description;
		ck_assert_msg(!strpbrk(metric->description, "\r\n"), "%s", metric->name);
		ck_assert_msg(!described || *metric->hw_unit, "%s", metric->name);
		if (i)
			ck_assert_str_lt(metric[-1].name, metric->name);
		ck_assert_ptr_eq(opk_catalog_find(catalog, metric->name), metric);
	}
	ck_assert_msg(!described || silent * 20 < count, "%zu of %zu without description", silent,
	              count);
}

CTX_TEST(catalogs)
{
	static const struct {
		struct here here;
		const char *chip;
		enum opk_profiler profiler;
		size_t counts[3]; /* by type, on 13.0 */
	} rows[] = {
		{ HERE, "GH100", OPK_PROFILER_RANGE, { 3389, 205, 56 } },
		{ HERE, "gh100", OPK_PROFILER_PM, { 611, 605, 63 } },
		{ HERE, "GB202", OPK_PROFILER_RANGE, { 3630, 210, 31 } },
	};
	uint32_t version = version_of(ctx);

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_catalog) *catalog = NULL;
		size_t counts[3] = { 0 };

		/* Blackwell came with 12.8, which counts as 26. */
		if (version < 26 && !strcmp(rows[i].chip, "GB202"))
			continue;
		ck_ok(ctx, opk_catalog_new(&catalog, ctx, rows[i].chip, rows[i].profiler));
		for (size_t m = 0; m < opk_catalog_count(catalog); m++)
			counts[opk_catalog_get(catalog, m)->type]++;
		for (size_t type = 0; type < 3; type++)
			ck_row(&rows[i],
			       version == CUPTI_13_0 ? counts[type] == rows[i].counts[type]
			                             : counts[OPK_COUNTER] > 0,
			       "type %zu: %zu", type, counts[type]);
		/* Before 13.0 metrics of single-pass sets have no properties. */
		check_sorted(catalog, version >= 130000);
	}
}

CTX_TEST(find_metrics)
{
	static const struct {
		struct here here;
		const char *name, *wanted; /* NULL: none */
	} rows[] = {
		{ HERE, "dram__bytes", "dram__bytes" },
		{ HERE, "dram__bytes.sum", "dram__bytes" },
		{ HERE, "dram__bytes.sum.per_second", "dram__bytes" },
		{ HERE, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm__throughput" },
		{ HERE, "lts__t_sector_hit_rate.pct", "lts__t_sector_hit_rate" },
		{ HERE, "CTC.TriageCompute.ctc__rx_bytes", "CTC.TriageCompute.ctc__rx_bytes" },
		{ HERE, "CTC.TriageCompute.ctc__rx_bytes.sum", "CTC.TriageCompute.ctc__rx_bytes" },
		{ HERE, "CTC.TriageCompute.ctc__rx_bytes.sum.per_second",
		  "CTC.TriageCompute.ctc__rx_bytes" },
		{ HERE, "dram__byte", NULL },
		{ HERE, "dram", NULL },
		{ HERE, "", NULL },
		{ HERE, ".sum", NULL },
		{ HERE, "CTC.TriageCompute", NULL },
	};
	freed(opk_catalog) *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "GH100", OPK_PROFILER_RANGE));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_metric *metric = opk_catalog_find(catalog, rows[i].name);

		ck_row(&rows[i], !metric == !rows[i].wanted, "%s", metric ? metric->name : "none");
		ck_row(&rows[i], !metric || !strcmp(metric->name, rows[i].wanted), "%s",
		       metric->name);
	}
}

CTX_TEST(nearest_metrics)
{
	static const struct {
		struct here here;
		const char *name, *wanted;
	} rows[] = {
		{ HERE, "dram__byts.sum", "dram__bytes" },
		{ HERE, "DRAM__BYTES", "dram__bytes" },
		{ HERE, "sm__throughputt.avg.pct_of_peak_sustained_elapsed", "sm__throughput" },
		{ HERE, "smsp__inst_excuted.sum", "smsp__inst_executed" },
		{ HERE, "CTC.TriageCompute.ctc__rx_byte.sum", "CTC.TriageCompute.ctc__rx_bytes" },
		{ HERE, "flop_count_sp_and_nothing_like_a_metric", NULL },
		{ HERE, "q", NULL },
	};
	freed(opk_catalog) *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "GH100", OPK_PROFILER_RANGE));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_metric *metric = opk_catalog_nearest(catalog, rows[i].name);

		ck_row(&rows[i],
		       rows[i].wanted ? metric && !strcmp(metric->name, rows[i].wanted) : !metric,
		       "%s", metric ? metric->name : "none");
	}
}

static size_t count_matches(struct opk_ctx *ctx, const struct opk_catalog *catalog,
                            const struct opk_metric_list_options *filter)
{
	freed(opk_matcher) *matcher = NULL;
	size_t count = 0;

	ck_ok(ctx, opk_matcher_new(&matcher, ctx, filter));
	for (size_t i = 0; i < opk_catalog_count(catalog); i++)
		count += opk_matcher_match(matcher, opk_catalog_get(catalog, i));
	return count;
}

CTX_TEST(matchers)
{
	static const struct {
		struct here here;
		const char *globs[2];
		size_t glob_count;
		const char *unit, *grep;
		int type;      /* -1: any */
		size_t wanted; /* on 13.0 */
	} rows[] = {
		{ HERE, { NULL }, 0, NULL, NULL, -1, 3650 },
		{ HERE, { NULL }, 0, NULL, NULL, OPK_COUNTER, 3389 },
		{ HERE, { NULL }, 0, NULL, NULL, OPK_THROUGHPUT, 56 },
		{ HERE, { "dram__bytes" }, 1, NULL, NULL, -1, 1 },
		{ HERE, { "dram__bytes", "sm__throughput" }, 2, NULL, NULL, -1, 2 },
		{ HERE, { "dram__bytes", "sm__throughput" }, 2, NULL, NULL, OPK_THROUGHPUT, 1 },
		{ HERE, { "DRAM__BYTES" }, 1, NULL, NULL, -1, 0 },
		{ HERE, { "dram__bytes" }, 1, "DRAM", NULL, -1, 1 },
		{ HERE, { "dram__bytes" }, 1, "sm", NULL, -1, 0 },
		{ HERE, { NULL }, 0, NULL, "^dram__bytes$", -1, 1 },
		{ HERE, { NULL }, 0, NULL, "^DRAM__(bytes|throughput)$", -1, 2 },
		{ HERE, { NULL }, 0, NULL, "no such text at all", -1, 0 },
	};
	bool known = version_of(ctx) == CUPTI_13_0;
	freed(opk_catalog) *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "GH100", OPK_PROFILER_RANGE));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_metric_list_options filter = OPTIONS(filter, .globs = rows[i].globs,
		                                                .glob_count = rows[i].glob_count,
		                                                .unit = rows[i].unit,
		                                                .grep = rows[i].grep,
		                                                .has_type = rows[i].type >= 0);
		size_t got;

		if (filter.has_type)
			filter.type = (enum opk_metric_type)rows[i].type;
		got = count_matches(ctx, catalog, &filter);
		ck_row(&rows[i], got == rows[i].wanted || !known, "%zu", got);
	}
}

CTX_TEST(matcher_of_a_wrong_expression)
{
	struct opk_metric_list_options filter = OPTIONS(filter, .grep = "a(b");
	struct opk_matcher *matcher = NULL;

	ck_fails(ctx, opk_matcher_new(&matcher, ctx, &filter), OPK_EUSAGE, "'a(b'");
	ck_assert_ptr_null(matcher);
}

/* ---- where the libraries are */

TEST(missing_folder)
{
	struct opk_ctx_options options = OPTIONS(options, .cuda_dir = "/nonexistent/cuda",
	                                         .log = unexpected_log);
	struct opk_nvidia_info info = OPK_INIT(info);
	freed(opk_ctx) *ctx = NULL;
	struct opk_chips *list = NULL;
	freed(opk_listing) *tried = NULL;

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	ck_code(ctx, opk_nvidia_get_info(&info, ctx), OPK_ENVIDIA);
	ck_assert_ptr_null(info.cupti_path);
	ck_fails(ctx, opk_chips_new(&list, ctx), OPK_ENVIDIA, "libcupti not found");
	/* errors_of() cuts a long chain: the paths are read one by one. */
	ck_ok(ctx, opk_nvidia_list(&tried, ctx, OPK_NVIDIA_TRIED));
	ck_assert_uint_gt(opk_listing_count(tried), 0);
	for (size_t i = 0; i < opk_listing_count(tried); i++) {
		const char *path = opk_listing_get(tried, i)->string;

		ck_assert_msg(!strncmp(path, "/nonexistent/cuda/", 18), "%s", path);
	}
}

CTX_TEST(features)
{
	freed(opk_listing) *found = NULL;
	struct opk_nvidia_info info = OPK_INIT(info);

	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	ck_assert_ptr_nonnull(info.cupti_path);
	ck_ok(ctx, opk_nvidia_list(&found, ctx, OPK_NVIDIA_FEATURES));
	ck_assert_uint_gt(opk_listing_count(found), 0);
	for (size_t i = 0; i < opk_listing_count(found); i++) {
		const union opk_cell *row = opk_listing_get(found, i);

		ck_assert(*row[0].string && *row[3].string);
		ck_assert(row[1].boolean == !row[2].string);
		/* 13.2 brought the sets. */
		if (info.cupti_version == CUPTI_13_0)
			ck_assert_msg(row[1].boolean
			                      == (strcmp(row[0].string, "single-pass-sets") != 0),
			              "%s lacks %s", row[0].string, row[2].string);
	}
}

/*
 * Reads the flags of the library's zeroed data, the mapping after the file's own: "rd wr mr ...
 * hg". *told: the kernel reports flags.
 */
static bool read_flags(bool *told, char *flags, size_t size)
{
	static const char begin[] = "VmFlags:";
	opk_autofclose FILE *smaps = fopen("/proc/self/smaps", "r");
	bool library = false, data = false;
	char line[1024];

	*told = false;
	while (smaps && fgets(line, sizeof line, smaps)) {
		bool is_mapping = strchr("0123456789abcdef", *line);

		data = is_mapping ? library && !strstr(line, "/libnvperf_host") : data;
		library = is_mapping ? strstr(line, "/libnvperf_host") != NULL : library;
		if (strncmp(line, begin, sizeof begin - 1) != 0)
			continue;
		*told = true;
		if (data) {
			snprintf(flags, size, "%s", line + sizeof begin - 1);
			return true;
		}
	}
	return false;
}

CTX_TEST(huge_pages)
{
	struct opk_nvidia_info info = OPK_INIT(info);
	char flags[1024] = "";
	bool told, found;

	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	found = read_flags(&told, flags, sizeof flags);
	if (told && !access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK)) {
		ck_assert_msg(found, "the mapping of libnvperf_host's zeroed data is not found");
		ck_assert_msg(strstr(flags, " hg"), "%s", flags);
	}
}

/* Known chips are listed by the releases that should list them. */
CTX_TEST(chips_of_releases)
{
	struct opk_nv_release release = opk_nv_release_of(version_of(ctx));
	const char *in_use = strrchr(release.name, ' ') + 1;
	freed(opk_chips) *listed = NULL;

	ck_ok(ctx, opk_chips_new(&listed, ctx));
	for (size_t i = 0; opk_chip_known(i); i++) {
		const char *chip = opk_chip_known(i);
		opk_autofree char *name = NULL;
		struct opk_chip_releases known = opk_chip_get_releases(chip);
		bool wanted = (!known.first || strverscmp(in_use, known.first) >= 0)
		              && (!known.last || strverscmp(in_use, known.last) <= 0);

		ck_assert_msg(wanted == !!opk_chips_find(listed, chip), "%s with %s", chip,
		              release.name);
		ck_assert(wanted == !opk_chip_resolve(&name, ctx, chip));
		ck_assert_msg(wanted || (told(ctx, release.name) && told(ctx, chip)), "%s",
		              errors_of(ctx));
		opk_clear_errors(ctx);
	}
}

/* A probe's images by chip, in any case, or without one; a recording has one image. */
CTX_TEST(availability_of_probes)
{
	static const struct {
		struct here here;
		const char *file, *chip;
		int code;
	} rows[] = {
		{ HERE, "probes/gh100.opk", "gh100", OPK_OK },
		{ HERE, "probes/gh100.opk", NULL, OPK_OK },
		{ HERE, "probes/gh100.opk", "GA100", OPK_EINPUT },
		{ HERE, "recordings/gh100-simple.opk", NULL, OPK_OK },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *path = opk_printf(TEST_SOURCE_DIR "/../data/%s", rows[i].file);
		opk_autofree void *image = NULL;
		size_t size;
		int code = opk_availability_load(&image, &size, ctx, path, rows[i].chip,
		                                 OPK_PROFILER_RANGE);

		ck_row(&rows[i], code == rows[i].code, "%d: %s", code, errors_of(ctx));
		ck_row(&rows[i], !code == !!image, "no image");
		opk_clear_errors(ctx);
	}
}

/* A set for 13.0 is planned with 13.0; an older release refuses it, and the message names 13.0. */
CTX_TEST(set_of_a_later_release)
{
	struct opk_nv_release release = opk_nv_release_of(version_of(ctx));
	struct opk_plan_options options = OPTIONS(options, .chip = "GA100", .effort = -1);
	freed(opk_set) *set = NULL;
	freed(opk_plan) *plan = NULL;
	int code;

	ck_ok(ctx, opk_set_find(&set, ctx, "latency"));
	code = opk_plan_new(&plan, ctx, set, &options);
	ck_assert_msg(!code == !release.old, "%s", errors_of(ctx));
	ck_assert_msg(!code || (told(ctx, release.name) && told(ctx, "13.0 has more metrics")),
	              "%s", errors_of(ctx));
}

SUITE(.needs = have_cupti, .seconds = 300);
