/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --layout tree: ranges below the ranges in which they ran. */
#ifndef OPK_TOOL_EVAL_TREE_H
#define OPK_TOOL_EVAL_TREE_H

#include "base/index.h"
#include "eval/eval_order.h"

#define TREE_NONE SIZE_MAX

struct eval_tree_node {
	struct opk_table_place place;
	bool is_row;    /* else it only contains others, and was not recorded itself */
	bool is_kernel; /* contains no others */
	char *path;     /* for a kernel, the path of the ranges around it */
	char *name;     /* of a kernel */
	size_t label;   /* its name inside its parent begins at this byte of the path */
	char *scope;    /* file, host and rank */
	int32_t device; /* of a row; -1: unknown, or not a row */
	uint64_t start, end;
	size_t next_alike; /* the next with the same path, scope and kind */
	size_t parent, first, last, next;
	bool attached;
};

/* Nodes with one path, scope and kind, in the order of their rows. */
struct eval_tree_list {
	size_t first, last, count;
};

/* Start with { 0 }. */
struct eval_tree {
	struct eval_tree_node *nodes;
	size_t count, capacity;
	struct eval_tree_list *lists;
	size_t list_count, list_capacity;
	struct opk_nesting nesting; /* numbers of lists */
	size_t first, last;         /* nodes without a parent */
	size_t depth, at;           /* `at`: the node being printed */
	uint64_t strays;            /* rows for which the containing range is unknown */
	const char *stray;
};

void eval_tree_clear(struct eval_tree *tree);

#endif
