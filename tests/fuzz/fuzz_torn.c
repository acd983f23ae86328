/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a damaged .opk file: verified, then recovered. The recovered file is complete and
 * valid, and recovering it again changes nothing.
 */
#include <string.h>

#include "container/door.h"
#include "fuzz.h"

static char recovered[64], again[64];

/* A section that unpacks to hundreds of megabytes is legal, but slow. */
static bool is_large(struct opk_ctx *ctx, const char *path)
{
	uint64_t plain = 0;
	struct opk_file *file;

	if (opk_file_open(&file, ctx, path))
		return false;
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		plain += opk_file_section(file, i)->plain_size;
	opk_file_free(file);
	return plain > 1 << 24;
}

static size_t count_sections(struct opk_ctx *ctx, const char *path)
{
	struct opk_file *file;
	size_t count;

	if (opk_file_open(&file, ctx, path) || !opk_file_complete(file))
		abort();
	count = opk_file_section_count(file);
	opk_file_free(file);
	return count;
}

static void recover(struct opk_ctx *ctx, const char *path)
{
	if (opk_recover(NULL, ctx, path, recovered))
		return;
	if (opk_recover(NULL, ctx, recovered, again)
	    || count_sections(ctx, recovered) != count_sections(ctx, again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_listing *findings;
	char path[32];
	int fd = fuzz_file(path, data, size);

	if (!*recovered) {
		snprintf(recovered, sizeof recovered, "/dev/shm/fuzz-%ld.opk", (long)getpid());
		snprintf(again, sizeof again, "/dev/shm/fuzz-%ld.again.opk", (long)getpid());
	}
	if (!is_large(ctx, path)) {
		if (!opk_verify(&findings, ctx, path, NULL))
			opk_listing_free(findings);
		recover(ctx, path);
	}
	unlink(recovered);
	unlink(again);
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
