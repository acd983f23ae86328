/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that was checked once and must stay as it is: tests/golden. */
#ifndef OPK_GOLDEN_H
#define OPK_GOLDEN_H

#include "base/file.h"
#include "testing.h"

/* The number of the first line that differs; 0: the texts are equal. */
static inline size_t golden_line(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t line = 1, i = 0;

	for (; i < a_size && i < b_size && a[i] == b[i]; i++)
		line += a[i] == '\n';
	return i == a_size && i == b_size ? 0 : line;
}

/* Compares with tests/golden/NAME; if they differ, writes NAME.new into the current folder. */
static inline void ck_golden(const char *name, const void *data, size_t size)
{
	struct opk_ctx *ctx = new_ctx();
	char path[512];
	void *wanted = NULL;
	size_t wanted_size = 0, line;

	snprintf(path, sizeof path, TEST_SOURCE_DIR "/golden/%s", name);
	if (opk_read_file(&wanted, &wanted_size, ctx, path))
		wanted = NULL;
	line = golden_line(wanted ? wanted : "", wanted_size, data, size);
	free(wanted);
	opk_ctx_free(ctx);
	if (line) {
		FILE *file;

		snprintf(path, sizeof path, "%s.new", name);
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fwrite(data, 1, size, file);
		fclose(file);
	}
	ck_assert_msg(!line, "tests/golden/%s is another text from line %zu on: see %s.new", name,
	              line, name);
}

#endif
