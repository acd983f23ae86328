/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the counter-availability image of a file for a chip and a profiler. */
#include <string.h>

#include "container/container.h"

/* The section of the n-th image; -1: there are fewer. */
static long find_image(const struct opk_file *file, size_t n)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_AVAILABILITY && !n--)
			return (long)i;
	return -1;
}

struct wanted {
	const char *chip; /* NULL: any */
	enum opk_profiler profiler;
};

static int read_image(void **data, size_t *size, struct opk_ctx *ctx, const struct opk_file *file,
                      size_t n)
{
	long section = find_image(file, n);

	return section < 0 ? opk_fail(ctx, OPK_EINPUT,
	                              "%s: its metadata names more counter-availability images "
	                              "than it has",
	                              file->path)
	                   : opk_file_read(data, size, ctx, file, (size_t)section);
}

static bool is_wanted(const struct opk_availability *image, const struct wanted *wanted)
{
	return image->profiler == wanted->profiler
	       && (!wanted->chip || !strcmp(image->chip, wanted->chip));
}

static int refuse(struct opk_ctx *ctx, const struct opk_file *file, const struct opk_meta *meta,
                  const struct wanted *wanted)
{
	const char *chip = wanted->chip ? wanted->chip : meta->chip;

	return opk_fail(ctx, OPK_EINPUT,
	                "%s: no counter-availability image of %s for the %s profiler; %s was "
	                "probed",
	                file->path, chip, opk_profiler_name(wanted->profiler), meta->chip);
}

/* GPUs of one chip usually have equal images. A set can't be planned for two different images. */
static int read_probed(void **data, size_t *size, struct opk_ctx *ctx, const struct opk_file *file,
                       const struct opk_meta *meta, const struct wanted *wanted)
{
	opk_autofree void *found = NULL;
	size_t found_size = 0, first = 0;

	for (size_t i = 0; i < meta->availability_count; i++) {
		opk_autofree void *image = NULL;
		size_t image_size;

		if (!is_wanted(&meta->availability[i], wanted))
			continue;
		TRY(read_image(&image, &image_size, ctx, file, i));
		if (found && (image_size != found_size || memcmp(image, found, found_size)))
			return opk_fail(ctx, OPK_EUSAGE,
			                "%s: devices %d and %d differ in what they can count: "
			                "probe one of them alone",
			                file->path, meta->availability[first].device,
			                meta->availability[i].device);
		if (found)
			continue;
		found = opk_take(image);
		found_size = image_size;
		first = i;
	}
	if (!found)
		return refuse(ctx, file, meta, wanted);
	*data = opk_take(found);
	*size = found_size;
	return OPK_OK;
}

int opk_file_availability(void **data, size_t *size, struct opk_ctx *ctx, struct opk_file *file,
                          const char *chip, enum opk_profiler profiler)
{
	struct wanted wanted = { chip, profiler };
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	if (opk_meta_is_probe(meta))
		return read_probed(data, size, ctx, file, meta, &wanted);
	if (find_image(file, 0) < 0)
		return opk_fail(ctx, OPK_EINPUT,
		                "%s has no counter-availability image; recordings and probes of "
		                "offpeak-collect have one",
		                file->path);
	if (meta->profiler != profiler)
		return opk_fail(ctx, OPK_EINPUT,
		                "%s: its counter-availability image is for the %s profiler, the "
		                "%s profiler has another; a probe has both",
		                file->path, opk_profiler_name(meta->profiler),
		                opk_profiler_name(profiler));
	return read_image(data, size, ctx, file, 0);
}
