/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files of the data folder. */
#ifndef OPK_DATA_FILE_H
#define OPK_DATA_FILE_H

#include "base/ctx.h"

/*
 * A shipped text file of the data folder, and its path for messages; free() both. NULL text where
 * none is installed.
 */
int opk_data_file(char **text, char **path, struct opk_ctx *ctx, const char *name);

#endif
