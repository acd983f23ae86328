/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the unit tests: a context, and table rows whose line a failure shows. */
#ifndef OPK_TESTING_H
#define OPK_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "freed.h"
#include "plan/door.h"
#include "set/door.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * libcheck writes each passing check into a file, to report where a program crashed. This writes
 * once a line: millions of writes, for checks in loops, take half of a test's time.
 */
static inline void mark_new_point(const char *file, int line)
{
	static bool seen[4096];
	bool *known = &seen[line % 4096];

	if (!*known)
		_mark_point(file, line);
	*known = true;
}

#define _mark_point(file, line) mark_new_point(file, line)

/* As OPK_INIT, with fields: struct opk_eval_options options = OPTIONS(options, .workers = 2); */
#define OPTIONS(variable, ...)                                                                     \
	{                                                                                          \
		.size = sizeof(variable), __VA_ARGS__                                              \
	}

/* Whether make check-long runs: it tests everything that is otherwise sampled. */
static inline bool is_long(void)
{
	const char *given = getenv("OFFPEAK_LONG");

	return given && *given;
}

/* How many of `count` similar cases to test; make check-long tests all. */
static inline size_t enough(size_t count)
{
	return is_long() ? count : (count + 4) / 5;
}

/* Whether tests of each chip include this one: one chip of most architectures. */
static inline bool is_sampled(const char *chip)
{
	static const char *const names[] = { "TU102", "GA100", "AD102", "GH100", "GB202" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (is_long() || !strcmp(chip, names[i]))
			return true;
	return false;
}

/* A row of a test table begins with HERE: a failure shows its line. */
struct here {
	int line;
};
#define HERE                                                                                       \
	{                                                                                          \
		__LINE__                                                                           \
	}

/* Fails with the row's line. */
#define ck_row(row, condition, ...)                                                                \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: row failed: ", __FILE__, (row)->here.line);        \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			ck_abort_msg("row at line %d: %s", (row)->here.line, #condition);          \
		}                                                                                  \
	} while (0)

/* Expected warnings: fake values are not shares, and passes of these metrics had unequal times. */
static inline bool is_about_shares(const char *message)
{
	static const char *const known[] = {
		": fake__",
		": lts__t_sector_hit_rate.pct",
		": lts__t_sector_op_",
		": sm__cycles_active_shader_cs.avg.pct_of_peak_sustained_elapsed",
		": smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
	};

	for (size_t i = 0; strstr(message, " is above 101%") && i < COUNT(known); i++)
		if (strstr(message, known[i]))
			return true;
	return false;
}

/* A log message that a test does not expect fails it. */
static inline void unexpected_log(void *data, const char *message)
{
	(void)data;
	if (!is_about_shares(message))
		ck_abort_msg("unexpected log: %s", message);
}

static inline struct opk_ctx *new_ctx(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx = NULL;

	opk_env_read(&env);
	options.env = &env;
	options.log = unexpected_log;
	options.data_dir = TEST_DATA_DIR;
	/* Not ck_assert: have_cupti() calls this outside of tests. */
	if (opk_ctx_new(&ctx, &options))
		abort();
	return ctx;
}

/* The cause chain, innermost first, for messages of failing tests. */
static inline const char *errors_of(const struct opk_ctx *ctx)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = 0; i < opk_error_count(ctx); i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof text - used, "%s%s", i ? " <- " : "",
		         opk_error_message(ctx, i));
	}
	return text;
}

/* Searches the whole chain: the text may be at any level. */
static inline bool told(const struct opk_ctx *ctx, const char *text)
{
	return strstr(errors_of(ctx), text) != NULL;
}

/* The first of these texts, which have | between them, that told() does not find; or NULL. */
static inline const char *untold(const struct opk_ctx *ctx, const char *texts)
{
	static char copy[1024];
	char *rest = copy;

	snprintf(copy, sizeof copy, "%s", texts ? texts : "");
	for (const char *text; (text = strsep(&rest, "|"));)
		if (!told(ctx, text))
			return text;
	return NULL;
}

#define ck_ok(ctx, call)                                                                           \
	do {                                                                                       \
		int ck_code_ = (call);                                                             \
		ck_assert_msg(ck_code_ == OPK_OK, "%s: %d: %s", #call, ck_code_, errors_of(ctx));  \
	} while (0)
#define ck_code(ctx, call, wanted)                                                                 \
	do {                                                                                       \
		int ck_code_ = (call);                                                             \
		ck_assert_msg(ck_code_ == (wanted), "%s: %d, not %d: %s", #call, ck_code_,         \
		              (int)(wanted), errors_of(ctx));                                      \
	} while (0)

/* The call fails with that code, and its chain has the text. */
#define ck_fails(ctx, call, wanted, text)                                                          \
	do {                                                                                       \
		ck_code(ctx, call, wanted);                                                        \
		ck_assert_msg(told(ctx, text), "'%s' is not in: %s", text, errors_of(ctx));        \
	} while (0)
/* A row's call ends with that code; if it fails, its chain has the text. */
#define ck_row_ends(row, ctx, call, wanted, text)                                                  \
	do {                                                                                       \
		int ck_code_ = (call);                                                             \
		ck_row(row, ck_code_ == (wanted) && (!ck_code_ || told(ctx, text)),                \
		       "code %d, not %d: %s", ck_code_, wanted, errors_of(ctx));                   \
	} while (0)

/* Whether libcupti is found; without it main returns 77, which skips the tests that need it. */
static inline bool have_cupti(void)
{
	freed(opk_ctx) *ctx = new_ctx();
	struct opk_nvidia_info info = OPK_INIT(info);
	bool found = opk_nvidia_get_info(&info, ctx) == OPK_OK;

	return found;
}

/* Whether the test runs without a sanitizer, which makes it several times as slow. */
static inline bool is_plain_build(void)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#else
	return true;
#endif
}

#endif
