/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands of offpeak, and what main.c does besides running them. */
#ifndef OPK_COMMANDS_H
#define OPK_COMMANDS_H

#include "common/options.h"

extern const struct command bake_command, build_command, chips_command, compare_command,
	describe_command, diff_command, doctor_command, eval_command, extract_command,
	import_command, info_command, merge_command, metrics_command, noise_command, plan_command,
	plot_command, recover_command, report_command, sets_command, show_command, split_command,
	trace_command, trim_command, verify_command;

/* All of them, in the order of --help; ended by NULL. */
extern const struct command *const commands[];
const struct command *find_command(const char *name);

/*
 * offpeak --complete INDEX WORD...: completes the word of this index, counted from the program's
 * name, for data/completion/offpeak. Prints a candidate per line, with a blank after it if the word
 * is complete. Exit code 0: files are candidates, too; 1: they are not.
 */
int complete(int argc, char **argv);

/* Prints the man page of a subcommand, or for NULL of offpeak, as troff. */
void print_manpage(const struct command *command);

#endif
