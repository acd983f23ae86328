/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of subcommands, for dispatch, help, man pages and completion. */
#include "commands.h"

#include <string.h>

const struct command *const commands[] = {
	&chips_command,  &compare_command, &describe_command, &metrics_command, &sets_command,
	&plan_command,   &build_command,   &eval_command,     &show_command,    &diff_command,
	&noise_command,  &report_command,  &plot_command,     &trace_command,   &import_command,
	&merge_command,  &trim_command,    &split_command,    &info_command,    &extract_command,
	&verify_command, &recover_command, &doctor_command,   &bake_command,    NULL,
};

const struct command *find_command(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
