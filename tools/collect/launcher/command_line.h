/* SPDX-License-Identifier: BSD-2-Clause */
/* The launcher's command line. */
#ifndef OPK_COMMAND_LINE_H
#define OPK_COMMAND_LINE_H

#include "collect/shared/settings.h"

/*
 * OPK_OK or OPK_EUSAGE, with a message on stderr; *program and its arguments end with NULL. --help
 * and --version end the process.
 */
int command_line_read(struct settings *settings, char ***program, int argc, char **argv);
/* Says on stderr what is wrong, and returns the code. */
__attribute__((format(printf, 2, 3))) int launcher_fail(int code, const char *format, ...);

#endif
