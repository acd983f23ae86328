/* SPDX-License-Identifier: BSD-2-Clause */
/* Section files of Nsight Compute in pieces: the text format, names, chips, formulas. */
#include "allocation.h"
#include "base/buf.h"
#include "chip/chip.h"
#include "nsight/nsight.h"
#include "metric_sets.h"

/* ---- the text format -------------------------------------------------------------------- */

/* name@line:column, then "text", word or {fields}. */
static void describe(struct opk_buf *out, const struct opk_field *field)
{
	for (size_t i = 0; i < field->count; i++) {
		const struct opk_field *item = &field->fields[i];

		opk_buf_add_printf(out, "%s%s@%zu:%zu", i ? " " : "", item->name, item->place.line,
		                   item->place.column);
		if (item->kind == OPK_FIELD_MESSAGE) {
			opk_buf_add_text(out, "{");
			describe(out, item);
			opk_buf_add_text(out, "}");
		} else {
			opk_buf_add_printf(out, item->kind == OPK_FIELD_STRING ? "\"%s\"" : "=%s",
			                   item->text);
		}
	}
}

static int parse(struct opk_field **out, struct opk_ctx *ctx, const char *text, size_t size)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", text, size);

	return source ? opk_section_parse(out, ctx, source) : opk_nomem(ctx, "a test");
}

