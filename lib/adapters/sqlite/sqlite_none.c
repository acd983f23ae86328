/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces sqlite_file.c in builds without SQLite's header or library. */
#include "adapters/sqlite/sqlite_file.h"

static int fail(struct opk_ctx *ctx, const char *path, const char *what)
{
	return opk_fail(ctx, OPK_EFAILED,
	                "%s: built without SQLite, so no database can be %s; with libsqlite3-dev "
	                "installed, configure and build again",
	                path, what);
}

int opk_sqlite_new(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path)
{
	*out = NULL;
	return fail(ctx, path, "written");
}

int opk_sqlite_open(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path)
{
	*out = NULL;
	return fail(ctx, path, "read");
}

/* Never called, as no database can be opened. */
int opk_sqlite_run(struct opk_sqlite *sqlite, const char *sql)
{
	(void)sqlite;
	(void)sql;
	return OPK_EFAILED;
}

int opk_sqlite_finish(struct opk_sqlite *sqlite)
{
	(void)sqlite;
	return OPK_EFAILED;
}

void opk_sqlite_free(struct opk_sqlite *sqlite)
{
	(void)sqlite;
}

int opk_statement_new(struct opk_statement **out, struct opk_sqlite *sqlite, const char *sql)
{
	(void)out;
	(void)sqlite;
	(void)sql;
	return OPK_EFAILED;
}

void opk_statement_text(struct opk_statement *statement, const char *text)
{
	(void)statement;
	(void)text;
}

void opk_statement_u64(struct opk_statement *statement, uint64_t number)
{
	(void)statement;
	(void)number;
}

void opk_statement_double(struct opk_statement *statement, double number)
{
	(void)statement;
	(void)number;
}

void opk_statement_null(struct opk_statement *statement)
{
	(void)statement;
}

int opk_statement_run(struct opk_statement *statement)
{
	(void)statement;
	return OPK_EFAILED;
}

int opk_statement_next(bool *row, struct opk_statement *statement)
{
	(void)statement;
	*row = false;
	return OPK_EFAILED;
}

int64_t opk_statement_get_int(const struct opk_statement *statement, int column)
{
	(void)statement;
	(void)column;
	return 0;
}

double opk_statement_get_double(const struct opk_statement *statement, int column)
{
	(void)statement;
	(void)column;
	return 0;
}

bool opk_statement_is_number(const struct opk_statement *statement, int column)
{
	(void)statement;
	(void)column;
	return false;
}

const char *opk_statement_get_text(const struct opk_statement *statement, int column)
{
	(void)statement;
	(void)column;
	return NULL;
}
