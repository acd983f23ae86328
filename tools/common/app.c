/* SPDX-License-Identifier: BSD-2-Clause */
/* The context of a command, and its messages on stderr. */
#include "common/app.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/program.h"
#include "base/terminal.h"

/* ---- progress */

static bool progress_shown;

static void show_progress(void *data, enum opk_phase phase, uint64_t done, uint64_t total)
{
	static const char *const doing[] = {
		[OPK_PHASE_EVALUATION] = "evaluating range",
		[OPK_PHASE_IMAGES] = "summing range",
		[OPK_PHASE_PLAN] = "looking for a shorter plan, hundredth",
		[OPK_PHASE_SPLIT] = "dividing the set, hundredth",
		[OPK_PHASE_PASSES] = "counting passes, set of counters",
		[OPK_PHASE_TRACE] = "writing sample",
		[OPK_PHASE_SETS] = "planning set",
	};
	static struct timespec start, last;
	struct timespec now;

	(void)data;
	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start.tv_sec)
		start = now;
	/* Print nothing in the first second, then at most four times a second. */
	if (now.tv_sec - start.tv_sec < 1
	    || (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 < 250)
		return;
	last = now;
	progress_shown = true;
	fprintf(stderr, "\r%s %ju of %ju\033[K", doing[phase], (uintmax_t)done, (uintmax_t)total);
}

void app_progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* ---- messages */

/* Messages may quote files: make them harmless to terminals. */
void app_print_cause(const char *prefix, const char *message)
{
	app_progress_end();
	opk_terminal_say(stderr, prefix, message);
}

static void print_cause(const char *prefix, const struct opk_cause *cause)
{
	static const char *const remedies[] = {
		[OPK_REMEDY_NONE] = "",
		[OPK_REMEDY_ALLOW_INCOMPLETE] = "; use --allow-incomplete to take what is whole",
		[OPK_REMEDY_RECOVER] = "; 'offpeak recover' makes a recording of what is whole",
		[OPK_REMEDY_FORCE] = OPK_GIVE_FORCE,
		[OPK_REMEDY_LIST_CHIPS] = "; 'offpeak chips' lists them",
		[OPK_REMEDY_LIST_SETS] = "; 'offpeak sets' lists the shipped ones, a path or "
					 "metric names with commas work too",
		[OPK_REMEDY_LIST_SINGLE_PASS] =
			"; 'offpeak sets --single-pass CHIP' lists its sets",
		[OPK_REMEDY_LIST_ROWS] = "; 'offpeak show FILE' lists them",
		[OPK_REMEDY_SPLIT] = ", as 'offpeak build --split' does",
		[OPK_REMEDY_TRACE] = "; record it with offpeak-collect --trace kernels",
		[OPK_REMEDY_CUDA] = "; --cuda DIR names the toolkit's folder, too",
		[OPK_REMEDY_LIBCUDA] = "; --libcuda FILE names the library, too",
		[OPK_REMEDY_EVALUATE] = "; then 'offpeak eval' makes tables and databases of it, "
					"and 'offpeak report' pages",
		[OPK_REMEDY_BAKE] = "; 'offpeak bake --set SET' or '--metrics A,B' adds them",
		[OPK_REMEDY_COMMON] = "; --metrics A,B chooses, and 'offpeak diff' compares two",
	};
	_Static_assert(COUNT(remedies) == OPK_REMEDY_LAST + 1, "words for each");
	opk_autofree char *text = opk_printf("%s%s", cause->message, remedies[cause->remedy]);

	app_print_cause(prefix, text ? text : cause->message);
	if (!cause->caret)
		return;
	app_print_cause("  ", cause->excerpt);
	app_print_cause("  ", cause->caret);
}

