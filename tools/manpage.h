/* SPDX-License-Identifier: BSD-2-Clause */
/* Man pages made from the command table. */
#ifndef OPK_MANPAGE_H
#define OPK_MANPAGE_H

#include "commands.h"

/* offpeak(1), or offpeak-COMMAND(1), as troff on stdout. */
int print_manpage(const struct command *command);

#endif
