/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of check_resolve: everything at once, without memory, and with a library that fails. */
#include "allocation.h"
#include "resolve_texts.h"

static const char everything[] =
	"name: t\nversion: 3\nparameters: {p: a}\nconstants: {c: {unit: byte, default: 2, FA100: 3}}\n"
	"derived: {d: c + x, e: {formula: fake__c.sum / d, unit: '', description: prose}, f: y}\n"
	"metrics:\n- {metric: 'fake__${p}.sum', as: x}\n- group: g\n  text: h\n  metrics: ['fake__?.sum', e]\n"
	"- {any: [fake__listed.sum, no__such.sum, fake__ratio.pct], as: r}\n"
	"- {metric: fake__listed.sum, as: y, optional: true}\n- /fake__throughput.*/\n- branch_efficiency\n"
	"changes:\n- {for: [FA100], remove: [branch_efficiency, fake__c.sum]}\n";

static const char everything_resolved[] =
	"fake__a.sum as x\nfake__b.sum\nfake__ratio.pct as r\n"
	"fake__throughput.avg.pct_of_peak_sustained_elapsed\nhidden fake__c.sum\nd = 3 + x [byte]\n"
	"e = fake__c.sum / d [unitless] (prose)\n"
	"columns x fake__b.sum e r fake__throughput.avg.pct_of_peak_sustained_elapsed d\n"
	"heading g: h: 2 from 1\nleft out y f\n";

FAKE_TEST(all_together)
{
	freed(opk_set) *set = NULL;
	opk_autofree char *got = NULL;

	set = load_text(ctx, everything);
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, everything_resolved);
}

/* Allocation n fails; false: there are fewer. Caches may be lost; the result does not change. */
static bool resolve_without(struct opk_ctx *ctx, const struct opk_set *set, long n)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	opk_autobuf struct opk_buf out = { 0 };
	bool failed;
	int code;

	fail_allocation(n);
	code = opk_set_resolve(&resolved, ctx, set, "FA100", OPK_PROFILER_RANGE);
	failed = allocation_failed();
	if (code) {
		ck_assert_msg(failed && code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code,
		              errors(ctx));
		ck_assert_msg(strstr(errors(ctx), "out of memory") != NULL, "allocation %ld: %s", n,
		              errors(ctx));
		return failed;
	}
	describe_resolved(&out, &resolved);
	opk_buf_add(&out, "", 1);
	ck_assert_msg(!strcmp((char *)out.data, everything_resolved), "allocation %ld: %s", n,
	              (char *)out.data);
	return failed;
}

FAKE_TEST(resolving_without_memory)
{
	freed(opk_set) *set = NULL;
	long n = 0;

	set = load_text(ctx, everything);
	while (resolve_without(ctx, set, n))
		n++;
	ck_assert_int_gt(n, 100);
}

FAKE_TEST(loading_without_memory)
{
	struct opk_set *set = NULL;
	opk_autofree char *got = NULL;
	bool failed = true;

	put_file("t.yaml", everything, strlen(everything));
	put_file("i.yaml", "name: i\ninclude: [t.yaml]\n", 26);
	for (long n = 0; failed; n++) {
		int code;

		fail_allocation(n);
		code = opk_set_load(&set, ctx, in_folder("i.yaml"));
		failed = allocation_failed();
		ck_assert_msg(code == OPK_OK || (failed && code == OPK_ENOMEM),
		              "allocation %ld: %d: %s", n, code, errors(ctx));
		if (code)
			continue;
		got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
		ck_assert_msg(!strcmp(got, everything_resolved), "allocation %ld: %s", n, got);
		free(opk_take(got));
		opk_set_free(opk_take(set));
	}
}

static const char with_errors[] =
	"name: t\nverzion: 3\nchips: [FA100]\nparameters: {p: [a]}\nconstants: {c: {Hoper: 2}}\n"
	"derived: {d: c + x + no__a.sum, e: {formula: fake__c.sum, unit: ''}, f: (y}\n"
	"metrics:\n- {metric: 'fake__${p}.sum', as: x}\n- group: g\n  metrics: [fake__bb.sum, fake__z*, /(/]\n"
	"- {any: [no__such.sum, no__x.sum], ass: r}\n- fake__listed.sum\n- barnch_efficiency\n"
	"changes:\n- {for: [FA100], remove: [branch_efficiency, fake__c.sum]}\n";

