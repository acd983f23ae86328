/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes rows to stdout, to a file or through a pager. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/ascii.h"
#include "base/terminal.h"
#include "common/app.h"

/* ---- the pager */

/* The exit codes of a shell that can't run a program, or can't find it. */
enum { CANT_RUN = 126, NOT_FOUND = 127 };

/* Prints no message if less is missing: the user named no pager. */
static const char default_pager[] = "command -v less >/dev/null || exit 127; exec less";

static bool is_less(const char *command)
{
	const char *name;

	if (!command || !*command)
		return true;
	name = strrchr(command, '/');
	name = name ? name + 1 : command;
	return !strncmp(name, "less", 4) && (!name[4] || name[4] == ' ');
}

/* Without a pager, tables fit the terminal. */
static bool has_pager(const struct app *app)
{
	if (app->env.pager && *app->env.pager)
		return strcmp(app->env.pager, "cat") != 0;
	return !system("command -v less >/dev/null");
}

static bool has_wide_lines(const char *text, size_t width)
{
	while (*text) {
		size_t length = strcspn(text, "\n"), bold = 0;

		for (size_t i = 0; i < length; i++)
			bold += text[i] == '\033' ? 4 : ((unsigned char)text[i] & 0xc0) == 0x80;
		if (length > width + bold)
			return true;
		text += length + (text[length] != '\0');
	}
	return false;
}

/* NULL or "" mean less. False if the program is missing: then nothing was shown. */
static bool page(const char *command, const char *text, size_t size, size_t width)
{
	FILE *pager;
	int status;

	/*
	 * less shows bold, leaves the text on the screen, and scrolls sideways. It ends where all
	 * fits, as in git; but lines that are too wide don't fit, and it would not say so.
	 */
	setenv("LESS", has_wide_lines(text, width) ? "RSX" : "FRSX", 0);
	pager = popen(command && *command ? command : default_pager, "w");
	if (!pager)
		return false;
	/* Leaving the pager early is not an error, and interrupts are for the pager. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	fwrite(text, 1, size, pager);
	status = pclose(pager);
	return !WIFEXITED(status)
	       || (WEXITSTATUS(status) != CANT_RUN && WEXITSTATUS(status) != NOT_FOUND);
}

/* ---- the writer */

enum { DATABASE = OPK_FORMAT_OPENMETRICS + 1 };

static const struct {
	const char *ending;
	unsigned format;
} endings[] = {
	{ ".csv", OPK_FORMAT_CSV },
	{ ".json", OPK_FORMAT_JSON },
	{ ".ndjson", OPK_FORMAT_NDJSON },
	{ ".jsonl", OPK_FORMAT_NDJSON },
	{ ".txt", OPK_FORMAT_TABLE },
	{ ".prom", OPK_FORMAT_OPENMETRICS },
	{ ".db", DATABASE },
	{ ".sqlite", DATABASE },
	{ ".sqlite3", DATABASE },
};

/* An index of endings[]; COUNT(endings): none of them. */
static size_t find_ending(const char *path)
{
	size_t i = 0;

	while (i < COUNT(endings) && strcasecmp(opk_ending(path), endings[i].ending))
		i++;
	return i;
}

bool app_names_database(const struct app *app)
{
	size_t found = app->output ? find_ending(app->output) : COUNT(endings);

	return found < COUNT(endings) && endings[found].format == DATABASE;
}

int app_choose_format(struct app *app)
{
	size_t found;

	if (app->format || !app->output || !*opk_ending(app->output))
		return OPK_OK;
	found = find_ending(app->output);
	if (found == COUNT(endings))
		return app_error(app, OPK_EUSAGE,
		                 "-o %s: no format is known by the ending %s; use .csv, .json, "
		                 ".ndjson, .txt (a table)%s or --format",
		                 app->output, opk_ending(app->output),
		                 strcmp(app->command, "eval") ? "" : ", .db (SQLite)");
	if (endings[found].format == DATABASE
	    || (endings[found].format == OPK_FORMAT_OPENMETRICS
	        && strcmp(app->command, "eval") != 0))
		return app_error(
			app, OPK_EUSAGE,
			"-o %s: only eval writes databases and metrics; use .csv, .json, .ndjson, "
			".txt (a table) or --format",
			app->output);
	app->format = 1 + endings[found].format;
	return OPK_OK;
}

/* Where a table goes without -o. */
static FILE *table_file(const struct app *app)
{
	return app->stdout_taken ? stderr : stdout;
}

static enum opk_format format_of(const struct app *app)
{
	if (app->format)
		return (enum opk_format)(app->format - 1);
	return !app->output && isatty(fileno(table_file(app))) ? OPK_FORMAT_TABLE : OPK_FORMAT_CSV;
}

bool app_shows_table(const struct app *app)
{
	return format_of(app) == OPK_FORMAT_TABLE;
}

int app_choose_table(struct app *app, const char *words, unsigned word, const char *main)
{
	if (!word && (!main || format_of(app) != OPK_FORMAT_CSV))
		return OPK_OK;
	for (unsigned i = 1; i < word; i++)
		words = strchr(words, '|') + 1;
	app->only = word ? opk_strndup(words, strcspn(words, "|")) : opk_strdup(main);
	return app->only ? OPK_OK : app_nomem(app);
}

bool app_wants_table(const struct app *app, const char *name)
{
	return app->only && !strcmp(app->only, name);
}

enum { LEAST_WIDTH = 20, WIDTH_DIGITS = 5, PIPE_WIDTH = 80 };

/* Zero if the output is not a terminal. */
static struct winsize terminal_size(const struct app *app)
{
	struct winsize size;
	int fd = fileno(table_file(app));

	if (app->output || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size))
		return (struct winsize){ 0 };
	return size;
}

