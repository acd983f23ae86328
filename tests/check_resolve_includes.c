/* SPDX-License-Identifier: BSD-2-Clause */
/* Part of check_resolve: sets of several files, and the hash of what a set means. */
#include "resolve_texts.h"

/* ---- several sets ----------------------------------------------------------------------- */

struct file {
	const char *name, *text;
};

static const struct {
	struct here here;
	struct file files[4]; /* the first one is loaded */
	const char *wanted;
} included_sets_rows[] = {
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [./b.yaml]\nmetrics: [fake__a.sum, fake__b.sum]" },
	    { "b.yaml", "name: b\nmetrics: [fake__c.sum, fake__b.sum]" } },
	  "fake__c.sum\nfake__b.sum\nfake__a.sum\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml, c.yaml]" },
	    { "b.yaml",
	      "name: b\ninclude: [c.yaml]\nchanges: [{for: [FA100], remove: [fake__c.sum]}]" },
	    { "c.yaml", "name: c\nmetrics: [fake__c.sum, fake__b.sum]" } },
	  "fake__b.sum\nfake__c.sum\n" },
	/* Definitions of an included set can be used, and shown on request. */
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]\nderived: {e: d / x * c}\n"
	                "metrics: ['fake__${p}.sum', d, fake__c.sum]" },
	    { "b.yaml", "name: b\nparameters: {p: b}\nconstants: {c: 7}\nderived: {d: x + 1}\n"
	                "metrics: [{metric: fake__a.sum, as: x}]" } },
	  "fake__a.sum as x\nfake__b.sum\nfake__c.sum\nd = x + 1 [byte]\ne = d / x * 7\n"
	  "columns x fake__b.sum d fake__c.sum e\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]\nmetrics: [{metric: fake__a.sum, as: x}]" },
	    { "b.yaml", "name: b\nmetrics: [fake__a.sum]" } },
	  "fake__a.sum as x\ncolumns x\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]\nmetrics: [{metric: fake__a.sum, as: x}]" },
	    { "b.yaml", "name: b\nmetrics: [{metric: fake__a.sum, as: y}]" } },
	  "a.yaml:3:37: fake__a.sum has the name 'y' already: a metric has one\n"
	  "  metrics: [{metric: fake__a.sum, as: x}]\n                                      ^\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]\nprofiler: pm" },
	    { "b.yaml", "name: b\nprofiler: range\nmetrics: [fake__a.sum]" } },
	  "a.yaml:2:11: set b is for profiler range, this one for pm: build them apart\n"
	  "  include: [b.yaml]\n            ^\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]\nderived: {d: 1}\nconstants: {c: 1}\n"
	                "parameters: {p: 1}\nmetrics: [{metric: fake__b.sum, as: d}]" },
	    { "b.yaml",
	      "name: b\nderived: {c: fake__a.sum}\nconstants: {d: 1}\nparameters: {p: 2}" } },
	  "a.yaml: 4 errors\n"
	  "a.yaml:3:11: derived metric 'd' is defined a second time, first at FOLDER/b.yaml:3:13\n"
	  "  derived: {d: 1}\n            ^\n"
	  "a.yaml:4:13: constant 'c' is defined a second time, first at FOLDER/b.yaml:2:11\n"
	  "  constants: {c: 1}\n              ^\n"
	  "a.yaml:5:14: parameter 'p' is one of an included set already\n"
	  "  parameters: {p: 1}\n               ^\n"
	  "a.yaml:6:37: the name 'd' is defined a second time, first at FOLDER/b.yaml:3:13\n"
	  "  metrics: [{metric: fake__b.sum, as: d}]\n                                      ^\n" },
	/* Sets that can't be included. */
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [a.yaml]" } },
	  "a.yaml:2:11: sets include each other: FOLDER/a.yaml includes FOLDER/a.yaml\n"
	  "  include: [a.yaml]\n            ^\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [b.yaml]" },
	    { "b.yaml", "name: b\ninclude: [c.yaml]" },
	    { "c.yaml", "name: c\ninclude: [b.yaml]" } },
	  "c.yaml:2:11: sets include each other: FOLDER/b.yaml includes FOLDER/c.yaml includes "
	  "FOLDER/b.yaml\n  include: [b.yaml]\n            ^\n" },
	{ HERE,
	  { { "a.yaml", "name: a\ninclude: [none.yaml, memroy, b.yaml, b.yaml]\nmetrics: [q]" },
	    { "b.yaml", "name: b\nmetric: [fake__a.sum]" } },
	  "a.yaml: 4 errors\n"
	  "a.yaml:2:11: FOLDER/none.yaml: can't open: No such file or directory\n"
	  "  include: [none.yaml, memroy, b.yaml, b.yaml]\n            ^\n"
	  "a.yaml:2:22: no metric set 'memroy', did you mean memory?\n"
	  "  include: [none.yaml, memroy, b.yaml, b.yaml]\n                       ^\n"
	  "a.yaml:2:38: set b.yaml is listed twice\n"
	  "  include: [none.yaml, memroy, b.yaml, b.yaml]\n                                       ^\n"
	  "b.yaml:2:1: unknown key 'metric', did you mean metrics?\n"
	  "  metric: [fake__a.sum]\n  ^\n" },
};

