/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak: runs the subcommands. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/descriptor.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "commands.h"
#include "common/files.h"

static void usage(FILE *to)
{
	enum { LEFT_WIDTH = 11 };

	fputs("usage: offpeak COMMAND [ARGUMENTS]\n\n"
	      "NVIDIA GPU hardware metrics without a GPU: list them, build what a collector\n"
	      "needs, evaluate what was recorded.\n\ncommands:\n",
	      to);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(to, "  %-*s ", LEFT_WIDTH - 3, (*c)->name);
		help_wrap(to, LEFT_WIDTH, LEFT_WIDTH, (*c)->summary);
	}
	fputs("\n'offpeak COMMAND --help' has options and examples, 'offpeak help COMMAND' says\n"
	      "all.\n"
	      "Exit codes: 0 done, 1 failed, 2 usage, 3 NVIDIA library missing or unusable,\n"
	      "4 bad input file.\n",
	      to);
}

/* A full disk shows only when stdout's buffer is written. */
static int end_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return OPK_OK;
	return app_error(NULL, OPK_EFAILED, "can't write the output: %s", strerror(errno));
}

/*
 * Commands have short names, similar to many words: a misspelling has less than a third of its
 * letters wrong, or one wrong letter, or two adjacent letters exchanged.
 */
static bool is_misspelt(const char *name, const char *command)
{
	size_t limit = (strlen(name) - 1) / 3, i = 0;

	if (opk_edit_distance(name, command, limit ? limit : 1) <= (limit ? limit : 1))
		return true;
	while (name[i] && name[i] == command[i])
		i++;
	return name[i] && name[i + 1] && name[i] == command[i + 1] && name[i + 1] == command[i]
	       && !strcmp(name + i + 2, command + i + 2);
}

/* Suggests any word that can follow "offpeak". */
static int unknown_command(const char *name)
{
	struct opk_nearest nearest = { .name = name };

	if (!strcmp(name, "collect") || !strcmp(name, "offpeak-collect"))
		return app_error(NULL, OPK_EUSAGE,
		                 "no command '%s': recording is done by offpeak-collect, a "
		                 "program of its own; see 'offpeak-collect --help'",
		                 name);
	for (const struct command *const *c = commands; *name && *c; c++)
		if (is_misspelt(name, (*c)->name))
			opk_nearest_try(&nearest, (*c)->name);
	if (*name && is_misspelt(name, "help"))
		opk_nearest_try(&nearest, "help");
	return app_error(NULL, OPK_EUSAGE,
	                 "no %s '%s'" OPK_DID_YOU_MEAN "; 'offpeak --help' lists them",
	                 *name == '-' ? "option" : "command", name, OPK_NEAR(nearest.best));
}

static int run_in(struct app *app, const struct command *command, void *args, int argc, char **argv)
{
	int code = args ? app_parse(app, command, args, argc, argv) : app_nomem(app);

	if (code)
		return code;
	if (app->help) {
		app_usage(command, false);
		return end_stdout();
	}
	TRY(app_open(app));
	code = files_open_streams(app);
	if (!code)
		code = command->run(app, args);
	if (!code)
		app_note_empty(app);
	return code && !app->reported ? app_fail(app, code) : code;
}

static int run(const struct command *command, int argc, char **argv)
{
	opk_autofree void *args = opk_alloc(command->args_size);
	struct app app = { .command = command->name };
	int code = run_in(&app, command, args, argc, argv);

	app_close(&app);
	return code;
}

static int help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return unknown_command(name);
	if (command)
		app_usage(command, true);
	else
		usage(stdout);
	return end_stdout();
}

static int manpage(const char *name)
{
	if (name && !find_command(name))
		return unknown_command(name);
	print_manpage(name ? find_command(name) : NULL);
	return end_stdout();
}

/* ---- signals and limits */

static void end(int number)
{
	opk_discard_unfinished();
	signal(number, SIG_DFL);
	raise(number);
}

/* The parent process may have set the signal to be ignored. */
static void catch (int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL)
		signal(number, end);
}

/*
 * A signal that ends the process must not leave temporary files; a file that grows too large is an
 * error like a full disk; the limit of open files is raised to the maximum.
 */
static void prepare_process(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	struct rlimit files;

	for (size_t i = 0; i < COUNT(ending); i++)
		catch (ending[i]);
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
	const struct command *command;

	opk_reserve_standard();
	if (argc < 2) {
		usage(stderr);
		return OPK_EUSAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("offpeak %s\n", opk_version());
		return end_stdout();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--manpage"))
		return manpage(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--complete"))
		return complete(argc - 2, argv + 2);
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	prepare_process();
	return run(command, argc - 1, argv + 1);
}
