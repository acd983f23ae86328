/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests that their program finds by itself; main() is in suite.c:
 *
 *     TEST(sums) { ... }                       a test
 *     CTX_TEST(reads) { ... }                  with a new context, ctx
 *     FAKE_TEST(plans) { ... }                 with a context over the fake of fake_nv.h
 *     TEST_EACH(formulas, table) { ... }       for each row of a table, which it has as row
 *     TEST(plans, .needs = have_cupti) { ... } skipped where that is false
 */
#ifndef OPK_SUITE_H
#define OPK_SUITE_H

#include <check.h>
#include <stdbool.h>

/* What the tests of a program share; at most once in a program: SUITE(.set_up = make_folder). */
struct suite {
	void (*set_up)(void), (*tear_down)(void); /* before and after each test, in its process */
	void (*once)(void), (*finally)(void);     /* before and after all of them */
	bool (*needs)(void);                      /* if it returns false, the program is skipped */
	int seconds;                              /* time limit of a test; 0: 120 */
};

#define SUITE(...) const struct suite the_suite = { __VA_ARGS__ }
extern const struct suite the_suite __attribute__((weak));

struct test {
	int line; /* tests run in this order */
	void (*add)(TCase *tests);
	bool (*needs)(void);
	struct test *next;
};

/* Called before main(). */
void know_test(struct test *test);

#define OPK_TEST(name, times, parameters, call, ...)                                               \
	static void name##_test parameters;                                                        \
	START_TEST(name)                                                                           \
	{                                                                                          \
		call;                                                                              \
	}                                                                                          \
	END_TEST                                                                                   \
	static void add_##name##_test(TCase *tests)                                                \
	{                                                                                          \
		tcase_add_loop_test(tests, name, 0, (int)(times));                                 \
	}                                                                                          \
	static void __attribute__((constructor)) know_##name##_test(void)                          \
	{                                                                                          \
		static struct test test = { .line = __LINE__,                                      \
			                    .add = add_##name##_test,                              \
			                    __VA_ARGS__ };                                         \
                                                                                                   \
		know_test(&test);                                                                  \
	}                                                                                          \
	static void name##_test parameters

/* Arguments of a test: a row of a table, a context. */
#define OPK_ROW(table) __typeof__(&(table)[0]) row
#define OPK_CTX struct opk_ctx *ctx
#define OPK_OVER(make_ctx, call)                                                                   \
	struct opk_ctx *ctx = make_ctx();                                                          \
                                                                                                   \
	call;                                                                                      \
	opk_ctx_free(ctx)

#define TEST(name, ...) OPK_TEST(name, 1, (void), name##_test(), __VA_ARGS__)
#define TEST_EACH(name, table, ...)                                                                \
	OPK_TEST(name, COUNT(table), (OPK_ROW(table)), name##_test(&(table)[_i]), __VA_ARGS__)
/* One test for each number below the count; the test gets it under the given name. */
#define TEST_TIMES(name, number, count, ...)                                                       \
	OPK_TEST(name, count, (size_t number), name##_test((size_t)_i), __VA_ARGS__)

#define OPK_TEST_OVER(make_ctx, name, ...)                                                         \
	OPK_TEST(name, 1, (OPK_CTX), OPK_OVER(make_ctx, name##_test(ctx)), __VA_ARGS__)
#define OPK_TEST_EACH_OVER(make_ctx, name, table, ...)                                             \
	OPK_TEST(name, COUNT(table), (OPK_CTX, OPK_ROW(table)),                                    \
	         OPK_OVER(make_ctx, name##_test(ctx, &(table)[_i])), __VA_ARGS__)

#define CTX_TEST_TIMES(name, number, count, ...)                                                   \
	OPK_TEST(name, count, (OPK_CTX, size_t number),                                            \
	         OPK_OVER(new_ctx, name##_test(ctx, (size_t)_i)), __VA_ARGS__)
#define CTX_TEST(name, ...) OPK_TEST_OVER(new_ctx, name, __VA_ARGS__)
#define CTX_TEST_EACH(name, table, ...) OPK_TEST_EACH_OVER(new_ctx, name, table, __VA_ARGS__)
#define FAKE_TEST(name, ...) OPK_TEST_OVER(fake_ctx, name, __VA_ARGS__)
#define FAKE_TEST_EACH(name, table, ...) OPK_TEST_EACH_OVER(fake_ctx, name, table, __VA_ARGS__)

#endif
