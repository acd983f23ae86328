/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a file of rules, and as a rule of a command line. */
#include <string.h>

#include "base/ctx.h"
#include "base/mem.h"
#include "compare/door.h"
#include "fuzz.h"

/* What is read is a rule that can be judged, and says what is wrong with what is not. */
static void check(const struct opk_diff_rules *rules, struct opk_ctx *ctx, int code)
{
	if (code ? !opk_error_count(ctx) : !opk_diff_rules_count(rules))
		abort();
	for (size_t i = 0; !code && i < opk_diff_rules_count(rules); i++) {
		const struct opk_diff_rule *rule = opk_diff_rules_get(rules, i);

		if (!*rule->metric && strcmp(rule->text, "unmatched") != 0)
			abort();
		if (rule->limit != rule->limit || !rule->reason || strpbrk(rule->metric, "<>"))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	opk_autofree char *text = opk_strndup((const char *)data, size);
	struct opk_diff_rules *rules;
	char path[32];
	int fd = fuzz_file(path, data, size);

	for (int as_file = 0; as_file < 2; as_file++) {
		if (opk_diff_rules_new(&rules, ctx))
			abort();
		check(rules, ctx,
		      as_file ? opk_diff_rules_load(rules, ctx, path)
		              : opk_diff_rules_add(rules, ctx, text));
		opk_diff_rules_free(rules);
	}
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
