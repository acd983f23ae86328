/* SPDX-License-Identifier: BSD-2-Clause */
/* What the images of recordings hold: how many ranges, their names, and which can be summed. */
#ifndef OPK_SURVEY_H
#define OPK_SURVEY_H

#include "base/strlist.h"
#include "child/contain.h"

struct opk_surveyed {
	struct opk_file *file;
	size_t section;
	const struct opk_segment *segment; /* with its tables */
	bool skipped; /* none of its rows is wanted: nothing is known of it but their number */
	size_t first; /* number of its first range or sample over all images of all files */
	struct opk_range sample; /* what times say of each besides */
	/* What the child that looked at it found; sent in native layout. */
	struct opk_surveyed_facts {
		uint64_t rows; /* ranges, or samples that are whole */
		uint64_t slots;
		uint64_t slot_size; /* bytes that a range takes in a copy */
		/* A number for the counters and the GPU: ranges with the same can be summed. */
		uint64_t layout;
		int32_t profiler;
		int32_t reserved;
	} facts;
};

struct opk_survey {
	struct opk_surveyed *images;
	size_t image_count;
	size_t row_count;
	struct opk_strlist names; /* one a row, as the images have them; "" for samples */
};

/*
 * Verifies every checksum of the files, which have to be complete and have counter data, then asks
 * NVIDIA's code about all their images, in a child. The files outlive the result.
 */
int opk_survey_make(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                    size_t file_count, const struct opk_image_options *options);
/*
 * This surveys one file of which some rows are left out, one a row: images are not read where their
 * tables say that they have no others.
 */
int opk_survey_make_some(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                         const bool *left_out, size_t count,
                         const struct opk_image_options *options);
void opk_survey_clear(struct opk_survey *survey);
#define opk_autosurvey __attribute__((cleanup(opk_survey_clear)))

/* The image that a row is in. */
const struct opk_surveyed *opk_survey_image(const struct opk_survey *survey, size_t row);
/* What is known of a row, or NULL; and its name, which the range table may replace. */
const struct opk_range *opk_survey_range(const struct opk_survey *survey, size_t row);
const char *opk_survey_name(const struct opk_survey *survey, size_t row);

/* The limits of a child that works on these images. */
struct opk_contain_options opk_survey_contain(const struct opk_survey *survey,
                                              const struct opk_image_options *options);

#endif
