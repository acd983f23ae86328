/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that plan and build share: for which chip, how many passes. */
#ifndef OPK_PLAN_ARGS_H
#define OPK_PLAN_ARGS_H

#include "common/app.h"

struct plan_args {
	const char *chip, *profiler;
	uint64_t max_passes;
	bool single_pass;
};

/* `member` is the struct plan_args inside the command's own struct. */
#define PLAN_OPTIONS(type, member)                                                                 \
	{ "chip", 0, "CHIP", "for this chip; required", OPTION_TEXT, offsetof(type, member.chip) }, \
	{ "profiler", 0, "range|pm", "range or pm, instead of the set's own", OPTION_TEXT,         \
	  offsetof(type, member.profiler) },                                                       \
	{ "max-passes", 0, "N", "refuse a plan with more passes", OPTION_NUMBER,                   \
	  offsetof(type, member.max_passes) },                                                     \
	{ "single-pass", 0, NULL, "keep the metrics, from the first on, that fit one pass",        \
	  OPTION_FLAG, offsetof(type, member.single_pass) }

/* Fills the plan's options from the arguments; reports failures. */
int plan_options(struct app *app, const struct plan_args *args, struct opk_plan_options *options);
/* Of PM sampling; false where the library can't tell. */
bool plan_sample_bytes(struct app *app, const struct opk_plan *plan, size_t *out);
/* The SET arguments as one set; reports failures. */
int plan_sets(struct app *app, struct opk_set **out);

#endif
