/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak-collect: checks what can be checked, then runs a program with the library in it. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/shared/file_names.h"
#include "collect/launcher/command_line.h"
#include "collect/launcher/outputs.h"
#include "collect/shared/settings.h"
#include "collect/launcher/strategy.h"

static volatile sig_atomic_t child;

/* Beside this program: installed, in the build tree, or two files in one folder. */
static bool find_library(char path[PATH_MAX])
{
	static const char *const names[] = {
		"liboffpeak-inject.so",
		"../lib/offpeak/liboffpeak-inject.so",
		"../.libs/liboffpeak-inject.so",
	};
	char program[PATH_MAX / 2], found[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	program[length > 0 ? length : 0] = '\0';
	if (!strrchr(program, '/'))
		return false;
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(found, sizeof found, "%s/%s", program, names[i]);
		if (realpath(found, path))
			return true;
	}
	return false;
}

static int set_library(const struct strategy *strategy)
{
	char library[PATH_MAX];

	if (!find_library(library))
		return launcher_fail(OPK_EFAILED,
		                     "liboffpeak-inject.so is not beside this program");
	setenv("CUDA_INJECTION64_PATH", library, 1);
	/* Samples have no ranges. */
	if (strategy->mode != MODE_SAMPLING) {
		setenv("NVTX_INJECTION64_PATH", library, 1);
		setenv(SETTING_LIBRARY, library, 1);
	}
	return OPK_OK;
}

/* A real folder is no pattern: its '%' are doubled. */
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

/* What is there now is replaced when the program has ended, and must not be what is needed before. */
static int check_output(const struct request *request, const char *name)
{
	struct stat output, set;

	if (stat(name, &output))
		return OPK_OK;
	if (S_ISDIR(output.st_mode))
		return launcher_fail(OPK_EFAILED, "%s is a folder", name);
	/* The processes' own names are others. */
	if (name_varies(request->output))
		return OPK_OK;
	if (!S_ISREG(output.st_mode))
		return launcher_fail(OPK_EFAILED, "%s: exists and is not a regular file",
		                     request->output);
	if (!stat(request->set, &set) && set.st_dev == output.st_dev && set.st_ino == output.st_ino)
		return launcher_fail(OPK_EUSAGE, "-o %s is the set itself", request->output);
	return OPK_OK;
}

/* The program may change its folder: it gets whole paths. */
static int set_paths(const struct request *request)
{
	char set[PATH_MAX], folder[PATH_MAX], name[PATH_MAX], whole[PATH_MAX], *output;
	char pattern[2 * PATH_MAX];
	const char *slash = strrchr(request->output, '/');
	int code;

	if (!name_expand(name, sizeof name, request->output))
		return launcher_fail(
			OPK_EUSAGE,
			"-o %s: of the %%-items only %%h, %%p, %%q{NAME} and %%%% are known",
			request->output);
	if (!realpath(request->set, set))
		return launcher_fail(OPK_EINPUT, "%s: %s", request->set, strerror(errno));
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - request->output) + 1 : 1,
	         slash ? request->output : ".");
	if (!name_expand(pattern, sizeof pattern, folder) || !realpath(pattern, whole)
	    || access(whole, W_OK))
		return launcher_fail(OPK_EFAILED, "%s: can't write there: %s", request->output,
		                     strerror(errno));
	code = check_output(request, name);
	if (code)
		return code;
	if (!as_pattern(pattern, whole)
	    || asprintf(&output, "%s/%s", pattern, slash ? slash + 1 : request->output) < 0)
		return launcher_fail(OPK_EFAILED, "out of memory");
	setenv(SETTING_SET, set, 1);
	setenv(SETTING_OUTPUT, output, 1);
	free(output);
	return OPK_OK;
}

/* The command as one line, for the recording. */
static void set_command(char **program)
{
	char line[4096] = "";
	size_t size = 0;

	for (; *program && size < sizeof line - 1; program++)
		size += (size_t)snprintf(line + size, sizeof line - size, "%s%s", size ? " " : "",
		                         *program);
	setenv(SETTING_COMMAND, line, 1);
}

static int set_environment(const struct request *request, const struct strategy *strategy)
{
	char launcher[32];
	int code = set_paths(request);

	if (!code)
		code = set_library(strategy);
	snprintf(launcher, sizeof launcher, "%d", (int)getpid());
	setenv(SETTING_LAUNCHER, launcher, 1);
	setenv(SETTING_MODE, settings_mode_name(strategy->mode), 1);
	if (strategy->tight)
		setenv(SETTING_TIGHT, "1", 1);
	if (strategy->application)
		setenv(SETTING_APPLICATION, "1", 1);
	setenv(SETTING_TURNS, settings_turns_name(strategy->turns), 1);
	set_command(request->program);
	return code;
}

/* The program's way to end is ours. */
static int end_like(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	/* We block that signal. */
	return 128 + WTERMSIG(status);
}

