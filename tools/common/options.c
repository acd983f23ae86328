/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses options with getopt_long() by their tables, and prints the tables as help. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "common/files.h"
#include "common/options.h"

enum { MAX_OPTIONS = 48, FIRST_CODE = 256 };
/* The width of help: a terminal of 80 columns may break a full line. */
enum { HELP_WIDTH = 79, LEFT_WIDTH = 28 };

#define OUTPUT_HELP                                                                                \
	"where the result goes once it is complete; replaces only an older file of its own "       \
	"kind, and never a recording that a GPU made"

#define FORMAT_HELP "default: as FILE ends: .csv, .json, .ndjson, .txt; otherwise "

/*
 * Rows of --format: for commands whose table is for people or programs, and for those that print
 * text; of -o: for commands that print unless it is given, and for commands that only write.
 */
enum { FORMAT_TABLE, FORMAT_TEXT, OUTPUT_OR_STDOUT = 3, OUTPUT_ALONE };

static const struct option_spec common_options[] = {
	[FORMAT_TABLE] = { "format", 0, "table|csv|json|ndjson",
	                   FORMAT_HELP "table on a terminal, csv in a pipe", OPTION_WORD,
	                   offsetof(struct app, format) },
	[FORMAT_TEXT] = { "format", 0, "table|csv|json|ndjson", FORMAT_HELP "text: table",
	                  OPTION_WORD, offsetof(struct app, format) },
	{ "csv-safe", 0, NULL,
	  "CSV: ' before text that begins with = + - or @, which spreadsheets would compute",
	  OPTION_FLAG, offsetof(struct app, csv_safe) },
	[OUTPUT_OR_STDOUT] = { "output", 'o', "FILE", OUTPUT_HELP "; else to stdout", OPTION_OUTPUT,
	                       offsetof(struct app, output) },
	[OUTPUT_ALONE] = { "output", 'o', "FILE", OUTPUT_HELP, OPTION_OUTPUT,
	                   offsetof(struct app, output) },
	{ "force", 0, NULL, "replace files of any kind that have the name of an output",
	  OPTION_FLAG, offsetof(struct app, force) },
	{ "cuda", 0, "DIR", "look for NVIDIA's libraries in this folder only", OPTION_TEXT,
	  offsetof(struct app, cuda) },
	{ "libcuda", 0, "FILE",
	  "the NVIDIA driver's libcuda.so.1, which CUPTI 13.2 and later want; no GPU is needed",
	  OPTION_TEXT, offsetof(struct app, libcuda) },
	{ "no-cache", 0, NULL, "ask NVIDIA's libraries even for what the cache knows", OPTION_FLAG,
	  offsetof(struct app, no_cache) },
	{ "help", 'h', NULL, "show this help", OPTION_FLAG, offsetof(struct app, help) },
	{ 0 },
};

