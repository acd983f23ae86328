/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files of the data folder. */
#include "chip/chip.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/program.h"
#include "config.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *beside_library;

/* Kept for the life of the process, as the library does not move. */
static void find_beside_library(void)
{
	beside_library = opk_beside_library("../share/offpeak/sets");
	if (beside_library)
		*strrchr(beside_library, '/') = '\0';
}

const char *opk_data_dir(const struct opk_ctx *ctx)
{
	if (ctx->data_dir)
		return ctx->data_dir;
	pthread_once(&once, find_beside_library);
	return beside_library ? beside_library : OPK_DATADIR;
}

int opk_data_file(char **text, char **path, struct opk_ctx *ctx, const char *name)
{
	opk_autofree void *data = NULL;
	size_t size;

	*path = opk_printf("%s/%s", opk_data_dir(ctx), name);
	if (!*path)
		return opk_nomem(ctx, "a shipped file");
	if (access(*path, F_OK))
		return OPK_OK;
	TRY(opk_read_file(&data, &size, ctx, *path));
	if (memchr(data, '\0', size))
		return opk_fail(ctx, OPK_EINPUT, "%s: not a text file", *path);
	*text = opk_take(data);
	return OPK_OK;
}
