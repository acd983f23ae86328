/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by all subcommands: context, messages, exit codes, and output of rows. */
#ifndef OPK_APP_H
#define OPK_APP_H

#include <stdio.h>

#include "base/file.h"
#include "base/listing.h"
#include "base/strlist.h"
#include "common/auto.h"
#include "output/door.h"

/* A file to be written. */
struct app_output {
	char *path;
	enum opk_output kind;
};

struct app {
	const char *command;
	char **arguments; /* without the options */
	size_t argument_count;
	unsigned format; /* from --format, an enum opk_format from 1; 0: not given */
	bool csv_safe;
	const char *output;
	struct opk_strlist inputs, sets; /* common/files.h */
	struct opk_strlist expanded;     /* the arguments, if some of them were patterns */
	struct app_output *outputs;
	size_t output_count, output_capacity;
	bool stdout_taken; /* a file goes to stdout: tables go to stderr */
	bool for_people;   /* tables have a limited width in a pipe, too */
	const char *cuda;
	const char *libcuda;
	uint64_t timeout;
	bool no_cache;
	bool force;
	bool help;
	struct opk_ctx *ctx;
	bool empty; /* the table for people has no rows, and so no heading */
	bool has_record;
	bool reported; /* the failure that ends the command was printed */
	struct opk_out *out;
	struct opk_newfile file; /* if -o names a file */
	char *data_dir;
	char *wheels; /* the folder of Python packages that includes this program's */
	struct opk_env env;
	OPK_LIST(struct opk_listing *) lists; /* kept, because output borrows names of columns */
	char *only;                           /* the only table to write; NULL: all */
	FILE *gathered;                       /* a table for the pager */
	char *text;                           /* of `gathered` */
	size_t text_size;
};

/* Opens the context. */
int app_open(struct app *app);
void app_close(struct app *app);

/* ---- messages */

/*
 * If a command fails, the causes are on the context, and main() reports them. This adds a cause of
 * the tool's own, and returns `code`; before there is a context it prints the cause.
 */
int app_error(struct app *app, int code, const char *format, ...) OPK_PRINTF(3, 4);
int app_nomem(struct app *app);
/* Prints "offpeak: message" and its causes now; returns the exit code for `code`. */
int app_fail(struct app *app, int code);
/* Prints a message on stderr, without control characters. */
void app_print_cause(const char *prefix, const char *message);
/* Prints a remark on stderr: "offpeak: note: ..." */
void app_note(const char *format, ...) OPK_PRINTF(1, 2);
/* Prints a note from the library as a remark. */
opk_log_fn app_log;

/* Notes that a table for people has no rows, unless another note did. */
void app_note_empty(const struct app *app);

/*
 * Removes the progress line that a terminal shows after a second: "evaluating range 12 of 383".
 * Messages, rows and the end of the command call it themselves.
 */
void app_progress_end(void);

/* ---- output of rows */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * Begins rows on stdout or in -o FILE: a table on a terminal, CSV elsewhere, unless --format is
 * given. A table for a terminal is gathered, and shown by the pager at its end: messages on stderr
 * come before it.
 */
int app_begin_output(struct app *app);
/* Begins rows on stdout, for commands whose -o names other files than this table. */
int app_begin_report(struct app *app);
/* Without --format, the ending of -o FILE selects one; OPK_EUSAGE if the ending is unknown. */
int app_choose_format(struct app *app);
/*
 * Call it before the output of a command with several tables: selects one table, if any. `word` is
 * the value of --table, one of `words`; `main` is CSV's default table, NULL for all tables.
 */
int app_choose_table(struct app *app, const char *words, unsigned word, const char *main);
/* Whether --table names this table, which is then printed even if it is empty. */
bool app_wants_table(const struct app *app, const char *name);
/* Whether -o FILE ends like a database, which the command itself writes. */
bool app_names_database(const struct app *app);
/* The width of tables: the terminal's, or what COLUMNS says; 0: no limit. */
size_t app_width(const struct app *app);
/* Whether the format is for people. */
bool app_shows_table(const struct app *app);
/* Prints text to stdout, or gathers it for the pager; for a terminal, makes it harmless. */
int app_print(struct app *app, const void *bytes, size_t size);
/* Ends the output. Returns the first failure since its beginning. */
int app_end_output(struct app *app);

#define app_table(app, name, columns) opk_out_table((app)->out, name, columns, COUNT(columns))
/* app_row(app, cell_text("dram"), cell_number(12)) */
#define app_row(app, ...) opk_out_row((app)->out, (union opk_cell[]){ __VA_ARGS__ })

/*
 * Prints a list as a table, and its first row as a record. Takes the list over; NULL: does nothing.
 */
int app_list(struct app *app, const char *name, struct opk_listing *rows);
/* app_list() with only the first `most` columns. */
int app_list_columns(struct app *app, const char *name, struct opk_listing *rows, size_t most);
int app_record_list(struct app *app, struct opk_listing *rows);

/* The columns of a record or row with their values, defined once. */
enum { MAX_FIELDS = 40 };
struct app_fields {
	struct opk_column columns[MAX_FIELDS];
	union opk_cell cells[MAX_FIELDS];
	size_t count;
};

void field_add(struct app_fields *fields, const char *name, enum opk_cell_type type,
               union opk_cell cell);
void field_text(struct app_fields *fields, const char *name, const char *text);
void field_number(struct app_fields *fields, const char *name, uint64_t number);
void field_flag(struct app_fields *fields, const char *name, bool flag);
void field_list(struct app_fields *fields, const char *name, const char *const *items,
                size_t count);
int app_record(struct app *app, const struct app_fields *fields);
/* A whole report of one record, for commands whose -o names other files than this table. */
int app_report(struct app *app, const struct app_fields *fields);
/* Begins a table with these columns, of which the names alone are borrowed. */
int app_fields_table(struct app *app, const char *name, const struct app_fields *fields);

#endif
