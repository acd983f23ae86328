/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of kernels: normalized spelling, unique short names, and code that uses them. */
#include "container/container.h"
#include "eval/door.h"
#include "eval/eval.h"
#include "testing.h"

static bool accepts(struct opk_ctx *ctx, const struct opk_filter *filter,
                    enum opk_profiler profiler, const struct opk_row *row)
{
	bool out;

	ck_ok(ctx, opk_filter_accepts(&out, ctx, filter, profiler, row, 0));
	return out;
}

/* ---- one spelling ----------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *name, *wanted;
} spelling_rows[] = {
	{ HERE, "vadd(float const*, float const*, float*, int)",
	  "vadd(const float *, const float *, float *, int)" },
	{ HERE, "vadd(const float *, const float *, float *, int)",
	  "vadd(const float *, const float *, float *, int)" },
	{ HERE, "f(unsigned long long const&, float const* const*, char* const)",
	  "f(const unsigned long long &, const float *const *, char *const)" },
	{ HERE,
	  "void ns::g<std::list<int> const, 4u>(ns::map<int, list<char const*> >::item const&)",
	  "void ns::g<const std::list<int>, 4u>(const ns::map<int, list<const char *>>::item &)" },
	{ HERE, "void f<(int)4, (unsigned long)1, (bool)1, (bool)0, (long)-3>(T1)",
	  "void f<4, 1ul, true, false, -3l>(T1)" },
	{ HERE, "f((anonymous namespace)::t const*, int (*)(float const&), float const (&) [4])",
	  "f(const (anonymous namespace)::t *, int (*)(const float &), const float (&)[4])" },
	{ HERE, "void f<(char)97, &g>(int (c::*)(int), t volatile*, t const volatile*)",
	  "void f<(char)97, &g>(int (c::*)(int), volatile t *, const volatile t *)" },
	{ HERE, "void k<h(int&)::{lambda()#1}::operator()() const::{lambda(float)#2} const>(int)",
	  "void k<const h(int &)::{lambda()#1}::operator()() const::{lambda(float)#2}>(int)" },
	{ HERE, "void k<std::function<void (int)>, ((4)>(3))>(float*&&, T...)",
	  "void k<std::function<void (int)>, ((4)>(3))>(float *&&, T...)" },
	{ HERE, "a::operator<< <int>(b const&)", "a::operator<< <int>(const b &)" },
	{ HERE, "f(float const*) [clone .part.0]", "f(const float *)[clone .part.0]" },
	{ HERE, "<unnamed>::k(<unnamed>::t const*)",
	  "(anonymous namespace)::k(const (anonymous namespace)::t *)" },
	{ HERE, "void a::<unnamed>::k<<unnamed>::t, 4>(int)",
	  "void a::(anonymous namespace)::k<(anonymous namespace)::t, 4>(int)" },
	{ HERE, "void list<unnamed>::k(int)", "void list<unnamed>::k(int)" },
	{ HERE, "CUDA graph 3", "CUDA graph 3" },
	/* Invalid names, and truncated ones. */
	{ HERE, "", "" },
	{ HERE, "  ", "  " },
	{ HERE, "sm80_xmma_gemm", "sm80_xmma_gemm" },
	{ HERE, "const", "const" },
	{ HERE, "const const const *", "const const const *" },
	{ HERE, "f(float const*", "f(float const*" },
	{ HERE, "f)float const*(", "f)float const*(" },
	{ HERE, "triton; a  b const*\n(", "triton; a  b const*\n(" },
	{ HERE, "f<(int)>(int const)", "f<(int)>(const int)" },
	{ HERE, "f(a::b const volatile const *, c const)", "f(const volatile a::b *, const c)" },
};

TEST_EACH(spelling, spelling_rows)
{
	opk_autofree char *got = opk_kernel_spell(row->name), *again = NULL;

	ck_row(row, !strcmp(got, row->wanted), "got %s", got);
	again = opk_kernel_spell(got);
	ck_row(row, !strcmp(again, got), "again: %s", again);
}

