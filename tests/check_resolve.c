/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets resolved on a chip of the fake library, which has few metrics. */
#include "allocation.h"
#include "plan/plan.h"
#include "fake_nv.h"
#include "folder.h"
#include "metric_sets.h"
#include "resolved.h"
#include "resolve/resolve.h"
#include "set/door.h"

static struct opk_set *load_text(struct opk_ctx *ctx, const char *text)
{
	struct opk_set *set = NULL;

	put_file("t.yaml", text, strlen(text));
	ck_ok(ctx, opk_set_load(&set, ctx, in_folder("t.yaml")));
	return set;
}

/* The chain, outermost first; the folder is removed at the start of a message, else "FOLDER". */
static const char *errors(const struct opk_ctx *ctx)
{
	static char text[8192];
	size_t used = 0;

	for (size_t i = opk_error_count(ctx); i-- > 0;) {
		const char *line = opk_error_message(ctx, i), *path;

		if (!strncmp(line, folder, strlen(folder)))
			line += strlen(folder) + 1;
		for (; (path = strstr(line, folder)); line = path + strlen(folder))
			used += (size_t)sprintf(text + used, "%.*sFOLDER", (int)(path - line),
			                        line);
		used += (size_t)sprintf(text + used, "%s\n", line);
	}
	text[used] = '\0';
	return text;
}

/* The resolved set as text, or its errors; the caller frees it. */
static char *resolve(struct opk_ctx *ctx, const struct opk_set *set, const char *chip,
                     enum opk_profiler profiler)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	opk_autobuf struct opk_buf out = { 0 };

	if (opk_set_resolve(&resolved, ctx, set, chip, profiler))
		return strdup(errors(ctx));
	describe_resolved(&out, &resolved);
	opk_buf_add(&out, "", 1);
	return (char *)opk_take(out.data);
}

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
	{ HERE, "metrics: [fake__?.sum]", "fake__a.sum\nfake__b.sum\nfake__c.sum\n" },
	{ HERE, "metrics: ['*.pct', fake__a.sum]", "fake__ratio.pct\nfake__a.sum\n" },
	{ HERE, "metrics: [fake__c.sum, fake__*.sum]",
	  "fake__c.sum\nfake__a.sum\nfake__b.sum\nfake__listed.sum\n" },
	{ HERE, "metrics: ['fake__[!a]*.sum']", "fake__b.sum\nfake__c.sum\nfake__listed.sum\n" },
	{ HERE, "metrics: [/fake__(b|c)\\.sum/]", "fake__b.sum\nfake__c.sum\n" },
	/* With any beginning. */
	{ HERE, "metrics: [/fake__a?b?\\.sum/]", "fake__a.sum\nfake__b.sum\n" },
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
	{ HERE, "metrics: [fake__?.sum, fake__a, fake__x.sum, fake__a.max]",
	  "set t on FA100: 3 errors\n"
	  "t.yaml:2:24: fake__a needs a rollup, for example fake__a.sum\n"
	  "  metrics: [fake__?.sum, fake__a, fake__x.sum, fake__a.max]\n"
	  "                         ^\n"
	  "t.yaml:2:33: FA100 has no metric 'fake__x.sum', did you mean fake__a.sum?\n"
	  "  metrics: [fake__?.sum, fake__a, fake__x.sum, fake__a.max]\n"
	  "                                  ^\n"
	  "t.yaml:2:46: fake__a has no rollup or submetric 'max'; a counter takes .sum, .avg, .min or "
	  ".max, and after it possibly .per_second, .per_cycle_active, .pct_of_peak_sustained_elapsed "
	  "and the like\n"
	  "  metrics: [fake__?.sum, fake__a, fake__x.sum, fake__a.max]\n"
	  "                                               ^\n" },
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
	{ HERE, "metrics: [fake__?.sum]\nchanges:\n- {for: [range], remove: ['*b.sum', /.*a.sum/]}",
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
	/* A number instead. */
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
	ck_assert_str_eq(got, "t.yaml:3:11: 'fake__a b.sum' is no metric name\n"
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
	ck_assert_str_eq(got, "t.yaml:3:11: 'fake__a b.sum' is no metric name\n"
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

/* ---- several sets ----------------------------------------------------------------------- */

struct file {
	const char *name, *text;
};

struct included {
	struct here here;
	struct file files[4]; /* the first one is loaded */
	const char *wanted;
};

static void check_included(const struct included *row, struct opk_ctx *ctx)
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

FAKE_TEST(included_sets)
{
	static const struct included rows[] = {
		{ HERE,
		  { { "a.yaml",
		      "name: a\ninclude: [./b.yaml]\nmetrics: [fake__a.sum, fake__b.sum]" },
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
		    { "b.yaml",
		      "name: b\nparameters: {p: b}\nconstants: {c: 7}\nderived: {d: x + 1}\n"
		      "metrics: [{metric: fake__a.sum, as: x}]" } },
		  "fake__a.sum as x\nfake__b.sum\nfake__c.sum\nd = x + 1 [byte]\ne = d / x * 7\n"
		  "columns x fake__b.sum d fake__c.sum e\n" },
		{ HERE,
		  { { "a.yaml",
		      "name: a\ninclude: [b.yaml]\nmetrics: [{metric: fake__a.sum, as: x}]" },
		    { "b.yaml", "name: b\nmetrics: [fake__a.sum]" } },
		  "fake__a.sum as x\ncolumns x\n" },
		{ HERE,
		  { { "a.yaml",
		      "name: a\ninclude: [b.yaml]\nmetrics: [{metric: fake__a.sum, as: x}]" },
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
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check_included(&rows[i], ctx);
}

FAKE_TEST(sets_that_can_not_be_included)
{
	static const struct included rows[] = {
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
		  { { "a.yaml",
		      "name: a\ninclude: [none.yaml, memroy, b.yaml, b.yaml]\nmetrics: [q]" },
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

	for (size_t i = 0; i < COUNT(rows); i++)
		check_included(&rows[i], ctx);
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
	  "'acheived_occupancy' is no full metric name such as dram__bytes.sum, no derived metric of this "
	  "set and no name of nvprof's, did you mean achieved_occupancy?\n",
	  OPK_EUSAGE },
	{ HERE, "fake__a.sum,sm_throughput",
	  "'sm_throughput' is no full metric name such as dram__bytes.sum, no derived metric of this "
	  "set and no name of nvprof's, did you mean sm__throughput?\n",
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

static const char everything[] =
	"name: t\nversion: 3\nparameters: {p: a}\nconstants: {c: {unit: byte, default: 2, FA100: 3}}\n"
	"derived: {d: c + x, e: {formula: fake__c.sum / d, unit: '', description: prose}, f: y}\n"
	"metrics:\n- {metric: 'fake__${p}.sum', as: x}\n- group: g\n  text: h\n  metrics: [fake__?.sum, e]\n"
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
	freed(opk_set) *set = load_text(ctx, "name: t\nmetrics: [fake__?.sum]\n");
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

SUITE(.set_up = make_folder, .tear_down = remove_folder, .seconds = 300);