FAKE_TEST_EACH(included_sets, included_sets_rows)
{
	freed(opk_set) *set = NULL;
	opk_autofree char *got = NULL;
	int code;

	for (size_t i = 0; i < COUNT(row->files) && row->files[i].name; i++)
		put_file(row->files[i].name, row->files[i].text, strlen(row->files[i].text));
	code = opk_set_load(&set, ctx, in_folder(row->files[0].name));
	got = code ? strdup(errors(ctx)) : resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_row(row, !strcmp(got, row->wanted), "got:\n%s", got);
}

/* A chain of sets, each in its own file. */
static int load_chain(struct opk_set **set, struct opk_ctx *ctx, int length)
{
	for (int i = 1; i <= length; i++) {
		char name[32], text[100];

		snprintf(name, sizeof name, "%d.yaml", i);
		snprintf(text, sizeof text,
		         i < length ? "name: n\ninclude: [%d.yaml]\n"
		                    : "name: n\nmetrics: [fake__a.sum]\n",
		         i + 1);
		put_file(name, text, strlen(text));
	}
	return opk_set_load(set, ctx, in_folder("1.yaml"));
}

FAKE_TEST(deep_includes)
{
	struct opk_set *set = NULL;
	opk_autofree char *got = NULL;

	ck_ok(ctx, load_chain(&set, ctx, 16));
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "fake__a.sum\n");
	opk_set_free(set);
	ck_code(ctx, load_chain(&set, ctx, 17), OPK_EINPUT);
	ck_assert_str_eq(errors(ctx),
	                 "16.yaml:2:11: sets include each other more than 16 levels deep\n"
	                 "  include: [17.yaml]\n            ^\n");
}

/* Each level includes both sets of the next: 65,536 ways, but 31 files. */
FAKE_TEST(many_ways_to_a_set)
{
	freed(opk_set) *set = NULL;
	opk_autofree char *got = NULL;

	for (int level = 0; level < 16; level++) {
		for (int i = 0; i < 2; i++) {
			char name[32], text[100];

			snprintf(name, sizeof name, "%d-%d.yaml", level, i);
			snprintf(text, sizeof text,
			         level < 15 ? "name: n\ninclude: [%d-0.yaml, %d-1.yaml]\n"
			                    : "name: n\nmetrics: [fake__a.sum]\n",
			         level + 1, level + 1);
			put_file(name, text, strlen(text));
		}
	}
	ck_ok(ctx, opk_set_load(&set, ctx, in_folder("0-0.yaml")));
	ck_assert(opk_set_claims(set, "FA100"));
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "fake__a.sum\n");
}

FAKE_TEST(too_many_files)
{
	struct opk_set *set = NULL;
	opk_autobuf struct opk_buf text = { 0 };

	opk_buf_add_text(&text, "name: n\ninclude:\n");
	for (int i = 0; i < 101; i++) {
		char name[32];

		snprintf(name, sizeof name, "%d.yaml", i);
		put_file(name, "name: m\nmetrics: [fake__a.sum]\n", 31);
		opk_buf_add_printf(&text, "- %s\n", name);
	}
	put_file("n.yaml", text.data, text.size);
	ck_code(ctx, opk_set_load(&set, ctx, in_folder("n.yaml")), OPK_EINPUT);
	ck_assert_ptr_nonnull(
		strstr(errors(ctx), "n.yaml:102:3: more than 100 sets are included\n"));
}

static const struct {
	struct here here;
	const char *chips, *chip;
	bool wanted;
} claims_of_including_sets_rows[] = {
	{ HERE, "", "GH100", true },
	{ HERE, "", "GA100", true },
	{ HERE, "", "GB202", false },
	{ HERE, "chips: [GB202]", "GB202", true },
	{ HERE, "chips: [GB202]", "GH100", false },
	{ HERE, "chips: [blackwell]", "GB100", true },
	{ HERE, "chips: [Blackwell]", "GH100", false },
};

FAKE_TEST_EACH(claims_of_including_sets, claims_of_including_sets_rows)
{
	opk_autofree char *text = opk_printf("name: a\ninclude: [b.yaml, c.yaml]\n%s\n",
	                                     row->chips);
	freed(opk_set) *set = NULL;

	put_file("b.yaml", "name: b\nchips: [Hopper, GA100]\nmetrics: [fake__a.sum]\n", 53);
	put_file("c.yaml", "name: c\nmetrics: [fake__a.sum]\n", 31);
	set = load_text(ctx, text);
	ck_row(row, opk_set_claims(set, row->chip) == row->wanted, "%s", row->chip);
}