static const struct row {
	struct here here;
	const char *text, *wanted;
} trees[] = {
	{ HERE, "", "" },
	{ HERE, " \t\r\n\f\v# all of it a comment", "" },
	{ HERE, "a:1", "a@1:3=1" },
	{ HERE, "a : b\n  c :\n d", "a@1:5=b c@3:2=d" },
	{ HERE, "a{}", "a@1:1{}" },
	{ HERE, "a <b: 1>", "a@1:1{b@1:7=1}" },
	{ HERE, "a: { b { c: 1 } d: 2 }", "a@1:1{b@1:6{c@1:13=1} d@1:20=2}" },
	{ HERE, "a: 1, b: 2; c: 3 d: 4", "a@1:4=1 b@1:10=2 c@1:16=3 d@1:21=4" },
	{ HERE, "a: 1# b: 2\nc: 3", "a@1:4=1 c@2:4=3" },
	{ HERE, "a: [1, x ,-2]", "a@1:5=1 a@1:8=x a@1:11=-2" },
	{ HERE, "a: [ ] b: []", "" },
	{ HERE, "a [{b: 1}, <>]", "a@1:1{b@1:8=1} a@1:1{}" },
	{ HERE, "a: ['x', \"y\" 'z']", "a@1:5\"x\" a@1:10\"yz\"" },
	{ HERE, "a: 'x' # and\n \"y\"\nb: 1", "a@1:4\"xy\" b@3:4=1" },
	{ HERE, "a: '' b: \"'\" c: '\"'", "a@1:4\"\" b@1:10\"'\" c@1:17\"\"\"" },
	{ HERE, "a: '\\a\\b\\f\\n\\r\\t\\v\\?\\\\\\'\\\"'", "a@1:4\"\a\b\f\n\r\t\v?\\'\"\"" },
	{ HERE, "a: '\\101\\1012\\x41\\X4a\\u0041\\U00000041'", "a@1:4\"AA2AJAA\"" },
	{ HERE, "a: '\\303\\251\\u20ac\\U0001f600'",
	  "a@1:4\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
	{ HERE, "a: '\xc3\xa9'", "a@1:4\"\xc3\xa9\"" },
	{ HERE, "a: 0 b: 0x1F c: 1.5 d: .5 e: 2. f: 1e9 g: -2E-3 h: 1.5f i: 1e+3F",
	  "a@1:4=0 b@1:9=0x1F c@1:17=1.5 d@1:24=.5 e@1:30=2. f@1:36=1e9 g@1:43=-2E-3 h@1:52=1.5f "
	  "i@1:60=1e+3F" },
	{ HERE, "a: -inf b: nan c: _x1 d: CC_90", "a@1:4=-inf b@1:12=nan c@1:19=_x1 d@1:26=CC_90" },
};

CTX_TEST(good_texts)
{
	for (size_t i = 0; i < COUNT(trees); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_field *root = NULL;
		int code = parse(&root, ctx, trees[i].text, strlen(trees[i].text));

		ck_row(&trees[i], code == OPK_OK, "%s", errors_of(ctx));
		describe(&buf, root);
		opk_buf_add(&buf, "", 1);
		ck_row(&trees[i], !strcmp((char *)buf.data, trees[i].wanted), "got %s", buf.data);
		opk_section_free(root);
	}
	opk_section_free(NULL);
}

static const struct row bad_trees[] = {
	{ HERE, "1", "t:1:1: a field's name is needed here, not '1'" },
	{ HERE, "\n  =", "t:2:3: a field's name is needed here, not '='" },
	{ HERE, "\xc3\xa9: 1", "t:1:1: a field's name is needed here" },
	{ HERE, "a", "t:1:2: ':' or '{' is needed after a" },
	{ HERE, "a 1", "t:1:3: ':' or '{' is needed after a" },
	{ HERE, "a:", "t:1:3: a value is needed after a:" },
	{ HERE, "a: - 1", "t:1:5: a value is needed after a:" },
	{ HERE, "a: ,", "t:1:4: a value is needed after a:" },
	{ HERE, "a: 1;;", "t:1:6: a field's name is needed here, not ';'" },
	{ HERE, "a: [1", "t:1:6: ',' or ']' is needed here, in the list of a" },
	{ HERE, "a: [1,]", "t:1:7: a value is needed after a:" },
	{ HERE, "a: [1 2]", "t:1:7: ',' or ']' is needed here, in the list of a" },
	{ HERE, "a: [[1]]", "t:1:5: a value is needed after a:" },
	{ HERE, "a {", "t:1:3: '{' is never closed" },
	{ HERE, "a {\n b <", "t:2:4: '<' is never closed" },
	{ HERE, "a {\n >", "t:2:2: '>' does not close the '{' of line 1" },
	{ HERE, "a <\n\n }", "t:3:2: '}' does not close the '<' of line 1" },
	{ HERE, "}", "t:1:1: '}' closes nothing" },
	{ HERE, "a: 1 >", "t:1:6: '>' closes nothing" },
	{ HERE, "a: 'x", "t:1:4: a string that is not closed on its line" },
	{ HERE, "a: 'x\n'", "t:1:4: a string that is not closed on its line" },
	{ HERE, "a: 'x\\", "t:1:7: unknown escape in a string" },
	{ HERE, "a: '\\q'", "t:1:6: unknown escape in a string" },
	{ HERE, "a: '\\x'", "t:1:7: unknown escape in a string" },
	{ HERE, "a: '\\u123'", "t:1:10: unknown escape in a string" },
	{ HERE, "a: '\\ud800'", "t:1:11: unknown escape in a string" },
	{ HERE, "a: '\\U00110000'", "t:1:15: unknown escape in a string" },
	{ HERE, "a: '\\400'", "t:1:9: unknown escape in a string" },
	{ HERE, "a: '\\0'", "t:1:7: a NUL character in a string" },
	{ HERE, "a: '\\u0000'", "t:1:11: a NUL character in a string" },
	{ HERE, "a: '\xff'", "t:1:4: this string is not UTF-8" },
	{ HERE, "a: 'x' '\\377'", "t:1:8: this string is not UTF-8" },
	{ HERE, "a: 12x", "t:1:4: '12x' is neither a number nor a name; text has quotes" },
	{ HERE, "a: 0x", "t:1:4: '0x' is neither a number nor a name; text has quotes" },
	{ HERE, "a: 1e", "t:1:4: '1e' is neither a number nor a name; text has quotes" },
	{ HERE, "a: .", "t:1:4: '.' is neither a number nor a name; text has quotes" },
	{ HERE, "a: dram__bytes.sum",
	  "t:1:4: 'dram__bytes.sum' is neither a number nor a name; text has quotes" },
	{ HERE, "[a.b]: 1", "t:1:1: an extension's name is not understood here" },
};

CTX_TEST(bad_texts)
{
	for (size_t i = 0; i < COUNT(bad_trees); i++) {
		const struct row *row = &bad_trees[i];
		struct opk_field *root = NULL;
		int code = parse(&root, ctx, row->text, strlen(row->text));

		ck_row(row, code == OPK_EINPUT && !root, "code %d", code);
		ck_row(row, !strcmp(cause(ctx), row->wanted), "got %s", cause(ctx));
	}
	ck_assert_int_eq(parse(&(struct opk_field *){ NULL }, ctx, "a: 'x\0y'", 8), OPK_EINPUT);
	ck_assert_str_eq(cause(ctx), "t:1:6: a NUL character in a string");
}

CTX_TEST(limits_of_texts)
{
	opk_autobuf struct opk_buf many = { 0 };
	struct opk_field *root = NULL;
	char text[200];

	for (size_t levels = 10; levels < 60; levels++) {
		for (size_t i = 0; i < levels; i++)
			memcpy(text + 2 * i, "a{", 2);
		memset(text + 2 * levels, '}', levels);
		root = NULL;
		ck_assert_int_eq(parse(&root, ctx, text, 3 * levels),
		                 levels <= 32 ? OPK_OK : OPK_EINPUT);
		if (levels > 32)
			ck_assert_str_eq(cause(ctx), "t:1:66: nested deeper than 32 levels");
		opk_section_free(root);
	}
	for (size_t i = 0; i < 200000; i++)
		opk_buf_add_text(&many, "a:1 ");
	ck_ok(ctx, parse(&root, ctx, (char *)many.data, many.size));
	ck_assert_uint_eq(root->count, 200000);
	opk_section_free(root);
	opk_buf_add_text(&many, "a:1");
	ck_code(ctx, parse(&root, ctx, (char *)many.data, many.size), OPK_EINPUT);
	ck_assert_str_eq(cause(ctx), "t:1:800003: more than 200000 fields");
}

CTX_TEST(text_without_memory)
{
	static const char text[] =
		"a: 'long enough to grow' 'and more' b { c: [1, 2] d: -1e3 } # ok";
	struct opk_field *root = NULL;

	for (long n = 0; is_short(ctx, n, parse(&root, ctx, text, sizeof text - 1)); n++)
		ck_assert_ptr_null(root);
	ck_assert_str_eq(opk_field_string(root, "a"), "long enough to growand more");
	ck_assert_ptr_null(opk_field_string(root, "b"));
	ck_assert_ptr_null(opk_field_find(root, "a", OPK_FIELD_WORD));
	opk_section_free(root);
}

/* ---- names, chips, formulas ------------------------------------------------------------- */

enum { HARDWARE = 1, BREAKDOWN = 2, PATTERN = 4, DEVICE = 8 };

static const struct {
	struct here here;
	const char *text, *name;
	enum opk_profiler profiler;
	int is;
} names_rows[] = {
	{ HERE, "dram__bytes.sum", "dram__bytes.sum", OPK_PROFILER_RANGE, HARDWARE },
	{ HERE, "pcie__read_bytes.sum", "pcie__read_bytes.sum", OPK_PROFILER_RANGE,
	  HARDWARE | DEVICE },
	{ HERE, "PCI.Triage.pcie__x.avg", "PCI.Triage.pcie__x.avg", OPK_PROFILER_PM,
	  HARDWARE | DEVICE },
	{ HERE, "pcie_x__y.sum", "pcie_x__y.sum", OPK_PROFILER_RANGE, HARDWARE },
	{ HERE, "pmsampling:a__b.sum", "a__b.sum", OPK_PROFILER_PM, HARDWARE },
	{ HERE, "SM_A.Triage.sm__x.avg", "SM_A.Triage.sm__x.avg", OPK_PROFILER_PM, HARDWARE },
	{ HERE, "TriageA.l1tex__x.pct", "TriageA.l1tex__x.pct", OPK_PROFILER_PM, HARDWARE },
	{ HERE, "breakdown:a__b.avg.pct", "a__b.avg.pct", OPK_PROFILER_RANGE,
	  HARDWARE | BREAKDOWN },
	{ HERE, "pmsampling:breakdown:a__b.avg", "a__b.avg", OPK_PROFILER_PM,
	  HARDWARE | BREAKDOWN },
	{ HERE, "regex:inst", "inst", OPK_PROFILER_RANGE, HARDWARE | PATTERN },
	{ HERE, "pmsampling:regex:inst", "inst", OPK_PROFILER_PM, HARDWARE | PATTERN },
	{ HERE, "group:memory__chart", "group:memory__chart", OPK_PROFILER_RANGE, 0 },
	{ HERE, "launch__grid_size", "launch__grid_size", OPK_PROFILER_RANGE, 0 },
	{ HERE, "inst_executed", "inst_executed", OPK_PROFILER_RANGE, 0 },
	{ HERE, "memory_l1_tag_requests", "memory_l1_tag_requests", OPK_PROFILER_RANGE, 0 },
	{ HERE, "", "", OPK_PROFILER_RANGE, 0 },
};

TEST_EACH(names, names_rows)
{
	struct opk_asked asked = opk_asked_name(row->text);
	int is = (asked.reason ? 0 : HARDWARE) | (asked.breakdown ? BREAKDOWN : 0)
	         | (asked.pattern ? PATTERN : 0) | (asked.device ? DEVICE : 0);

	ck_row(row, !strcmp(asked.name, row->name), "name %s", asked.name);
	ck_row(row, asked.profiler == row->profiler, "profiler %d", asked.profiler);
	ck_row(row, is == row->is, "got %d, %s", is, asked.reason);
}

static const struct {
	struct here here;
	unsigned least, most;
	const char *wanted; /* "later": future chips are included */
} chips_by_capability_rows[] = {
	{ HERE, OPK_CC_NONE, OPK_CC_OPEN, "Volta Turing Ampere Hopper Ada Blackwell Rubin later" },
	{ HERE, 75, 75, "Turing" },
	{ HERE, 80, 80, "GA100" },
	{ HERE, 75, 86, "Turing GA100 GA102 GA103 GA104 GA106 GA107" },
	{ HERE, 89, 100, "Hopper Ada GB100 GB102" },
	{ HERE, 101, OPK_CC_OPEN,
	  "GB110 GB112 GB10B GB10C GB202 GB203 GB205 GB206 GB207 GB20B GB20C "
	  "Rubin later" },
	{ HERE, 72, 72, "GV11B" },
	{ HERE, 91, 99, "" },
	{ HERE, 999, OPK_CC_OPEN, "later" },
	{ HERE, 90, 80, "" },
};

TEST_EACH(chips_by_capability, chips_by_capability_rows)
{
	opk_autostrlist struct opk_strlist list = { 0 };
	opk_chip_mask mask = opk_chips_between(row->least, row->most);
	char got[400] = "";

	ck_assert(opk_chip_mask_names(&list, mask));
	if (mask & OPK_CHIPS_LATER)
		ck_assert(opk_strlist_add(&list, "later"));
	for (size_t k = 0; k < list.count; k++)
		strcat(strcat(got, k ? " " : ""), list.items[k]);
	ck_row(row, !strcmp(got, row->wanted), "got %s", got);
}

static const struct {
	struct here here;
	const char *expression, *formula, *problem;
} formulas_rows[] = {
	{ HERE, "a__b.sum", "a__b.sum", NULL },
	{ HERE, " a__b.sum\n/\ta__c.sum ", "a__b.sum / a__c.sum", NULL },
	{ HERE, "(a__b.sum+2)*-3-(-1.5e-3)", "(a__b.sum + 2) * -3 - (-1.5e-3)", NULL },
	{ HERE, "simplify(a__b.sum)", "(a__b.sum)", NULL },
	{ HERE, "simplify (a__b.sum)", "(a__b.sum)", NULL },
	{ HERE, "2 * derived__one.sum", "2 * one_sum", NULL },
	{ HERE, "", NULL, "has no expression" },
	{ HERE, "max(a__b.sum, 1)", NULL, "uses max()" },
	{ HERE, "a__b.sum > 1", NULL, "uses '>'" },
	{ HERE, "a__b", NULL, "needs a__b" },
	{ HERE, "pmsampling:a__b.sum", NULL, "needs pmsampling:a__b.sum" },
	{ HERE, "derived__none * 2", NULL, "needs derived__none" },
	{ HERE, "derived__old.sum", NULL, "needs derived__old.sum" },
	{ HERE, "launch__x.sum + 1", NULL, "needs launch__x.sum" },
	{ HERE, "a__b.sum / launch__thread_count", "a__b.sum / launch__thread_count", NULL },
	{ HERE, "derived__it", NULL, "needs itself" },
	/* Numbers as formulas have them. */
	{ HERE, ".5 * a__b.sum - 5. * .25e3", "0.5 * a__b.sum - 5 * 0.25e3", NULL },
	{ HERE, "+a__b.sum - +2.e-1", "a__b.sum - 2e-1", NULL },
	{ HERE, "a__b.sum * .", NULL, "uses '.'" },
	{ HERE, "a__b.sum / 1.5.2", NULL, "an operator or the end is needed here, not '0'" },
	{ HERE, "1e999", NULL, "this number is too large" },
	/* Invalid formulas; in particular, two operands do not become one. */
	{ HERE, "2 3", NULL, "an operator or the end is needed here, not '3'" },
	{ HERE, "a__b.sum a__c.sum", NULL, "an operator or the end is needed here, not 'a'" },
	{ HERE, "a__b.sum derived__one.sum", NULL,
	  "an operator or the end is needed here, not 'o'" },
	{ HERE, "a__b.sum .5", NULL, "an operator or the end is needed here, not '0'" },
	{ HERE, "a__b.sum simplify(a__c.sum)", NULL,
	  "no such function; there are min, max, if, abs and sqrt, and a product needs a '*'" },
	{ HERE, "8 (a__b.sum)", NULL, "an operator or the end is needed here, not '('" },
	{ HERE, "(a__b.sum", NULL, "an operator or ')' is needed here, not the end" },
	{ HERE, "a__b.sum)", NULL, "an operator or the end is needed here, not ')'" },
	{ HERE, "a__b.sum * / 2", NULL, "a number, a name or '(' is needed here, not '/'" },
	{ HERE, "+", NULL, "a number, a name or '(' is needed here, not the end" },
	{ HERE, "1 / simplify()", NULL, "a number, a name or '(' is needed here, not ')'" },
};

CTX_TEST_EACH(formulas, formulas_rows)
{
	struct opk_definitions all = { 0 };
	const struct opk_definition *it;

	ck_ok(ctx, opk_definitions_add(&all, ctx, "derived__it", row->expression, opk_chips_all()));
	ck_ok(ctx, opk_definitions_add(&all, ctx, "derived__one.sum", "1", opk_chips_all()));
	ck_ok(ctx, opk_definitions_add(&all, ctx, "derived__old.sum", "1", 1));
	ck_ok(ctx, opk_definitions_resolve(&all, ctx));
	it = &all.items[0];
	ck_row(row, !it->formula == !row->formula, "got %s", it->formula);
	ck_row(row, !it->formula || !strcmp(it->formula, row->formula), "got %s", it->formula);
	ck_row(row, !it->problem == !row->problem, "got %s", it->problem);
	ck_row(row, !it->problem || !strcmp(it->problem, row->problem), "got %s", it->problem);
	opk_definitions_clear(&all);
}

CTX_TEST(names_of_formulas)
{
	static const char *const rows[][2] = {
		{ "derived__l1tex__bytes_mem.sum.per_second", "l1tex_bytes_mem_sum_per_second" },
		{ "derived__l1tex.bytes__mem_sum.per_second", "l1tex_bytes_mem_sum_per_second_2" },
		{ "derived__4ever", "m_4ever" },
		{ "derived__max", "m_max" },
		{ "derived__", "m_" },
		{ "Share \xc3\xa9 of it", "Share_of_it" },
	};
	struct opk_definitions all = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++)
		ck_ok(ctx, opk_definitions_add(&all, ctx, rows[i][0], "1", opk_chips_all()));
	ck_ok(ctx, opk_definitions_resolve(&all, ctx));
	for (size_t i = 0; i < COUNT(rows); i++)
		ck_assert_str_eq(all.items[i].short_name, rows[i][1]);
	opk_definitions_clear(&all);
}
