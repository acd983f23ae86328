/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets resolved on a chip of the fake library, which has few metrics. */
#include "plan/plan.h"
#include "resolve_texts.h"

/* The metrics that a text resolves to, or its errors. */
static const struct {
	struct here here;
	const char *text;   /* after "name: t" */
	const char *wanted; /* on FA100 with the range profiler */
} meanings[] = {
	/* ---- lists of metrics */
	{ HERE, "metrics: [fake__b.sum, fake__a.sum]", "fake__b.sum\nfake__a.sum\n" },
	/* Resolving does not check that the metric exists: planning does. */
	{ HERE, "metrics: [no__such.sum]", "no__such.sum\n" },
	{ HERE, "metrics: ['fake__?.sum']", "fake__a.sum\nfake__b.sum\nfake__c.sum\n" },
	{ HERE, "metrics: ['*.pct', fake__a.sum]", "fake__ratio.pct\nfake__a.sum\n" },
	{ HERE, "metrics: [fake__c.sum, fake__*.sum]",
	  "fake__c.sum\nfake__a.sum\nfake__b.sum\nfake__listed.sum\n" },
	{ HERE, "metrics: ['fake__[!a]*.sum']", "fake__b.sum\nfake__c.sum\nfake__listed.sum\n" },
	{ HERE, "metrics: [/fake__(b|c)\\.sum/]", "fake__b.sum\nfake__c.sum\n" },
	/* Expressions that begin in different ways: with text, a class or a choice. */
	{ HERE, "metrics: ['/fake__a?b?\\.sum/']", "fake__a.sum\nfake__b.sum\n" },
	{ HERE, "metrics: ['/fake__ax*\\.sum|fake__c\\.sum/']", "fake__a.sum\nfake__c.sum\n" },
	{ HERE, "metrics: ['/fake__bx{0,1}\\.sum/']", "fake__b.sum\n" },
	{ HERE, "metrics: [/fa+ke__b\\.sum/]", "fake__b.sum\n" },
	{ HERE, "metrics: ['/[f]ake__b\\.sum/']", "fake__b.sum\n" },
	{ HERE, "metrics: ['/(no|fake)__(a|c)\\.sum/']", "fake__a.sum\nfake__c.sum\n" },
	/* Patterns match whole names. */
	{ HERE, "metrics: [/a\\.sum/]",
	  "t.yaml:2:11: FA100 has no metric that matches /a\\.sum/\n"
	  "  metrics: [/a\\.sum/]\n            ^\n" },
	{ HERE, "metrics: [fake__d*]",
	  "t.yaml:2:11: FA100 has no metric that matches fake__d*\n"
	  "  metrics: [fake__d*]\n            ^\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__d*, optional: true}]",
	  "fake__a.sum\nleft out fake__d*\n" },
	/* If the catalog is open, all names are checked. */
	{ HERE, "metrics: ['fake__?.sum', fake__a, fake__x.sum, fake__a.max]",
	  "set t on FA100: 3 errors\n"
	  "t.yaml:2:26: fake__a needs a rollup, for example fake__a.sum\n"
	  "  metrics: ['fake__?.sum', fake__a, fake__x.sum, fake__a.max]\n"
	  "                           ^\n"
	  "t.yaml:2:35: FA100 has no metric 'fake__x.sum', did you mean fake__a.sum?\n"
	  "  metrics: ['fake__?.sum', fake__a, fake__x.sum, fake__a.max]\n"
	  "                                    ^\n"
	  "t.yaml:2:48: fake__a has no rollup or submetric 'max'; a counter takes .sum, .avg, .min or "
	  ".max, and after it possibly .per_second, .per_cycle_active, .pct_of_peak_sustained_elapsed "
	  "and the like\n"
	  "  metrics: ['fake__?.sum', fake__a, fake__x.sum, fake__a.max]\n"
	  "                                                 ^\n" },
	/* ---- options of metrics */
	{ HERE, "metrics: [{metric: fake__a.sum, as: a}, {metric: fake__b.sum}]",
	  "fake__a.sum as a\nfake__b.sum\ncolumns a fake__b.sum\n" },
	/* Optional metrics: missing, or refused. */
	{ HERE, "metrics: [fake__a.sum, {metric: no__such.sum, optional: true}]",
	  "fake__a.sum\nleft out no__such.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__listed.sum, as: l, optional: true}]",
	  "fake__a.sum\nleft out l\n" },
	{ HERE,
	  "derived: {d: fake__listed.sum / 2, e: d + 1}\n"
	  "metrics: [fake__a.sum, {metric: e, optional: true}]",
	  "fake__a.sum\nleft out fake__listed.sum e d\n" },
	{ HERE, "metrics: [{metric: 'fake__*.sum', optional: true}]",
	  "fake__a.sum\nfake__b.sum\nfake__c.sum\nleft out fake__listed.sum\n" },
	{ HERE, "metrics: [{metric: fake__a.sum, optional: false}]", "fake__a.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, only: [FB100]}]", "fake__a.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, only: [fb100, fa100]}]",
	  "fake__a.sum\nfake__b.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, only: [pm, Hopper]}]",
	  "fake__a.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, only: [range]}]",
	  "fake__a.sum\nfake__b.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, except: [FA100]}]", "fake__a.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {metric: fake__b.sum, except: [FB100, pm]}]",
	  "fake__a.sum\nfake__b.sum\n" },
	/* The same metric under two names, one for each chip. */
	{ HERE,
	  "metrics:\n- {metric: fake__a.sum, as: x, only: [FA100]}\n"
	  "- {metric: fake__b.sum, as: x, except: [FA100]}",
	  "fake__a.sum as x\ncolumns x\n" },
	{ HERE, "metrics:\n- {metric: fake__a.sum, as: x}\n- {metric: fake__b.sum, as: x}",
	  "t.yaml:4:29: on FA100 'x' is also the name of fake__a.sum\n"
	  "  - {metric: fake__b.sum, as: x}\n                              ^\n" },
	{ HERE, "metrics: [{any: [no__such.sum, fake__b.sum, fake__a.sum], as: x}]",
	  "fake__b.sum as x\ncolumns x\n" },
	{ HERE, "metrics: [{any: [fake__listed.sum, fake__b.sum], as: x}]",
	  "fake__b.sum as x\ncolumns x\n" },
	{ HERE, "metrics: [fake__b.sum, {any: [fake__listed.sum, fake__b.sum], as: x}]",
	  "fake__b.sum as x\ncolumns x\n" },
	{ HERE, "metrics: [fake__a.sum, {any: [no__such.sum, no__other.sum], optional: true}]",
	  "fake__a.sum\nleft out no__such.sum\n" },
	{ HERE, "metrics: [fake__a.sum, {any: [fake__listed.sum], optional: true}]",
	  "fake__a.sum\nleft out fake__listed.sum\n" },
	{ HERE, "metrics: [{any: [no__such.sum, no__other.sum]}]",
	  "t.yaml:2:18: FA100 has none of these 2 metrics\n"
	  "  metrics: [{any: [no__such.sum, no__other.sum]}]\n                   ^\n" },
	{ HERE, "metrics: [{metric: fake__a.sum, only: [FB100]}]",
	  "set t has no metric on FA100\n" },
	/* Listed twice: once optional, once not. */
	{ HERE, "metrics: [{metric: 'fake__*.sum', optional: true}, fake__listed.sum]",
	  "fake__a.sum\nfake__b.sum\nfake__c.sum\nfake__listed.sum\n" },
	/* ---- groups */
	{ HERE,
	  "metrics:\n- fake__a.sum\n- group: G\n  text: prose\n  metrics: [fake__c.sum, fake__b.sum]\n"
	  "- fake__ratio.pct",
	  "fake__a.sum\nfake__c.sum\nfake__b.sum\nfake__ratio.pct\nheading G: prose: 2 from 1\n" },
	{ HERE,
	  "metrics:\n- group: G\n  metrics: [fake__a.sum]\n- group: H\n  metrics: [fake__b.sum]",
	  "fake__a.sum\nfake__b.sum\nheading G: : 1 from 0\nheading H: : 1 from 1\n" },
	/* A metric that is already listed keeps its place; an empty heading is left out. */
	{ HERE, "metrics:\n- fake__?.sum\n- group: G\n  metrics: ['*b.sum']\n",
	  "fake__a.sum\nfake__b.sum\n"
	  "fake__c.sum\n" },
	{ HERE,
	  "metrics:\n- group: G\n  metrics: [fake__a.sum, fake__b.sum, fake__c.sum]\n"
	  "changes:\n- for: [FA100]\n  remove: [fake__b.sum]\n",
	  "fake__a.sum\nfake__c.sum\nheading G: : 2 from 0\n" },
	/* ---- changes */
	{ HERE,
	  "metrics: [fake__a.sum]\nchanges:\n- {for: [FA100], add: [fake__b.sum]}\n"
	  "- {for: [FB100], add: [fake__c.sum]}",
	  "fake__a.sum\nfake__b.sum\n" },
	{ HERE,
	  "metrics: ['fake__?.sum']\nchanges:\n- {for: [range], remove: ['*b.sum', /.*a.sum/]}",
	  "fake__c.sum\n" },
	/* In any order of the keys, removals come first. */
	{ HERE,
	  "metrics: [fake__a.sum]\nchanges:\n- {for: [FA100], add: [fake__b.sum], remove: ['*.sum']}",
	  "fake__b.sum\n" },
	{ HERE,
	  "metrics: [{metric: fake__a.sum, as: x}, fake__b.sum]\n"
	  "changes:\n- {for: [FA100], remove: [x]}",
	  "fake__b.sum\n" },
	{ HERE, "metrics: [fake__a.sum]\nchanges:\n- {for: [FA100], remove: [fake__b.sum]}",
	  "t.yaml:4:27: on FA100 the set has no fake__b.sum that could be removed, did you mean "
	  "fake__a.sum?\n  - {for: [FA100], remove: [fake__b.sum]}\n                            ^\n" },
	{ HERE,
	  "metrics: [fake__a.sum, {metric: no__such.sum, optional: true}]\n"
	  "changes:\n- {for: [FA100], remove: [no__such.sum]}",
	  "fake__a.sum\n" },
	/* A metric that the chip lacks can be removed without an error. */
	{ HERE,
	  "metrics: [fake__a.sum, {metric: no__such.sum, optional: true},"
	  " {metric: other__such.sum, optional: true}]\n"
	  "changes:\n- {for: [FA100], remove: ['no__*']}",
	  "fake__a.sum\nleft out other__such.sum\n" },
	{ HERE,
	  "metrics: [fake__a.sum]\nchanges:\n- {for: [FA100], remove: [fake__a.sum]}\n"
	  "- {for: [range], add: [fake__a.sum, fake__c.sum]}",
	  "fake__a.sum\nfake__c.sum\n" },
	/* ---- parameters */
	{ HERE, "parameters: {x: a, y: sum}\nmetrics: ['fake__${x}.${y}']", "fake__a.sum\n" },
	{ HERE, "parameters: {x: '*'}\nmetrics: ['fake__${x}.sum']\n",
	  "fake__a.sum\nfake__b.sum\nfake__c.sum\nfake__listed.sum\n" },
	{ HERE, "parameters: {x: '[ab]'}\nmetrics: ['/fake__${x}\\.sum/']\n",
	  "fake__a.sum\nfake__b.sum\n" },
	/* A value is not substituted again. */
	{ HERE,
	  "parameters: {x: '${y}', y: b}\nmetrics:\n- group: '${x}: ${y}'\n  text: '$ {x} $'\n"
	  "  metrics: ['fake__${y}.sum']",
	  "fake__b.sum\nheading ${y}: b: $ {x} $: 1 from 0\n" },
	{ HERE, "parameters: {x: a, n: 2}\nderived: {d: 'fake__${x}.sum * ${n}'}",
	  "hidden fake__a.sum\nd = fake__a.sum * 2\ncolumns d\n" },
	/* In a formula a value is one operand, or part of a name. */
	{ HERE,
	  "parameters: {x: 2 + 3, n: -1e9}\nderived: {d: 'fake__a.sum * ${x} - ${n} / ${x}'}\n",
	  "hidden fake__a.sum\nd = fake__a.sum * (2 + 3) - (-1e9) / (2 + 3)\ncolumns d\n" },
	{ HERE, "parameters: {x: achieved_occupancy}\nmetrics: ['${x}', fake__a.sum]",
	  "t.yaml:3:11: nvprof's achieved_occupancy has no counterpart on FA100: it has no "
	  "sm__warps_active.avg.pct_of_peak_sustained_active\n"
	  "  metrics: ['${x}', fake__a.sum]\n            ^\n" },
	/* ---- derived metrics */
	{ HERE, "derived: {d: fake__a.sum + fake__b.sum}\nmetrics: [fake__a.sum]",
	  "fake__a.sum\nhidden fake__b.sum\nd = fake__a.sum + fake__b.sum [byte]\ncolumns fake__a.sum d\n" },
	{ HERE, "derived: {d: x + 1, e: d / x}\nmetrics: [e, {metric: fake__a.sum, as: x}]",
	  "fake__a.sum as x\nd = x + 1 [byte]\ne = d / x [unitless]\ncolumns e x d\n" },
	/* A derived metric uses one that is defined after it. */
	{ HERE, "derived: {d: e * 2, e: fake__a.sum}",
	  "hidden fake__a.sum\ne = fake__a.sum [byte]\nd = e * 2\ncolumns d e\n" },
	{ HERE, "derived: {d: {formula: fake__a.sum / fake__b.sum, unit: '', description: prose}}",
	  "hidden fake__a.sum\nhidden fake__b.sum\nd = fake__a.sum / fake__b.sum [unitless] (prose)\ncolumns d\n" },
	{ HERE, "derived: {d: {formula: 2 * fake__a.sum, unit: flop}}",
	  "hidden fake__a.sum\nd = 2 * fake__a.sum [flop]\ncolumns d\n" },
	{ HERE, "derived: {d: {formula: fake__a.sum, unit: bytes}}",
	  "hidden fake__a.sum\nd = fake__a.sum [byte]\ncolumns d\n" },
	{ HERE, "derived: {d: {formula: fake__a.sum, unit: second}}",
	  "t.yaml:2:43: on FA100 the formula gives byte, not second\n"
	  "  derived: {d: {formula: fake__a.sum, unit: second}}\n"
	  "                                            ^\n" },
	{ HERE, "constants: {c: {unit: second, default: 1}}\nderived: {d: 2 * (fake__a.sum + c)}",
	  "t.yaml:3:31: on FA100 byte and second can't be added\n"
	  "  derived: {d: 2 * (fake__a.sum + c)}\n                                ^\n" },
	{ HERE, "derived: {d: no__such.sum}",
	  "t.yaml:2:14: FA100 has no metric 'no__such.sum'\n  derived: {d: no__such.sum}\n"
	  "               ^\n" },
	{ HERE, "derived:\n  d: >-\n    fake__a.sum\n    + no__such.sum\n",
	  "t.yaml:5:7: FA100 has no metric 'no__such.sum'\n      + no__such.sum\n        ^\n" },
	/* Reported once, though two formulas need it. */
	{ HERE, "derived: {d: no__such.sum, e: d, f: e}",
	  "t.yaml:2:14: FA100 has no metric 'no__such.sum'\n  derived: {d: no__such.sum, e: d, f: e}\n"
	  "               ^\n" },
	/* A metric may be missing for a good reason; formulas that use it are left out with it. */
	{ HERE,
	  "metrics: [fake__a.sum, {metric: no__such.sum, as: x, optional: true}]\n"
	  "derived: {d: x * 2, e: d + 1, f: fake__a.sum}",
	  "fake__a.sum\nf = fake__a.sum [byte]\ncolumns fake__a.sum f\nleft out no__such.sum d e\n" },
	{ HERE,
	  "metrics: [fake__a.sum, {metric: no__such.sum, optional: true}]\n"
	  "derived: {d: no__such.sum * 2}",
	  "fake__a.sum\nleft out no__such.sum d\n" },
	{ HERE,
	  "metrics: [fake__a.sum, {metric: fake__b.sum, as: x, only: [FB100]}]\nderived: {d: x * 2}",
	  "fake__a.sum\nleft out d\n" },
	{ HERE,
	  "metrics: [fake__a.sum, {metric: d, optional: true}]\nderived: {d: no__such.sum * 2}",
	  "fake__a.sum\nleft out d\n" },
	/* On other chips `else` gives a number instead of the metric. */
	{ HERE,
	  "metrics: [fake__a.sum, {metric: fake__b.sum, as: x, only: [FB100], else: 0}]\n"
	  "derived: {d: {formula: fake__a.sum + x, unit: byte}, e: x - 1}",
	  "fake__a.sum\nd = fake__a.sum + 0 [byte]\ne = 0 - 1\ncolumns fake__a.sum d e\n" },
	{ HERE,
	  "metrics: [fake__a.sum, {metric: no__such.sum, as: x, optional: true, else: -2.5e3}]\n"
	  "derived: {d: x * 2}",
	  "fake__a.sum\nd = (-2500) * 2\ncolumns fake__a.sum d\nleft out no__such.sum\n" },
	{ HERE,
	  "metrics: [{any: [no__such.sum], as: x, optional: true, else: 1}, fake__b.sum]\n"
	  "derived: {d: x * fake__b.sum}",
	  "fake__b.sum\nd = 1 * fake__b.sum\ncolumns fake__b.sum d\nleft out x\n" },
	{ HERE,
	  "metrics:\n- {metric: fake__b.sum, as: x, only: [FB100], else: 7}\n"
	  "- {metric: fake__a.sum, as: x, only: [FA100]}\nderived: {d: x * 2}",
	  "fake__a.sum as x\nd = x * 2\ncolumns x d\n" },
	{ HERE, "metrics: [{metric: fake__a.sum, as: x, else: 7}]\nderived: {d: x * 2}",
	  "fake__a.sum as x\nd = x * 2\ncolumns x d\n" },
	/* Listed for another chip: not shown here, but other formulas may use it. */
	{ HERE,
	  "metrics: [fake__a.sum, {metric: d, only: [FB100]}]\nderived: {d: fake__b.sum * 2, e: d + 1}",
	  "fake__a.sum\nhidden fake__b.sum\nd = fake__b.sum * 2\ne = d + 1\ncolumns fake__a.sum e\n" },
	{ HERE,
	  "metrics: [fake__a.sum]\nderived: {d: fake__b.sum * 2}\n"
	  "changes: [{for: [FA100], remove: [d]}]",
	  "fake__a.sum\n" },
	{ HERE,
	  "metrics: [fake__a.sum, d]\nderived: {d: fake__b.sum * 2}\n"
	  "changes: [{for: [FA100], remove: [d]}, {for: [FA100], add: [d]}]",
	  "fake__a.sum\nhidden fake__b.sum\nd = fake__b.sum * 2\ncolumns fake__a.sum d\n" },
	/* ---- constants */
	{ HERE, "constants: {c: 2.5, e: 1e300, n: -3}\nderived: {d: fake__a.sum * c - n / e + 1e3}",
	  "hidden fake__a.sum\nd = fake__a.sum * 2.5 - (-3) / 1e+300 + 1e3\ncolumns d\n" },
	{ HERE, "constants: {c: {default: 1, FA100: 0.1}}\nderived: {d: fake__a.sum * c}",
	  "hidden fake__a.sum\nd = fake__a.sum * 0.1\ncolumns d\n" },
	{ HERE, "constants: {c: {default: 1, Hopper: 2}}\nderived: {d: fake__a.sum * c}",
	  "hidden fake__a.sum\nd = fake__a.sum * 1\ncolumns d\n" },
	{ HERE, "constants: {c: {Hopper: 2}}\nderived: {d: fake__a.sum * c}",
	  "t.yaml:3:28: constant c has no value for FA100: give it one, or a default\n"
	  "  derived: {d: fake__a.sum * c}\n                             ^\n" },
	/* No formula uses it. */
	{ HERE, "constants: {c: {Hopper: 2}}\nmetrics: [fake__a.sum]", "fake__a.sum\n" },
	{ HERE, "constants: {c: {unit: byte/second, default: 2}}\nderived: {d: fake__a.sum / c}",
	  "hidden fake__a.sum\nd = fake__a.sum / 2 [second]\ncolumns d\n" },
	/* ---- all errors at once */
	/* Each name that a formula lacks, and those that its inputs lack. */
	{ HERE, "derived: {d: no__x.sum + no__y.sum, e: d / no__z.sum}\nmetrics: [e]",
	  "set t on FA100: 3 errors\n"
	  "t.yaml:2:14: FA100 has no metric 'no__x.sum'\n"
	  "  derived: {d: no__x.sum + no__y.sum, e: d / no__z.sum}\n               ^\n"
	  "t.yaml:2:26: FA100 has no metric 'no__y.sum'\n"
	  "  derived: {d: no__x.sum + no__y.sum, e: d / no__z.sum}\n                           ^\n"
	  "t.yaml:2:44: FA100 has no metric 'no__z.sum'\n"
	  "  derived: {d: no__x.sum + no__y.sum, e: d / no__z.sum}\n"
	  "                                             ^\n" },
	/* A formula that does without one of them gives no message. */
	{ HERE,
	  "derived: {d: no__x.sum, e: d + x}\n"
	  "metrics: [fake__a.sum, {metric: d, optional: true}, {metric: no__y.sum, as: x, optional: true}]",
	  "fake__a.sum\nleft out no__y.sum d e\n" },
	/* Units, names, and refusals of CUPTI; a plain list is not checked. */
	{ HERE,
	  "derived: {d: {formula: fake__b.sum, unit: second}}\nmetrics: [no__x.sum, fake__a.sum]",
	  "set t on FA100: 2 errors\n"
	  "t.yaml:2:43: on FA100 the formula gives byte, not second\n"
	  "  derived: {d: {formula: fake__b.sum, unit: second}}\n"
	  "                                            ^\n"
	  "t.yaml:3:11: FA100 has no metric 'no__x.sum'\n"
	  "  metrics: [no__x.sum, fake__a.sum]\n            ^\n" },
	{ HERE, "metrics: [fake__listed.sum, fake__x*]",
	  "set t on FA100: 2 errors\n"
	  "t.yaml:2:11: fake__listed.sum is listed for FA100 but can't be scheduled on it, profiler range "
	  "(cuptiProfilerHostConfigAddMetrics: CUPTI_ERROR_UNKNOWN (999); the library gives no reason; a "
	  "metric may be listed and yet not be schedulable)\n"
	  "  metrics: [fake__listed.sum, fake__x*]\n            ^\n"
	  "t.yaml:2:29: FA100 has no metric that matches fake__x*\n"
	  "  metrics: [fake__listed.sum, fake__x*]\n                              ^\n" },
};

