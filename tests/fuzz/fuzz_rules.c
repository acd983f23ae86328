/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a file of rules, for launches or code, and as a rule of a command line. */
#include <string.h>

#include "base/ctx.h"
#include "base/mem.h"
#include "compare/compare.h"
#include "fuzz.h"

/* If a rule is accepted, it can be judged; if it is refused, an error says why. */
static void check(const struct opk_diff_rules *rules, struct opk_ctx *ctx, int code)
{
	if (code ? !opk_error_count(ctx) : !rules->rules.count)
		abort();
	for (size_t i = 0; !code && i < rules->rules.count; i++) {
		const struct opk_diff_rule *rule = &rules->rules.items[i].rule;

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
	char path[32];
	int fd = fuzz_file(path, data, size);

	for (int form = 0; form < 3; form++) {
		struct opk_diff_rules rules = { 0 };

		check(&rules, ctx,
		      form ? opk_diff_rules_load(&rules, ctx, path, form == 2)
		           : opk_diff_rules_add(&rules, ctx, text));
		opk_diff_rules_clear(&rules);
	}
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