struct parser {
	const struct option_spec *specs[MAX_OPTIONS];
	void *targets[MAX_OPTIONS];
	bool seen[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
	int count;
};

static bool is_common(const struct option_spec *spec)
{
	return spec >= common_options && spec < common_options + COUNT(common_options);
}

/* Whether the command lacks this common option, or has its own. */
static bool is_left_out(const struct command *command, const struct option_spec *common)
{
	size_t output = command->output >= OUTPUT_IS_FILE ? OUTPUT_OR_STDOUT : OUTPUT_ALONE;
	size_t format = command->prints_text ? FORMAT_TABLE : FORMAT_TEXT;

	if (common == &common_options[output] || common == &common_options[format])
		return true;
	if (command->no_table
	    && (!strcmp(common->name, "format") || !strcmp(common->name, "csv-safe")))
		return true;
	for (const struct option_spec *own = command->options; own && own->name; own++)
		if (!strcmp(own->name, common->name))
			return true;
	return false;
}

const struct option_spec *app_next_option(const struct command *command,
                                          const struct option_spec *spec)
{
	if (spec)
		spec++;
	else
		spec = command->options ? command->options : common_options;
	if (!spec->name && !is_common(spec))
		spec = common_options;
	while (spec->name && is_common(spec) && is_left_out(command, spec))
		spec++;
	return spec->name ? spec : NULL;
}

static void add_option(struct parser *parser, const struct option_spec *spec, void *target)
{
	int i = parser->count;
	size_t used = strlen(parser->letters);

	if (parser->count++ == MAX_OPTIONS)
		abort();
	parser->specs[i] = spec;
	parser->targets[i] = target;
	parser->longs[i] = (struct option){
		.name = spec->name,
		.has_arg = spec->argument ? required_argument : no_argument,
		.val = FIRST_CODE + i,
	};
	if (spec->letter)
		snprintf(parser->letters + used, sizeof parser->letters - used, "%c%s",
		         spec->letter, spec->argument ? ":" : "");
}

/* The option that getopt_long() found, by its code or letter; -1: none. */
static int index_of(const struct parser *parser, int found)
{
	if (found >= FIRST_CODE)
		return found - FIRST_CODE;
	for (int i = 0; i < parser->count; i++)
		if (found && parser->specs[i]->letter == found)
			return i;
	return -1;
}

static int store_again(const struct option_spec *spec, struct option_list *list, const char *text)
{
	if (list->count == MAX_REPEATS)
		return app_error(NULL, OPK_EUSAGE, "--%s more than %d times", spec->name,
		                 MAX_REPEATS);
	list->items[list->count++] = text;
	return OPK_OK;
}

static int store_number(const struct option_spec *spec, uint64_t *out, const char *text)
{
	uint64_t least = spec->kind == OPTION_COUNT;
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (end != text && !*end && !errno && !strchr(text, '-') && *out >= least)
		return OPK_OK;
	return app_error(NULL, OPK_EUSAGE, "--%s %s: a whole number%s is needed", spec->name, text,
	                 least ? " from 1 on" : "");
}

/* Turns "a|b|c" into "a, b or c". */
static char *list_words(const char *words)
{
	struct opk_buf list = { 0 };

	for (; *words; words++) {
		const char one[] = { *words, '\0' };

		opk_buf_add_text(&list, *words != '|'            ? one
		                        : strchr(words + 1, '|') ? ", "
		                                                 : " or ");
	}
	opk_buf_add(&list, "", 1);
	return (char *)list.data;
}

static int store_word(const struct option_spec *spec, unsigned *out, const char *text)
{
	opk_autofree char *list = NULL;
	size_t length;
	unsigned number = 1;

	for (const char *word = spec->argument; *word; word += length + (word[length] == '|')) {
		length = strcspn(word, "|");
		if (strlen(text) == length && !strncmp(word, text, length)) {
			*out = number;
			return OPK_OK;
		}
		number++;
	}
	list = list_words(spec->argument);
	return app_error(NULL, OPK_EUSAGE, "--%s %s: use %s", spec->name, text, list ? list : "");
}

static bool names_output(const struct option_spec *spec)
{
	return spec->kind >= OPTION_OUTPUT;
}

static int store(const struct option_spec *spec, void *target, const char *text)
{
	void *field = (char *)target + spec->offset;

	if (names_output(spec) && !*text)
		return app_error(NULL, OPK_EUSAGE, "--%s: the name of a file is needed",
		                 spec->name);
	switch (spec->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return OPK_OK;
	case OPTION_TEXT:
	case OPTION_INPUT:
		*(const char **)field = text;
		return OPK_OK;
	case OPTION_WORD:
		return store_word(spec, field, text);
	case OPTION_NUMBER:
	case OPTION_COUNT:
	case OPTION_TIMEOUT:
		return store_number(spec, field, text);
	case OPTION_LIST:
		return store_again(spec, field, text);
	default: /* an output */
		*(const char **)field = text;
		return OPK_OK;
	}
}

static const char **text_at(const struct parser *parser, int i)
{
	return (const char **)((char *)parser->targets[i] + parser->specs[i]->offset);
}

static const char *text_of(const struct parser *parser, int i)
{
	return *text_at(parser, i);
}

/* Refuses a second value: one of the two would be lost silently. */
static int store_once(struct parser *parser, int i, const char *text)
{
	const struct option_spec *spec = parser->specs[i];

	if (parser->seen[i] && spec->kind != OPTION_LIST && spec->kind != OPTION_FLAG)
		return app_error(NULL, OPK_EUSAGE, "--%s is given twice", spec->name);
	parser->seen[i] = true;
	return store(spec, parser->targets[i], text);
}

/* "--columns" for "--colums=name"; NULL if no option of the command is near. free() */
static char *nearest_option(const struct command *command, const char *word)
{
	opk_autofree char *name = opk_strndup(word + 2, strcspn(word + 2, "="));
	struct opk_nearest nearest = { .name = name };

	for (const struct option_spec *spec = NULL;
	     name && (spec = app_next_option(command, spec));)
		opk_nearest_try(&nearest, spec->name);
	return nearest.best ? opk_printf("--%s", nearest.best) : NULL;
}

/* Whether the word is this option, alone or with "=VALUE". */
static bool is_option(const char *word, const char *option)
{
	size_t length = strlen(option);

	return !strncmp(word, option, length) && (!word[length] || word[length] == '=');
}

/* Names an unknown letter by itself: the word may contain several. */
static int unknown_option(struct app *app, const struct command *command, char **argv)
{
	char letter[] = { '-', (char)optopt, '\0' };
	bool is_letter = optopt > 0 && optopt < FIRST_CODE;
	const char *word = is_letter ? letter : argv[optind - 1];
	opk_autofree char *near = is_letter ? NULL : nearest_option(command, word);

	if (near && strcmp(word, near) != 0 && is_option(word, near))
		return app_error(app, OPK_EUSAGE, "%s: %s takes no value", command->name, near);
	/* For other commands these options select what is measured. */
	if (command->arguments == ARGUMENTS_ARE_SETS
	    && (is_option(word, "--set") || is_option(word, "--metrics")))
		return app_error(app, OPK_EUSAGE,
		                 "%s: unknown option %s: a SET is an argument, and may be a list "
		                 "of metrics: offpeak %s --chip CHIP tensor,dram__bytes.sum",
		                 command->name, word, command->name);
	return app_error(app, OPK_EUSAGE,
	                 "%s: unknown option %s" OPK_DID_YOU_MEAN
	                 "; 'offpeak %s --help' lists them",
	                 command->name, word, OPK_NEAR(near), command->name);
}

static bool is_stream_name(const char *text, const char *device)
{
	return text && (!strcmp(text, "-") || !strcmp(text, device));
}

/* Replaces "-" by the stream's file name; a table goes to stdout anyway. */
static void name_streams(struct app *app, const struct command *command,
                         const struct parser *parser)
{
	static const char in[] = "/dev/stdin", out[] = "/dev/stdout";

	for (size_t i = 0; command->arguments && i < app->argument_count; i++)
		if (is_stream_name(app->arguments[i], in))
			app->arguments[i] = (char *)in;
	for (int i = 0; i < parser->count; i++) {
		bool input = parser->specs[i]->kind == OPTION_INPUT;

		if (input && is_stream_name(text_of(parser, i), in))
			*text_at(parser, i) = in;
		if (names_output(parser->specs[i]) && is_stream_name(text_of(parser, i), out))
			*text_at(parser, i) = out;
	}
	if (app->output == out && command->output <= OUTPUT_IS_ANY)
		app->output = NULL;
}

/* The command lists the value of -o itself if only it knows the files, or their kind. */
static int list_output(struct app *app, const struct command *command,
                       const struct option_spec *spec, const char *path)
{
	if (!is_common(spec))
		return files_write(app, path, (enum opk_output)(spec->kind - OPTION_OUTPUT));
	return command->output == OUTPUT_IS_ANY || command->output == OUTPUT_IS_NUMBERED
	               ? OPK_OK
	               : files_write(app, path, command->writes);
}

/* Lists inputs first: each output is checked against them. */
static int list_files(struct app *app, const struct command *command, const struct parser *parser)
{
	for (size_t i = 0; i < app->argument_count; i++) {
		if (command->arguments == ARGUMENTS_ARE_FILES)
			TRY(files_read(app, app->arguments[i]));
		else if (command->arguments == ARGUMENTS_ARE_SETS)
			TRY(files_read_set(app, app->arguments[i]));
	}
	for (int i = 0; i < parser->count; i++) {
		if (parser->seen[i] && parser->specs[i]->kind == OPTION_INPUT)
			TRY((strcmp(parser->specs[i]->argument, "SET")
			             ? files_read
			             : files_read_set)(app, text_of(parser, i)));
	}
	for (int i = 0; i < parser->count; i++) {
		if (names_output(parser->specs[i]) && text_of(parser, i))
			TRY(list_output(app, command, parser->specs[i], text_of(parser, i)));
	}
	return OPK_OK;
}

int app_parse(struct app *app, const struct command *command, void *args, int argc, char **argv)
{
	/* With "-" getopt_long() returns arguments in place, even with POSIXLY_CORRECT. */
	struct parser parser = { .letters = "-:" };
	size_t count = 0;
	int found;

	for (const struct option_spec *spec = NULL; (spec = app_next_option(command, spec));)
		add_option(&parser, spec,
		           is_common(spec) || spec->kind == OPTION_TIMEOUT ? app : args);
	optind = 1;
	while ((found = getopt_long(argc, argv, parser.letters, parser.longs, NULL)) != -1) {
		int i = index_of(&parser, found);

		if (found == 1) {
			argv[1 + count++] = optarg;
			continue;
		}
		if (found == ':')
			return app_error(app, OPK_EUSAGE, "%s: %s needs a value", command->name,
			                 argv[optind - 1]);
		if (i < 0)
			return unknown_option(app, command, argv);
		if (store_once(&parser, i, optarg))
			return OPK_EUSAGE;
	}
	/* Add the arguments after "--". */
	for (; optind < argc; optind++)
		argv[1 + count++] = argv[optind];
	argv[1 + count] = NULL;
	app->arguments = argv + 1;
	app->argument_count = count;
	if (command->arguments == ARGUMENTS_ARE_FILES)
		TRY(files_expand(app));
	if (app->argument_count > command->max_arguments)
		return app_error(app, OPK_EUSAGE, "%s: surplus argument '%s'%s", command->name,
		                 app->arguments[command->max_arguments],
		                 command->max_arguments == 1
		                                 && command->arguments == ARGUMENTS_ARE_FILES
		                         ? ": it takes one file; report, diff and eval take several"
		                         : "");
	if (app->help)
		return OPK_OK;
	name_streams(app, command, &parser);
	return list_files(app, command, &parser);
}

const struct option_spec *app_option(const struct command *command, const char *word)
{
	const struct option_spec *spec = NULL;

	if (*word != '-')
		return NULL;
	while ((spec = app_next_option(command, spec)))
		if (word[1] == '-' ? !strcmp(word + 2, spec->name)
		                   : spec->letter && word[1] == spec->letter && !word[2])
			break;
	return spec;
}

/* ---- help */

void help_wrap(FILE *to, size_t column, size_t indent, const char *text)
{
	while (*text) {
		size_t gap = strspn(text, " \n"), length = strcspn(text + gap, " \n");

		if (gap > 1 && text[0] == '\n' && text[1] == '\n') {
			fprintf(to, "\n\n%*s", (int)indent, "");
			column = indent;
		} else if (gap && column + 1 + length > HELP_WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (gap) {
			putc(' ', to);
			column++;
		}
		fwrite(text + gap, 1, length, to);
		column += length;
		text += gap + length;
	}
	putc('\n', to);
}

/* Breaks an option's list of words after a '|'. */
static void print_long_left(const char *left)
{
	enum { INDENT = 8 };
	size_t room = HELP_WIDTH - 2, length;

	fputs("  ", stdout);
	while (strlen(left) > room) {
		length = room;
		while (length && left[length - 1] != '|')
			length--;
		if (!length)
			break;
		printf("%.*s\n%*s", (int)length, left, INDENT, "");
		left += length;
		room = HELP_WIDTH - INDENT;
	}
	puts(left);
}

static void print_option(const struct option_spec *spec)
{
	char left[256];
	size_t indent = LEFT_WIDTH + 3;

	snprintf(left, sizeof left, "%c%c%c --%s%s%s", spec->letter ? '-' : ' ',
	         spec->letter ? spec->letter : ' ', spec->letter ? ',' : ' ', spec->name,
	         spec->argument ? " " : "", spec->argument ? spec->argument : "");
	/* Text that is longer gets a separate line. */
	if (strlen(left) > LEFT_WIDTH) {
		print_long_left(left);
		printf("%*s", (int)indent, "");
	} else {
		printf("  %-*s ", LEFT_WIDTH, left);
	}
	help_wrap(stdout, indent, indent, spec->help);
}

/* The last blank outside of quotes within `room`; NULL: none. */
static const char *find_cut(const char *line, size_t room)
{
	const char *cut = NULL;
	bool quoted = false;

	for (size_t i = 0; line[i] && i <= room; i++) {
		quoted ^= line[i] == '\'';
		if (line[i] == ' ' && !quoted)
			cut = line + i;
	}
	return cut;
}

/* Continues a long example on another line so that a shell still accepts it. */
static void print_example(const struct example *example)
{
	enum { INDENT = 8 };
	static const char program[] = "  offpeak ", end[] = " \\";
	const char *line = example->line, *cut;
	size_t room = HELP_WIDTH - strlen(program);

	fputs(program, stdout);
	while (strlen(line) > room && (cut = find_cut(line, room - strlen(end)))) {
		printf("%.*s%s\n%*s", (int)(cut - line), line, end, INDENT, "");
		line = cut + 1;
		room = HELP_WIDTH - INDENT;
	}
	printf("%s\n%*s", line, INDENT, "");
	help_wrap(stdout, INDENT, INDENT, example->what);
}

void app_usage(const struct command *command, bool all)
{
	opk_autofree char *usage = opk_printf("%s [OPTIONS]%s%s", command->name,
	                                      *command->synopsis ? " " : "", command->synopsis);
	opk_autofree char *summary = opk_printf("%s.", command->summary);
	static const char program[] = "usage: offpeak ";

	fputs(program, stdout);
	help_wrap(stdout, strlen(program), strlen(program), usage ? usage : command->name);
	putchar('\n');
	help_wrap(stdout, 0, 0, summary ? summary : command->summary);
	if (all) {
		putchar('\n');
		help_wrap(stdout, 0, 0, command->details);
	}
	printf("\noptions:\n");
	for (const struct option_spec *spec = NULL; (spec = app_next_option(command, spec));)
		print_option(spec);
	printf("\nexamples:\n");
	for (size_t i = 0; i < EXAMPLES && command->examples[i].line; i++)
		print_example(&command->examples[i]);
	if (!all)
		printf("\n'offpeak help %s' says more.\n", command->name);
}
