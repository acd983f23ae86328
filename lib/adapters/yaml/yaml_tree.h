/* SPDX-License-Identifier: BSD-2-Clause */
/* libyaml's events as a small tree whose nodes know their place. */
#ifndef OPK_YAML_TREE_H
#define OPK_YAML_TREE_H

#include "base/ctx.h"

enum opk_yaml_kind { OPK_YAML_SCALAR, OPK_YAML_LIST, OPK_YAML_MAP };

struct opk_yaml {
	enum opk_yaml_kind kind;
	size_t line, column; /* from 1 */
	char *text;          /* of a scalar */
	struct opk_yaml *items; /* of a list; of a map: key, value, key, value... */
	size_t count;
	size_t capacity;
};

/*
 * Parses one document. OPK_EINPUT with "name:line:column: ..." for malformed text, more than one
 * document, anchors and aliases, duplicate keys, keys that are not plain text, or nesting beyond
 * 16 levels.
 */
int opk_yaml_parse(struct opk_yaml **out, struct opk_ctx *ctx, const char *name, const void *text,
                   size_t size);
void opk_yaml_free(struct opk_yaml *root);

/* Starts a cause chain at a node's place. */
int opk_yaml_fail(struct opk_ctx *ctx, const char *name, const struct opk_yaml *node,
                  const char *format, ...) OPK_PRINTF(4, 5);

#endif
