/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite: a new database, which nothing opens before it is whole, and statements to fill it. */
#ifndef OPK_SQLITE_FILE_H
#define OPK_SQLITE_FILE_H

#include "base/ctx.h"

struct opk_sqlite;
struct opk_statement;

/* Into an empty file, and begins its one transaction. OPK_EFAILED where SQLite was not built in. */
int opk_sqlite_new(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path);
/* One or more statements as text. */
int opk_sqlite_run(struct opk_sqlite *sqlite, const char *sql);
/* Ends the transaction and closes the file; its statements are gone. */
int opk_sqlite_finish(struct opk_sqlite *sqlite);
/* Also of what was not finished: the file is useless then. */
void opk_sqlite_free(struct opk_sqlite *sqlite);

/* "INSERT ... VALUES (?, ?)"; lives as long as the database. */
int opk_statement_new(struct opk_statement **out, struct opk_sqlite *sqlite, const char *sql);
/*
 * The statement's parameters in order. Text is borrowed until it runs, NULL is NULL, and what is no
 * UTF-8 becomes U+FFFD. SQLite has no NaN: it becomes NULL. Numbers beyond 2^63 become REAL.
 */
void opk_statement_text(struct opk_statement *statement, const char *text);
void opk_statement_u64(struct opk_statement *statement, uint64_t number);
void opk_statement_double(struct opk_statement *statement, double number);
void opk_statement_null(struct opk_statement *statement);
/* Runs it, and forgets the parameters. */
int opk_statement_run(struct opk_statement *statement);

#endif
