/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as JSON. */
#include "base/json_read.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_json *root;

	if (!opk_json_parse(&root, ctx, (const char *)data, size))
		opk_json_free(root);
	opk_ctx_free(ctx);
	return 0;
}
