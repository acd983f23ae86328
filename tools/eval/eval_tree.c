/* SPDX-License-Identifier: BSD-2-Clause */
/* Nested ranges: finds by names and times which range contains which, and orders the rows. */
#include "eval/eval_tree.h"

#include <string.h>

#include "base/buf.h"
#include "eval/eval_table.h"

void eval_tree_clear(struct eval_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->nodes[i].path);
		free(tree->nodes[i].name);
		free(tree->nodes[i].scope);
	}
	free(tree->nodes);
	free(tree->lists);
	opk_nesting_clear(&tree->nesting);
	*tree = (struct eval_tree){ 0 };
}

/* ---- nodes ------------------------------------------------------------------------------ */

/* NULL: out of memory. */
static struct eval_tree_list *list_of(struct eval_tree *tree, const struct eval_tree_node *node)
{
	char *key = opk_nesting_key(node->scope, node->path, node->is_kernel);
	struct eval_tree_list *list;
	size_t number;

	if (!opk_nesting_add(&number, &tree->nesting, key))
		return NULL;
	if (number < tree->list_count)
		return &tree->lists[number];
	list = opk_append(&tree->lists, &tree->list_capacity, &tree->list_count, sizeof *list);
	if (list)
		*list = (struct eval_tree_list){ .first = TREE_NONE, .last = TREE_NONE };
	return list;
}

/* Takes over the texts. */
static int add_node(struct eval_tree *tree, struct app *app, struct eval_tree_node node)
{
	struct eval_tree_node *added = opk_append(&tree->nodes, &tree->capacity, &tree->count,
	                                          sizeof *added);
	struct eval_tree_list *list;

	if (!added) {
		free(node.path);
		free(node.name);
		free(node.scope);
		return app_nomem(app);
	}
	node.next_alike = node.parent = node.first = node.last = node.next = TREE_NONE;
	*added = node;
	list = node.path && node.scope && (node.name || !node.is_kernel) ? list_of(tree, added)
	                                                                 : NULL;
	if (!list)
		return app_nomem(app);
	if (list->count++)
		tree->nodes[list->last].next_alike = tree->count - 1;
	else
		list->first = tree->count - 1;
	list->last = tree->count - 1;
	return OPK_OK;
}

int eval_tree_take(struct eval *eval, const struct opk_table_source *source)
{
	static const struct opk_range unknown = {
		.name = "", .kernel = "", .nvtx = "", .device = -1, .rank = -1
	};
	const struct opk_row *row = &source->row;
	const struct opk_range *range = row->range ? row->range : &unknown;
	bool kernel = *range->kernel;
	struct eval_tree_node node = {
		.is_row = true,
		.is_kernel = kernel,
		.path = opk_strdup(kernel ? range->nvtx : row->name),
		.name = kernel ? opk_strdup(row->name) : NULL,
		.scope = opk_printf("%zu:%d:%s", source->place.file, range->rank,
		                    range->host ? range->host : ""),
		.device = range->device,
		.start = range->start_ns,
		.end = range->end_ns ? range->end_ns : range->start_ns + range->duration_ns,
	};

	TRY(add_node(&eval->tree, eval->app, node));
	return eval_sorted_take(eval, source);
}

/* ---- containment ------------------------------------------------------------------------ */

/* A range measured on one GPU contains none measured on another. */
static bool may_hold(const struct eval_tree_node *outer, const struct eval_tree_node *inner)
{
	return outer->device < 0 || inner->device < 0 || outer->device == inner->device;
}

static bool holds(const struct eval_tree_node *outer, const struct eval_tree_node *inner)
{
	return may_hold(outer, inner) && outer->start && inner->start
	       && outer->start <= inner->start && inner->end <= outer->end;
}

/* Looks at the outer ranges from `from` on first: rows are mostly in the order of time. */
static size_t find_by_time(const struct eval_tree *tree, const struct eval_tree_list *outer,
                           size_t from, size_t inner)
{
	size_t i = from;

	do {
		if (holds(&tree->nodes[i], &tree->nodes[inner]))
			return i;
		i = tree->nodes[i].next_alike;
		if (i == TREE_NONE)
			i = outer->first;
	} while (i != from);
	return TREE_NONE;
}