/* ---- the hash --------------------------------------------------------------------------- */

static const char hashed[] =
	"name: t\nparameters: {p: a}\nconstants: {c: 2}\nderived: {d: c * x + 1, e: fake__c.sum / d}\n"
	"metrics: [{metric: 'fake__${p}.sum', as: x}, {group: g, metrics: [fake__b.sum]}]\n";

static char *hash_of(struct opk_ctx *ctx, const char *text, enum opk_profiler profiler)
{
	freed(opk_set) *set = load_text(ctx, text);
	opk_autoresolved struct opk_resolved resolved = { 0 };
	char *hash;

	ck_ok(ctx, opk_set_resolve(&resolved, ctx, set, "FA100", profiler));
	hash = opk_take(resolved.hash);
	return hash;
}

FAKE_TEST(hashes)
{
	static const struct {
		struct here here;
		const char *text;
		bool same;
	} rows[] = {
		{ HERE,
		  "name: t\nparameters: {p: a}\nconstants: {c: 2}\n"
		  "derived: {d: c * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: 'fake__${p}.sum', as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  true },
		/* Order of keys, style, comments, unused definitions and prose do not matter. */
		{ HERE,
		  "# A comment.\nmetrics:\n  - as: x\n    metric: \"fake__${p}.sum\"\n"
		  "  - metrics: [fake__b.sum]\n    group: g\n"
		  "constants: {unused: 3, c: {default: 2.0}}\ndescription: prose\n"
		  "derived:\n  e: >\n    fake__c.sum\n    / d\n  d: {formula: c*x+1}\n"
		  "version: 1\nparameters: {p: a}\nname: t\n",
		  true },
		{ HERE,
		  "name: t\nderived: {d: 2 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  true },
		{ HERE,
		  "name: t\nderived: {d: 3 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  false },
		{ HERE,
		  "name: u\nderived: {d: 2 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  false },
		{ HERE,
		  "name: t\nversion: 2\nderived: {d: 2 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  false },
		{ HERE,
		  "name: t\nderived: {d: 2 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, fake__b.sum]\n",
		  false },
		{ HERE,
		  "name: t\nderived: {d: 2 * x + 1, e: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__b.sum, as: x}, {group: g, metrics: [fake__a.sum]}]\n",
		  false },
		{ HERE,
		  "name: t\nderived: {d: 2 * x + 1, f: fake__c.sum / d}\n"
		  "metrics: [{metric: fake__a.sum, as: x}, {group: g, metrics: [fake__b.sum]}]\n",
		  false },
	};
	opk_autofree char *wanted = hash_of(ctx, hashed, OPK_PROFILER_RANGE);

	ck_assert_msg(!strncmp(wanted, "crc32:", 6) && strlen(wanted) == 14, "%s", wanted);
	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *hash = hash_of(ctx, rows[i].text, OPK_PROFILER_RANGE);

		ck_row(&rows[i], !strcmp(hash, wanted) == rows[i].same, "%s, not %s", hash, wanted);
	}
}

static const struct {
	struct here here;
	const char *one, *other;
	bool same;
} hashes_of_formulas_rows[] = {
	{ HERE, "constants: {c: -5}\nderived: {d: x - c}", "derived: {d: x - -5}", true },
	{ HERE, "constants: {c: 0.1}\nderived: {d: x * c}", "derived: {d: (x) * 1e-1}", true },
	{ HERE, "parameters: {p: 1 + x}\nderived: {d: '${p}'}", "derived: {d: ((1)+x)}", true },
	{ HERE, "derived: {d: x - (1 - 2)}", "derived: {d: x - 1 - 2}", false },
	{ HERE, "derived: {d: x - 5}", "derived: {d: x - -5}", false },
	{ HERE, "derived: {d: x + 5}", "derived: {d: 5 + x}", false },
	{ HERE, "derived: {d: 'min(x, 2)'}", "derived: {d: 'max(x, 2)'}", false },
	{ HERE, "derived: {d: x / 2}", "derived: {d: fake__a.sum / 2}", false },
};

/* Formulas that compute the same in other words, and formulas that don't. */
FAKE_TEST_EACH(hashes_of_formulas, hashes_of_formulas_rows)
{
	static const char metrics[] = "metrics: [{metric: fake__a.sum, as: x}]\n";
	opk_autofree char *one = opk_printf("name: t\n%s\n%s", row->one, metrics);
	opk_autofree char *other = opk_printf("name: t\n%s\n%s", row->other, metrics);
	opk_autofree char *a = hash_of(ctx, one, OPK_PROFILER_RANGE);
	opk_autofree char *b = hash_of(ctx, other, OPK_PROFILER_RANGE);
	opk_autofree char *c = hash_of(ctx, one, OPK_PROFILER_PM);

	ck_row(row, !strcmp(a, b) == row->same, "%s and %s", a, b);
	ck_row(row, strcmp(a, c), "%s for both profilers", a);
}
