/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands of offpeak, and what main.c does besides running one of them. */
#ifndef OPK_COMMANDS_H
#define OPK_COMMANDS_H

#include "common/options.h"

extern const struct command build_command, chips_command, compare_command, describe_command,
	diff_command, doctor_command, eval_command, extract_command, import_command, info_command,
	merge_command, metrics_command, plan_command, plot_command, recover_command, report_command,
	sets_command, show_command, split_command, trace_command, trim_command, verify_command;

/* All of them, in the order of --help; ended by NULL. */
extern const struct command *const commands[];
const struct command *find_command(const char *name);

/*
 * offpeak --complete INDEX WORD...: what the word of this index, counted from the program's name,
 * may become; data/completion/offpeak asks. A candidate a line, with a blank after it where the
 * word is done. Exit code 0: a file may be given there, too; 1: none may.
 */
int complete(int argc, char **argv);

/* The man page of one subcommand, or of offpeak itself for NULL, as troff on stdout. */
void print_manpage(const struct command *command);

#endif