static bool nest_by_time(struct eval_tree *tree, const struct eval_tree_list *outer,
                         const struct eval_tree_list *inner)
{
	size_t from = outer->first;

	for (size_t i = inner->first; i != TREE_NONE; i = tree->nodes[i].next_alike) {
		from = tree->nodes[i].parent = find_by_time(tree, outer, from, i);
		if (from == TREE_NONE)
			return false;
	}
	return true;
}

/* Another run has other times: each outer range contains equally many, in order. */
static bool nest_by_number(struct eval_tree *tree, const struct eval_tree_list *outer,
                           const struct eval_tree_list *inner)
{
	size_t each = inner->count / outer->count, parent = outer->first, done = 0;

	if (inner->count % outer->count)
		return false;
	for (size_t i = inner->first; i != TREE_NONE; i = tree->nodes[i].next_alike) {
		if (done == each) {
			parent = tree->nodes[parent].next_alike;
			done = 0;
		}
		if (!may_hold(&tree->nodes[parent], &tree->nodes[i]))
			return false;
		tree->nodes[i].parent = parent;
		done++;
	}
	return true;
}

/* `label`: the range's name begins at this byte of its path. */
static void nest(struct eval_tree *tree, const struct eval_tree_list *outer,
                 const struct eval_tree_list *inner, size_t label)
{
	bool known = (outer->count > 1 && nest_by_time(tree, outer, inner))
	             || nest_by_number(tree, outer, inner);

	for (size_t i = inner->first; i != TREE_NONE; i = tree->nodes[i].next_alike) {
		struct eval_tree_node *node = &tree->nodes[i];

		if (known) {
			node->label = label;
			continue;
		}
		node->parent = TREE_NONE;
		tree->strays++;
		tree->stray = node->path;
	}
}

/* Adds the NVTX ranges in which kernels ran, though these were not measured. */
static int add_holders(struct eval_tree *tree, struct app *app, const char *scope, const char *path)
{
	if (opk_path_is_too_deep(path))
		return OPK_OK;
	for (size_t end = 0; path[end]; end++) {
		opk_autofree char *outer = NULL, *key = NULL;

		end = opk_path_end_part(path, end);
		outer = opk_strndup(path, end);
		key = outer ? opk_nesting_key(scope, outer, false) : NULL;
		if (!key)
			return app_nomem(app);
		if (end && !opk_index_find(NULL, &tree->nesting.numbers, key))
			TRY(add_node(tree, app,
			             (struct eval_tree_node){ .path = opk_take(outer),
			                                      .scope = opk_strdup(scope),
			                                      .device = -1 }));
		if (!path[end])
			break;
	}
	return OPK_OK;
}

/* The innermost of the ranges that contain these has them. */
static int nest_list(struct eval_tree *tree, struct app *app, const struct eval_tree_list *inner)
{
	const struct eval_tree_node *node = &tree->nodes[inner->first];
	opk_autofree char *key = opk_nesting_key(node->scope, node->path, node->is_kernel);
	size_t path, label = 0, end = 0, holder;
	const struct eval_tree_list *outer = NULL;

	if (!key)
		return app_nomem(app);
	path = (size_t)(opk_nesting_path(key) - key);
	while (opk_nesting_next(&holder, &end, &tree->nesting, key)) {
		outer = &tree->lists[holder];
		label = end - path + 1;
	}
	if (outer)
		nest(tree, outer, inner, node->is_kernel ? 0 : label);
	return OPK_OK;
}

static int build(struct eval_tree *tree, struct app *app)
{
	size_t rows = tree->count;

	for (size_t i = 0; i < rows; i++) {
		if (tree->nodes[i].is_kernel)
			TRY(add_holders(tree, app, tree->nodes[i].scope, tree->nodes[i].path));
	}
	for (size_t i = 0; i < tree->list_count; i++)
		TRY(nest_list(tree, app, &tree->lists[i]));
	return OPK_OK;
}

/* ---- order ------------------------------------------------------------------------------ */

