/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of findings, and what they say of values. */
#include <math.h>
#include <string.h>

#include "answers/answers_inside.h"
#include "base/file.h"

#include "allocation.h"

static const char good[] =
	"needs: [time]\n"
	"doubt: time < 0\n"
	"parts:\n"
	"  - {name: fma, label: FMA, percent: fma, bar: compute}\n"
	"  - {name: half, label: half, percent: half, yields: [fma], within: fma,\n"
	"     either: true, bar: compute}\n"
	"  - {name: dram, label: DRAM, percent: dram, bar: dram}\n"
	"  - {name: l2, label: L2, percent: l2, yields: [dram], margin: 20, bar: l2}\n"
	"idle:\n"
	"  - {name: blocks, label: too few blocks,\n"
	"     percent: \"if(active > 30, 100 - active, 0)\"}\n"
	"  - {name: gaps, label: gaps, percent: 100 - active, unsure: true, ranges: true,\n"
	"     alone: true}\n"
	"waits:\n"
	"  - {name: memory, label: memory, percent: memory}\n"
	"  - {name: fixed, label: results, percent: fixed}\n"
	"findings:\n"
	"  - {name: bytes, when: dram > 60, says: \"DRAM: {dram}%, {none}\", gain: 1,\n"
	"     relieves: [dram, l2], try: less, because: measured}\n"
	"  - {name: all, when: memory > 10, says: text, gain: memory / 100,\n"
	"     relieves: [\"*\"], try: less, because: measured}\n";

static int read_rules(struct opk_ctx *ctx, struct opk_answer_rules *rules, const char *text)
{
	return opk_answer_rules_read(rules, ctx, "f.yaml", text, strlen(text));
}

/* ---- errors in rules ------------------------------------------------------------------------ */

/* The good rules with a text replaced. */
static char *replaced(const char *old, const char *with)
{
	const char *at = strstr(good, old);

	ck_assert_ptr_nonnull(at);
	return opk_printf("%.*s%s%s", (int)(at - good), good, with, at + strlen(old));
}

