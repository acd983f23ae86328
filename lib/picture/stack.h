/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a whole, drawn as stacked bars. stack.c */
#ifndef OPK_STACK_H
#define OPK_STACK_H

#include "picture/picture.h"
#include "container/door.h"

struct opk_stack_part {
	const char *name;
	char *text; /* without the beginning and end that all names share */
	size_t column, colour;
	double weight; /* over the time of all kernels */
	bool own;      /* has a separate colour */
};

struct opk_stack {
	const struct opk_meta_heading *heading;
	const char *unit; /* of the first part */
	struct opk_stack_part *parts;
	size_t count;
	bool shares; /* the parts of each kernel add up to one */
	double most; /* the largest sum of any kernel */
};

int opk_stack_init(struct opk_stack *stack, struct opk_ctx *ctx,
                   const struct opk_evaluation *evaluation, const struct opk_drawn_kernels *kernels,
                   const struct opk_meta_heading *heading);
void opk_stack_clear(struct opk_stack *stack);
#define opk_autostack __attribute__((cleanup(opk_stack_clear)))

/* Sets `shares` and `most`. */
void opk_stack_measure(struct opk_stack *stack, const struct opk_drawn_kernels *kernels);
/* draw_stack.c */
int opk_draw_stack(struct opk_svg *svg, struct opk_ctx *ctx, const struct opk_stack *stack,
                   const struct opk_drawn_kernels *kernels,
                   const struct opk_picture_options *options);

#endif
