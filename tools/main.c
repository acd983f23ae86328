/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak: dispatch to the subcommands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/process.h"
#include "complete.h"
#include "manpage.h"

const struct command *const commands[] = {
	&chips_command,   &compare_command, &describe_command,
	&metrics_command, &sets_command,    &plan_command,
	&build_command,   &eval_command,    &import_command,
	&merge_command,   &trim_command,    &split_command,
	&info_command,    &extract_command, &verify_command,
	&recover_command, &doctor_command,  NULL,
};

static void usage(FILE *to)
{
	fputs("usage: offpeak COMMAND [ARGUMENTS]\n\n"
	      "NVIDIA GPU hardware metrics without a GPU: list them, build what a collector needs,\n"
	      "evaluate what was recorded.\n\ncommands:\n",
	      to);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "  %-8s %s\n", (*c)->name, (*c)->summary);
	fputs("\n'offpeak COMMAND --help' tells more. Exit codes: 0 done, 1 failed, 2 usage,\n"
	      "3 NVIDIA library missing or unusable, 4 bad input file.\n",
	      to);
}

const struct command *find_command(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct app app = { .command = command->name };
	void *args = calloc(1, command->args_size ? command->args_size : 1);
	int code = args ? app_parse(&app, command, args, argc, argv) : OPK_EFAILED;

	if (!code && app.help)
		app_usage(command);
	else if (!code) {
		code = app_open(&app);
		if (!code)
			code = command->run(&app, args);
	}
	app_close(&app);
	free(args);
	return code;
}

static int help(const char *name)
{
	const struct command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return app_error(NULL, OPK_EUSAGE, "no command '%s'", name);
	if (command)
		app_usage(command);
	else
		usage(stdout);
	return OPK_OK;
}

static int manpage(const char *name)
{
	if (name && !find_command(name))
		return app_error(NULL, OPK_EUSAGE, "no command '%s'", name);
	return print_manpage(name ? find_command(name) : NULL);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		usage(stderr);
		return OPK_EUSAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("offpeak %s\n", opk_version());
		return OPK_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--manpage"))
		return manpage(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--complete"))
		return complete(argc - 2, argv + 2);
	command = find_command(argv[1]);
	if (!command)
		return app_error(NULL, OPK_EUSAGE, "no command '%s'; 'offpeak --help' lists them",
		                 argv[1]);
	process_prepare();
	return run(command, argc - 1, argv + 1);
}
