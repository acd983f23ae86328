/* SPDX-License-Identifier: BSD-2-Clause */
/* query DB SQL: a database's answer as CSV, doubles with 17 digits, NULL as an empty field. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static void put(const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++)
		printf(*text == '"' ? "\"\"" : "%c", *text);
	putchar('"');
}

static void put_value(sqlite3_stmt *statement, int i)
{
	int type = sqlite3_column_type(statement, i);

	if (type == SQLITE_FLOAT)
		printf("%.17g", sqlite3_column_double(statement, i));
	else if (type != SQLITE_NULL)
		put((const char *)sqlite3_column_text(statement, i));
}

int main(int argc, char **argv)
{
	sqlite3 *sqlite;
	sqlite3_stmt *statement = NULL;
	int status;

	if (argc != 3)
		return 2;
	if (sqlite3_open_v2(argv[1], &sqlite, SQLITE_OPEN_READONLY, NULL)
	    || sqlite3_prepare_v2(sqlite, argv[2], -1, &statement, NULL)) {
		fprintf(stderr, "query: %s\n", sqlite3_errmsg(sqlite));
		return 1;
	}
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		if (i)
			putchar(',');
		put(sqlite3_column_name(statement, i));
	}
	putchar('\n');
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			if (i)
				putchar(',');
			put_value(statement, i);
		}
		putchar('\n');
	}
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return status != SQLITE_DONE;
}
