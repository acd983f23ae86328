/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak-collect: checks what it can, then runs a program with the library in it. */
#include <dlfcn.h>

#include "base/library.h"
#include "collect/launcher/launcher.h"

static int set_library(const struct settings *settings)
{
	opk_autofree char *library = launcher_library();

	if (!library)
		return OPK_EFAILED;
	setenv("CUDA_INJECTION64_PATH", library, 1);
	setenv(SETTING_LIBRARY, library, 1);
	/* Only ranges need this; samples have none. */
	if (settings->mode != MODE_SAMPLING || settings->trace)
		setenv("NVTX_INJECTION64_PATH", library, 1);
	return OPK_OK;
}

/* A folder's name with each '%' doubled, so that it begins no item. */
static bool as_pattern(char pattern[2 * PATH_MAX], const char *folder)
{
	size_t size = 0;

	for (; *folder && size < 2 * PATH_MAX - 2; folder++) {
		if (*folder == '%')
			pattern[size++] = '%';
		pattern[size++] = *folder;
	}
	pattern[size] = '\0';
	return !*folder;
}

/* An existing file is replaced only after the program has ended; the program must not need it. */
static int check_output(const struct settings *settings, const char *name)
{
	struct stat output;

	/* A file that does not exist yet may have a wrong name. */
	if (stat(name, &output))
		return outputs_check(settings, name, OPK_OUTPUT_RECORDING);
	if (S_ISDIR(output.st_mode))
		return say(OPK_EFAILED, "%s is a folder", name);
	/* The processes will use other names. */
	if (name_varies(settings->output))
		return OPK_OK;
	if (!S_ISREG(output.st_mode))
		return say(OPK_EFAILED, "%s: exists and is not a regular file", settings->output);
	if (!opk_can_replace(name))
		return say(
			OPK_EFAILED,
			"%s: belongs to another user, and in its folder nobody else can replace it",
			settings->output);
	if (settings->set_path && opk_is_same_file(settings->set_path, name))
		return say(OPK_EUSAGE, "-o %s is the set itself", settings->output);
	return outputs_check(settings, name, OPK_OUTPUT_RECORDING);
}

static int check_name(const struct settings *settings, char name[PATH_MAX])
{
	const char *problem;

	if (!name_expand(name, PATH_MAX, settings->output))
		return say(OPK_EUSAGE,
		           "-o %s: of the %%-items only %%h, %%p, %%q{NAME} and %%%% are known",
		           settings->output);
	problem = name_problem(settings->output);
	/* Each process may have a different value. */
	if (!problem || (!*name_of_file(name) && name_varies(settings->output)))
		return OPK_OK;
	return say(OPK_EUSAGE, "-o %s: would be %s: %s", settings->output, name, problem);
}

/* The program may change its current folder, so it gets absolute paths. */
static int set_paths(struct settings *settings)
{
	char set[PATH_MAX], folder[PATH_MAX], name[PATH_MAX], whole[PATH_MAX], *output;
	char pattern[2 * PATH_MAX];
	const char *file = name_of_file(settings->output);

	TRY(check_name(settings, name));
	if (settings->set_path && !realpath(settings->set_path, set))
		return say(OPK_EINPUT, "%s: %s", settings->set_path, strerror(errno));
	snprintf(folder, sizeof folder, "%.*s./", (int)(file - settings->output), settings->output);
	if (!name_expand(pattern, sizeof pattern, folder) || !realpath(pattern, whole)
	    || access(whole, W_OK))
		return say(OPK_EFAILED, "%s: can't write there: %s", settings->output,
		           strerror(errno));
	TRY(check_output(settings, name));
	if (!as_pattern(pattern, whole) || asprintf(&output, "%s/%s", pattern, file) < 0)
		return say(OPK_EFAILED, "out of memory");
	if (settings->set_path)
		settings_export(SETTING_SET, set);
	settings_export(SETTING_OUTPUT, output);
	settings->output = output;
	return OPK_OK;
}

/* Makes a path absolute: the program may change its folder. The loader looks up plain names. */
static int set_cupti(struct settings *settings)
{
	const char *path = settings->cupti_path;
	char folder[PATH_MAX], *whole;

	if (*path == '/' || !strchr(path, '/'))
		return OPK_OK;
	if (!getcwd(folder, sizeof folder) || asprintf(&whole, "%s/%s", folder, path) < 0)
		return say(OPK_EFAILED, "%s: %s", path, strerror(errno));
	settings_export(SETTING_CUPTI, whole);
	settings->cupti_path = whole;
	return OPK_OK;
}