static const struct {
	struct here here;
	const char *name, *base, *templates, *arguments;
} parts_rows[] = {
	{ HERE, "vadd(const float *, int)", "vadd", "", "const float *, int" },
	{ HERE, "void a::(anonymous namespace)::b<float, c<4>>(d<int (*)(int)>) const", "b",
	  "float, c<4>", "d<int (*)(int)>" },
	{ HERE, "gemm", "gemm", "", "" },
	{ HERE, "CUDA graph 3", "CUDA graph 3", "", "" },
	{ HERE, "ns::gemm", "gemm", "", "" },
	{ HERE, "f(int)[clone .part.0]", "f", "", "int" },
	{ HERE, "a::operator()<int>(float)", "operator()", "int", "float" },
	{ HERE, "", "", "", "" },
	{ HERE, "f((", "f((", "", "" },
};

TEST_EACH(parts, parts_rows)
{
	struct opk_kernel_parts got;

	ck_assert(opk_kernel_find_parts(&got, row->name));
#define IS(part)                                                                                   \
	(got.part.length == strlen(row->part)                                                      \
	 && !strncmp(got.part.text ? got.part.text : "", row->part, got.part.length))
	ck_row(row, IS(base) && IS(templates) && IS(arguments), "%.*s", (int)got.base.length,
	       got.base.text);
#undef IS
}

/* "f(int const)", with more words in the bracket. free() */
static char *long_name(const char *word, size_t count)
{
	struct opk_buf out = { 0 };

	opk_buf_add_text(&out, "f(int const");
	for (size_t i = 0; i < count; i++)
		opk_buf_add_text(&out, word);
	opk_buf_add_text(&out, ")");
	return opk_buf_take_text(&out);
}

/* A file can have names of 100 MB, whose tokens would take gigabytes. */
TEST(long_names)
{
	opk_autofree char *name = long_name(" volatile const", 100000);
	opk_autofree char *shorter = long_name(", g", 10000), *same = opk_kernel_spell(name);
	opk_autofree char *spelled = opk_kernel_spell(shorter);
	struct opk_kernel_parts found;

	ck_assert_str_eq(same, name);
	ck_assert(!strncmp(spelled, "f(const int, g, g", 17));
	ck_assert(opk_kernel_find_parts(&found, name));
	ck_assert(found.base.text == name && found.base.length == strlen(name));
	ck_assert(opk_kernel_find_parts(&found, spelled));
	ck_assert_uint_eq(found.base.length, 1);
}

/* ---- short names ------------------------------------------------------------------------ */

CTX_TEST(short_names)
{
	static const char *const kernels[][2] = {
		{ "vadd(const float *, float *)", "vadd" },
		{ "void n::scale<float, 4>(float *)", "scale<float>" },
		{ "void n::scale<m::half, 4>(m::half *)", "scale<half>" },
		{ "over(int)", "over(int)" },
		{ "over(float, int)", "over(float, int)" },
		{ "a::same(int)", "same #1" },
		{ "b::same(int)", "same #2" },
		{ "plain_name", "plain_name" },
		{ "void run<n::apply<float, n::many_arguments, n::sqrt_of<float>>>(int)",
		  "run<sqrt_of>" },
		{ "void run<n::apply<float, n::many_arguments, n::fill<float>>>(int)",
		  "run<fill, float>" },
		{ "void run<n::apply<short, n::many_arguments, n::fill<short>>>(int)",
		  "run<fill, short>" },
		{ "void f<x<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>>()", "f #1" },
		{ "void f<x<2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>>()", "f #2" },
	};
	struct opk_range ranges[COUNT(kernels)];
	struct opk_kernel_names *names;

	for (size_t i = 0; i < COUNT(kernels); i++)
		ranges[i] = (struct opk_range){ .kernel = kernels[i][0],
			                        .symbol = i ? "" : "_Z4v" };
	ck_ok(ctx, opk_kernel_names_new(&names, ctx, OPK_KERNEL_SHORT));
	ck_ok(ctx, opk_kernel_names_add(names, ctx, ranges, COUNT(kernels)));
	ck_ok(ctx, opk_kernel_names_add(names, ctx, ranges, 1));
	for (size_t i = 0; i < COUNT(kernels); i++)
		ck_assert_str_eq(opk_kernel_names_get(names, &ranges[i]), kernels[i][1]);
	opk_kernel_names_free(names);
	for (int style = OPK_KERNEL_FULL; style <= OPK_KERNEL_SYMBOL; style++) {
		bool symbol = style == OPK_KERNEL_SYMBOL;

		if (style == OPK_KERNEL_SHORT)
			continue;
		ck_ok(ctx, opk_kernel_names_new(&names, ctx, (enum opk_kernel_style)style));
		ck_assert_str_eq(opk_kernel_names_get(names, &ranges[0]),
		                 symbol ? "_Z4v" : kernels[0][0]);
		ck_assert_str_eq(opk_kernel_names_get(names, &ranges[1]), kernels[1][0]);
		opk_kernel_names_free(names);
	}
}

