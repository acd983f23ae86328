/* SPDX-License-Identifier: BSD-2-Clause */
/* Where NVIDIA's files may be: toolkits, and Python's wheels. */
#ifndef OPK_NV_FIND_H
#define OPK_NV_FIND_H

#include "base/ctx.h"
#include "base/strlist.h"

enum { NV_WANTED = 8 };

/* A file to look for. Lists that are shorter end with NULL. */
struct nv_wanted {
	const char *names[NV_WANTED];
	/* Below a toolkit's root, below Python's site-packages, or "." for the folder itself. */
	const char *below[NV_WANTED];
	const char *packages[NV_WANTED]; /* below "nvidia" in site-packages */
	const char *folder;              /* in a package */
};

/* Adds the paths where the file may be, best first; false when out of memory. */
bool nv_find(struct opk_strlist *out, const struct nv_wanted *wanted, const struct opk_ctx *ctx);
/* Adds those below one folder; NULL: none. */
bool nv_find_below(struct opk_strlist *out, const struct nv_wanted *wanted, const char *root);

#endif
