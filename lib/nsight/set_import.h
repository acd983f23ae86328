/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file of Nsight Compute's asks for, on its way to metric sets. */
#ifndef OPK_SET_IMPORT_H
#define OPK_SET_IMPORT_H

#include "base/source.h"
#include "nsight/section_name.h"
#include "nsight/set_draft.h"

struct opk_ctx;

/*
 * What counts the whole device, CUPTI refuses beside other metrics. PM sampling has one pass a set:
 * a chip's second pass goes into the second set, and so on.
 */
enum {
	OPK_DRAFT_RANGE,
	OPK_DRAFT_DEVICE,
	OPK_DRAFT_PM,
	OPK_DRAFT_PASSES = 16,
	OPK_DRAFTS = OPK_DRAFT_PM + OPK_DRAFT_PASSES,
};

struct opk_drafts {
	struct opk_ctx *ctx;
	const char *path;   /* of the file, for errors */
	const char *source; /* its name alone */
	char *name, *description, *title;
	bool optional; /* metrics that a chip lacks are left out there */
	struct opk_draft drafts[OPK_DRAFTS];
	struct opk_draft left; /* only what was left out, of all sets */
	size_t asked;          /* metrics so far, with those that come again */
	size_t patterns;       /* of these */
	double seconds;        /* that are left for expressions */
};

/* Counts one more metric; OPK_EINPUT where there are too many. */
int opk_drafts_count(struct opk_drafts *drafts);
/* A metric under a heading; one that is there is for these chips as well. */
int opk_drafts_put(struct opk_drafts *drafts, size_t which, const char *title, const char *text,
                   const struct opk_draft_metric *metric);
/* "name (label)" under a reason; the label may be NULL. */
int opk_drafts_leave_out(struct opk_drafts *drafts, const char *reason, const char *name,
                         const char *label);
/*
 * What the set has for what was asked for as `text` at that place, free(): the name itself, an
 * expression, or for a base metric another one for its first submetrics. OPK_EINPUT, at the place:
 * no set could have it.
 */
int opk_drafts_name(char **out, struct opk_drafts *drafts, const struct opk_asked *asked,
                    const char *text, const struct opk_place *place);
/* A throughput's parts, where these were asked for. */
int opk_drafts_leave_out_parts(struct opk_drafts *drafts, const struct opk_asked *asked,
                               const char *text);

int opk_section_import(struct opk_drafts *drafts, struct opk_source *source);
int opk_list_import(struct opk_drafts *drafts, struct opk_source *source);

#endif
