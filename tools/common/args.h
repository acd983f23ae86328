/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that several commands share: for plans, and for evaluation. */
#ifndef OPK_ARGS_H
#define OPK_ARGS_H

#include "common/options.h"
#include "eval/door.h"

/* In these tables `member` is the struct inside the command's struct `type`. */
#define SHARED_OPTION(name, argument, help, kind, type, member)                                    \
	{                                                                                          \
		name, 0, argument, help, kind, offsetof(type, member)                              \
	}
#define PROFILER_WORDS "range|pm|sass|pc"
#define TIMEOUT_OPTION                                                                             \
	{                                                                                          \
		"timeout", 0, "SECONDS", "give up after so long without progress (30)",            \
			OPTION_TIMEOUT, offsetof(struct app, timeout)                              \
	}
#define LEVEL_OPTION(type, member)                                                                 \
	SHARED_OPTION("level", "outermost|innermost|all",                                          \
	              "which ranges are added where one holds another; default outermost",         \
	              OPTION_TEXT, type, member)
#define AVAILABILITY_OPTION(type, member)                                                          \
	SHARED_OPTION("availability", "FILE",                                                      \
	              "what the target GPU has: its counter-availability image, or an .opk of it", \
	              OPTION_INPUT, type, member)
#define PARAM_OPTION(type, member)                                                                 \
	SHARED_OPTION("param", "NAME=VALUE",                                                       \
	              "give a parameter of the set this value; may be repeated", OPTION_LIST,      \
	              type, member)

#define KERNEL_NAMES_OPTION(type, member)                                                          \
	SHARED_OPTION("kernel-names", "short|full|symbol",                                         \
	              "short: without arguments, as in tables; full, as elsewhere; or mangled",    \
	              OPTION_WORD, type, member)
/* The style for the option's word; by default short in tables, else full. */
enum opk_kernel_style kernel_style(const struct app *app, unsigned word);
int kernel_names_new(struct opk_kernel_names **out, struct app *app, unsigned word);

/* The profiler for an OPTION_WORD; the first one if it is not given. */
static inline enum opk_profiler profiler_of_word(unsigned word)
{
	return word ? (enum opk_profiler)(word - 1) : OPK_PROFILER_RANGE;
}

/* Sets the set's parameters. */
int give_parameters(struct app *app, const struct option_list *params, struct opk_set *set);

/* A number between two others, of an option such as "--level": OPK_EUSAGE shows `like`. */
int parse_between(struct app *app, double *out, const char *option, const char *text, double above,
                  double below, const char *like);
/* The names with commas between in the value of an option; none may be there twice. */
int split_names(struct app *app, struct opk_strlist *out, const char *option, const char *list);

/* OPK_EUSAGE where a command that makes a file of others lacks these or -o, with what it lacks. */
int check_given(struct app *app, const char *command, const char *inputs, const char *output);

/* ---- plans: plan, build */

/* Words of --prefer. */
enum { PREFER_FEWEST = 1, PREFER_CHEAP };

struct plan_args {
	const char *chip, *effort, *availability;
	char file_chip[20]; /* the chip of the .opk in --availability, if no other is given */
	unsigned profiler, prefer;
	uint64_t max_passes;
	bool single_pass, strict_order;
	struct option_list params;
};

#define PLAN_OPTIONS(type, member)                                                                 \
	SHARED_OPTION("chip", "CHIP", "for this chip; required, unless --availability says which", \
	              OPTION_TEXT, type, member.chip),                                             \
		SHARED_OPTION("profiler", PROFILER_WORDS,                                          \
	                      "the profiler, instead of the set's own", OPTION_WORD, type,         \
	                      member.profiler),                                                    \
		AVAILABILITY_OPTION(type, member.availability),                                    \
		SHARED_OPTION("max-passes", "N", "refuse a plan with more passes", OPTION_COUNT,   \
	                      type, member.max_passes),                                            \
		SHARED_OPTION("single-pass", NULL,                                                 \
	                      "take metrics in order, and leave out what does not fit one pass",   \
	                      OPTION_FLAG, type, member.single_pass),                              \
		SHARED_OPTION("strict-order", NULL,                                                \
	                      "with --single-pass: stop at the first that does not fit",           \
	                      OPTION_FLAG, type, member.strict_order),                             \
		PARAM_OPTION(type, member.params),                                                 \
		SHARED_OPTION("prefer", "fewest|cheap",                                            \
	                      "fewest passes (default), or few where a launch costs much",         \
	                      OPTION_WORD, type, member.prefer),                                   \
		SHARED_OPTION("effort", "SECONDS",                                                 \
	                      "search this long for a plan of fewer passes; 0: take CUPTI's own",  \
	                      OPTION_TEXT, type, member.effort)

/* The value of --effort as in opk_plan_options; 0 if it is not given. */
int effort_of(struct app *app, double *out, const char *text);
/* Fills the plan's options from the arguments; takes a missing chip from --availability. */
int plan_options(struct app *app, struct plan_args *args, struct opk_plan_options *options);
/* The bytes of a PM sample; false for ranges, and if the library can't tell. */
bool plan_sample_bytes(struct app *app, const struct opk_plan *plan, size_t *out);
/* Joins the SET arguments to one set, with the given parameters. */
int plan_sets(struct app *app, const struct plan_args *args, struct opk_set **out);
/* Reads --availability, for the profiler of the plan; free() the image. */
int plan_availability(struct app *app, const struct plan_args *args, const struct opk_set *set,
                      void **image, struct opk_plan_options *options);
/* Notes what the plan leaves out on this chip. */
void note_missing(const struct opk_plan *plan);

/* ---- evaluation: eval, import */

struct raw_args {
	const char *image, *metrics, *set, *chip, *time_shift;
	unsigned profiler;
	struct option_list params;
};

#define RAW_OPTIONS(type, member)                                                                  \
	SHARED_OPTION("raw", "IMAGE", "a bare counter data image", OPTION_INPUT, type,             \
	              member.image),                                                               \
		SHARED_OPTION("metrics", "A,B", "the full names of these metrics", OPTION_TEXT,    \
	                      type, member.metrics),                                               \
		SHARED_OPTION("set", "SET", "the metrics of this set", OPTION_INPUT, type,         \
	                      member.set),                                                         \
		PARAM_OPTION(type, member.params),                                                 \
		SHARED_OPTION("chip", "CHIP", "the chip, if the image or other file does not say", \
	                      OPTION_TEXT, type, member.chip),                                     \
		SHARED_OPTION("profiler", "range|pm",                                              \
	                      "range or pm, if the bare image does not say", OPTION_WORD, type,    \
	                      member.profiler),                                                    \
		SHARED_OPTION("time-shift", "NS", "bare PM image: host time less GPU time",        \
	                      OPTION_TEXT, type, member.time_shift),                               \
		TIMEOUT_OPTION

/* Owns what the metric list of opk_eval_options borrows. */
struct raw_metrics {
	struct opk_set *set;
	const char **names;
};

/* Fills the evaluation options from the arguments. */
int raw_eval_options(struct app *app, const struct raw_args *args, struct opk_eval_options *options,
                     struct raw_metrics *metrics);
void raw_metrics_free(struct raw_metrics *metrics);

#endif
