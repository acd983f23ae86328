/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads YAML into a small tree whose nodes know their places. */
#ifndef OPK_YAML_TREE_H
#define OPK_YAML_TREE_H

#include "base/problems.h"

enum opk_yaml_kind {
	OPK_YAML_SCALAR,
	OPK_YAML_LIST,
	OPK_YAML_MAP,
	OPK_YAML_BAD, /* not readable; its error was reported */
};

struct opk_yaml {
	enum opk_yaml_kind kind;
	struct opk_place place;
	char *text;             /* of a scalar */
	struct opk_yaml *items; /* of a list, or of a map: key, value, key, value... */
	size_t count;
	size_t capacity;
};

/*
 * Parses one document. Anchors, aliases, duplicate keys, keys that are not plain text, NUL
 * characters and further documents are problems, but do not end the tree. Malformed text, nesting
 * beyond 16 levels, and maps of more than 10,000 keys are OPK_EINPUT and a problem: the tree then
 * has what comes before, with BAD nodes at the end of unfinished lists and maps, or is NULL if
 * nothing does. OPK_ENOMEM has its cause in ctx, and there is no tree.
 */
int opk_yaml_parse(struct opk_yaml **out, struct opk_ctx *ctx, struct opk_problems *problems,
                   struct opk_source *source);
void opk_yaml_free(struct opk_yaml *root);

#endif