/* Signals that are for the program to decide about. */
static struct {
	int number;
	void (*inherited)(int);
} signals[] = {
	{ .number = SIGINT }, { .number = SIGQUIT }, { .number = SIGTERM }, { .number = SIGHUP }
};

static void pass_on(int number)
{
	if (child > 0)
		kill((pid_t)child, number);
}

/* Ctrl-C reaches the program by itself; other signals only reach us. What is ignored stays so. */
static void take_signals(void)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		bool terminal = signals[i].number == SIGINT || signals[i].number == SIGQUIT;

		signals[i].inherited = signal(signals[i].number, terminal ? SIG_IGN : pass_on);
		if (signals[i].inherited == SIG_IGN)
			signal(signals[i].number, SIG_IGN);
	}
}

static void give_signals_back(void)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i].number, signals[i].inherited);
}

static int run(char **program)
{
	int status = 0;
	pid_t pid;

	take_signals();
	pid = fork();
	if (pid == 0) {
		give_signals_back();
		execvp(program[0], program);
		fprintf(stderr, "offpeak-collect: %s: %s\n", program[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0) {
		give_signals_back();
		launcher_fail(OPK_EFAILED, "no process: %s", strerror(errno));
		return OPK_EFAILED << 8;
	}
	child = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	give_signals_back();
	return status;
}

static void set_number(const char *variable, size_t number)
{
	char text[32];

	snprintf(text, sizeof text, "%zu", number);
	setenv(variable, text, 1);
}

static void tell_nothing(void)
{
	if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
		launcher_fail(0,
		              "nothing was recorded: the program did nothing on a GPU, or what was "
		              "said above");
	else
		launcher_fail(0, "nothing was recorded: there is no NVIDIA driver here: %s",
		              dlerror());
}

/* Where there is one for all processes. */
static const char *file_name(char name[PATH_MAX])
{
	return name_expand(name, PATH_MAX, getenv(SETTING_OUTPUT)) ? name : "";
}

static int run_once(const struct request *request)
{
	const char *output = getenv(SETTING_OUTPUT);
	char name[PATH_MAX];
	int status = run(request->program);
	glob_t parts;

	parts_find(&parts, output);
	if (!parts.gl_pathc)
		tell_nothing();
	else if (request->merge)
		parts_merge(&parts, file_name(name), NULL, request->verbose);
	else
		parts_rename(&parts, request->verbose);
	globfree(&parts);
	return status;
}

/* Once for each level of user ranges and each group; the first run tells how many levels there are. */
static int run_all(const struct request *request, const struct strategy *strategy)
{
	const char *output = getenv(SETTING_OUTPUT);
	bool by_level = strategy->mode == MODE_USER_RANGE && !request->has_level;
	size_t levels = 1, runs = strategy->groups, done = 0;
	char name[PATH_MAX];
	glob_t kept = { 0 };
	int status = 0;

	for (size_t i = 0; !status && i < runs; i++, done++) {
		glob_t parts;

		set_number(SETTING_GROUP, strategy->grouped ? i % strategy->groups + 1 : 0);
		if (by_level)
			set_number(SETTING_LEVEL, i / strategy->groups + 1);
		if (request->verbose)
			launcher_fail(0, "run %zu of %zu", i + 1, runs);
		status = run(request->program);
		parts_find(&parts, output);
		if (!i && by_level) {
			levels = parts_depth(&parts);
			runs = strategy->groups * levels;
		}
		parts_keep(&kept, &parts, (unsigned)i + 1);
		globfree(&parts);
	}
	if (done < runs)
		launcher_fail(0, "the program failed in run %zu of %zu: the others are left out",
		              done, runs);
	if (kept.gl_pathc)
		parts_merge(&kept, file_name(name),
		            strategy->grouped
		                    ? strategy->mode == MODE_USER_RANGE ? "name" : "launch"
		                    : NULL,
		            request->verbose);
	else
		tell_nothing();
	globfree(&kept);
	return status;
}

int main(int argc, char **argv)
{
	struct strategy strategy;
	struct request request;
	int code = options_read(&request, argc, argv);
	int refused;

	if (!code)
		code = strategy_choose(&strategy, &request);
	if (!code && (request.merge || strategy.application) && name_varies(request.output))
		code = launcher_fail(OPK_EUSAGE,
		                     "-o %s: one file can't have a name for each process",
		                     request.output);
	if (code == OPK_EUSAGE)
		return code;
	refused = code ? code : strategy_permission();
	if (!refused)
		refused = set_environment(&request, &strategy);
	if (refused && refused != OPK_EUSAGE && request.best_effort) {
		launcher_fail(0, "the program runs all the same, unrecorded");
		unsetenv("CUDA_INJECTION64_PATH");
		unsetenv("NVTX_INJECTION64_PATH");
		return end_like(run(request.program));
	}
	if (refused)
		return refused;
	return end_like(strategy.application ? run_all(&request, &strategy) : run_once(&request));
}
