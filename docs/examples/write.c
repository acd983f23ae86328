/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write SET.opk IMAGE OUT.opk KERNEL...: makes a recording of a counter data image, as a program
 * does that collects with CUPTI itself. SET.opk is from "offpeak build": its config image is what
 * CUPTI was given. IMAGE is what CUPTI filled, with one range for each KERNEL, in order.
 * No library of NVIDIA's is opened here.
 */
#include <offpeak.h>
#include <stdio.h>
#include <stdlib.h>

/* The set says what was counted; the program says how. */
static int add_meta(struct opk_writer *writer, struct opk_ctx *ctx, const char *path)
{
	const struct opk_meta *planned;
	struct opk_meta meta;
	struct opk_file *set = NULL;
	int code = opk_file_open(&set, ctx, path);

	if (!code && !(code = opk_file_meta(&planned, ctx, set))) {
		meta = *planned;
		meta.kind = "recording";
		meta.generator = "write.c 1.0";
		meta.mode = "kernel"; /* CUPTI's auto range and kernel replay */
		code = opk_writer_add_meta(writer, &meta);
	}
	opk_file_free(set);
	return code;
}

/* A row for each range of the image that was added last. What is not known is 0, "" or NULL. */
static int add_ranges(struct opk_writer *writer, char **kernels, size_t count)
{
	struct opk_range *ranges = (struct opk_range *)calloc(count, sizeof *ranges);
	int code = OPK_ENOMEM;

	for (size_t i = 0; ranges && i < count; i++) {
		ranges[i].kernel = kernels[i];
		ranges[i].launch = i + 1;
		ranges[i].device = ranges[i].rank = -1; /* not known: 0 is the first one */
	}
	if (ranges)
		code = opk_writer_add_ranges(writer, ranges, count);
	free(ranges);
	return code;
}

/* 0 where it can't be read as a whole. The file is closed at the program's end. */
static size_t read_image(void *image, size_t room, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size = file ? fread(image, 1, room, file) : 0;

	return file && fgetc(file) == EOF ? size : 0;
}

int main(int argc, char **argv)
{
	static uint64_t image[1 << 21]; /* images are at multiples of 8 bytes */
	struct opk_writer *writer = NULL;
	struct opk_ctx *ctx = NULL;
	size_t size = argc > 4 ? read_image(image, sizeof image, argv[2]) : 0;
	int code = size ? opk_ctx_new(&ctx, NULL) : OPK_EUSAGE;

	if (code)
		fprintf(stderr, "usage: write SET.opk IMAGE OUT.opk KERNEL... (IMAGE to 16 MiB)\n");
	else if (!(code = opk_writer_new(&writer, ctx, argv[3]))
	         && !(code = add_meta(writer, ctx, argv[1]))
	         && !(code = opk_writer_add(writer, OPK_SECTION_DATA, image, size))
	         && !(code = add_ranges(writer, argv + 4, (size_t)(argc - 4))))
		code = opk_writer_finish(writer); /* the file appears, whole */
	for (size_t i = ctx && code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	opk_writer_free(writer); /* without finish nothing is left of it */
	opk_ctx_free(ctx);
	return code;
}