/* The value of COLUMNS; zero if it is not a number or below LEAST_WIDTH. */
static size_t width_asked_for(const struct app *app)
{
	const char *text = app->env.columns;
	size_t length = text ? strspn(text, "0123456789") : 0;

	if (!length || length > WIDTH_DIGITS || text[length] || atoi(text) < LEAST_WIDTH)
		return 0;
	return (size_t)atoi(text);
}

size_t app_width(const struct app *app)
{
	size_t terminal = terminal_size(app).ws_col, asked = width_asked_for(app);

	if (!terminal && !app->for_people)
		return 0;
	if (asked)
		return asked;
	return terminal ? terminal : PIPE_WIDTH;
}

int app_print(struct app *app, const void *bytes, size_t size)
{
	FILE *to = app->gathered ? app->gathered : table_file(app);
	opk_autobuf struct opk_buf escaped = { 0 };

	/* Text for the pager was escaped when it was gathered. */
	if (app->gathered || isatty(fileno(to))) {
		opk_terminal_escape(&escaped, bytes, size, format_of(app) == OPK_FORMAT_TABLE);
		if (escaped.failed)
			return app_nomem(app);
		bytes = escaped.data;
		size = escaped.size;
	}
	if (!app->gathered)
		app_progress_end();
	if (fwrite(bytes, 1, size, to) == size)
		return 0;
	return app_error(app, OPK_EFAILED, "stdout: %s", strerror(errno));
}

static int write_stdout(void *app, const void *bytes, size_t size)
{
	return app_print(app, bytes, size);
}

int app_begin_output(struct app *app)
{
	struct opk_out_options options = OPK_INIT(options);

	options.format = format_of(app);
	options.csv_safe = app->csv_safe;
	options.only = app->only;
	options.width = app_width(app);
	if (app->output)
		TRY(opk_newfile_create(&app->file, app->ctx, app->output, opk_check_output,
		                       OPK_OUTPUT_TABLE));
	if (terminal_size(app).ws_col && options.format == OPK_FORMAT_TABLE) {
		options.bold = !app->env.no_color || !*app->env.no_color;
		/* As in git, "cat" means no pager. */
		if (!app->stdout_taken && has_pager(app))
			app->gathered = open_memstream(&app->text, &app->text_size);
		/* Make text fit that less shows at once; other pagers get whole lines. */
		if (app->gathered)
			options.height = is_less(app->env.pager) ? terminal_size(app).ws_row : 1;
	}
	return opk_out_new(&app->out, app->ctx, &options,
	                   app->output ? opk_newfile_write : write_stdout,
	                   app->output ? (void *)&app->file : app);
}