FAKE_TEST_EACH(meaning, meanings)
{
	opk_autofree char *text = opk_printf("name: t\n%s", row->text);
	freed(opk_set) *set = load_text(ctx, text);
	opk_autofree char *got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);

	ck_row(row, !strcmp(got, row->wanted), "got:\n%s", got);
	ck_assert_int_eq(fake.hosts, 0);
}

/* ---- names ------------------------------------------------------------------------------ */

FAKE_TEST(given_parameters)
{
	static const char text[] = "name: t\nparameters: {x: a}\nmetrics: ['fake__${x}.sum']\n";
	freed(opk_set) *set = load_text(ctx, text), *joined = NULL;
	char *got;

	ck_ok(ctx, opk_set_parameter(set, ctx, "x", "b"));
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "fake__b.sum\n");
	free(got);
	/* The outer set's values take precedence, and the last one wins. */
	ck_ok(ctx, opk_set_join(&joined, ctx, (const struct opk_set *const *)&set, 1));
	ck_ok(ctx, opk_set_parameter(joined, ctx, "x", "a"));
	ck_ok(ctx, opk_set_parameter(joined, ctx, "x", "?"));
	got = resolve(ctx, joined, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "fake__a.sum\nfake__b.sum\nfake__c.sum\n");
	free(got);
	ck_ok(ctx, opk_set_parameter(joined, ctx, "x", "a b"));
	got = resolve(ctx, joined, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "t.yaml:3:11: 'fake__a b.sum' is not a metric name\n"
	                      "  metrics: ['fake__${x}.sum']\n            ^\n");
	free(got);
	ck_code(ctx, opk_set_parameter(joined, ctx, "z", "1"), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "set t has no parameter 'z', did you mean x?");
	ck_code(ctx, opk_set_parameter(joined, ctx, "level", "1"), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "set t has no parameter 'level'; it has x");
}

