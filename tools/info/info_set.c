/* SPDX-License-Identifier: BSD-2-Clause */
#include "info/info_set.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool says_more(const struct opk_meta *meta)
{
	return meta->set_version || (meta->set_hash && *meta->set_hash) || meta->hidden_count
	       || meta->column_count;
}

static int print_set(struct app *app, const struct opk_meta *meta)
{
	static const struct opk_column columns[] = {
		{ "version", OPK_CELL_UINT },
		{ "hash", OPK_CELL_STRING },
		{ "columns", OPK_CELL_LIST },
		{ "hidden", OPK_CELL_LIST },
	};
	int code;

	if (!says_more(meta))
		return OPK_OK;
	code = opk_out_table(app->out, "set_facts", columns, COUNT(columns));
	return code ? code
	            : opk_out_row(app->out,
	                          (union opk_cell[]){
					  { .uint = meta->set_version },
					  { .string = meta->set_hash },
					  { .list = { meta->columns, meta->column_count } },
					  { .list = { meta->hidden, meta->hidden_count } },
				  });
}

static int print_labels(struct app *app, const struct opk_meta *meta)
{
	static const struct opk_column columns[] = {
		{ "label", OPK_CELL_STRING },
		{ "metric", OPK_CELL_STRING },
	};
	int code = OPK_OK;

	if (meta->label_count)
		code = opk_out_table(app->out, "labels", columns, COUNT(columns));
	for (size_t i = 0; !code && i < meta->label_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = meta->labels[i].name },
						     { .string = meta->labels[i].metric },
					     });
	return code;
}

static int print_derived(struct app *app, const struct opk_meta *meta)
{
	static const struct opk_column columns[] = {
		{ "name", OPK_CELL_STRING },
		{ "unit", OPK_CELL_STRING },
		{ "formula", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};
	int code = OPK_OK;

	if (meta->derived_count)
		code = opk_out_table(app->out, "derived", columns, COUNT(columns));
	for (size_t i = 0; !code && i < meta->derived_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = meta->derived[i].name },
						     { .string = meta->derived[i].unit },
						     { .string = meta->derived[i].formula },
						     { .string = meta->derived[i].description },
					     });
	return code;
}

static int print_headings(struct app *app, const struct opk_meta *meta)
{
	static const struct opk_column columns[] = {
		{ "title", OPK_CELL_STRING },
		{ "first", OPK_CELL_UINT },
		{ "count", OPK_CELL_UINT },
		{ "text", OPK_CELL_STRING },
	};
	int code = OPK_OK;

	if (meta->heading_count)
		code = opk_out_table(app->out, "headings", columns, COUNT(columns));
	for (size_t i = 0; !code && i < meta->heading_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = meta->headings[i].title },
						     { .uint = meta->headings[i].first },
						     { .uint = meta->headings[i].count },
						     { .string = meta->headings[i].text },
					     });
	return code;
}

int info_set_print(struct app *app, const struct opk_meta *meta)
{
	int code = print_set(app, meta);

	if (!code)
		code = print_labels(app, meta);
	if (!code)
		code = print_derived(app, meta);
	return code ? code : print_headings(app, meta);
}
