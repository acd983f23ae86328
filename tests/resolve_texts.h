/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets in YAML, resolved on a chip of the fake library, as text: for the files of check_resolve. */
#ifndef OPK_RESOLVE_TEXTS_H
#define OPK_RESOLVE_TEXTS_H

#include "fake_nv.h"
#include "folder.h"
#include "metric_sets.h"
#include "resolve/resolve.h"
#include "resolved.h"
#include "set/door.h"

static inline struct opk_set *load_text(struct opk_ctx *ctx, const char *text)
{
	struct opk_set *set = NULL;

	put_file("t.yaml", text, strlen(text));
	ck_ok(ctx, opk_set_load(&set, ctx, in_folder("t.yaml")));
	return set;
}

/* The chain, outermost first; the folder is removed at the start of a message, else "FOLDER". */
static inline const char *errors(const struct opk_ctx *ctx)
{
	static char text[8192];
	size_t used = 0;

	for (size_t i = opk_error_count(ctx); i-- > 0;) {
		const char *line = opk_error_message(ctx, i), *path;

		if (!strncmp(line, folder, strlen(folder)))
			line += strlen(folder) + 1;
		for (; (path = strstr(line, folder)); line = path + strlen(folder))
			used += (size_t)sprintf(text + used, "%.*sFOLDER", (int)(path - line),
			                        line);
		used += (size_t)sprintf(text + used, "%s\n", line);
	}
	text[used] = '\0';
	return text;
}

/* The resolved set as text, or its errors; the caller frees it. */
static inline char *resolve(struct opk_ctx *ctx, const struct opk_set *set, const char *chip,
                            enum opk_profiler profiler)
{
	opk_autoresolved struct opk_resolved resolved = { 0 };
	opk_autobuf struct opk_buf out = { 0 };

	if (opk_set_resolve(&resolved, ctx, set, chip, profiler))
		return strdup(errors(ctx));
	describe_resolved(&out, &resolved);
	opk_buf_add(&out, "", 1);
	return (char *)opk_take(out.data);
}

#endif
