/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line of Nsight Compute while it becomes one of offpeak-collect. */
#ifndef OPK_SETS_TRANSLATE_H
#define OPK_SETS_TRANSLATE_H

#include "sets/sets_collect.h"

struct translation {
	const struct opk_ncu_command *command;
	struct opk_buf launches; /* options of the collector for sets of the profiler range */
	struct opk_buf samples;  /* for sets of the profiler pm */
	struct opk_strlist *lost;
	struct opk_buf shown; /* names of options about how results are shown */
	bool failed;
};

/* Notes that an option has no counterpart. */
void translation_lose(struct translation *t, const struct opk_ncu_option *option,
                      const char *reason);
/* The last option with this meaning; NULL: there is none. */
const struct opk_ncu_option *translation_find(const struct translation *t,
                                              enum opk_ncu_meaning meaning);
/* Adds an option with its value, in quotes if it needs them. */
void translation_put(struct opk_buf *out, const char *name, const char *value);
/* Whether the option is there with this value. */
bool option_says(const struct opk_ncu_option *option, const char *value);
/* Whether the text has digits alone. */
bool option_is_number(const char *text);

/* -k and --kernel-id: sets_kernel.c */
void translate_kernel(struct translation *t, const struct opk_ncu_option *option);
void translate_kernel_id(struct translation *t, const struct opk_ncu_option *option);

#endif
