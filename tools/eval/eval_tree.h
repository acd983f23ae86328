/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --layout tree: ranges inside the ranges that they ran in. */
#ifndef OPK_TOOL_EVAL_TREE_H
#define OPK_TOOL_EVAL_TREE_H

#include "base/index.h"
#include "eval/eval_order.h"

#define TREE_NONE SIZE_MAX

struct eval_tree_node {
	struct opk_table_place place;
	bool is_row;    /* else it only holds others: nothing was recorded of it itself */
	bool is_kernel; /* holds none */
	char *path;     /* of a kernel, that of the ranges that it ran in */
	char *name;     /* of a kernel */
	size_t label;   /* from this byte of the path on it is called so inside its parent */
	char *scope;    /* file, host and rank */
	int32_t device; /* of a row; -1: not known, or of no row */
	uint64_t start, end;
	size_t next_alike; /* of the same path, scope and kind */
	size_t parent, first, last, next;
	bool attached;
};

/* Nodes of one path, scope and kind, in the order of their rows. */
struct eval_tree_list {
	char *key;
	size_t first, last, count;
};

/* Begin with { 0 }. */
struct eval_tree {
	struct eval_tree_node *nodes;
	size_t count, capacity;
	struct eval_tree_list *lists;
	size_t list_count, list_capacity;
	struct opk_index numbers; /* of lists */
	size_t first, last;       /* of those without a parent */
	size_t depth, at;         /* the node that is being printed */
	uint64_t strays;          /* rows of which it is not known which range held them */
	const char *stray;
};

void eval_tree_clear(struct eval_tree *tree);

#endif
