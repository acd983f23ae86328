/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends a context's settings to a kept child, so that it finds the same libraries. */
#include <string.h>

#include "child/kept.h"

enum {
	OF_OPTIONS = 4,
	OF_TOOLS = 4, /* cache, pager, no_color, columns: the library does not read them */
	/* size, env, log, log_data, progress, progress_data; and force with timeout_s. */
	NO_SETTINGS = 7,
};

/* Fails for a new field: make it a setting, or count it in NO_SETTINGS or OF_TOOLS. */
_Static_assert(sizeof(struct opk_env)
                       == sizeof(size_t)
                                  + (OPK_CTX_SETTINGS - OF_OPTIONS + OF_TOOLS) * sizeof(char *),
               "each variable that the library looks at is a setting");
_Static_assert(sizeof(struct opk_ctx_options) == (OF_OPTIONS + NO_SETTINGS) * sizeof(char *),
               "each option of a context is a setting");

void opk_settings_put(struct opk_buf *out, const struct opk_ctx *ctx)
{
	for (size_t i = 0; i < OPK_CTX_SETTINGS; i++) {
		const char *text = *opk_ctx_setting(ctx, i);

		/* NULL and "" are the same to a context. */
		text = text ? text : "";
		opk_buf_add_u32(out, (uint32_t)strlen(text) + 1);
		opk_buf_add(out, text, strlen(text) + 1);
	}
}

struct opk_ctx *opk_settings_get(struct opk_reader *in)
{
	struct opk_ctx said = { .env.size = sizeof said.env };
	struct opk_ctx_options options = { .size = sizeof options, .env = &said.env };
	struct opk_ctx *ctx = NULL;

	for (size_t i = 0; i < OPK_CTX_SETTINGS; i++) {
		size_t size = opk_read_u32(in);

		*opk_ctx_setting(&said, i) = opk_read_bytes(in, size);
	}
	options.cuda_dir = said.cuda_dir;
	options.data_dir = said.data_dir;
	options.cache_dir = said.cache_dir;
	options.libcuda = said.libcuda;
	return in->failed || opk_ctx_new(&ctx, &options) ? NULL : ctx;
}

bool opk_settings_are_absolute(const struct opk_ctx *ctx)
{
	bool absolute = true;

	for (size_t i = 0; absolute && i < OPK_CTX_SETTINGS; i++) {
		const char *text = *opk_ctx_setting(ctx, i);

		/* The first of several folders is enough: one author wrote them all. */
		absolute = !text || !*text || *text == '/';
	}
	return absolute;
}
