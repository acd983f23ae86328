/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite: fills a new database, which nothing else opens until it is complete; reads others. */
#ifndef OPK_SQLITE_FILE_H
#define OPK_SQLITE_FILE_H

#include "base/ctx.h"

struct opk_sqlite;
struct opk_statement;

/* Opens an empty file and begins its only transaction. OPK_EFAILED: built without SQLite. */
int opk_sqlite_new(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path);
/* Runs one or more statements. */
int opk_sqlite_run(struct opk_sqlite *sqlite, const char *sql);
/* Commits the transaction, closes the file, and frees its statements. */
int opk_sqlite_finish(struct opk_sqlite *sqlite);
/* Frees it; without opk_sqlite_finish() the file is useless. */
void opk_sqlite_free(struct opk_sqlite *sqlite);

/* "INSERT ... VALUES (?, ?)"; lives as long as the database. */
int opk_statement_new(struct opk_statement **out, struct opk_sqlite *sqlite, const char *sql);
/*
 * Set the statement's parameters in order. Text is borrowed until the statement runs; NULL text
 * is NULL, and invalid UTF-8 becomes U+FFFD. NaN becomes NULL. Numbers beyond 2^63 become REAL.
 */
void opk_statement_text(struct opk_statement *statement, const char *text);
void opk_statement_u64(struct opk_statement *statement, uint64_t number);
void opk_statement_double(struct opk_statement *statement, double number);
void opk_statement_null(struct opk_statement *statement);
/* Runs the statement and clears its parameters. */
int opk_statement_run(struct opk_statement *statement);

/* Opens a database to read it. OPK_EINPUT: it is not a database, or damaged, as later calls say. */
int opk_sqlite_open(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path);
/* Goes to the next row of a SELECT; false: there is none. */
int opk_statement_next(bool *row, struct opk_statement *statement);
/* The row's columns, from 0. NULL is 0 or NULL; texts are valid until the next row. */
int64_t opk_statement_get_int(const struct opk_statement *statement, int column);
double opk_statement_get_double(const struct opk_statement *statement, int column);
/* Whether SQLite has it as a number, not as a text or NULL: call it before the value is read. */
bool opk_statement_is_number(const struct opk_statement *statement, int column);
const char *opk_statement_get_text(const struct opk_statement *statement, int column);

#endif
