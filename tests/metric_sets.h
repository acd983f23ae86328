/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests of metric sets: their files, and sets and errors in short form. */
#ifndef OPK_METRIC_SETS_H
#define OPK_METRIC_SETS_H

#include "set/set.h"
#include "testing.h"

#define FILES TEST_SOURCE_DIR "/files/"

/* The i-th message from the outer end, with the folder's name removed. */
static inline const char *message(const struct opk_ctx *ctx, size_t i)
{
	static char text[2048];
	size_t count = opk_error_count(ctx);
	const char *from = i < count ? opk_error_message(ctx, count - 1 - i) : "";
	size_t used = 0;

	while (*from && used < sizeof text - 1) {
		if (!strncmp(from, FILES, strlen(FILES)))
			from += strlen(FILES);
		text[used++] = *from++;
	}
	text[used] = '\0';
	return text;
}

static inline const char *cause(const struct opk_ctx *ctx)
{
	return message(ctx, 0);
}

/* All names, with a blank after each. */
static inline const char *listed(const struct opk_set *set, size_t count,
                                 const char *get(const struct opk_set *set, size_t i))
{
	static char text[2048];

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(strlen(text) + strlen(get(set, i)) + 2, sizeof text);
		strcat(strcat(text, get(set, i)), " ");
	}
	return text;
}

static inline const char *metrics_of(const struct opk_set *set)
{
	return listed(set, opk_set_metric_count(set), opk_set_metric);
}

static inline const char *chip_of(const struct opk_set *set, size_t i)
{
	return set->chips.items[i].text;
}

static inline const char *chips_of(const struct opk_set *set)
{
	return listed(set, set->chips.count, chip_of);
}

#endif
