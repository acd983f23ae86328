/* SPDX-License-Identifier: BSD-2-Clause */
/* Two rows with a cell of each kind, and where they are written, for tests of output. */
#ifndef OPK_ROWS_H
#define OPK_ROWS_H

#include <math.h>

#include "base/buf.h"
#include "output/door.h"
#include "testing.h"

enum { FORMATS = 4 };

static const struct opk_column columns[] = {
	{ "name", OPK_CELL_STRING }, { "n", OPK_CELL_UINT },     { "value", OPK_CELL_DOUBLE },
	{ "ok", OPK_CELL_BOOL },     { "units", OPK_CELL_LIST },
};
static const char *const units[] = { "sm", "l2" };
static const union opk_cell cells[][COUNT(columns)] = {
	{ { .string = "a,\"b\"" },
	  { .uint = UINT64_MAX },
	  { .number = 0.5 },
	  { .boolean = true },
	  { .list = { units, 2 } } },
	{ { .string = NULL },
	  { .uint = 0 },
	  { .number = (double)NAN },
	  { .boolean = false },
	  { .list = { NULL, 0 } } },
};

static inline int collect(void *data, const void *bytes, size_t size)
{
	opk_buf_add(data, bytes, size);
	return 0;
}

struct writing {
	struct opk_ctx *ctx;
	struct opk_out *out;
	struct opk_buf buf;
};

static inline void begin_only(struct writing *w, enum opk_format format, size_t width,
                              const char *only)
{
	struct opk_out_options options = OPK_INIT(options);

	options.format = format;
	options.width = width;
	options.only = only;
	*w = (struct writing){ .ctx = new_ctx() };
	ck_ok(w->ctx, opk_out_new(&w->out, w->ctx, &options, collect, &w->buf));
}

static inline void begin(struct writing *w, enum opk_format format, size_t width)
{
	begin_only(w, format, width, NULL);
}

/* What was written; the caller frees it. */
static inline char *end(struct writing *w)
{
	ck_ok(w->ctx, opk_out_finish(w->out));
	opk_buf_add(&w->buf, "", 1);
	ck_assert(!w->buf.failed);
	opk_out_free(w->out);
	opk_ctx_free(w->ctx);
	return (char *)w->buf.data;
}

static inline char *one_cell(enum opk_format format, struct opk_column column, union opk_cell cell,
                             size_t width)
{
	struct writing w;

	begin(&w, format, width);
	ck_ok(w.ctx, opk_out_table(w.out, "t", &column, 1));
	ck_ok(w.ctx, opk_out_row(w.out, &cell));
	return end(&w);
}

#endif