CTX_TEST(errors)
{
	static const struct {
		const char *old, *with, *wanted;
	} rows[] = {
		{ "label: DRAM", "lable: DRAM", "f.yaml:7:18: unknown key 'lable'" },
		{ "label: DRAM, ", "", "f.yaml:7:5: name, label and percent are needed" },
		{ "name: dram", "name: fma", "f.yaml:7:5: a second 'fma'" },
		{ "percent: dram", "percent: 1 +", "f.yaml:7:" },
		{ "bar: dram", "bar: sram", "there is no bar 'sram'" },
		{ "yields: [dram]", "yields: [sram]", "there is no limiter 'sram' before this" },
		{ "within: fma", "within: l2", "there is no limiter 'l2' before this" },
		{ "either: true", "either: yes", "true is needed, or no such key" },
		{ "unsure: true", "unsure: 1", "true is needed, or no such key" },
		{ "doubt: time", "doubt: time +", "f.yaml:2:" },
		{ "margin: 20", "margin: -1", "points from 0 to 100 are needed" },
		{ "margin: 20", "margin: 5x", "points from 0 to 100 are needed" },
		{ "yields: [dram]", "yields: dram", "a list of names is needed here" },
		{ "needs: [time]", "needs: {a: b}", "a list of names is needed here" },
		{ "idle:", "idles:", "'idle': a list of at most 500 rules is needed" },
		{ "waits:\n  - {", "waits:\n  - text\n  - {", "a rule is a map" },
		{ "[dram, l2], try", "[dram, l3], try", "there is no limiter 'l3'" },
		{ "try: less, because: measured}\n  - {name: all",
		  "because: measured}\n  - {name: all", "gain, try and because are needed" },
		{ "label: DRAM", "label: [a]", "text is needed here" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_answer_rules rules = { 0 };
		opk_autofree char *text = replaced(rows[i].old, rows[i].with);

		ck_fails(ctx, read_rules(ctx, &rules, text), OPK_EINPUT, rows[i].wanted);
		opk_answer_rules_clear(&rules);
	}
}

CTX_TEST(not_rules)
{
	static const char *const texts[] = { "", "- a\n", "text", "{", "parts: []\n", "\xff" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct opk_answer_rules rules = { 0 };

		ck_code(ctx, read_rules(ctx, &rules, texts[i]), OPK_EINPUT);
		opk_answer_rules_clear(&rules);
		opk_clear_errors(ctx);
	}
}

CTX_TEST(rules_without_memory)
{
	for (long n = 0;; n++) {
		struct opk_answer_rules rules = { 0 };
		bool left;

		left = is_short(ctx, n, read_rules(ctx, &rules, good));
		opk_answer_rules_clear(&rules);
		if (!left)
			break;
		opk_clear_errors(ctx);
	}
}

/* ---- the shipped rules ---------------------------------------------------------------------- */

static char *read_text(struct opk_ctx *ctx, const char *path)
{
	void *data;
	size_t size;

	ck_ok(ctx, opk_read_file(&data, &size, ctx, path));
	return data;
}

/* A column of the set, as its file has it; a misspelt name would never hold. */
static void is_column(const char *set, const char *name, const char *where)
{
	static const char *const forms[] = { "as: %s}", "as: %s,", "\n  %s: ", "\n  %s:\n" };

	for (size_t i = 0; i < COUNT(forms); i++) {
		char text[200];

		snprintf(text, sizeof text, forms[i], name);
		if (strstr(set, text))
			return;
	}
	ck_abort_msg("%s: '%s' is no column of the set answers", where, name);
}

static void are_columns(const char *set, const struct opk_formula *formula, const char *where)
{
	for (size_t i = 0; i < opk_formula_name_count(formula); i++)
		is_column(set, opk_formula_name(formula, i), where);
}

CTX_TEST(shipped_names)
{
	struct opk_answer_rules rules = { 0 };
	opk_autofree char *text = read_text(ctx, TEST_DATA_DIR "/findings.yaml");
	opk_autofree char *set = read_text(ctx, TEST_DATA_DIR "/sets/answers.yaml");

	ck_ok(ctx, read_rules(ctx, &rules, text));
	for (size_t i = 0; i < rules.needs.count; i++)
		is_column(set, rules.needs.items[i], "needs");
	are_columns(set, rules.doubt, "doubt");
	for (size_t i = 0; i < rules.limiters.count; i++)
		are_columns(set, rules.limiters.items[i].percent, rules.limiters.items[i].name);
	for (size_t i = 0; i < rules.findings.count; i++) {
		const struct opk_finding_rule *rule = &rules.findings.items[i];

		are_columns(set, rule->when, rule->name);
		are_columns(set, rule->gain, rule->name);
		for (const char *at = rule->says; (at = strchr(at, '{')); at++) {
			char name[100];

			snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
			is_column(set, name, rule->name);
		}
	}
	opk_answer_rules_clear(&rules);
}

/* ---- what they say -------------------------------------------------------------------------- */

static const char *const names[] = { "time", "fma",    "half",   "dram",
	                             "l2",   "active", "memory", "fixed" };
enum { NAMES = sizeof names / sizeof *names };

static void judge_by(struct opk_answer *answer, struct opk_ctx *ctx, const char *text,
                     const double values[NAMES], struct opk_strlist *texts)
{
	struct opk_answer_rules rules = { 0 };
	struct opk_index index = { 0 };

	for (size_t i = 0; i < NAMES; i++)
		ck_assert(opk_index_add(&index, names[i], i, NULL));
	ck_ok(ctx, read_rules(ctx, &rules, text));
	*answer = (struct opk_answer){ 0 };
	ck_ok(ctx, opk_answer_judge(answer, ctx, &rules,
	                            &(struct opk_answer_values){ &index, values, "sgemm_1", true },
	                            texts));
	/* Names outlive the rules only in the texts. */
	for (size_t i = 0; i < 2; i++) {
		struct opk_limiter *limiter = i ? &answer->next : &answer->limiter;

		if (!limiter->name)
			continue;
		ck_assert(opk_strlist_add(texts, limiter->name));
		limiter->name = texts->items[texts->count - 1];
	}
	opk_answer_rules_clear(&rules);
	opk_index_clear(&index);
}

static void judge(struct opk_answer *answer, struct opk_ctx *ctx, const double values[NAMES],
                  struct opk_strlist *texts)
{
	judge_by(answer, ctx, good, values, texts);
}

/* time fma half dram l2 active memory fixed */
static const struct {
	struct here here;
	double values[NAMES];
	const char *limiter, *next;
	bool sure, whole;
	const char *text;
} limiter_rows[] = {
	{ HERE,
	  { 1, 90, 0, 10, 10, 99, 5, 5 },
	  "fma",
	  "",
	  true,
	  true,
	  "limited by FMA: 90% of its peak" },
	{ HERE,
	  { 1, 70, 0, 10, 10, 99, 5, 5 },
	  "fma",
	  "",
	  false,
	  true,
	  "probably limited by FMA: 70% of its peak" },
	/* A half of it is not the next part; another part close behind makes it less sure. */
	{ HERE,
	  { 1, 90, 90, 0, 0, 99, 5, 5 },
	  "fma",
	  "",
	  true,
	  true,
	  "limited by FMA: 90% of its peak" },
	{ HERE,
	  { 1, 90, 0, 88, 0, 99, 5, 5 },
	  "fma",
	  "dram",
	  false,
	  true,
	  "probably limited by FMA: 90% of its peak" },
	/* L2 yields to DRAM within its margin, where DRAM is busy. */
	{ HERE,
	  { 1, 0, 0, 76, 95, 99, 5, 5 },
	  "dram",
	  "l2",
	  true,
	  true,
	  "limited by DRAM: 76% of its peak" },
	{ HERE,
	  { 1, 0, 0, 76, 97, 99, 5, 5 },
	  "l2",
	  "dram",
	  true,
	  true,
	  "limited by L2: 97% of its peak" },
	{ HERE,
	  { 1, 0, 0, 50, 65, 99, 5, 5 },
	  "l2",
	  "dram",
	  false,
	  true,
	  "probably limited by L2: 65% of its peak" },
	{ HERE,
	  { 1, 20, 0, 10, 10, 40, 99, 5 },
	  "blocks",
	  "fma",
	  true,
	  true,
	  "SMs are idle 60% of the time: too few blocks" },
	{ HERE,
	  { 1, 20, 0, 10, 10, 90, 40, 50 },
	  "fixed",
	  "fma",
	  true,
	  true,
	  "limited by results: 50% of its warps' time" },
	{ HERE,
	  { 1, 0, 0, 55, 0, 90, 40, 0 },
	  "memory",
	  "dram",
	  false,
	  true,
	  "probably limited by memory: 40% of its warps' time" },
	{ HERE,
	  { 1, 0, 0, 55, 0, 90, 20, 0 },
	  "dram",
	  "",
	  false,
	  true,
	  "probably limited by DRAM: 55% of its peak" },
	{ HERE,
	  { 1, 0, 0, 45, 0, 90, 20, 0 },
	  "memory",
	  "dram",
	  false,
	  true,
	  "probably limited by memory: 20% of its warps' time" },
	{ HERE,
	  { 1, 0, 0, 45, 0, 90, 10, 0 },
	  "dram",
	  "",
	  false,
	  true,
	  "probably limited by DRAM: 45% of its peak" },
	{ HERE,
	  { 1, 0, 0, 30, 0, 90, 10, 0 },
	  "",
	  "dram",
	  false,
	  true,
	  "limited by nothing that can be named: no part is busy, and warps wait for many things" },
	/* What is not known is neither busy nor 0. */
	{ HERE,
	  { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
	  "",
	  "",
	  false,
	  false,
	  "not known: its launches lack metrics that the answer needs" },
	{ HERE,
	  { NAN, 0, 0, 90, 0, 90, 10, 0 },
	  "",
	  "",
	  false,
	  false,
	  "not known: its launches lack metrics that the answer needs" },
	/* Waits that are about as long leave doubt; so does what the rules doubt. */
	{ HERE,
	  { 1, 0, 0, 0, 0, 90, 48, 50 },
	  "fixed",
	  "",
	  false,
	  true,
	  "probably limited by results: 50% of its warps' time" },
	{ HERE,
	  { -1, 0, 0, 90, 0, 90, 10, 0 },
	  "dram",
	  "",
	  false,
	  true,
	  "probably limited by DRAM: 90% of its peak" },
	/* A limiter that is never sure. */
	{ HERE,
	  { 1, 0, 0, 0, 0, 20, 90, 0 },
	  "gaps",
	  "",
	  false,
	  true,
	  "probably SMs are idle 80% of the time: gaps" },
	{ HERE,
	  { 1, NAN, NAN, 90, NAN, NAN, NAN, NAN },
	  "dram",
	  "",
	  true,
	  true,
	  "limited by DRAM: 90% of its peak" },
};

CTX_TEST_EACH(limiters, limiter_rows)
{
	struct opk_strlist texts = { 0 };
	struct opk_answer answer;

	judge(&answer, ctx, row->values, &texts);
	ck_row(row, !strcmp(answer.text, row->text), "%s", answer.text);
	ck_row(row, !strcmp(answer.limiter.name ? answer.limiter.name : "", row->limiter), "%s",
	       answer.limiter.name);
	ck_row(row, !strcmp(answer.next.name ? answer.next.name : "", row->next), "next %s",
	       answer.next.name);
	ck_row(row, answer.sure == row->sure, "sure: %d", answer.sure);
	ck_row(row, answer.whole == row->whole, "whole: %d", answer.whole);
	opk_strlist_clear(&texts);
}

/* Parts that a finding does not relieve bound what it can save; `either` does not. */
CTX_TEST(bounds)
{
	struct opk_strlist texts = { 0 };
	struct opk_answer answer;

	judge(&answer, ctx, (const double[NAMES]){ 1, 30, 80, 90, 70, 99, 40, NAN }, &texts);
	ck_assert_uint_eq(answer.finding_count, 2);
	ck_assert(fabs(answer.findings[0].gain - 0.7) < 1e-12);
	ck_assert(fabs(answer.findings[1].gain - 0.4) < 1e-12);
	ck_assert_str_eq(answer.findings[0].text, "DRAM: 90%, nan");
	ck_assert(answer.bars[0] == 80 && answer.bars[4] == 90);
	ck_assert(isnan(answer.bars[1]) && isnan(answer.bars[2]));
	opk_strlist_clear(&texts);
}

/* A finding for kernels of other names is not told. */
CTX_TEST(for_kernels)
{
	static const char *const patterns[] = { "[\"*gemm*\", x]", "[\"gemm*\", x]" };

	for (size_t i = 0; i < COUNT(patterns); i++) {
		opk_autofree char *with = opk_printf("name: all, kernels: %s", patterns[i]);
		opk_autofree char *text = replaced("name: all", with);
		struct opk_strlist texts = { 0 };
		struct opk_answer answer;

		judge_by(&answer, ctx, text, (const double[NAMES]){ 1, 0, 0, 0, 0, 80, 55, 0 },
		         &texts);
		ck_assert_uint_eq(answer.finding_count, i ? 0 : 1);
		opk_strlist_clear(&texts);
	}
}

/* Where mostly nothing runs, what runs is not worth a finding. */
CTX_TEST(alone)
{
	struct opk_strlist texts = { 0 };
	struct opk_answer answer;

	judge(&answer, ctx, (const double[NAMES]){ 1, 0, 0, 0, 0, 20, 25, 0 }, &texts);
	ck_assert_str_eq(answer.limiter.name, "gaps");
	ck_assert_uint_eq(answer.finding_count, 0);
	judge(&answer, ctx, (const double[NAMES]){ 1, 0, 0, 0, 0, 80, 55, 0 }, &texts);
	ck_assert_str_eq(answer.limiter.name, "memory");
	ck_assert_uint_eq(answer.finding_count, 1);
	opk_strlist_clear(&texts);
}

/* A bar whose parts are mostly unknown is unknown; so is whether a finding holds. */
CTX_TEST(unknown)
{
	struct opk_strlist texts = { 0 };
	struct opk_answer answer;

	judge(&answer, ctx, (const double[NAMES]){ 1, 30, NAN, NAN, 70, 99, NAN, NAN }, &texts);
	ck_assert(isnan(answer.bars[0]) && isnan(answer.bars[4]));
	ck_assert(answer.bars[3] == 70);
	ck_assert_uint_eq(answer.finding_count, 0);
	opk_strlist_clear(&texts);
}

SUITE();
