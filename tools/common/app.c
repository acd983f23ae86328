/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/pager.h"

/* Files have their say in these: no terminal shall obey them. */
void app_print_cause(const char *prefix, const char *message)
{
	fputs(prefix, stderr);
	for (const char *c = message; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, stderr);
	fputc('\n', stderr);
}

/* The chain from its outer end, each cause on a line, the first behind `first`. */
static void print_causes(const struct app *app, const char *first)
{
	size_t count = opk_error_count(app->ctx);

	for (size_t i = count; i-- > 0;)
		app_print_cause(i == count - 1 ? first : "  ", opk_error_message(app->ctx, i));
}

int app_fail(struct app *app, int code)
{
	app_progress_end();
	if (!opk_error_count(app->ctx))
		fprintf(stderr, "offpeak: %s\n", code == OPK_ENOMEM ? "out of memory" : "failed");
	print_causes(app, "offpeak: ");
	return code == OPK_ENOMEM ? OPK_EFAILED : code;
}

int app_fail_while(struct app *app, int code, const char *format, ...)
{
	va_list args;

	app_progress_end();
	fputs("offpeak: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	print_causes(app, "  ");
	return code == OPK_ENOMEM ? OPK_EFAILED : code;
}

int app_error(struct app *app, int code, const char *format, ...)
{
	va_list args;

	(void)app;
	fputs("offpeak: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

void app_note(const char *format, ...)
{
	va_list args;

	fputs("offpeak: note: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/*
 * Shipped data lies beside the program: ../share/offpeak where it was installed, ../data in the
 * build tree. Otherwise the library's own default serves.
 */
static char *find_data_dir(void)
{
	static const char *const beside[] = { "../share/offpeak/sets", "../data/sets" };
	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	char *slash, *sets = NULL;

	program[length > 0 ? length : 0] = '\0';
	slash = strrchr(program, '/');
	if (!slash)
		return NULL;
	for (size_t i = 0; !sets && i < sizeof beside / sizeof *beside; i++) {
		char path[sizeof program + 32];

		snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, beside[i]);
		sets = realpath(path, NULL);
	}
	if (sets)
		*strrchr(sets, '/') = '\0';
	return sets;
}

static void log_note(void *data, const char *message)
{
	(void)data;
	app_note("%s", message);
}

/* $XDG_CACHE_HOME/offpeak, or ~/.cache/offpeak; NULL where there is neither. */
static char *find_cache_dir(const struct opk_env *env)
{
	char *folder = NULL;
	int length = -1;

	if (env->cache && *env->cache == '/')
		length = asprintf(&folder, "%s/offpeak", env->cache);
	else if (env->home && *env->home == '/')
		length = asprintf(&folder, "%s/.cache/offpeak", env->home);
	return length < 0 ? NULL : folder;
}

int app_open(struct app *app)
{
	struct opk_ctx_options options = OPK_INIT(options);
	char *cache_dir;
	int code;

	opk_env_read(&app->env);
	cache_dir = app->no_cache ? NULL : find_cache_dir(&app->env);
	app->data_dir = find_data_dir();
	options.cuda_dir = app->cuda;
	options.env = &app->env;
	options.data_dir = app->data_dir;
	options.log = log_note;
	options.cache_dir = cache_dir;
	code = opk_ctx_new(&app->ctx, &options);
	free(cache_dir);
	return code ? app_error(app, OPK_EFAILED, "out of memory") : OPK_OK;
}

void app_close(struct app *app)
{
	if (app->gathered)
		fclose(app->gathered);
	free(app->text);
	opk_out_free(app->out);
	opk_newfile_discard(&app->file);
	opk_ctx_free(app->ctx);
	free(app->data_dir);
	files_clear(&app->inputs);
	files_clear(&app->outputs);
}

union opk_cell app_passes(int passes)
{
	if (passes > 0)
		return (union opk_cell){ .either = { NULL, (uint64_t)passes } };
	return (union opk_cell){ .either = { passes ? "unschedulable" : "", 0 } };
}

const char *app_set_name(char *out, const char *path)
{
	const char *file = strrchr(path, '/') + 1;

	snprintf(out, APP_SET_NAME, "%.*s", (int)(strrchr(file, '.') - file), file);
	return out;
}

enum opk_format app_default_format(const struct app *app)
{
	return !app->output && isatty(STDOUT_FILENO) ? OPK_TABLE : OPK_CSV;
}

bool app_shows_table(const struct app *app)
{
	return (app->format_name ? app->format : app_default_format(app)) == OPK_TABLE;
}

static size_t terminal_width(const struct app *app)
{
	struct winsize size;

	if (app->output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

static int write_stdout(void *data, const void *bytes, size_t size)
{
	const struct app *app = data;

	if (fwrite(bytes, 1, size, app->gathered ? app->gathered : stdout) == size)
		return 0;
	return app_error(NULL, OPK_EFAILED, "stdout: %s", strerror(errno));
}

/* What was gathered, if anything; without a pager it goes to the terminal as it is. */
static int show(struct app *app)
{
	FILE *gathered = app->gathered;

	app->gathered = NULL;
	if (gathered && fclose(gathered))
		return app_error(app, OPK_EFAILED, "stdout: %s", strerror(errno));
	if (!gathered || pager_show(app->env.pager, app->text, app->text_size))
		return OPK_OK;
	return write_stdout(app, app->text, app->text_size);
}

int app_begin_output(struct app *app, enum opk_format fallback)
{
	struct opk_out_options options = OPK_INIT(options);
	int code = OPK_OK;

	options.format = app->format_name ? app->format : fallback;
	options.width = terminal_width(app);
	if (app->output)
		code = opk_newfile_create(&app->file, app->ctx, app->output);
	if (options.width && options.format == OPK_TABLE) {
		options.bold = !app->env.no_color || !*app->env.no_color;
		/* As git has it, "cat" is none. */
		if (!app->env.pager || strcmp(app->env.pager, "cat"))
			app->gathered = open_memstream(&app->text, &app->text_size);
	}
	if (!code)
		code = opk_out_new(&app->out, app->ctx, &options,
		                   app->file.path ? opk_newfile_write : write_stdout,
		                   app->file.path ? (void *)&app->file : app);
	return code ? app_fail(app, code) : OPK_OK;
}

int app_end_output(struct app *app, int code)
{
	if (!code)
		code = opk_out_finish(app->out);
	if (!code && app->file.path)
		code = opk_newfile_commit(&app->file);
	if (code)
		return app_fail(app, code);
	code = show(app);
	if (code)
		return code;
	if (fflush(stdout))
		return app_error(app, OPK_EFAILED, "can't write the output: %s", strerror(errno));
	return OPK_OK;
}

char *app_numbered(const char *name, size_t number)
{
	const char *slash = strrchr(name, '/');
	const char *file = slash ? slash + 1 : name;
	const char *dot = strrchr(file, '.');
	char *path;

	if (!number)
		return strdup(name);
	if (!dot || dot == file)
		dot = file + strlen(file);
	return asprintf(&path, "%.*s-%zu%s", (int)(dot - name), name, number, dot) < 0 ? NULL
	                                                                               : path;
}

int app_read(struct app *app, void **data, size_t *size, const char *path)
{
	int code;

	*data = NULL;
	*size = 0;
	if (!path)
		return OPK_OK;
	code = opk_read_file(data, size, app->ctx, path);
	return code ? app_fail(app, code) : OPK_OK;
}

static bool progress_shown;

void app_progress(void *what, uint64_t done, uint64_t total)
{
	static struct timespec start, last;
	struct timespec now;

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start.tv_sec)
		start = now;
	/* Nothing in the first second, then four times a second at most. */
	if (now.tv_sec - start.tv_sec < 1
	    || (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 < 250)
		return;
	last = now;
	progress_shown = true;
	fprintf(stderr, "\r%s %ju of %ju\033[K", what ? (const char *)what : "evaluating range",
	        (uintmax_t)done, (uintmax_t)total);
}

void app_progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}
