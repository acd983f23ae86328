/* SPDX-License-Identifier: BSD-2-Clause */
/* What all subcommands share: options, context, output, error messages, exit codes. */
#ifndef OPK_APP_H
#define OPK_APP_H

#include <stdio.h>

#include "base/file.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t */
	OPTION_COUNT,  /* uint64_t, from 1 on */
	OPTION_LIST,   /* struct option_list: the option may be given again */
	OPTION_INPUT,  /* const char *: a file that is read, or a SET */
	OPTION_OUTPUT, /* const char *: a file that is written */
};

enum { MAX_REPEATS = 64 };
struct option_list {
	const char *items[MAX_REPEATS];
	size_t count;
};

/* One option: parsed into the member at `offset` of the command's own struct. */
struct option_spec {
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* "FILE"; with '|' between, all that it may be: "range|pm" */
	const char *help;
	enum option_kind kind;
	size_t offset;
};

struct app_files {
	char **paths;
	size_t count;
};

struct app {
	const char *command;
	char **arguments; /* what is left after the options; ends with NULL */
	size_t argument_count;
	const char *format_name;
	enum opk_format format; /* where format_name is given */
	const char *output;
	struct app_files inputs, outputs; /* common/files.h */
	const char *cuda;
	bool no_cache;
	bool help;
	struct opk_ctx *ctx;
	struct opk_out *out;
	struct opk_newfile file; /* where -o names one */
	char *data_dir;
	struct opk_env env;
	FILE *gathered; /* a table for the pager */
	char *text;     /* of it */
	size_t text_size;
};

enum { ANY_NUMBER = 1 << 20 };

/* A subcommand. This table entry feeds dispatch, --help, man page and completion. */
struct command {
	const char *name;
	const char *synopsis;              /* behind "offpeak NAME" */
	const char *summary;               /* one line */
	const char *details;               /* paragraphs for --help and man page */
	const struct option_spec *options; /* ended by a NULL name */
	size_t args_size;                  /* of the struct that options are parsed into */
	size_t max_arguments;              /* behind the options; ANY_NUMBER: no limit */
	enum { ARGUMENTS_ARE_NAMES, ARGUMENTS_ARE_FILES, ARGUMENTS_ARE_SETS } arguments;
	bool numbers_output; /* several files are called after -o: the command itself tells files_write() which */
	int (*run)(struct app *app, void *args);
};

/* The option that a word of the command line is, "--name" or its letter; NULL where none. */
const struct option_spec *app_option(const struct command *command, const char *word);

/* --cuda, --no-cache, --format, -o, --help: every command has them, or one of its own by that name. */
extern const struct option_spec common_options[];
bool app_has_own(const struct command *command, const struct option_spec *common);

/* Parses options into app and args; OPK_EUSAGE was already reported on stderr. */
int app_parse(struct app *app, const struct command *command, void *args, int argc, char **argv);
void app_usage(const struct command *command);
/* Opens the context; reports failures itself, as all app_ functions do. */
int app_open(struct app *app);
void app_close(struct app *app);

/* Prints "offpeak: message" with its causes; returns the exit code for `code`. */
int app_fail(struct app *app, int code);
/* One message on stderr, without control characters. */
void app_print_cause(const char *prefix, const char *message);
/* The same below a message of the tool's own, which tells what was being done. */
int app_fail_while(struct app *app, int code, const char *format, ...) OPK_PRINTF(3, 4);
/* The same for a message of the tool's own. */
int app_error(struct app *app, int code, const char *format, ...) OPK_PRINTF(3, 4);
/* A remark on stderr: "offpeak: note: ..." */
void app_note(const char *format, ...) OPK_PRINTF(1, 2);

/* Of a column OPK_CELL_EITHER: a number of passes, "unschedulable", or nothing where it is not known. */
union opk_cell app_passes(int passes);

/* What commands take for a set of opk_set_list_path(): its file's name; `out` has APP_SET_NAME bytes. */
enum { APP_SET_NAME = 256 };
const char *app_set_name(char *out, const char *path);

/*
 * The row writer over stdout or -o FILE; `fallback` is the format where none was asked for. A table
 * for a terminal is gathered, and shown through the pager when it ends: what goes to stderr comes
 * before it.
 */
int app_begin_output(struct app *app, enum opk_format fallback);
/* Table on a terminal, CSV elsewhere. */
enum opk_format app_default_format(const struct app *app);
/* Whether that is what people read, unless the command has a default of its own. */
bool app_shows_table(const struct app *app);
/* Ends the output; code is what the rows gave so far. Returns an exit code. */
int app_end_output(struct app *app, int code);

/* "dir/out.opk" and 2: "dir/out-2.opk"; 0: the name itself. NULL: out of memory; free(). */
char *app_numbered(const char *name, size_t number);

/* Reads a file that the user named, or nothing where path is NULL. */
int app_read(struct app *app, void **data, size_t *size, const char *path);

/* On a terminal, after a second: "evaluating range 12 of 383". Pass as opk_eval_options.progress. */
void app_progress(void *what, uint64_t done, uint64_t total);
void app_progress_end(void);

#endif
