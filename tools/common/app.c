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

/* The chain from its outer end, each cause on a line, the first behind `first`. */
static void print_causes(const struct app *app, const char *first)
{
	size_t count = opk_error_count(app->ctx);

	for (size_t i = count; i-- > 0;) {
		fputs(i == count - 1 ? first : "  ", stderr);
		/* Files have their say in these: no terminal shall obey them. */
		for (const char *c = opk_error_message(app->ctx, i); *c; c++)
			fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, stderr);
		fputc('\n', stderr);
	}
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

int app_open(struct app *app)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env;

	opk_env_read(&env);
	app->data_dir = find_data_dir();
	options.cuda_dir = app->cuda;
	options.env = &env;
	options.data_dir = app->data_dir;
	options.log = log_note;
	if (opk_ctx_new(&app->ctx, &options))
		return app_error(app, OPK_EFAILED, "out of memory");
	return OPK_OK;
}

void app_close(struct app *app)
{
	opk_out_free(app->out);
	opk_outfile_free(app->outfile);
	opk_ctx_free(app->ctx);
	free(app->data_dir);
}

enum opk_format app_default_format(const struct app *app)
{
	return !app->output && isatty(STDOUT_FILENO) ? OPK_TABLE : OPK_CSV;
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
	(void)data;
	if (fwrite(bytes, 1, size, stdout) == size)
		return 0;
	return app_error(NULL, OPK_EFAILED, "stdout: %s", strerror(errno));
}

int app_begin_output(struct app *app, enum opk_format fallback)
{
	struct opk_out_options options = OPK_INIT(options);
	int code = OPK_OK;

	options.format = app->format_name ? app->format : fallback;
	options.width = terminal_width(app);
	if (app->output)
		code = opk_outfile_new(&app->outfile, app->ctx, app->output);
	if (!code)
		code = opk_out_new(&app->out, app->ctx, &options,
		                   app->outfile ? opk_outfile_write : write_stdout, app->outfile);
	return code ? app_fail(app, code) : OPK_OK;
}

int app_end_output(struct app *app, int code)
{
	if (!code)
		code = opk_out_finish(app->out);
	if (!code && app->outfile)
		code = opk_outfile_finish(app->outfile);
	if (code)
		return app_fail(app, code);
	if (fflush(stdout))
		return app_error(app, OPK_EFAILED, "can't write the output: %s", strerror(errno));
	return OPK_OK;
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

void app_progress(void *unused, uint64_t done, uint64_t total)
{
	static struct timespec start, last;
	struct timespec now;

	(void)unused;
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
	fprintf(stderr, "\revaluating range %ju of %ju\033[K", (uintmax_t)done,
	        (uintmax_t)total);
}

void app_progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}
