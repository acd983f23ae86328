/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --import: a command line of Nsight Compute as commands of offpeak. */
#ifndef OPK_SETS_COLLECT_H
#define OPK_SETS_COLLECT_H

#include "base/buf.h"
#include "common/app.h"
#include "nsight/door.h"

/* The commands that collect the sets, and what of the command line they don't say. */
struct sets_collect {
	struct opk_buf text;     /* a line for each command */
	struct opk_strlist lost; /* "--call-stack: offpeak-collect has nothing like it" */
	struct opk_strlist
		defaults; /* what ncu does without being asked, and the collector if asked */
};

/* `path` is the first set's file; `chip` is NULL where none or several are given. */
int sets_collect_init(struct sets_collect *out, struct app *app,
                      const struct opk_set_import *import, const char *path, const char *chip);
void sets_collect_clear(struct sets_collect *collect);
#define sets_autocollect __attribute__((cleanup(sets_collect_clear)))

/* The first set's YAML with the commands as comments after its first line; free(). */
char *sets_collect_yaml(const struct sets_collect *collect, const char *yaml);

#endif
