/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_NSIGHT_DOOR_H
#define OPK_NSIGHT_DOOR_H

#include "plan/door.h"

/* A metric set that was made of another tool's file. */
struct opk_imported_set {
	const char *name;
	const char *suffix; /* for file names: "" for the first one, "-device", "-pm2" */
	enum opk_profiler profiler;
	size_t metric_count;
	/* What was asked for and is in no set; the first one's text says why. */
	size_t left_out_count;
	const char *yaml; /* in the form of docs/metric-sets.md */
};

/*
 * From a section file of Nsight Compute, or a list of names as ncu --metrics takes it, with lines,
 * commas and # comments. The first set is the one with most metrics. A file with metrics of both
 * profilers makes several, and so does one with several passes of PM sampling, or with metrics that
 * count the whole device beside others. Opens no library of NVIDIA's. Errors carry file:line:column
 * (OPK_EINPUT); OPK_EFAILED: no metric of the hardware's is in the file.
 */
struct opk_set_import;
int opk_set_import_new(struct opk_set_import **out, struct opk_ctx *ctx, const char *path);
void opk_set_import_free(struct opk_set_import *import);
size_t opk_set_import_count(const struct opk_set_import *import);
const struct opk_imported_set *opk_set_import_get(const struct opk_set_import *import, size_t i);
/* A single-pass set of a chip as a metric set's YAML (docs/metric-sets.md); free(). */
int opk_single_pass_set_yaml(char **out, struct opk_ctx *ctx, const struct opk_single_pass_set *set,
                             const char *chip);

#endif