/* Errors that need no library are reported without one. */
FAKE_TEST(errors_without_a_library)
{
	struct opk_set *set = load_text(
		ctx, "name: t\nparameters: {x: a}\nmetrics: ['fake__${x}.sum', no__x.sum]\n");
	opk_autofree char *got = NULL;

	ck_ok(ctx, opk_set_parameter(set, ctx, "x", "a b"));
	fake.status[FAKE_cuptiProfilerHostInitialize] = 999;
	got = resolve(ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_assert_str_eq(got, "t.yaml:3:11: 'fake__a b.sum' is not a metric name\n"
	                      "  metrics: ['fake__${x}.sum', no__x.sum]\n            ^\n");
	opk_set_free(set);
}

/* A set with errors can only be checked. */
FAKE_TEST(a_set_with_errors)
{
	static const char text[] = "name: t\nverzion: 1\nmetrics: [fake__a.sum, fake__bb.sum]\n";
	struct opk_set *set = NULL, *joined = NULL;
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;

	put_file("t.yaml", text, strlen(text));
	ck_code(ctx, opk_set_find_partly(&set, ctx, in_folder("t.yaml")), OPK_EINPUT);
	ck_assert_ptr_nonnull(set);
	options.chip = "FA100";
	ck_code(ctx, opk_plan_new(&plan, ctx, set, &options), OPK_EINPUT);
	ck_assert_str_eq(cause(ctx), "set t was read with errors");
	ck_code(ctx, opk_set_join(&joined, ctx, (const struct opk_set *const *)&set, 1),
	        OPK_EINPUT);
	ck_code(ctx, opk_set_check_on(ctx, set, "fa100"), OPK_EINPUT);
	ck_assert_str_eq(
		errors(ctx),
		"t.yaml:3:24: FA100 has no metric 'fake__bb.sum', did you mean fake__b.sum?\n"
		"  metrics: [fake__a.sum, fake__bb.sum]\n                         ^\n");
	ck_code(ctx, opk_set_check_on(ctx, set, "FA10"), OPK_EUSAGE);
	opk_set_free(opk_take(set));
	/* A malformed text leaves no set. */
	put_file("t.yaml", "name: [", 7);
	ck_code(ctx, opk_set_find_partly(&set, ctx, in_folder("t.yaml")), OPK_EINPUT);
	ck_assert_ptr_null(set);
	ck_ok(ctx, opk_set_find_partly(&set, ctx, "fake__a.sum"));
	ck_ok(ctx, opk_set_check_on(ctx, set, "FA100"));
	opk_set_free(set);
}

/* ---- from the command line, and failures ------------------------------------------------ */

static const struct {
	struct here here;
	const char *names, *wanted;
	int code;
} names_from_the_command_line_rows[] = {
	{ HERE, "fake__b.sum,fake__a.sum,fake__b.sum", "fake__b.sum\nfake__a.sum\n", OPK_OK },
	{ HERE, "fake__?.sum", "fake__a.sum\nfake__b.sum\nfake__c.sum\n", OPK_OK },
	{ HERE, "fake__d*", "FA100 has no metric that matches fake__d*\n", OPK_EUSAGE },
	{ HERE, "fake__a.sum,acheived_occupancy",
	  "'acheived_occupancy' is not a full metric name such as dram__bytes.sum, nor a derived metric of this "
	  "set or a name of nvprof's, did you mean achieved_occupancy?\n",
	  OPK_EUSAGE },
	{ HERE, "fake__a.sum,sm_throughput",
	  "'sm_throughput' is not a full metric name such as dram__bytes.sum, nor a derived metric of this "
	  "set or a name of nvprof's, did you mean sm__throughput?\n",
	  OPK_EUSAGE },
	{ HERE, "fake__[a.sum", "'fake__[a.sum': the bracket is not closed\n", OPK_EUSAGE },
};

FAKE_TEST_EACH(names_from_the_command_line, names_from_the_command_line_rows)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	opk_autobuf struct opk_buf out = { 0 };
	freed(opk_set) *set = NULL;
	int code;

	ck_ok(ctx, opk_set_from_names(&set, ctx, row->names));
	code = opk_set_resolve(&resolved, ctx, set, "FA100", OPK_PROFILER_RANGE);
	ck_row(row, code == row->code, "code %d", code);
	if (!code)
		describe_resolved(&out, &resolved);
	opk_buf_add(&out, "", 1);
	ck_row(row, !strcmp(code ? errors(ctx) : (char *)out.data, row->wanted), "got:\n%s",
	       code ? errors(ctx) : (char *)out.data);
}

