/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files without a name. */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "base/mem.h"

static const char *folder(const struct opk_ctx *ctx)
{
	return ctx->env.tmpdir ? ctx->env.tmpdir : P_tmpdir;
}

int opk_spool_fail(struct opk_ctx *ctx)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;

	return opk_fail(ctx, OPK_EFAILED, "%s: can't write a temporary file: %s%s", folder(ctx),
	                strerror(errno),
	                errno == EMFILE ? "; raise 'ulimit -n', or merge the files first"
	                : full          ? "; let TMPDIR name a folder with more room"
	                                : "; let TMPDIR name another folder");
}

/* For file systems that can't create nameless files: the file has a name for a moment. */
static int open_named(const struct opk_ctx *ctx)
{
	opk_autofree char *path = opk_printf("%s/offpeak.XXXXXX", folder(ctx));
	int fd;

	if (!path) {
		errno = ENOMEM;
		return -1;
	}
	fd = opk_beyond_standard(mkostemp(path, O_CLOEXEC));
	if (fd >= 0)
		unlink(path);
	return fd;
}

int opk_spool_new(int *fd, struct opk_ctx *ctx)
{
	*fd = -1;
#ifdef O_TMPFILE
	*fd = opk_beyond_standard(open(folder(ctx), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
	if (*fd < 0)
		*fd = open_named(ctx);
	return *fd < 0 ? opk_spool_fail(ctx) : OPK_OK;
}
