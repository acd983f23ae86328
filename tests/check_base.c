/* SPDX-License-Identifier: BSD-2-Clause */
/* Unit tests of lib/base. */
#include "base/nearest.h"
#include "testing.h"

START_TEST(edit_distance)
{
	static const struct {
		struct here here;
		const char *a, *b;
		size_t limit, wanted;
	} rows[] = {
		{ HERE, "", "", 3, 0 },
		{ HERE, "dram__bytes", "dram__byte", 3, 1 },
		{ HERE, "GH100", "gh100", 3, 0 },
		{ HERE, "kitten", "sitting", 3, 3 },
		{ HERE, "kitten", "sitting", 2, 3 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t got = opk_edit_distance(rows[i].a, rows[i].b, rows[i].limit);

		ck_row(&rows[i], got == rows[i].wanted, "got %zu", got);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *tests = tcase_create("base");

	tcase_add_test(tests, edit_distance);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