/* The set is valid, but not for the chip. */
FAKE_TEST(a_chip_that_is_not_claimed)
{
	freed(opk_set) *set = load_text(ctx, "name: t\nchips: [FB100]\nmetrics: [fake__d*]\n");
	opk_autoresolved struct opk_resolved resolved = { 0 };

	ck_code(ctx, opk_set_resolve(&resolved, ctx, set, "FA100", OPK_PROFILER_RANGE), OPK_EUSAGE);
	ck_assert_str_eq(errors(ctx), "set t is made for other chips, such as FB100\n"
	                              "t.yaml:3:11: FA100 has no metric that matches fake__d*\n"
	                              "  metrics: [fake__d*]\n            ^\n");
}

/* Marks over only some operations would be too low: then there is no roofline. */
FAKE_TEST(rooflines_of_parts)
{
	static const struct {
		struct here here;
		const char *kept[6];
		size_t roofs;
		const char *throughput;
	} rows[] = {
		{ HERE,
		  { "fake__a.sum", "fake__b.sum", "fake__c.sum", "fake__listed.sum",
		    "fake__ratio.pct" },
		  3,
		  "fake__ratio.pct" },
		/* A level without its throughput is a line with fewer facts. */
		{ HERE,
		  { "fake__a.sum", "fake__b.sum", "fake__c.sum", "fake__listed.sum" },
		  3,
		  "" },
		{ HERE, { "fake__a.sum", "fake__c.sum", "fake__listed.sum" }, 0, "" },
		{ HERE, { "fake__a.sum", "fake__b.sum", "fake__listed.sum" }, 0, "" },
		{ HERE, { "fake__a.sum", "fake__b.sum", "fake__c.sum" }, 0, "" },
	};
	struct opk_set *set = load_text(
		ctx,
		"name: t\nmetrics: [fake__a.sum, fake__b.sum, fake__c.sum, fake__listed.sum, fake__ratio.pct]\n"
		"roofline:\n  work: [fake__a.sum, fake__b.sum]\n  time: fake__c.sum\n"
		"  levels:\n    L: {bytes: fake__listed.sum, peak: fake__c.sum,"
		" throughput: fake__ratio.pct}\n"
		"  roofs:\n    R: {work: fake__a.sum, peak: fake__b.sum}\n    S: fake__b.sum\n");

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autoresolved struct opk_resolved resolved = { 0 };
		opk_autostrlist struct opk_strlist kept = { 0 };

		for (size_t j = 0; rows[i].kept[j]; j++)
			ck_assert(opk_strlist_add(&kept, rows[i].kept[j]));
		ck_ok(ctx, opk_set_resolve(&resolved, ctx, set, "FA100", OPK_PROFILER_RANGE));
		ck_assert_uint_eq(resolved.roofline.roof_count, 3);
		ck_assert_str_eq(resolved.roofline.roofs[1].work, "fake__a.sum");
		ck_assert_str_eq(resolved.roofline.roofs[2].work, "");
		ck_ok(ctx, opk_resolved_keep(&resolved, ctx, "t", &kept));
		ck_row(&rows[i], resolved.roofline.roof_count == rows[i].roofs, "%zu",
		       resolved.roofline.roof_count);
		if (rows[i].roofs)
			ck_row(&rows[i],
			       !strcmp(resolved.roofline.roofs[0].throughput, rows[i].throughput),
			       "%s", resolved.roofline.roofs[0].throughput);
	}
	opk_set_free(set);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder, .seconds = 300);
