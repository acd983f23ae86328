/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of this one, besides the public functions. */
#ifndef OPK_NSIGHT_DOOR_H
#define OPK_NSIGHT_DOOR_H

#include "plan/door.h"

/* A metric set made from another tool's file. */
struct opk_imported_set {
	const char *name;
	const char *suffix; /* for file names: "" for the first one, "-device", "-pm2" */
	enum opk_profiler profiler;
	size_t metric_count;  /* entries: a pattern is one */
	size_t include_count; /* sets that it includes */
	bool undivided;       /* the parts of a throughput are left out, since no chip is given */
	/* Requested metrics that no set has; the first set's text gives the reasons. */
	size_t left_out_count;
	const char *yaml; /* in the form of docs/metric-sets.md */
};

/* What an option of Nsight Compute's command line says. */
enum opk_ncu_meaning {
	OPK_NCU_METRICS,
	OPK_NCU_SECTION,
	OPK_NCU_SET,
	OPK_NCU_KERNEL,
	OPK_NCU_KERNEL_REGEX,
	OPK_NCU_KERNEL_BASE,
	OPK_NCU_KERNEL_ID,
	OPK_NCU_SKIP,
	OPK_NCU_COUNT,
	OPK_NCU_SKIP_ALL, /* launches before any filter */
	OPK_NCU_NVTX_INCLUDE,
	OPK_NCU_NVTX_EXCLUDE,
	OPK_NCU_REPLAY,
	OPK_NCU_CACHES,
	OPK_NCU_CLOCKS,
	OPK_NCU_DEVICES,
	OPK_NCU_FROM_START,
	OPK_NCU_PROCESSES,
	OPK_NCU_GRAPHS,
	OPK_NCU_FILTER_MODE,
	OPK_NCU_PM_INTERVAL,
	OPK_NCU_EXPORT,
	OPK_NCU_FORCE,
	OPK_NCU_VERBOSE,
	OPK_NCU_MODE,
	OPK_NCU_NEEDLESS, /* every collector does the same by itself */
	OPK_NCU_SHOWING,  /* how results are shown, not how they are collected */
	OPK_NCU_NOTHING,  /* with it, nothing is collected */
	OPK_NCU_OTHER,
};

struct opk_ncu_option {
	enum opk_ncu_meaning meaning;
	char *name;    /* "--replay-mode", also if it was written as a letter */
	char *value;   /* without quotes; NULL: the option has none */
	char *written; /* the value as it is written, with its quotes; or NULL */
	bool replaced; /* the value has a variable, which only a shell knows */
};

/* A command line of Nsight Compute. */
struct opk_ncu_command {
	char *before;  /* what is before the name of the tool, as it is written: "sudo -E" */
	char *around;  /* the shell's word before that, "do" of a loop; or "" */
	char *program; /* the program and its arguments, as they are written; "" without one */
	struct opk_ncu_option *options;
	size_t option_count, option_capacity;
	bool sections;  /* shipped sets replace sections: the first lines of the sets say which */
	size_t further; /* more such command lines in the text, which were not read */
};

/* What is imported. */
struct opk_set_import_options {
	const char *path; /* of a file, or a name for the text */
	const char *name; /* of the set, where no file has one; NULL: "ncu" */
	const char *text; /* NULL: the file's */
	/*
	 * The sets are for these chips, and have the parts of throughputs that "breakdown:" asks
	 * for there, as NVIDIA's library knows them. None: for all chips, without such parts.
	 */
	const char *const *chips;
	size_t chip_count;
};

/*
 * Imports a section file of Nsight Compute, a list of names as for ncu --metrics, with lines,
 * commas and # comments, or a command line of ncu. The first set is the one with the most metrics.
 * A file becomes several sets if it has metrics of both profilers, several passes of PM sampling,
 * or metrics of the whole device beside others. Opens no NVIDIA library where no chip is given.
 * Errors carry file:line:column (OPK_EINPUT); OPK_EFAILED: the file has no hardware metric.
 */
struct opk_set_import;
int opk_set_import_new(struct opk_set_import **out, struct opk_ctx *ctx,
                       const struct opk_set_import_options *options);
/* The command line; NULL: what was imported is not one. */
const struct opk_ncu_command *opk_set_import_command(const struct opk_set_import *import);
void opk_set_import_free(struct opk_set_import *import);
size_t opk_set_import_count(const struct opk_set_import *import);
const struct opk_imported_set *opk_set_import_get(const struct opk_set_import *import, size_t i);
/* A chip's single-pass set as the YAML of a metric set (docs/metric-sets.md); free(). */
int opk_single_pass_set_yaml(char **out, struct opk_ctx *ctx, const struct opk_single_pass_set *set,
                             const char *chip);

#endif
