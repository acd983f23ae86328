/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose rows a table has, in a file that lost some of both: recover_pairs.c, and how many there are: recover_count.c. */
#ifndef OPK_RECOVER_H
#define OPK_RECOVER_H

#include "base/ctx.h"

enum { OPK_TABLE_RANGES = 1, OPK_TABLE_TIMES = 2 };
/* An image of which NVIDIA's code tells no number. */
#define OPK_UNCOUNTED SIZE_MAX

/* An image or a table, damaged or not, in the order of the file. */
struct opk_recovered {
	unsigned table; /* which one it is; 0: an image */
	bool sound;
	bool breaks;    /* nobody knows what is missing behind it */
	size_t section; /* of the scan's file, where it is sound */
	/* Of an image: the sound tables that it has. Of a table: whether it has found its image. */
	unsigned tables;
	size_t rows;   /* of a sound table; of an image without: as many are to be made up */
	size_t ranges; /* of a sound image: opk_recover_count() */
};

struct opk_file;
/* Fills in the ranges of all sound images; *counted is false where NVIDIA's libraries are missing. */
int opk_recover_count(bool *counted, struct opk_ctx *ctx, const struct opk_file *file,
                      struct opk_recovered *parts, size_t count);

/*
 * Finds out whether tables stand behind their images, as collected, or before them, as imported,
 * and gives each image its own. `broken` tells that something is missing before the first. False
 * where the order can't be told: then no table is to be believed.
 */
bool opk_recover_pairs(bool *before, struct opk_recovered *parts, size_t count, bool broken);
/* Whether each image that has tables has as many ranges as those have rows; both are known. */
bool opk_recover_fits(const struct opk_recovered *parts, size_t count, bool before);

#endif