/* The chain from its outer end, each cause on a line, all after the first indented. */
int app_fail(struct app *app, int code)
{
	size_t count = opk_error_cause_count(app->ctx);

	app_progress_end();
	app->reported = true;
	if (!count)
		fprintf(stderr, "offpeak: %s\n", code == OPK_ENOMEM ? "out of memory" : "failed");
	for (size_t i = count; i-- > 0;)
		print_cause(i == count - 1 ? "offpeak: " : "  ", opk_error_cause(app->ctx, i));
	return code == OPK_ENOMEM ? OPK_EFAILED : code;
}

int app_error(struct app *app, int code, const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	if (app && app->ctx)
		return opk_fail(app->ctx, code, "%s", text ? text : "out of memory");
	app_print_cause("offpeak: ", text ? text : "out of memory");
	return code;
}

int app_nomem(struct app *app)
{
	return app_error(app, app->ctx ? OPK_ENOMEM : OPK_EFAILED, "out of memory");
}

static bool noted;

void app_note(const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	noted = true;
	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	app_print_cause("offpeak: note: ", text ? text : "out of memory");
}

void app_log(void *data, const char *message)
{
	(void)data;
	app_note("%s", message);
}

void app_note_empty(const struct app *app)
{
	if (app->empty && !noted)
		app_note("no rows");
}

/* ---- the context */

/*
 * Shipped data is beside the program: ../share/offpeak when installed, ../data in the build tree.
 * Otherwise the library's default applies.
 */
static char *find_data_dir(void)
{
	static const char *const beside[] = { "../share/offpeak/sets", "../data/sets" };
	char *sets = opk_beside_program(beside, COUNT(beside));

	if (sets)
		*strrchr(sets, '/') = '\0';
	return sets;
}

/* NVIDIA's wheels are beside the Python package whose folder bin has this program. */
static char *find_wheels(void)
{
	static const char *const beside[] = { "../../pyoffpeak" };
	char *package = opk_beside_program(beside, COUNT(beside));

	if (package)
		*strrchr(package, '/') = '\0';
	return package;
}

/* $XDG_CACHE_HOME/offpeak, or ~/.cache/offpeak; NULL if neither is known. */
static char *find_cache_dir(const struct opk_env *env)
{
	if (env->cache && *env->cache == '/')
		return opk_printf("%s/offpeak", env->cache);
	if (env->home && *env->home == '/')
		return opk_printf("%s/.cache/offpeak", env->home);
	return NULL;
}

int app_open(struct app *app)
{
	enum { A_DAY = 86400 };
	struct opk_ctx_options options = OPK_INIT(options);
	opk_autofree char *cache_dir = NULL;

	app->env.size = sizeof app->env;
	opk_env_read(&app->env);
	if (!app->no_cache)
		cache_dir = find_cache_dir(&app->env);
	app->data_dir = find_data_dir();
	app->wheels = find_wheels();
	if (!app->env.wheels)
		app->env.wheels = app->wheels;
	options.cuda_dir = app->cuda;
	options.libcuda = app->libcuda;
	options.force = app->force;
	options.env = &app->env;
	options.data_dir = app->data_dir;
	options.log = app_log;
	options.progress = show_progress;
	options.timeout_s = app->timeout < A_DAY ? (unsigned)app->timeout : A_DAY;
	options.cache_dir = cache_dir;
	return opk_ctx_new(&app->ctx, &options) ? app_nomem(app) : OPK_OK;
}

void app_close(struct app *app)
{
	app_progress_end();
	if (app->gathered)
		fclose(app->gathered);
	free(app->text);
	free(app->only);
	opk_out_free(app->out);
	while (app->lists.count)
		opk_listing_free(app->lists.items[--app->lists.count]);
	free(app->lists.items);
	opk_newfile_discard(&app->file);
	opk_ctx_free(app->ctx);
	free(app->data_dir);
	free(app->wheels);
	opk_strlist_clear(&app->inputs);
	opk_strlist_clear(&app->sets);
	opk_strlist_clear(&app->expanded);
	while (app->output_count)
		free(app->outputs[--app->output_count].path);
	free(app->outputs);
}