/* All messages about it, or NULL if an allocation failed; the caller frees them. */
static char *check_without(struct opk_ctx *ctx, long n, bool *failed)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	opk_autofree char *text = NULL;
	char *all = NULL;
	int code;

	fail_allocation(n);
	code = opk_set_find_partly(&set, ctx, in_folder("t.yaml"));
	if (code == OPK_EINPUT && set) {
		text = strdup(errors(ctx));
		code = opk_set_check_on(ctx, set, "FA100");
	}
	*failed = allocation_failed();
	/* Without memory, messages may lose words. */
	ck_assert_msg(code == OPK_EINPUT || (code == OPK_ENOMEM && *failed),
	              "allocation %ld: %d: %s", n, code, errors(ctx));
	if (*failed)
		return NULL;
	ck_assert_int_gt(asprintf(&all, "%s%s", text, errors(ctx)), 0);
	return all;
}

FAKE_TEST(checking_without_memory)
{
	opk_autofree char *told = NULL;
	bool failed = true;

	put_file("t.yaml", with_errors, strlen(with_errors));
	for (long n = 0; failed; n++)
		told = check_without(ctx, n, &failed);
	ck_assert_msg(strstr(told, "t.yaml: 7 errors\n"), "%s", told);
	ck_assert_msg(strstr(told, "set t on FA100: 6 errors\n"), "%s", told);
	ck_assert_int_eq(fake.hosts, 0);
}

static const struct {
	struct here here;
	enum fake_call call;
} a_library_that_fails_rows[] = {
	{ HERE, FAKE_cuptiProfilerHostInitialize },
	{ HERE, FAKE_cuptiProfilerHostGetBaseMetrics },
};

FAKE_TEST_EACH(a_library_that_fails, a_library_that_fails_rows)
{
	freed(opk_set) *set = load_text(ctx, "name: t\nmetrics: ['fake__?.sum']\n");
	opk_autoresolved struct opk_resolved resolved = { 0 };
	int code;

	fake.status[row->call] = 999;
	code = opk_set_resolve(&resolved, ctx, set, "FA100", OPK_PROFILER_RANGE);
	fake.status[row->call] = 0;
	ck_row(row, code == OPK_EFAILED, "code %d", code);
	ck_row(row, told(ctx, "no metric catalog of FA100"), "%s", errors(ctx));
}

/* CUPTI 12.x lists no full names: the catalog still has them. */
FAKE_TEST(a_library_without_full_names)
{
	freed(opk_set) *set =
		load_text(ctx, "name: t\nmetrics: [{any: [no__such.sum, fake__b.sum]}, '*.pct']\n"
	                       "derived: {d: {formula: fake__a.sum * 2, unit: flop}}\n");
	opk_autofree char *got = NULL;

	fake.status[FAKE_cuptiProfilerHostGetSubMetrics] = NV_CUPTI_INVALID_METRIC_NAME;
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(
		got,
		"fake__b.sum\nfake__ratio.pct\nhidden fake__a.sum\nd = fake__a.sum * 2 [flop]\n"
		"columns fake__b.sum fake__ratio.pct d\n");
}

/* Plain sets are planned without reading the catalog. */
FAKE_TEST(plain_sets_open_no_catalog)
{
	freed(opk_set) *set =
		load_text(ctx, "name: t\nmetrics: [fake__a.sum, {metric: fake__b.sum, as: b}]\n");
	opk_autofree char *got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);

	ck_assert_str_eq(got, "fake__a.sum\nfake__b.sum as b\ncolumns fake__a.sum b\n");
	for (size_t i = 0; i < FAKE_SYMBOL_COUNT; i++)
		ck_assert_uint_eq(fake.calls[i], 0);
}
