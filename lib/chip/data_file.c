/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files of the data folder. */
#include "chip/chip.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "config.h"

int opk_data_file(char **text, char **path, struct opk_ctx *ctx, const char *name)
{
	opk_autofree void *data = NULL;
	size_t size;
	int code;

	*path = opk_printf("%s/%s", ctx->data_dir ? ctx->data_dir : OPK_DATADIR, name);
	if (!*path)
		return opk_nomem(ctx, "a shipped file");
	if (access(*path, F_OK))
		return OPK_OK;
	code = opk_read_file(&data, &size, ctx, *path);
	if (code)
		return code;
	if (memchr(data, '\0', size))
		return opk_fail(ctx, OPK_EINPUT, "%s: not a text file", *path);
	*text = opk_take(data);
	return OPK_OK;
}
