/* SPDX-License-Identifier: BSD-2-Clause */
/* What all subcommands share: context, messages, exit codes, and rows out. */
#ifndef OPK_APP_H
#define OPK_APP_H

#include <stdio.h>

#include "base/file.h"
#include "base/listing.h"
#include "base/strlist.h"
#include "common/auto.h"
#include "output/door.h"

/* A file that is written. */
struct app_output {
	char *path;
	enum opk_output kind;
};

struct app {
	const char *command;
	char **arguments; /* what is left after the options; ends with NULL */
	size_t argument_count;
	unsigned format; /* of --format, an enum opk_format from 1; 0: not given */
	bool csv_safe;
	const char *output;
	struct opk_strlist inputs, sets; /* common/files.h */
	struct app_output *outputs;
	size_t output_count, output_capacity;
	bool stdout_taken; /* a file goes there: tables go to stderr */
	bool for_people;   /* tables have a width in a pipe, too */
	const char *cuda;
	const char *libcuda;
	uint64_t timeout;
	bool no_cache;
	bool force;
	bool help;
	struct opk_ctx *ctx;
	bool empty; /* the table for people has no rows, and so no heading */
	bool has_record;
	bool reported; /* the failure that ends the command is on stderr */
	struct opk_out *out;
	struct opk_newfile file; /* where -o names one */
	char *data_dir;
	char *wheels; /* the folder of Python packages that this program is in one of */
	struct opk_env env;
	OPK_LIST(struct opk_listing *) lists; /* of which output has the names of columns */
	char *only;                           /* the table that alone is written; NULL: all are */
	FILE *gathered;                       /* a table for the pager */
	char *text;                           /* of it */
	size_t text_size;
};

/* Opens the context. */
int app_open(struct app *app);
void app_close(struct app *app);

/* ---- messages */

/*
 * Where a command fails, the causes are on the context, and main() reports them. This adds one of
 * the tool's own, and returns `code`; before there is a context it prints it.
 */
int app_error(struct app *app, int code, const char *format, ...) OPK_PRINTF(3, 4);
int app_nomem(struct app *app);
/* Prints "offpeak: message" with its causes now; returns the exit code for `code`. */
int app_fail(struct app *app, int code);
/* One message on stderr, without control characters. */
void app_print_cause(const char *prefix, const char *message);
/* A remark on stderr: "offpeak: note: ..." */
void app_note(const char *format, ...) OPK_PRINTF(1, 2);
/* A note of the library's as such a remark. */
opk_log_fn app_log;

/* Says that a table for people has no rows, unless some note did. */
void app_note_empty(const struct app *app);

/*
 * Takes the line away that says on a terminal, after a second, how far the library is: "evaluating
 * range 12 of 383". Messages, rows and the end of the command do so themselves.
 */
void app_progress_end(void);

/* ---- rows out */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * The row writer over stdout or -o FILE: a table on a terminal, CSV elsewhere, unless a format was
 * asked for. A table for a terminal is gathered, and shown through the pager when it ends: what
 * goes to stderr comes before it.
 */
int app_begin_output(struct app *app);
/* To stdout, for commands whose -o names other files than this table. */
int app_begin_report(struct app *app);
/* Where no --format is given, the ending of -o FILE chooses one; OPK_EUSAGE where it is unknown. */
int app_choose_format(struct app *app);
/*
 * Before the output of a command of several tables: which one is written alone, if any. `word` is
 * the value of --table, whose words these are; `main` is what CSV has where it was not given,
 * NULL for all of them.
 */
int app_choose_table(struct app *app, const char *words, unsigned word, const char *main);
/* Whether --table names this one, which is printed then though it is empty. */
bool app_wants_table(const struct app *app, const char *name);
/* Whether -o FILE has the ending of a database, which the command itself writes. */
bool app_names_database(const struct app *app);
/* Whether the format is that which people read. */
bool app_shows_table(const struct app *app);
/* Text to stdout, or where it is gathered for the pager; a terminal gets it harmless. */
int app_print(struct app *app, const void *bytes, size_t size);
/* Ends the output. The first failure of all since its beginning is returned here. */
int app_end_output(struct app *app);

#define app_table(app, name, columns) opk_out_table((app)->out, name, columns, COUNT(columns))
/* app_row(app, cell_text("dram"), cell_number(12)) */
#define app_row(app, ...) opk_out_row((app)->out, (union opk_cell[]){ __VA_ARGS__ })

/*
 * A table of a list, which is the app's from then on, and its first row as a record. Where it is
 * NULL, nothing happens.
 */
int app_list(struct app *app, const char *name, struct opk_listing *rows);
/* So many columns of it, the first ones. */
int app_list_columns(struct app *app, const char *name, struct opk_listing *rows, size_t most);
int app_record_list(struct app *app, struct opk_listing *rows);

/* The columns of a record or a row and what is in them, said once. */
enum { MAX_FIELDS = 32 };
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
/* A table that has these columns; they stay where they are until the next one. */
int app_fields_table(struct app *app, const char *name, const struct app_fields *fields);

#endif