/* Records the command as one line. */
static void set_command(const struct settings *settings, char **program)
{
	char line[4096] = "offpeak-collect --watch";
	size_t size = 0;

	for (; !settings->watch && *program && size < sizeof line - 1; program++)
		size += (size_t)snprintf(line + size, sizeof line - size, "%s%s", size ? " " : "",
		                         *program);
	settings_export(SETTING_COMMAND, line);
}

static int set_environment(struct settings *settings, char **program)
{
	TRY(set_paths(settings));
	TRY(set_cupti(settings));
	TRY(set_library(settings));
	settings_export(SETTING_MODE, settings_word(SETTING_MODE, settings->mode));
	settings_export(SETTING_TURNS, settings_word(SETTING_TURNS, settings->turns));
	if (settings->tight)
		settings_export(SETTING_TIGHT, "1");
	if (settings->application)
		settings_export(SETTING_APPLICATION, "1");
	set_command(settings, program);
	return OPK_OK;
}

/* A library that loads may still be another, or too old. */
static bool is_usable(const char *cupti)
{
	void *library = opk_library_flaw(cupti) ? NULL : dlopen(cupti, RTLD_NOW | RTLD_LOCAL);

	return library && dlsym(library, "cuptiProfilerInitialize");
}

/* Explains why nothing was recorded, and returns the exit code. */
static int report_nothing(const struct settings *settings, bool empty)
{
	static const char unclear[] =
		"nothing was recorded, for the reason above, or because the program used no GPU";
	const char *flaw;

	if (empty)
		return say(OPK_EFAILED, "nothing was recorded: the recording is empty");
	flaw = driver_flaw();
	if (flaw)
		return say(OPK_ENVIDIA, "nothing was recorded: there is no NVIDIA driver here: %s",
		           flaw);
	if (is_usable(settings->cupti_path))
		return say(OPK_EFAILED, "%s", unclear);
	return say(OPK_ENVIDIA, "%s; %s can't be used", unclear, settings->cupti_path);
}

static bool folder_exists(const struct settings *settings)
{
	char name[PATH_MAX];

	if (!name_expand(name, sizeof name, settings->output))
		return true;
	*(char *)name_of_file(name) = '\0';
	return !access(name, F_OK);
}

