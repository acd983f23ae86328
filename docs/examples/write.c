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

/* A row for each range of the image that was added last. Unknown values are 0, "" or NULL. */
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
		code = opk_writer_add_ranges(writer, ranges, count, sizeof(struct opk_range));
	free(ranges);
	return code;
}

int main(int argc, char **argv)
{
	static uint64_t image[1 << 21]; /* images are at multiples of 8 bytes */
	FILE *from = argc > 4 ? fopen(argv[2], "rb") : NULL;
	size_t size = from ? fread(image, 1, sizeof image, from) : 0;
	struct opk_recorded how = OPK_INIT(how);
	struct opk_writer *writer = NULL;
	struct opk_file *set = NULL;
	struct opk_ctx *ctx;
	int code;

	if (!size || fgetc(from) != EOF) {
		fprintf(stderr, argc > 4 ? "can't read an image of up to 16 MiB from IMAGE\n"
		                         : "usage: write SET.opk IMAGE OUT.opk KERNEL...\n");
		return OPK_EUSAGE;
	}
	how.generator = "write.c 1.0";
	how.mode = "kernel"; /* CUPTI's auto range and kernel replay */
	code = opk_ctx_new(&ctx, NULL);
	if (code)
		return code;
	if (!(code = opk_file_open(&set, ctx, argv[1]))
	    && !(code = opk_writer_new(&writer, ctx, argv[3]))
	    && !(code = opk_writer_begin(writer, set, &how))
	    && !(code = opk_writer_add(writer, OPK_SECTION_DATA, image, size))
	    && !(code = add_ranges(writer, argv + 4, (size_t)(argc - 4))))
		code = opk_writer_finish(writer); /* the file appears, whole */
	for (size_t i = code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	opk_writer_free(writer); /* without finish nothing is left of it */
	opk_file_free(set);
	opk_ctx_free(ctx);
	return code;
}