int app_begin_report(struct app *app)
{
	app->output = NULL;
	return app_begin_output(app);
}

int app_report(struct app *app, const struct app_fields *fields)
{
	TRY(app_begin_report(app));
	TRY(app_record(app, fields));
	return app_end_output(app);
}

/* Shows gathered text, if any; without a pager on the terminal. */
static int show(struct app *app)
{
	FILE *gathered = opk_take(app->gathered);

	app_progress_end();
	if (gathered && fclose(gathered))
		return app_error(app, OPK_EFAILED, "stdout: %s", strerror(errno));
	if (!gathered || page(app->env.pager, app->text, app->text_size, app_width(app)))
		return OPK_OK;
	return app_print(app, app->text, app->text_size);
}

int app_end_output(struct app *app)
{
	int code = opk_out_finish(app->out);

	app->empty = app_shows_table(app) && !app->has_record && !opk_out_row_count(app->out);
	if (!code && app->output)
		code = opk_newfile_commit(&app->file);
	if (!code)
		code = show(app);
	if (!code && fflush(table_file(app)))
		code = app_error(app, OPK_EFAILED, "can't write the output: %s", strerror(errno));
	return code;
}

/* ---- cells and fields */

void field_add(struct app_fields *fields, const char *name, enum opk_cell_type type,
               union opk_cell cell)
{
	fields->columns[fields->count] = (struct opk_column){ name, type };
	fields->cells[fields->count++] = cell;
}

void field_text(struct app_fields *fields, const char *name, const char *text)
{
	field_add(fields, name, OPK_CELL_STRING, cell_text(text));
}

void field_number(struct app_fields *fields, const char *name, uint64_t number)
{
	field_add(fields, name, OPK_CELL_UINT, cell_number(number));
}

void field_flag(struct app_fields *fields, const char *name, bool flag)
{
	field_add(fields, name, OPK_CELL_BOOL, cell_flag(flag));
}

void field_list(struct app_fields *fields, const char *name, const char *const *items, size_t count)
{
	field_add(fields, name, OPK_CELL_LIST, cell_list(items, count));
}

int app_record(struct app *app, const struct app_fields *fields)
{
	app->has_record = true;
	return opk_out_record(app->out, fields->columns, fields->cells, fields->count);
}

/* Keeps the list until the output ends. */
static bool keep_rows(struct app *app, struct opk_listing *rows)
{
	struct opk_listing **kept = rows ? opk_list_add(&app->lists) : NULL;

	if (kept)
		*kept = rows;
	else
		opk_listing_free(rows);
	return kept;
}

int app_list_columns(struct app *app, const char *name, struct opk_listing *rows, size_t most)
{
	const struct opk_column *columns;
	size_t count;

	if (!keep_rows(app, rows))
		return rows ? app_nomem(app) : OPK_OK;
	columns = opk_listing_columns(rows, &count);
	opk_out_table(app->out, name, columns, count < most ? count : most);
	for (size_t i = 0; i < opk_listing_count(rows); i++)
		opk_out_row(app->out, opk_listing_get(rows, i));
	return OPK_OK;
}

int app_list(struct app *app, const char *name, struct opk_listing *rows)
{
	return app_list_columns(app, name, rows, SIZE_MAX);
}

int app_record_list(struct app *app, struct opk_listing *rows)
{
	const struct opk_column *columns;
	size_t count;

	if (!keep_rows(app, rows))
		return rows ? app_nomem(app) : OPK_OK;
	columns = opk_listing_columns(rows, &count);
	app->has_record = true;
	return opk_out_record(app->out, columns, opk_listing_get(rows, 0), count);
}

int app_fields_table(struct app *app, const char *name, const struct app_fields *fields)
{
	return opk_out_table(app->out, name, fields->columns, fields->count);
}