/* Without a recording, ends with our exit code, so that the program's is not taken for success. */
static int end_unrecorded(const struct settings *settings, int status, bool empty)
{
	int code;

	if (program_missing())
		return program_end(status);
	if (settings->watch && !folder_exists(settings))
		say(0, "%s: its folder is gone", settings->output);
	if (settings->watch)
		return say(WIFEXITED(status) && status ? WEXITSTATUS(status) : OPK_EFAILED,
		           "nothing was recorded, for the reason above");
	code = report_nothing(settings, empty);
	if (settings->best_effort || program_stopped(status))
		return program_end(status);
	return say(code, "the program's own %s was %d; --best-effort passes it on",
	           WIFSIGNALED(status) ? "signal" : "exit code",
	           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* A signal may have ended the program before its first row was written. */
static bool was_recorded(const struct parts *parts, int status)
{
	return parts_recorded(parts) || (parts->count && WIFSIGNALED(status));
}

/* Gives the recordings their names, and ends offpeak-collect. */
static int finish(const struct settings *settings, struct parts *parts, int status, bool merged,
                  const char *join)
{
	bool any = parts->count, running = parts->running > 0;
	bool ended = !running && !parts->silent; /* no process records any more */
	/* A long watch has named all of its files except the last one. */
	bool recorded = was_recorded(parts, status) || running
	                || (settings->rotate_ns && !settings->keep_ns && archive_any(settings));
	opk_autostrlist struct opk_strlist made = { 0 };
	int code = OPK_OK;

	clock_guard_end();
	/* A single file needs no merged copy, for which there may be no room. */
	if (settings->rotate_ns && !merged)
		code = archive_tidy(settings, true, 0);
	else if (merged && (parts->count > 1 || (any && join)))
		code = parts_merge(&made, parts, settings, join);
	else
		code = parts_rename(&made, parts, settings);
	parts_clear(parts);
	if (settings->watch && recorded && !code)
		outputs_report_watch(settings, &made);
	if (!ended && recorded && settings->cache)
		say(0, "note: not kept in the cache: a process of the program still runs");
	if (cache_keep(settings, recorded && ended && !code ? &made : NULL, status))
		code = OPK_EFAILED;
	if (!recorded)
		return end_unrecorded(settings, status, any);
	/* The program's own failure counts more than that of its recording. */
	return status || !code ? program_end(status) : code;
}

/* Runs the program with a new token, and adds the parts that it left. */
static int run_as(struct settings *settings, struct parts *parts, char **program, int *status)
{
	opk_autostrlist struct opk_strlist processes = { 0 };
	int code;

	TRY(token_new(settings));
	tallies_new(settings);
	*status = program_run(program);
	if (tallies_late())
		say(0,
		    "note: %" PRIu64 " launches are missing: they came from exit handlers or "
		    "destructors, after the recording's end",
		    tallies_late());
	running_find(&processes, settings);
	code = parts_find(parts, settings);
	running_report(&processes, parts, settings);
	parts_complete(parts, settings->verbose);
	return code;
}

/* Whether the program may run again: it did not fail, and no signal came. */
static bool goes_on(int code, int status)
{
	return !code && !status && !program_missing() && !signal_came();
}

/* Some runs are left out. A program that ended well after a signal did not end well for us. */
static const char *why_left_out(int *status)
{
	if (!*status)
		*status = signal_came();
	return signal_came() ? "was stopped" : "failed";
}

/* Runs the program once per level of user ranges and pass; the first run shows all levels. */
static int run_replay(struct settings *settings, struct parts *parts, char **program, size_t passes,
                      int *status)
{
	bool by_level = settings->mode == MODE_USER_RANGE && !settings->given[SETTING_LEVEL];
	size_t each = passes ? passes : 1, runs = each, done = 0;
	int code = OPK_OK;

	for (size_t i = 0; goes_on(code, *status) && i < runs; i++, done++) {
		settings_export_number(SETTING_PASS, passes ? i % passes + 1 : 0);
		if (by_level)
			settings_export_number(SETTING_LEVEL, i / each + 1);
		if (settings->verbose)
			say(0, "run %zu of %zu", i + 1, runs);
		code = run_as(settings, parts, program, status);
		if (!i && by_level)
			runs = each * parts_depth(parts);
	}
	if (done < runs && !program_missing())
		say(0, "the program %s in run %zu of %zu: the others are left out",
		    why_left_out(status), done, runs);
	return code;
}

/* Runs the program as often as one set needs. */
static int run_set(struct collection *one, struct parts *parts, char **program, int *status)
{
	return one->settings.application
	               ? run_replay(&one->settings, parts, program, one->passes, status)
	               : run_as(&one->settings, parts, program, status);
}

/* How ranges of several runs are joined; NULL: as recorded. */
static const char *join_of(const struct collections *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].settings.application && all->items[i].passes)
			return all->items[i].settings.mode == MODE_USER_RANGE ? "name" : "launch";
	return NULL;
}

/* Collects one of several sets. *any: its run recorded something. */
static int run_next(bool *any, struct collections *all, size_t i, struct parts *parts,
                    char **program, int *status)
{
	struct collection *one = &all->items[i];
	size_t before = parts->count, running = parts->running;
	struct parts own;

	say(0, "run %zu of %zu: %s (%s)%s", i + 1, all->count, one->what, one->settings.set_path,
	    one->settings.application ? ", in several runs" : "");
	several_enter(one);
	TRY(run_set(one, parts, program, status));
	own = (struct parts){ .items = parts->items + before, .count = parts->count - before };
	*any = was_recorded(&own, *status) || parts->running > running;
	/* Without any recording the end says why. */
	if (!*any && i && !program_missing())
		report_nothing(&one->settings, own.count);
	return OPK_OK;
}

static void report_left_out(const struct collections *all, size_t done, int *status)
{
	bool failed = *status || signal_came();
	const char *why = failed ? why_left_out(status) : "";

	for (size_t i = done; i < all->count; i++)
		say(0, "%s is left out: %s%s in run %zu of %zu", all->items[i].settings.set_path,
		    failed ? "the program " : "nothing was recorded", why, done, all->count);
}

