/* SPDX-License-Identifier: BSD-2-Clause */
/* Databases through SQLite. */
#include "adapters/sqlite/sqlite_file.h"

#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

struct opk_statement {
	struct opk_sqlite *sqlite;
	sqlite3_stmt *handle;
	int bound;
	int status; /* of the first parameter that failed to bind */
	struct opk_statement *next;
};

struct opk_sqlite {
	struct opk_ctx *ctx;
	char *path;
	sqlite3 *handle;
	struct opk_statement *statements;
	bool is_given; /* someone else's, which is only read */
};

/* Whether someone else's file is to blame, and not this machine or this program. */
static bool is_of_file(int status)
{
	return status != SQLITE_FULL && status != SQLITE_MISUSE && status != SQLITE_INTERNAL;
}

/* What the system says of a failed call, or why the file can't be read now; "": nothing. */
static const char *reason_of(struct opk_sqlite *sqlite, int status)
{
	int number = sqlite->handle ? sqlite3_system_errno(sqlite->handle) : 0;

	if (status == SQLITE_BUSY || status == SQLITE_LOCKED)
		return "another program is writing it";
	if (status == SQLITE_CANTOPEN || status == SQLITE_IOERR || status == SQLITE_PERM)
		return number ? strerror(number) : "";
	return "";
}

static int fail(struct opk_sqlite *sqlite, int status)
{
	const char *reason;

	if (status == SQLITE_NOMEM)
		return opk_nomem(sqlite->ctx, "a database");
	if (status == SQLITE_INTERRUPT)
		return opk_check_interrupt(sqlite->ctx);
	reason = reason_of(sqlite, status);
	return opk_fail(sqlite->ctx,
	                sqlite->is_given && is_of_file(status) ? OPK_EINPUT : OPK_EFAILED,
	                "%s: SQLite: %s%s%s", sqlite->path,
	                sqlite->handle ? sqlite3_errmsg(sqlite->handle) : sqlite3_errstr(status),
	                *reason ? ": " : "", reason);
}

int opk_sqlite_run(struct opk_sqlite *sqlite, const char *sql)
{
	int status = sqlite3_exec(sqlite->handle, sql, NULL, NULL, NULL);

	return status ? fail(sqlite, status) : OPK_OK;
}

