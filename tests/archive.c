/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * archive IN.opk OUT.opk PROCESS MS...: a file of a long watch, which has the samples of a
 * recording once for each MS, so many milliseconds later; the watch is this process. "MS:MS": of the
 * first half of each image's samples, and of the others. "none" as MS: samples as they are, without
 * a table of times.
 */
#include <string.h>

#include "container/container.h"
#include "program.h"

enum { MOST_FACTS = 400 };

/* The facts of the recording, but of a watch. */
static size_t make_facts(struct opk_property *facts, const struct opk_meta *meta, char *process)
{
	size_t count = 0;

	for (size_t i = 0; i < meta->run_count && count + 3 < MOST_FACTS; i++)
		if (strcmp(meta->run[i].name, "command") && strcmp(meta->run[i].name, "process"))
			facts[count++] = meta->run[i];
	facts[count++] = (struct opk_property){ "command", "offpeak-collect --watch" };
	facts[count++] = (struct opk_property){ "process", process };
	return count;
}

static void add_later(struct opk_writer *writer, const struct opk_file *file,
                      const struct opk_segment *segment, const char *ms)
{
	char *rest;
	uint64_t first = (uint64_t)(strtod(ms, &rest) * 1e6);
	uint64_t others = *rest == ':' ? (uint64_t)(strtod(rest + 1, NULL) * 1e6) : first;
	size_t count = segment->row_count, size;
	struct opk_time *times = calloc(count + 1, sizeof *times);
	void *image;

	if (!segment->times) {
		fprintf(stderr, "samples without times\n");
		exit(1);
	}
	must(opk_file_read(&image, &size, ctx, file, segment->image));
	must(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = i < count / 2 ? first : others;

		times[i] = (struct opk_time){ segment->times[i].start + ns,
			                      segment->times[i].end + ns,
			                      segment->times[i].device };
	}
	if (strcmp(ms, "none") != 0)
		must(opk_writer_add_times(writer, times, count, sizeof *times));
	free(times);
	free(image);
}

int main(int argc, char **argv)
{
	struct opk_property facts[MOST_FACTS];
	const struct opk_segment *segments;
	const struct opk_meta *recorded;
	struct opk_writer *writer;
	struct opk_file *file;
	struct opk_meta meta;
	size_t count;

	if (argc < 5 || opk_ctx_new(&ctx, NULL))
		return 1;
	must(opk_file_open(&file, ctx, argv[1]));
	must(opk_file_meta(&recorded, ctx, file));
	must(opk_file_segments(&segments, &count, ctx, file));
	meta = *recorded;
	meta.run = facts;
	meta.run_count = make_facts(facts, recorded, argv[3]);
	must(opk_writer_new(&writer, ctx, argv[2]));
	must(opk_writer_add_meta(writer, &meta));
	for (int i = 4; i < argc; i++)
		for (size_t j = 0; j < count; j++)
			add_later(writer, file, &segments[j], argv[i]);
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_file_free(file);
	opk_ctx_free(ctx);
	return 0;
}
