/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands of offpeak, one file each. */
#ifndef OPK_COMMANDS_H
#define OPK_COMMANDS_H

#include "common/app.h"

extern const struct command chips_command, compare_command;
extern const struct command metrics_command, sets_command, plan_command, build_command,
	eval_command, import_command, merge_command, info_command, doctor_command;
extern const struct command describe_command;
extern const struct command extract_command, verify_command, recover_command;
extern const struct command trim_command, split_command;

/* All of them, in the order of --help; ended by NULL. */
extern const struct command *const commands[];
const struct command *find_command(const char *name);

#endif
