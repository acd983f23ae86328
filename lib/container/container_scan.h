/* SPDX-License-Identifier: BSD-2-Clause */
/* A container however damaged: every section that is whole, and what lies between them. */
#ifndef OPK_CONTAINER_SCAN_H
#define OPK_CONTAINER_SCAN_H

#include "container/container.h"

/* What was found in a file, one after the other: sound sections, and what is wrong. */
struct opk_findings {
	struct opk_finding *items; /* `problem` is owned */
	size_t count, capacity;
};

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem);
/* The problem of one that was sound so far; an earlier one stays. */
int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem);
void opk_findings_clear(struct opk_findings *findings);

struct opk_scan {
	/* With the sound sections alone; complete: the end section fits what is there. */
	struct opk_file *file;
	/* All sections in order, and all stretches of bytes that are none. */
	struct opk_findings findings;
	bool *breaks; /* of each finding: something unknown is missing there, or after it */
	size_t breaks_capacity;
	size_t *places; /* the finding of each section of `file` */
	size_t places_capacity;
	bool moved; /* all are sound, but not those that the end section counted */
};

/*
 * Reads the whole file. OPK_EINPUT where it is no container, or one of a later version; damage is
 * in the findings.
 */
int opk_scan_file(struct opk_scan *scan, struct opk_ctx *ctx, const char *path);
void opk_scan_clear(struct opk_scan *scan);
/* The finding of a section of `scan->file`. */
struct opk_finding *opk_scan_finding(struct opk_scan *scan, size_t section);

/*
 * Decodes a section and reads it as what it is. OPK_EINPUT where that fails, and the innermost
 * cause says why. verify.c
 */
int opk_section_check(struct opk_ctx *ctx, struct opk_file *file, size_t i);

#endif