/* Long names are shortened with a gap, and stay different. */
CTX_TEST(long_base_names)
{
	enum { COUNT_OF_NAMES = 3, LONGEST = 210 };
	opk_autofree char *text = opk_printf("%0500d", 0);
	const char *const ends[COUNT_OF_NAMES] = { "a", "a<int>(int)", "b" };
	const char *shown[COUNT_OF_NAMES];
	struct opk_range ranges[COUNT_OF_NAMES];
	struct opk_kernel_names *names;

	text[0] = 'k';
	for (size_t i = 0; i < COUNT_OF_NAMES; i++)
		ranges[i] = (struct opk_range){ .kernel = opk_printf("%s%s", text, ends[i]),
			                        .symbol = "" };
	ck_ok(ctx, opk_kernel_names_new(&names, ctx, OPK_KERNEL_SHORT));
	ck_ok(ctx, opk_kernel_names_add(names, ctx, ranges, COUNT_OF_NAMES));
	for (size_t i = 0; i < COUNT_OF_NAMES; i++) {
		shown[i] = opk_kernel_names_get(names, &ranges[i]);
		ck_assert_uint_le(strlen(shown[i]), LONGEST);
		ck_assert_ptr_nonnull(strstr(shown[i], "\xe2\x80\xa6"));
	}
	ck_assert_str_ne(shown[0], shown[1]);
	ck_assert_str_ne(shown[0], shown[2]);
	ck_assert_str_ne(shown[1], shown[2]);
	opk_kernel_names_free(names);
	for (size_t i = 0; i < COUNT_OF_NAMES; i++)
		free((char *)ranges[i].kernel);
}

/* The time is about proportional to the text of all names. */
static void shorten_many(struct opk_ctx *ctx, const struct opk_range *ranges, size_t count,
                         const char *wanted)
{
	struct opk_kernel_names *names;

	ck_ok(ctx, opk_kernel_names_new(&names, ctx, OPK_KERNEL_SHORT));
	ck_ok(ctx, opk_kernel_names_add(names, ctx, ranges, count));
	for (size_t i = 0; i < count; i++) {
		opk_autofree char *text = opk_printf("scale<%s%zu>", wanted, i);

		ck_assert_str_eq(opk_kernel_names_get(names, &ranges[i]), text);
	}
	opk_kernel_names_free(names);
	for (size_t i = 0; i < count; i++)
		free((char *)ranges[i].kernel);
}

