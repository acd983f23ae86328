/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages between a kept child and the process that asks it: kept.c, serve.c. */
#ifndef OPK_KEPT_H
#define OPK_KEPT_H

#include <sys/types.h>

#include "base/buf.h"
#include "child/child.h"

enum {
	OPK_KEPT_SOCKET = 3,   /* the child's descriptor; each packet is one message */
	OPK_KEPT_IDLE_S = 60,  /* a child ends after so long without a request */
	OPK_KEPT_VERSION = 32, /* bytes */
};

/* The child's first message. */
struct opk_kept_hello {
	char version[OPK_KEPT_VERSION];
	pid_t pid;
};

/*
 * The message for each work, sent with its files. The first file has the settings and then the
 * request. The child answers with several struct opk_report; the last one has the code.
 */
enum { OPK_KEPT_REQUEST, OPK_KEPT_INPUT, OPK_KEPT_RESULT, OPK_KEPT_FILES };
struct opk_kept_question {
	uint64_t size; /* of the request with the settings */
};

/* Writes a context's settings, and makes a context from them; NULL when out of memory. */
void opk_settings_put(struct opk_buf *out, const struct opk_ctx *ctx);
struct opk_ctx *opk_settings_get(struct opk_reader *in);
/* Whether the context's paths mean the same in every folder. */
bool opk_settings_are_absolute(const struct opk_ctx *ctx);

#endif
