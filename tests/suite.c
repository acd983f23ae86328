/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the tests of a program, in the order of their lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { SKIPPED = 77, USUAL_SECONDS = 120 };

static struct test *tests;

/* The order of constructors is unspecified. */
void know_test(struct test *test)
{
	struct test **at = &tests;

	while (*at && (*at)->line < test->line)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

static void add_fixtures(TCase *tcase, const struct suite *suite)
{
	if (suite->once)
		tcase_add_unchecked_fixture(tcase, suite->once, suite->finally);
	if (suite->set_up || suite->tear_down)
		tcase_add_checked_fixture(tcase, suite->set_up, suite->tear_down);
	tcase_set_timeout(tcase, suite->seconds ? suite->seconds : USUAL_SECONDS);
}

static int run(TCase *tcase)
{
	Suite *suite = suite_create(program_invocation_short_name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	static const struct suite plain;
	const struct suite *suite = &the_suite ? &the_suite : &plain;
	TCase *tcase;
	int added = 0;

	if (suite->needs && !suite->needs())
		return SKIPPED;
	tcase = tcase_create("tests");
	add_fixtures(tcase, suite);
	for (const struct test *test = tests; test; test = test->next) {
		if (test->needs && !test->needs())
			continue;
		test->add(tcase);
		added++;
	}
	return added ? run(tcase) : SKIPPED;
}