/* Nothing else opens the incomplete file, so it needs no journal and no lock. */
static int begin(struct opk_sqlite *sqlite)
{
	int status = sqlite3_open_v2(sqlite->path, &sqlite->handle,
	                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (status)
		return fail(sqlite, status);
	return opk_sqlite_run(sqlite, "PRAGMA journal_mode = OFF;"
	                              "PRAGMA synchronous = OFF;"
	                              "PRAGMA locking_mode = EXCLUSIVE;"
	                              "BEGIN;");
}

static int stop(void *sqlite)
{
	return opk_interrupted(((struct opk_sqlite *)sqlite)->ctx);
}

/* The file's own views and triggers run no functions that could do harm. */
static int begin_reading(struct opk_sqlite *sqlite)
{
	enum { STEPS = 100000 }; /* of SQLite's machine, between two looks at interrupts */
	int status = sqlite3_open_v2(sqlite->path, &sqlite->handle,
	                             SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	sqlite->is_given = true;
	if (status)
		return fail(sqlite, status);
	sqlite3_progress_handler(sqlite->handle, STEPS, stop, sqlite);
	return opk_sqlite_run(sqlite, "PRAGMA trusted_schema = OFF;"
	                              "PRAGMA cell_size_check = ON;");
}

static int open_with(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path,
                     int (*begins)(struct opk_sqlite *sqlite))
{
	struct opk_sqlite *sqlite = opk_alloc(sizeof *sqlite);
	int code;

	if (!sqlite)
		return opk_nomem(ctx, "a database");
	sqlite->ctx = ctx;
	/* SQLite would not take a name that begins with "file:" or ':' as a path. */
	sqlite->path = opk_printf("%s%s", *path == '/' ? "" : "./", path);
	code = sqlite->path ? begins(sqlite) : opk_nomem(ctx, "a database");
	if (code) {
		opk_sqlite_free(sqlite);
		return code;
	}
	*out = sqlite;
	return OPK_OK;
}

int opk_sqlite_new(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path)
{
	return open_with(out, ctx, path, begin);
}

int opk_sqlite_open(struct opk_sqlite **out, struct opk_ctx *ctx, const char *path)
{
	return open_with(out, ctx, path, begin_reading);
}

static void free_statements(struct opk_sqlite *sqlite)
{
	for (struct opk_statement *next, *at = sqlite->statements; at; at = next) {
		next = at->next;
		sqlite3_finalize(at->handle);
		free(at);
	}
	sqlite->statements = NULL;
}

int opk_sqlite_finish(struct opk_sqlite *sqlite)
{
	int status;

	free_statements(sqlite);
	TRY(opk_sqlite_run(sqlite, "COMMIT"));
	status = sqlite3_close(sqlite->handle);
	if (status)
		return fail(sqlite, status);
	sqlite->handle = NULL;
	return OPK_OK;
}

void opk_sqlite_free(struct opk_sqlite *sqlite)
{
	if (!sqlite)
		return;
	free_statements(sqlite);
	sqlite3_close(sqlite->handle);
	free(sqlite->path);
	free(sqlite);
}

int opk_statement_new(struct opk_statement **out, struct opk_sqlite *sqlite, const char *sql)
{
	struct opk_statement *statement = opk_alloc(sizeof *statement);
	int status;

	if (!statement)
		return opk_nomem(sqlite->ctx, "a database");
	statement->sqlite = sqlite;
	statement->next = sqlite->statements;
	sqlite->statements = statement;
	status = sqlite3_prepare_v3(sqlite->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
	                            &statement->handle, NULL);
	if (status)
		return fail(sqlite, status);
	*out = statement;
	return OPK_OK;
}

static void note(struct opk_statement *statement, int status)
{
	if (!statement->status)
		statement->status = status;
}

void opk_statement_text(struct opk_statement *statement, const char *text)
{
	int at = ++statement->bound;
	char *repaired = NULL;

	if (text && !opk_utf8_valid(text)) {
		repaired = opk_utf8_repair(text);
		if (!repaired) {
			note(statement, SQLITE_NOMEM);
			return;
		}
	}
	note(statement,
	     repaired ? sqlite3_bind_text(statement->handle, at, repaired, -1, free)
	              : sqlite3_bind_text(statement->handle, at, text, -1, SQLITE_STATIC));
}

void opk_statement_u64(struct opk_statement *statement, uint64_t number)
{
	if (number > INT64_MAX)
		opk_statement_double(statement, (double)number);
	else
		note(statement, sqlite3_bind_int64(statement->handle, ++statement->bound,
		                                   (sqlite3_int64)number));
}

void opk_statement_double(struct opk_statement *statement, double number)
{
	note(statement, sqlite3_bind_double(statement->handle, ++statement->bound, number));
}

void opk_statement_null(struct opk_statement *statement)
{
	note(statement, sqlite3_bind_null(statement->handle, ++statement->bound));
}

int opk_statement_run(struct opk_statement *statement)
{
	int status = statement->status;
	int code = OPK_OK;

	if (!status)
		status = sqlite3_step(statement->handle);
	if (status != SQLITE_DONE)
		code = fail(statement->sqlite, status);
	sqlite3_reset(statement->handle);
	statement->bound = 0;
	statement->status = SQLITE_OK;
	return code;
}

int opk_statement_next(bool *row, struct opk_statement *statement)
{
	int status = sqlite3_step(statement->handle);

	*row = status == SQLITE_ROW;
	return *row || status == SQLITE_DONE ? OPK_OK : fail(statement->sqlite, status);
}

int64_t opk_statement_get_int(const struct opk_statement *statement, int column)
{
	return sqlite3_column_int64(statement->handle, column);
}

double opk_statement_get_double(const struct opk_statement *statement, int column)
{
	return sqlite3_column_double(statement->handle, column);
}

bool opk_statement_is_number(const struct opk_statement *statement, int column)
{
	int type = sqlite3_column_type(statement->handle, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

const char *opk_statement_get_text(const struct opk_statement *statement, int column)
{
	return (const char *)sqlite3_column_text(statement->handle, column);
}
