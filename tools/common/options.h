/* SPDX-License-Identifier: BSD-2-Clause */
/* A subcommand and its options, as a table for dispatch, --help, man page and completion. */
#ifndef OPK_OPTIONS_TABLE_H
#define OPK_OPTIONS_TABLE_H

#include "common/app.h"

enum option_kind {
	OPTION_FLAG,    /* bool */
	OPTION_TEXT,    /* const char * */
	OPTION_WORD,    /* unsigned: index from 1 of a word between '|'; 0: not given */
	OPTION_NUMBER,  /* uint64_t */
	OPTION_COUNT,   /* uint64_t, from 1 on */
	OPTION_TIMEOUT, /* uint64_t, in struct app */
	OPTION_LIST,    /* struct option_list: the option may be given again */
	OPTION_INPUT,   /* const char *: a file that is read, or a SET */
	/* const char *: a file that is written; of another kind than -o: OPTION_OUTPUT_OF() it */
	OPTION_OUTPUT,
};
#define OPTION_OUTPUT_OF(output) (OPTION_OUTPUT + (output))

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

/* For commands with several tables: `words` are their names, "summary" is the record. */
#define TABLE_OPTION(words, main, type, member)                                                    \
	{                                                                                          \
		"table", 0, words, "print this table alone; CSV has one, else " main, OPTION_WORD, \
			offsetof(type, member)                                                     \
	}

enum { ANY_NUMBER = 1 << 20 };

/* tests/examples.sh runs each one in a folder that has the files it names. */
struct example {
	const char *line; /* after "offpeak " */
	const char *what;
};
enum { EXAMPLES = 3 };

struct command {
	const char *name;
	const char *synopsis; /* after "offpeak NAME [OPTIONS]" */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for help NAME and man page */
	struct example examples[EXAMPLES];
	const struct option_spec *options; /* ended by a NULL name */
	size_t args_size;                  /* of the struct that options are parsed into */
	size_t max_arguments;              /* without options; ANY_NUMBER: no limit */
	enum { ARGUMENTS_ARE_NAMES, ARGUMENTS_ARE_FILES, ARGUMENTS_ARE_SETS } arguments;
	/*
	 * What -o names. TABLE: the command's table. ANY: the table or another file; FILE: a file
	 * of the kind `writes`; NUMBERED: several files, whose names begin with its value. With ANY
	 * and NUMBERED the command itself passes the names to files_write().
	 */
	enum { OUTPUT_IS_TABLE, OUTPUT_IS_ANY, OUTPUT_IS_FILE, OUTPUT_IS_NUMBERED } output;
	enum opk_output writes;
	bool no_table;    /* prints no table, so it has no --format and no --csv-safe */
	bool prints_text; /* to pipes, too, unless --format or a file's ending says otherwise */
	/* Returns an exit code; the failure is on the context, or was reported: see app_fail(). */
	int (*run)(struct app *app, void *args);
};

/* The option that a word of the command line is, "--name" or its letter; NULL: none. */
const struct option_spec *app_option(const struct command *command, const char *word);

/*
 * The option after `spec`, the first after NULL; NULL at the end. The command's own come first,
 * then --format, -o, --force, --cuda, --no-cache and --help, unless the command has one with that
 * name, or prints no table.
 */
const struct option_spec *app_next_option(const struct command *command,
                                          const struct option_spec *spec);

/* Parses options into app and args; OPK_EUSAGE was already reported on stderr. */
int app_parse(struct app *app, const struct command *command, void *args, int argc, char **argv);
/*
 * Text from this column on in lines that a terminal of 80 columns doesn't break; those that follow
 * begin with `indent` blanks. Line ends in it are blanks; an empty line parts paragraphs.
 */
void help_wrap(FILE *to, size_t column, size_t indent, const char *text);
/* Usage, options and examples; `all`: the details, too. */
void app_usage(const struct command *command, bool all);

#endif
