/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes counter data images of ranges of others: for trim, split, sums and totals. */
#ifndef OPK_RECOMBINE_H
#define OPK_RECOMBINE_H

#include "images/survey.h"

/* A range that goes into a slot, on top of what is there. */
struct opk_move {
	size_t row; /* of the survey */
	size_t slot;
};

/* An image to be made. */
struct opk_target {
	const struct opk_move
		*moves; /* in the order of their rows; the first one's image has the layout */
	size_t move_count;
	size_t slots;
	/* Names of the slots, each once; NULL: "0", "1", ..., as CUPTI names automatic ranges. */
	const char *const *names;
	/* Instead of all that: the image of this row without its free slots. For samples. */
	bool trim;
};

struct opk_recombination {
	const struct opk_survey *survey;
	const struct opk_target *targets;
	size_t target_count;
	/* In the child, with each image once it is made; NULL: they are the result. */
	int (*use)(struct opk_ctx *ctx, void *data, struct opk_child *child, size_t target,
	           const void *image, size_t size);
	void *data;
};

/* So many bytes of slots go into one image, and one slot at least. */
size_t opk_recombine_slots(const struct opk_surveyed *image);

/* Makes all images in a child; the result is them, or what `use` puts there. */
int opk_recombine(struct opk_result *result, struct opk_ctx *ctx,
                  const struct opk_recombination *recombination,
                  const struct opk_image_options *options);

/* The next image of the result; free(). */
int opk_recombine_next(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *result);

#endif
