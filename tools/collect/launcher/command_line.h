/* SPDX-License-Identifier: BSD-2-Clause */
/* The launcher's command line. */
#ifndef OPK_COLLECT_OPTIONS_H
#define OPK_COLLECT_OPTIONS_H

#include <stdbool.h>

struct request {
	const char *set, *output;
	const char *range, *replay; /* as written; "auto" by default */
	char **program;             /* and its arguments; ended by NULL */
	bool has_level;
	bool push, merge, best_effort, verbose;
};

/* OPK_OK or OPK_EUSAGE, told on stderr. --help and --version end the process. */
int options_read(struct request *request, int argc, char **argv);
/* Says on stderr what is wrong, and returns the code. */
__attribute__((format(printf, 2, 3))) int launcher_fail(int code, const char *format, ...);

#endif