/* The first run that fails, or records nothing, is the last one; what was recorded is kept. */
static int run_several(struct collections *all, char **program)
{
	const struct settings *settings = &all->items[0].settings;
	struct parts parts = { 0 };
	int status = 0, code = OPK_OK;
	bool any = true;
	size_t done = 0;

	while (any && goes_on(code, status) && done < all->count) {
		code = run_next(&any, all, done, &parts, program, &status);
		done++;
	}
	if (code)
		return code;
	if (done < all->count && !program_missing())
		report_left_out(all, done, &status);
	code = finish(settings, &parts, status, true, join_of(all));
	return code || any || settings->best_effort ? code : OPK_EFAILED;
}

static int collect(struct collections *all, char **program)
{
	struct collection *one = all->items;
	struct parts parts = { 0 };
	int status = 0;
	bool merged = all->count > 1 || one->settings.merge || one->settings.application
	              || one->settings.keep_ns;

	if (merged)
		signals_hold();
	if (all->count > 1)
		return run_several(all, program);
	TRY(run_set(one, &parts, program, &status));
	return finish(&one->settings, &parts, status, merged, join_of(all));
}

/* Whether and how the program can be recorded; *passes as from strategy_choose(). */
static int prepare(struct settings *settings, char **program, size_t *passes)
{
	TRY(strategy_choose(settings, passes));
	if ((settings->merge || settings->application) && name_varies(settings->output))
		return say(OPK_EUSAGE, "-o %s: one file can't have a name for each process",
		           settings->output);
	/* The launcher, its watching child and a dump each name files. */
	if (settings->watch && name_has(settings->output, "p"))
		return say(OPK_EUSAGE, "-o %s: a watch is not named after a process",
		           settings->output);
	/* Any user may have CUPTI's records of what ran. */
	if (settings->mode != MODE_TRACE)
		TRY(strategy_permission());
	TRY(set_environment(settings, program));
	return settings->mode == MODE_SASS ? release_check(settings) : OPK_OK;
}

/* Checks everything before the first run. */
static int prepare_all(struct collections *all, const struct settings *settings,
                       const struct opk_strlist *sets, char **program)
{
	if (sets->count < 2) {
		all->count = 1;
		all->items[0].settings = *settings;
		return prepare(&all->items[0].settings, program, &all->items[0].passes);
	}
	TRY(several_plan(all, settings, sets));
	for (size_t i = 0; i < all->count; i++) {
		struct collection *one = &all->items[i];

		several_enter(one);
		TRY(prepare(&one->settings, program, &one->passes));
		TRY(several_keep(one));
	}
	return OPK_OK;
}

static int run_unrecorded(char **program)
{
	say(0, "the program runs all the same, unrecorded");
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	return program_end(program_run(program));
}

int main(int argc, char **argv)
{
	static struct collections all;
	static struct settings settings;
	static struct opk_strlist sets;
	char **program;
	bool cached;
	int code;

	opk_reserve_standard();
	if (argc > 1 && !strcmp(argv[1], WATCH_WORD))
		return argc > 3 ? watch_dump(argv[3]) : argc > 2 ? watch_gpus(argv[2]) : OPK_EUSAGE;
	if (argc > 1 && !strcmp(argv[1], "--complete"))
		return shell_complete((size_t)argc - 2, argv + 2);
	signals_begin();
	TRY(command_line_read(&settings, &sets, &program, argc, argv));
	if (!program)
		return OPK_OK;
	if (settings.probe)
		return probe_write(&settings);
	if (settings.dump)
		return archive_ask(&settings);
	code = prepare_all(&all, &settings, &sets, program);
	if (code)
		return code != OPK_EUSAGE && settings.best_effort ? run_unrecorded(program) : code;
	TRY(driver_check(&settings, *program));
	TRY(cache_find(&cached, &all.items[0].settings, program));
	if (cached)
		return OPK_OK;
	if (settings.watch)
		watch_prepare();
	parts_report_leftovers(&all.items[0].settings);
	outputs_begin(&all.items[0].settings);
	TRY(clock_guard_begin(&all));
	return collect(&all, program);
}
