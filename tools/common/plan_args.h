/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that plan and build share: for which chip, how many passes. */
#ifndef OPK_PLAN_ARGS_H
#define OPK_PLAN_ARGS_H

#include "common/app.h"

struct plan_args {
	const char *chip, *profiler;
	uint64_t max_passes;
	bool single_pass;
	struct option_list params;
	const char *effort;
};

#define PARAM_OPTION(type, member)                                                                 \
	{                                                                                          \
		"param", 0, "NAME=VALUE",                                                          \
			"give a parameter of the set this value; may be repeated", OPTION_LIST,    \
			offsetof(type, member)                                                     \
	}
/* `member` is the struct plan_args inside the command's own struct. */
#define PLAN_OPTIONS(type, member)                                                                 \
	{                                                                                          \
		"chip",      0,                                                                    \
		"CHIP",      "for this chip; required",                                            \
		OPTION_TEXT, offsetof(type, member.chip)                                           \
	},                                                                                         \
		{ "profiler",  0,                                                                  \
		  "range|pm",  "range or pm, instead of the set's own",                            \
		  OPTION_TEXT, offsetof(type, member.profiler) },                                  \
		{ "max-passes", 0,                                                                 \
		  "N",          "refuse a plan with more passes",                                  \
		  OPTION_COUNT, offsetof(type, member.max_passes) },                               \
		{ "single-pass", 0,                                                                \
		  NULL,          "keep the metrics, from the first on, that fit one pass",         \
		  OPTION_FLAG,   offsetof(type, member.single_pass) },                             \
		PARAM_OPTION(type, member.params),                                                 \
	{                                                                                          \
		"effort", 0, "SECONDS",                                                            \
			"look so long for a plan of fewer passes; 0: take CUPTI's own",            \
			OPTION_TEXT, offsetof(type, member.effort)                                 \
	}

/* Fills the plan's options from the arguments; reports failures. */
int plan_options(struct app *app, const struct plan_args *args, struct opk_plan_options *options);
/* Of PM sampling; false where the library can't tell. */
bool plan_sample_bytes(struct app *app, const struct opk_plan *plan, size_t *out);
/* The SET arguments as one set, with the parameters that were given; reports failures. */
int plan_sets(struct app *app, const struct plan_args *args, struct opk_set **out);
/* Gives the set's parameters values; reports failures. */
int give_parameters(struct app *app, const struct option_list *params, struct opk_set *set);
/* What the plan does without on this chip, as a note. */
void note_missing(const struct opk_plan *plan);

#endif
