/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the fuzz targets: the input as a file, since the parsers take paths. */
#ifndef OPK_FUZZ_H
#define OPK_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "offpeak.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A nameless file of these bytes, which *path opens. The caller closes the result. */
static inline int fuzz_file(char path[32], const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static inline struct opk_ctx *fuzz_ctx(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_ctx *ctx;

	/* NVIDIA's libraries are not fuzzed here, and clang's sanitizers refuse them. */
	options.cuda_dir = "/nonexistent";
	if (opk_ctx_new(&ctx, &options))
		abort();
	return ctx;
}

#endif