static void attach(struct eval_tree *tree, size_t i)
{
	for (;;) {
		struct eval_tree_node *node = &tree->nodes[i];
		struct eval_tree_node *parent = node->parent == TREE_NONE
		                                        ? NULL
		                                        : &tree->nodes[node->parent];
		size_t *last = parent ? &parent->last : &tree->last;

		if (node->attached)
			return;
		node->attached = true;
		if (*last == TREE_NONE)
			*(parent ? &parent->first : &tree->first) = i;
		else
			tree->nodes[*last].next = i;
		*last = i;
		/* A node without a row takes the place of its first part. */
		if (!parent || parent->is_row)
			return;
		i = node->parent;
	}
}

static void attach_all(struct eval_tree *tree, struct eval_order *order)
{
	size_t count = eval_order_sort(order);

	tree->first = tree->last = TREE_NONE;
	for (size_t i = 0; i < count; i++) {
		const struct eval_place *place = eval_order_get(order, i);

		tree->nodes[place->serial].place = place->at;
		attach(tree, place->serial);
	}
}

/* The next node, with parts before siblings; *depth becomes that node's. */
static size_t after(const struct eval_tree *tree, size_t i, size_t *depth)
{
	if (tree->nodes[i].first != TREE_NONE) {
		++*depth;
		return tree->nodes[i].first;
	}
	while (tree->nodes[i].next == TREE_NONE) {
		i = tree->nodes[i].parent;
		if (i == TREE_NONE)
			return TREE_NONE;
		--*depth;
	}
	return tree->nodes[i].next;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* For people, without the parent's name, which is printed above; else in full. */
static char *name_of(const struct eval *eval, const struct eval_tree_node *node)
{
	const char *name = node->is_kernel ? node->name : node->path;

	if (!app_shows_table(eval->app))
		return opk_strdup(name);
	return opk_printf("%*s%s", (int)(2 * eval->tree.depth), "", name + node->label);
}

static int print_row(struct eval *eval, const struct eval_tree_node *node)
{
	const struct opk_table_source *source;
	const union opk_cell *cells;
	const bool *known;
	opk_autofree char *name = name_of(eval, node);
	int code = eval_table_result(eval, opk_table_go_to(&source, eval->table, &node->place));

	if (!name)
		return app_nomem(eval->app);
	if (code)
		return code;
	eval->row_count++;
	code = eval_table_result(eval, opk_table_next(&cells, &known, eval->table));
	if (code)
		return code;
	for (size_t i = 1; i < eval->column_count; i++)
		eval->cells[i] = cells[eval_rows_column(eval, i)];
	eval->cells[0].string = name;
	return opk_out_nested_row(eval->app->out, eval->tree.depth, eval->cells,
	                          eval->column_count);
}

/* Prints only the name of the range. */
static int print_holder(struct eval *eval, const struct eval_tree_node *node)
{
	opk_autofree char *name = name_of(eval, node);

	if (!name)
		return app_nomem(eval->app);
	eval->cells[0].string = name;
	return opk_out_nested_row(eval->app->out, eval->tree.depth, eval->cells, 1);
}

int eval_tree_print(struct eval *eval)
{
	struct eval_tree *tree = &eval->tree;
	size_t file = SIZE_MAX;
	int code = build(tree, eval->app);

	if (code)
		return code;
	attach_all(tree, &eval->order);
	tree->depth = 0;
	for (tree->at = tree->first; !code && tree->at != TREE_NONE;
	     tree->at = after(tree, tree->at, &tree->depth)) {
		const struct eval_tree_node *node = &tree->nodes[tree->at];

		if (!node->is_row) {
			code = print_holder(eval, node);
			continue;
		}
		if (node->place.file != file)
			code = eval_rows_begin_file(eval, node->place.file);
		file = node->place.file;
		if (!code)
			code = print_row(eval, node);
	}
	if (!code && tree->strays)
		app_note(
			"%ju ranges such as %s are not nested: of several ranges around them it is "
			"not known which held which",
			(uintmax_t)tree->strays, tree->stray);
	return code;
}
