/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that all commands share which make new counter data images. */
#ifndef OPK_IMAGE_ARGS_H
#define OPK_IMAGE_ARGS_H

#include "common/app.h"

struct image_args {
	uint64_t timeout;
};

/* `member` is the struct image_args inside the command's own struct. */
#define IMAGE_OPTIONS(type, member)                                                                \
	{                                                                                          \
		"timeout", 0, "SECONDS", "give up after so long without progress (30)",            \
			OPTION_NUMBER, offsetof(type, member.timeout)                              \
	}

/* `what` is counted on a terminal, as "copying range"; it outlives the result. */
struct opk_image_options image_options(const struct image_args *args, const char *what);

#endif
