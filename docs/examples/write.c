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

/* Ends the program with a call's error, the outermost cause first, as the offpeak tool prints it. */
static void check(const struct opk_ctx *ctx, int code)
{
	for (size_t i = code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	if (code)
		exit(code);
}

int main(int argc, char **argv)
{
	static uint64_t image[1 << 21]; /* images are at multiples of 8 bytes */
	static struct opk_range ranges[4096];
	FILE *from = argc > 4 && argc < 4100 ? fopen(argv[2], "rb") : NULL;
	size_t size = from ? fread(image, 1, sizeof image, from) : 0, count = (size_t)argc - 4;
	struct opk_recorded how = OPK_INIT(how);
	struct opk_writer *writer;
	struct opk_file *set;
	struct opk_ctx *ctx;

	if (!size || fgetc(from) != EOF) {
		fprintf(stderr, argc > 4 ? "can't read an image of up to 16 MiB from IMAGE\n"
		                         : "usage: write SET.opk IMAGE OUT.opk KERNEL...\n");
		return OPK_EUSAGE;
	}
	/* A row for each range of the image. Unknown values are 0, "" or NULL. */
	for (size_t i = 0; i < count; i++) {
		ranges[i].kernel = argv[4 + i];
		ranges[i].launch = i + 1;
		ranges[i].device = ranges[i].rank = -1; /* not known: 0 is the first one */
	}
	how.generator = "write.c 1.0";
	how.mode = "kernel"; /* CUPTI's auto range and kernel replay */
	if (opk_ctx_new(&ctx, NULL))
		return OPK_ENOMEM;
	check(ctx, opk_file_open(&set, ctx, argv[1]));
	check(ctx, opk_writer_new(&writer, ctx, argv[3]));
	check(ctx, opk_writer_begin(writer, set, &how));
	check(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, size));
	check(ctx, opk_writer_add_ranges(writer, ranges, count, sizeof(struct opk_range)));
	check(ctx, opk_writer_finish(writer)); /* the file appears, whole */
	opk_writer_free(writer);
	opk_file_free(set);
	opk_ctx_free(ctx);
	return 0;
}
