/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/code alone. */
#ifndef OPK_CODE_INSIDE_H
#define OPK_CODE_INSIDE_H

#include "base/index.h"
#include "base/strlist.h"
#include "code/door.h"
#include "container/container.h"
#include "eval/eval.h"

/* An instruction, with its counts over all sections. */
struct opk_code_place {
	struct opk_instruction at; /* strings are of the counts' texts; launches: the sum */
	uint32_t source, line;     /* the text of the source file, from 1; 0: unknown */
};

/* What was counted at all instructions of a file. Begins zeroed. */
struct opk_code_counts {
	OPK_LIST(struct opk_code_place) places;
	size_t *order;              /* places by module, function and offset */
	struct opk_strlist metrics; /* of all sections */
	struct opk_index metric_numbers;
	double *values; /* one per metric for each place; NaN: not counted there */
	struct opk_strlist keys;
	struct opk_index numbers; /* of places, by key */
	struct opk_texts texts;   /* of functions and source files */
	struct opk_strlist sources;
	struct opk_index source_numbers;
};

/* counts.c */
int opk_code_counts_read(struct opk_code_counts *counts, struct opk_ctx *ctx,
                         struct opk_file *file);
void opk_code_counts_clear(struct opk_code_counts *counts);
#define opk_autocounts __attribute__((cleanup(opk_code_counts_clear)))

/* Finds the source lines of all places. lines.c */
int opk_code_find_lines(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file);

#endif
