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
	size_t metric_count;
	/* Requested metrics that no set has; the first set's text gives the reasons. */
	size_t left_out_count;
	const char *yaml; /* in the form of docs/metric-sets.md */
};

/*
 * Imports a section file of Nsight Compute, or a list of names as for ncu --metrics, with lines,
 * commas and # comments. The first set is the one with the most metrics. A file becomes several
 * sets if it has metrics of both profilers, several passes of PM sampling, or metrics of the whole
 * device beside others. Opens no NVIDIA library. Errors carry file:line:column (OPK_EINPUT);
 * OPK_EFAILED: the file has no hardware metric.
 */
struct opk_set_import;
int opk_set_import_new(struct opk_set_import **out, struct opk_ctx *ctx, const char *path);
void opk_set_import_free(struct opk_set_import *import);
size_t opk_set_import_count(const struct opk_set_import *import);
const struct opk_imported_set *opk_set_import_get(const struct opk_set_import *import, size_t i);
/* A chip's single-pass set as the YAML of a metric set (docs/metric-sets.md); free(). */
int opk_single_pass_set_yaml(char **out, struct opk_ctx *ctx, const struct opk_single_pass_set *set,
                             const char *chip);

#endif
