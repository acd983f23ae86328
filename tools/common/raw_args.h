/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that eval and import share: which image, which metrics, on what. */
#ifndef OPK_RAW_ARGS_H
#define OPK_RAW_ARGS_H

#include "common/plan_args.h"

struct raw_args {
	const char *image, *metrics, *set, *chip, *profiler, *time_shift;
	uint64_t timeout;
	struct option_list params;
};

/* `member` is the struct raw_args inside the command's own struct. */
#define RAW_OPTIONS(type, member)                                                                  \
	{                                                                                          \
		"raw",        0,                                                                   \
		"IMAGE",      "a bare counter data image",                                         \
		OPTION_INPUT, offsetof(type, member.image)                                         \
	},                                                                                         \
		{ "metrics",   0,                                                                  \
		  "A,B",       "the full names of these metrics",                                  \
		  OPTION_TEXT, offsetof(type, member.metrics) },                                   \
		{ "set",        0,                                                                 \
		  "SET",        "the metrics of this set",                                         \
		  OPTION_INPUT, offsetof(type, member.set) },                                      \
		PARAM_OPTION(type, member.params),                                                 \
		{ "chip",      0,                                                                  \
		  "CHIP",      "chip of the bare image, if it does not tell",                      \
		  OPTION_TEXT, offsetof(type, member.chip) },                                      \
		{ "profiler",  0,                                                                  \
		  "range|pm",  "range or pm, if the bare image does not tell",                     \
		  OPTION_TEXT, offsetof(type, member.profiler) },                                  \
		{ "time-shift", 0,                                                                 \
		  "NS",         "bare PM image: host time less GPU time",                          \
		  OPTION_TEXT,  offsetof(type, member.time_shift) },                               \
	{                                                                                          \
		"timeout", 0, "SECONDS", "give up after so long without progress (30)",            \
			OPTION_NUMBER, offsetof(type, member.timeout)                              \
	}

/* What the metric list of opk_eval_options is borrowed from. */
struct raw_metrics {
	struct opk_set *set;
	const char **names;
};

/* Fills the evaluation options from the arguments; reports failures. */
int raw_eval_options(struct app *app, const struct raw_args *args, struct opk_eval_options *options,
                     struct raw_metrics *metrics);
void raw_metrics_free(struct raw_metrics *metrics);

#endif
