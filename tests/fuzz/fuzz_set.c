/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a metric set. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_set *set;
	char path[32];
	int fd = fuzz_file(path, data, size);

	if (!opk_set_load(&set, ctx, path))
		opk_set_free(set);
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
