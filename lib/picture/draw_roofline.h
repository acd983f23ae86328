/* SPDX-License-Identifier: BSD-2-Clause */
/* A roofline during drawing: draw_roofline.c, and its lines in draw_roofs.c. */
#ifndef OPK_DRAW_ROOFLINE_H
#define OPK_DRAW_ROOFLINE_H

#include "picture/picture.h"

struct opk_roofline_plot {
	struct opk_svg *svg;
	const struct opk_roofline *roofline;
	const struct opk_drawn_kernels *kernels;
	size_t shown; /* number of kernels, the first ones */
	struct opk_axis x, y;
	double highest, fastest; /* roof and level */
	struct opk_boxes boxes;
	size_t nameless; /* lines and kernels whose names did not fit */
};

/* Draws the lines, each with its name if there is room; else counts it in nameless. */
void opk_draw_roofs(struct opk_roofline_plot *plot);

#endif
