/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large recordings, and the baseline of evaluating them.
 *   make FROM.opk BYTES OUT.opk OUT.images   repeats a recording's images
 *   vary FROM.opk BYTES OUT.opk OUT.images   the same, but where ranges differ, the
 *                                            lowest 8 bits of each word are random
 *   repeat FROM.opk TIMES OUT.opk            repeats PM samples and what ran, one run after
 *                                            the other in time
 *   loop FROM.opk OUT.images                 evaluates each range by CUPTI's call, in a loop;
 *                                            prints a sum of all values
 *   unpack FILE.opk                          decodes all images; prints bytes and processor time
 *   load                                     loads NVIDIA's libraries
 */
#include <math.h>

#include "adapters/nv/nv.h"
#include "container/container.h"
#include "container/container_inside.h"
#include "program.h"
#include "freed.h"

static void *must_open(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static struct opk_file *open_opk(const char *path)
{
	struct opk_file *file;

	must(opk_file_open(&file, ctx, path));
	return file;
}

static bool is_image(const struct opk_file *file, size_t i)
{
	return opk_file_section(file, i)->type == OPK_SECTION_DATA;
}

/* Counters are the bytes in which ranges differ. Changes as many bits as differ in a real image. */
static void vary(uint8_t *image, const uint8_t *original, size_t size)
{
	static uint64_t state = 1;
	size_t stride;

	if (!opk_xor_find_stride(&stride, original, size))
		exit(1);
	for (size_t at = stride; stride && at + 8 <= size; at += 8) {
		if (!memcmp(original + at, original + at - stride, 8))
			continue;
		state = state * 6364136223846793005u + 1442695040888963407u;
		image[at] = (uint8_t)(state >> 56);
	}
}

static void make(const char *from, const char *bytes, const char *opk, const char *images,
                 bool varied)
{
	freed(opk_file) *file = open_opk(from);
	uint64_t left = strtoull(bytes, NULL, 10);
	opk_autofclose FILE *bare = must_open(images, "w");
	opk_autobuf struct opk_buf data = { 0 };
	struct opk_decoder decoder = { 0 };
	const struct opk_meta *meta;
	struct opk_writer *writer;
	bool done = false;

	must(opk_file_meta(&meta, ctx, file));
	/* Writes as a collector does, during a program. */
	must(opk_writer_new_live(&writer, ctx, opk));
	must(opk_writer_add_meta(writer, meta));
	while (!done)
		for (size_t i = 0; !done && i < opk_file_section_count(file); i++) {
			const void *original;
			size_t size;

			if (!is_image(file, i))
				continue;
			must(opk_file_decode(&original, &size, ctx, file, i, &decoder));
			opk_buf_clear(&data);
			opk_buf_add(&data, original, size);
			if (data.failed)
				exit(1);
			if (varied)
				vary(data.data, original, size);
			must(opk_writer_add(writer, OPK_SECTION_DATA, data.data, size));
			if (fwrite(&size, sizeof size, 1, bare) != 1
			    || fwrite(data.data, size, 1, bare) != 1)
				exit(1);
			done = left <= size;
			left -= done ? 0 : size;
		}
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_decoder_clear(&decoder);
}

/* From the first to the last time in the file. */
static uint64_t length_of(struct opk_file *file)
{
	const struct opk_time *times;
	size_t count;
	uint64_t first = UINT64_MAX, last = 0;

	must(opk_file_times(&times, &count, ctx, file));
	for (size_t i = 0; i < count; i++) {
		if (times[i].start && times[i].start < first)
			first = times[i].start;
		if (times[i].end > last)
			last = times[i].end;
	}
	return last - first;
}

static void repeat_samples(struct opk_writer *writer, struct opk_file *file, uint64_t shift)
{
	const struct opk_segment *segments;
	struct opk_decoder decoder = { 0 };
	size_t count;

	must(opk_file_segments(&segments, &count, ctx, file));
	for (size_t i = 0; i < count; i++) {
		size_t rows = segments[i].row_count, size;
		opk_autofree struct opk_time *times = opk_alloc_array(rows + 1, sizeof *times);
		const void *image;

		for (size_t j = 0; times && j < rows; j++) {
			times[j] = segments[i].times[j];
			times[j].start += times[j].start ? shift : 0;
			times[j].end += shift;
		}
		must(opk_file_decode(&image, &size, ctx, file, segments[i].image, &decoder));
		must(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
		must(opk_writer_add_times(writer, times, rows, sizeof(struct opk_time)));
	}
	opk_decoder_clear(&decoder);
}

static void repeat_activities(struct opk_writer *writer, struct opk_file *file, uint64_t shift)
{
	const struct opk_activity *activities;
	opk_autofree struct opk_activity *later = NULL;
	size_t count;

	must(opk_file_activities(&activities, &count, ctx, file));
	later = opk_alloc_array(count + 1, sizeof *later);
	for (size_t i = 0; later && i < count; i++) {
		later[i] = activities[i];
		later[i].start_ns += shift;
		later[i].end_ns += shift;
	}
	if (count)
		must(opk_writer_add_activities(writer, later, count));
}

static void repeat(const char *from, const char *times, const char *to)
{
	freed(opk_file) *file = open_opk(from);
	uint64_t length = length_of(file);
	const struct opk_meta *meta;
	freed(opk_writer) *writer = NULL;

	must(opk_file_meta(&meta, ctx, file));
	must(opk_writer_new(&writer, ctx, to));
	must(opk_writer_add_meta(writer, meta));
	for (uint64_t i = 0; i < strtoull(times, NULL, 10); i++) {
		repeat_samples(writer, file, i * length);
		repeat_activities(writer, file, i * length);
	}
	must(opk_writer_finish(writer));
}

static void loop(const char *from, const char *images)
{
	freed(opk_file) *file = open_opk(from);
	opk_autofclose FILE *bare = must_open(images, "r");
	const struct opk_meta *meta;
	freed(opk_nv_host) *host = NULL;
	opk_autofree double *values = NULL;
	opk_autofree void *image = NULL;
	size_t size, room = 0;
	double sum = 0;

	must(opk_file_meta(&meta, ctx, file));
	values = opk_alloc_array(meta->metric_count, sizeof *values);
	must(opk_nv_host_new(&host, ctx, meta->chip, meta->profiler, NULL));
	setvbuf(bare, NULL, _IONBF, 0);
	while (fread(&size, sizeof size, 1, bare) == 1) {
		struct opk_nv_image_info info;

		if (size > room)
			image = opk_realloc(image, room = size);
		if (!image || !values || fread(image, size, 1, bare) != 1)
			exit(1);
		must(opk_nv_image_info(&info, ctx, image, size));
		for (size_t i = 0; i < info.completed; i++) {
			must(opk_nv_evaluate(values, ctx, host,
			                     &(struct opk_nv_range){ image, size, i },
			                     meta->metrics, meta->metric_count));
			for (size_t j = 0; j < meta->metric_count; j++)
				sum += isnan(values[j]) ? 0 : values[j];
		}
	}
	printf("%.17g\n", sum);
}

static void unpack(const char *path)
{
	freed(opk_file) *file = open_opk(path);
	struct opk_decoder decoder = { 0 };
	clock_t begun = clock();
	uint64_t bytes = 0;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		const void *data;
		size_t size;

		if (!is_image(file, i))
			continue;
		must(opk_file_decode(&data, &size, ctx, file, i, &decoder));
		bytes += size;
	}
	printf("%ju %.4f\n", (uintmax_t)bytes, (double)(clock() - begun) / CLOCKS_PER_SEC);
	opk_decoder_clear(&decoder);
}

static void load(void)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	must(opk_nv_chips(&chips, ctx));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	begin_program();
	if ((!strcmp(what, "make") || !strcmp(what, "vary")) && argc == 6)
		make(argv[2], argv[3], argv[4], argv[5], *what == 'v');
	else if (!strcmp(what, "repeat") && argc == 5)
		repeat(argv[2], argv[3], argv[4]);
	else if (!strcmp(what, "loop") && argc == 4)
		loop(argv[2], argv[3]);
	else if (!strcmp(what, "unpack") && argc == 3)
		unpack(argv[2]);
	else if (!strcmp(what, "load") && argc == 2)
		load();
	else
		return fprintf(stderr, "bench_eval make|vary|repeat|loop|unpack|load ...\n"), 2;
	opk_ctx_free(ctx);
	return 0;
}
