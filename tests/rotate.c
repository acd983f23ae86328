/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rotate HOW IN.opk OUT.opk NUMBER...: makes recordings that only a GPU could make otherwise, out
 * of one that has a single image. CUPTI evaluates an image for any subset of its metrics, so the
 * same image serves for each pass.
 *
 * HOW is kernel, launch or name: what to join by. The metrics go to two passes in turn; the last
 * metric is in both. The image is written once for each NUMBER, as an image of that pass, each time
 * with other facts of the ranges. HOW times: NUMBER samples get new times. HOW kernels: writes the
 * first image NUMBER times, and each range becomes another kernel. All these kernels have one base
 * name, which a second NUMBER makes longer by so many letters.
 */
#include "container/door.h"
#include "program.h"

enum { MAX_METRICS = 1000, MAX_RANGES = 1000 };

static void *read_image(size_t *size, const struct opk_file *file)
{
	void *data = NULL;

	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA)
			must(opk_file_read(&data, size, ctx, file, i));
	return data;
}

/* Every second metric is in the second pass; the last one has counters in both. */
static void deal(struct opk_meta *meta)
{
	static const uint32_t numbers[] = { 1, 2 };
	static struct opk_pass_list lists[MAX_METRICS];

	for (size_t i = 0; i + 1 < meta->metric_count; i++)
		lists[i] = (struct opk_pass_list){ &numbers[i % 2], 1 };
	lists[meta->metric_count - 1] = (struct opk_pass_list){ numbers, 2 };
	meta->passes = 2;
	meta->metric_passes = lists;
	meta->metric_pass_count = meta->metric_count;
}

/* Writes the ranges of the n-th image. */
static void write_ranges(struct opk_writer *writer, const struct opk_range *recorded, size_t count,
                         uint32_t pass, uint32_t n)
{
	static struct opk_range ranges[MAX_RANGES];
	static char names[MAX_RANGES][24];

	for (size_t i = 0; i < count; i++) {
		ranges[i] = recorded[i];
		snprintf(names[i], sizeof names[i], "r%zu", i);
		ranges[i].name = names[i];
		ranges[i].nvtx = "step/gemm";
		ranges[i].launch = i + 1;
		ranges[i].shared_bytes = 1024 * (uint32_t)i;
		ranges[i].stream = i ? 7 : n;
		ranges[i].registers = 32;
		ranges[i].context = 1;
		ranges[i].process = 100 + n;
		ranges[i].start_ns = 0;
		ranges[i].duration_ns = 1000 * (i + 1) + 10 * n;
		ranges[i].rank = 3;
		ranges[i].pass = pass;
	}
	must(opk_writer_add_ranges(writer, ranges, count, sizeof(struct opk_range)));
}

static void write_rotated(struct opk_writer *writer, struct opk_file *file, char **numbers)
{
	static const struct opk_drop drop = { "no memory", 5 };
	const struct opk_range *ranges;
	size_t count, size;
	void *image = read_image(&size, file);
	struct opk_stats stats = { .depth = 2, .drops = &drop, .drop_count = 1 };

	must(opk_file_ranges(&ranges, &count, ctx, file));
	for (uint32_t n = 0; numbers[n]; n++) {
		must(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
		write_ranges(writer, ranges, count, (uint32_t)atoi(numbers[n]), n);
		stats.launches += count + 5;
		stats.ranges += count;
	}
	must(opk_writer_add_stats(writer, &stats));
	free(image);
}

static void write_times(struct opk_writer *writer, const struct opk_file *file, const char *number)
{
	size_t count = (size_t)atoi(number), size;
	struct opk_time *times = calloc(count, sizeof *times);
	void *image = read_image(&size, file);

	for (size_t i = 0; i < count; i++)
		times[i] = (struct opk_time){ 5000 + 1000 * i, 6000 + 1000 * i, 0 };
	must(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
	must(opk_writer_add_times(writer, times, count, sizeof(struct opk_time)));
	free(times);
	free(image);
}

/* Kernels are "scale<17>(float *)", with these letters after "scale". */
static void write_images(struct opk_writer *writer, const struct opk_segment *segment,
                         const void *image, size_t size, size_t images, const char *letters)
{
	static struct opk_range ranges[MAX_RANGES];
	static char *names[MAX_RANGES];

	for (size_t n = 0; n < images; n++) {
		for (size_t i = 0; i < segment->row_count; i++) {
			ranges[i] = segment->ranges[i];
			if (asprintf(&names[i], "scale%s<%zu>(float *)", letters,
			             n * segment->row_count + i)
			    < 0)
				exit(1);
			ranges[i].kernel = names[i];
			ranges[i].symbol = "";
		}
		must(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
		must(opk_writer_add_ranges(writer, ranges, segment->row_count,
		                           sizeof(struct opk_range)));
		for (size_t i = 0; i < segment->row_count; i++)
			free(names[i]);
	}
}

static void write_kernels(struct opk_writer *writer, struct opk_file *file, char **numbers)
{
	size_t length = numbers[1] ? (size_t)atoi(numbers[1]) : 0, count, size;
	const struct opk_segment *segments;
	char *letters = calloc(1, length + 1);
	void *image;

	memset(letters, 'o', length);
	must(opk_file_segments(&segments, &count, ctx, file));
	must(opk_file_read(&image, &size, ctx, file, segments->image));
	write_images(writer, segments, image, size, (size_t)atoi(numbers[0]), letters);
	free(letters);
	free(image);
}

int main(int argc, char **argv)
{
	static const struct opk_property run[] = { { "hostname", "node7" }, { "env.RANK", "3" } };
	const struct opk_meta *recorded;
	struct opk_writer *writer;
	struct opk_file *file;
	struct opk_meta meta;
	bool times, kernels;

	if (argc < 5 || opk_ctx_new(&ctx, NULL))
		return 1;
	times = !strcmp(argv[1], "times");
	kernels = !strcmp(argv[1], "kernels");
	must(opk_file_open(&file, ctx, argv[2]));
	must(opk_file_meta(&recorded, ctx, file));
	meta = *recorded;
	meta.run = run;
	meta.run_count = 2;
	if (!times && !kernels) {
		deal(&meta);
		meta.join = argv[1];
		meta.backend = "range-profiler";
		meta.inflated = meta.metrics + 2;
		meta.inflated_count = 4;
	}
	must(opk_writer_new(&writer, ctx, argv[3]));
	must(opk_writer_add_meta(writer, &meta));
	if (times)
		write_times(writer, file, argv[4]);
	else if (kernels)
		write_kernels(writer, file, argv + 4);
	else
		write_rotated(writer, file, argv + 4);
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_file_free(file);
	opk_ctx_free(ctx);
	return 0;
}