CTX_TEST(many_instances)
{
	enum { SHORT = 40000, LONG = 200, WORDS = 2000 };
	static struct opk_range ranges[SHORT];
	opk_autobuf struct opk_buf words = { 0 };
	opk_autofree char *text = NULL;

	for (size_t i = 0; i < SHORT; i++)
		ranges[i] = (struct opk_range){
			.kernel = opk_printf("scale<a, %zu, b>(float *)", i), .symbol = ""
		};
	shorten_many(ctx, ranges, SHORT, "");
	for (size_t i = 0; i < WORDS; i++)
		opk_buf_add_printf(&words, "type_%zu, ", i);
	text = opk_buf_take_text(&words);
	for (size_t i = 0; i < LONG; i++)
		ranges[i] = (struct opk_range){
			.kernel = opk_printf("scale<of<%s last_%zu>>(float *)", text, i),
			.symbol = ""
		};
	shorten_many(ctx, ranges, LONG, "last_");
}

/* ---- recordings, groups and filters ------------------------------------------------------ */

static void add(struct opk_grouping *grouping, struct opk_ctx *ctx, const char *symbol,
                size_t wanted)
{
	const struct opk_range range = { OPK_UNKNOWN_RANGE };
	struct opk_range given = range;
	size_t group;

	given.kernel = "f(int)";
	given.symbol = symbol;
	ck_ok(ctx, opk_grouping_add(&group, grouping, ctx, "", &given));
	ck_assert_uint_eq(group, wanted);
}

/* Recordings with and without symbols can be grouped together. */
CTX_TEST(groups)
{
	opk_autogrouping struct opk_grouping grouping = { .key = OPK_KEY_KERNEL };

	add(&grouping, ctx, "", 0);
	add(&grouping, ctx, "_Z1", 0);
	add(&grouping, ctx, "_Z2", 1);
	add(&grouping, ctx, "_Z1", 0);
	add(&grouping, ctx, "_Z2", 1);
	add(&grouping, ctx, "", 0);
	ck_assert_uint_eq(grouping.count, 2);
	ck_assert_str_eq(grouping.groups[0].range.symbol, "_Z1");
	ck_assert_str_eq(grouping.groups[1].range.symbol, "_Z2");
}

CTX_TEST(filters)
{
	static const struct {
		struct here here;
		const char *condition;
		bool wanted;
	} rows[] = {
		{ HERE, "kernel=void n::scale<float>(const float *)", true },
		{ HERE, "kernel=void n::scale<float>(float const*)", true },
		{ HERE, "kernel=scale", true },
		{ HERE, "kernel=sc*e", true },
		{ HERE, "kernel=*float*", true },
		{ HERE, "kernel=scale<float>", false },
		{ HERE, "kernel!=scale", false },
		{ HERE, "kernel!=other", true },
		{ HERE, "kernel=", false },
	};
	struct opk_range range = { OPK_UNKNOWN_RANGE };
	const struct opk_row row = { .name = "0", .range = &range };

	range.kernel = "void n::scale<float>(const float *)";
	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_filter) *filter = NULL;

		ck_ok(ctx, opk_filter_new(&filter, ctx, &rows[i].condition, 1));
		ck_row(&rows[i], accepts(ctx, filter, OPK_PROFILER_RANGE, &row) == rows[i].wanted,
		       "%d", rows[i].wanted);
	}
}

static const struct opk_range *ranges_of(struct opk_file **file, struct opk_ctx *ctx,
                                         const char *path, size_t *count)
{
	const struct opk_range *ranges;

	ck_ok(ctx, opk_file_open(file, ctx, path));
	ck_ok(ctx, opk_file_ranges(&ranges, count, ctx, *file));
	return ranges;
}

/* Two tools made them, which spell kernels of one program differently. */
CTX_TEST(recordings)
{
	freed(opk_file) *a = NULL, *b = NULL;
	size_t count, other;
	const struct opk_range *x = ranges_of(&a, ctx, TEST_DATA_DIR "/recordings/gh100-simple.opk",
	                                      &count);
	const struct opk_range *y = ranges_of(&b, ctx,
	                                      TEST_DATA_DIR "/recordings/gh100-roofline.opk",
	                                      &other);

	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(other, 5);
	for (size_t i = 0; i < count; i++)
		ck_assert_str_eq(x[i].kernel, y[i].kernel);
}
