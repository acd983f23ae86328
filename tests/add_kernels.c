/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_kernels IN.opk OUT.opk: a copy that also says which kernels ran. They are made up: during the
 * samples of the recording one runs after the other on stream 7, another one sometimes beside them
 * on stream 9, and there are copies and NVTX ranges.
 * add_kernels --pause IN.opk OUT.opk: the same, where sampling stood still for a second, in which
 * kernels ran.
 * add_kernels --trace OUT.opk [LAUNCHES [BYTES [STREAMS [KERNELS]]]]: only what ran,
 * without samples. Each copy has BYTES; STREAMS streams replace stream 7; KERNELS kernels share one
 * base name.
 */
#include "container/door.h"
#include "program.h"
#include "freed.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t bytes = 1 << 20, streams = 1, kernels;

static const struct {
	const char *name, *symbol;
	uint64_t length, pause; /* ns */
} steps[] = {
	{ "gemm<float>(float const*, float const*, float*, int)", "_Z4gemmIfEvPKT_S2_PS0_i",
	  5000000, 100000 },
	{ "softmax(float*, int)", "_Z7softmaxPfi", 900000, 0 },
	{ "add(float*, float const*, int)", "_Z3addPfPKfi", 20000, 500000 },
};

static struct opk_activity kernel_at(uint64_t at, size_t step)
{
	return (struct opk_activity){
		.kind = OPK_ACTIVITY_KERNEL,
		.name = steps[step].name,
		.symbol = steps[step].symbol,
		.start_ns = at,
		.end_ns = at + steps[step].length,
		.stream = 7,
		.context = 1,
		.rank = -1,
		.grid = { 128, 1, 1 },
		.block = { 256, 1, 1 },
		.correlation = 1,
	};
}

/* Each name is made once, and never freed. */
static const char *name_of(uint64_t number)
{
	static char **names;

	if (!names)
		names = calloc(kernels, sizeof *names);
	if (!names
	    || (!names[number]
	        && asprintf(&names[number], "scale<float, %ju>(float *)", (uintmax_t)number) < 0))
		exit(1);
	return names[number];
}

/* Adds activities from one time until another; returns the number of records. */
static size_t run(struct opk_activity *out, size_t most, uint64_t from, uint64_t end)
{
	size_t count = 0;

	for (size_t i = 0; count + 4 < most && from < end; i++) {
		size_t step = i % COUNT(steps);

		out[count] = kernel_at(from, step);
		if (kernels) {
			out[count].name = name_of(i % kernels);
			out[count].symbol = "";
		}
		out[count++].stream += i % streams;
		if (i % 12 == 0) {
			out[count] = kernel_at(from + 1000000, 1);
			out[count].name = "beside(int)";
			out[count].symbol = "_Z6besidei";
			out[count++].stream = 9;
			out[count++] = (struct opk_activity){
				.kind = OPK_ACTIVITY_COPY,
				.name = "memcpy HtoD",
				.bytes = bytes,
				.stream = 7,
				.context = 1,
				.rank = -1,
				.start_ns = from - 50000,
				.end_ns = from,
			};
			out[count++] = (struct opk_activity){
				.kind = OPK_ACTIVITY_RANGE,
				.name = "step",
				.device = -1,
				.rank = -1,
				.start_ns = from,
				.end_ns = from + 40000000,
				.thread = 12,
			};
		}
		from += steps[step].length + steps[step].pause;
	}
	return count;
}

/* Samples from `later` on are later, as if sampling had paused: the one before spans the pause. */
static size_t later = SIZE_MAX;
static const uint64_t PAUSE = 1000000000;

static void add_times(struct opk_writer *writer, const struct opk_time *times, size_t count,
                      size_t first)
{
	opk_autofree struct opk_time *moved = calloc(count, sizeof *moved);

	if (!moved)
		exit(1);
	for (size_t i = 0; i < count; i++) {
		moved[i] = times[i];
		moved[i].start += first + i >= later ? PAUSE : 0;
		moved[i].end += first + i + 1 >= later ? PAUSE : 0;
	}
	must(opk_writer_add_times(writer, moved, count, sizeof(struct opk_time)));
}

static void copy(struct opk_writer *writer, struct opk_file *file)
{
	const struct opk_segment *segments, *next;
	size_t count, first = 0;

	must(opk_file_segments(&segments, &count, ctx, file));
	next = segments;
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		void *data;
		size_t size;

		if (opk_file_section(file, i)->type == OPK_SECTION_TIMES) {
			add_times(writer, next->times, next->row_count, first);
			first += next++->row_count;
			continue;
		}
		must(opk_file_read(&data, &size, ctx, file, i));
		must(opk_writer_add(writer, opk_file_section(file, i)->type, data, size));
		free(data);
	}
}

static size_t add_beside(struct opk_writer *writer, const char *from, struct opk_activity *room,
                         size_t most)
{
	const struct opk_time *times;
	freed(opk_file) *file = NULL;
	size_t count;

	must(opk_file_open(&file, ctx, from));
	must(opk_file_times(&times, &count, ctx, file));
	copy(writer, file);
	count = count > 2 ? run(room, most, times[1].end,
	                        times[count - 1].start + (later < count ? PAUSE : 0))
	                  : 0;
	return count;
}

int main(int argc, char **argv)
{
	bool trace = argc > 2 && !strcmp(argv[1], "--trace");
	size_t most = trace && argc > 3 ? strtoul(argv[3], NULL, 10) + 4 : 100004;
	opk_autofree struct opk_activity *room = calloc(most, sizeof *room);
	struct opk_writer *writer;
	size_t count;

	if (argc > 3 && !strcmp(argv[1], "--pause")) {
		later = 9000;
		argv++, argc--;
	}
	bytes = argc > 4 ? strtoull(argv[4], NULL, 10) : bytes;
	streams = argc > 5 ? strtoull(argv[5], NULL, 10) : streams;
	kernels = argc > 6 ? strtoull(argv[6], NULL, 10) : 0;
	if (argc < 3 || !room || !streams || opk_ctx_new(&ctx, NULL))
		return 1;
	must(opk_writer_new(&writer, ctx, argv[2]));
	if (trace)
		must(opk_writer_add_meta(writer, &(struct opk_meta){
							 .kind = "recording",
							 .generator = "offpeak",
							 .chip = "GH100",
							 .profiler = OPK_PROFILER_PM,
							 .mode = "trace",
							 .backend = "",
						 }));
	count = trace ? run(room, most, 1000000000, UINT64_MAX)
	              : add_beside(writer, argv[1], room, most);
	must(opk_writer_add_activities(writer, room, count));
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_ctx_free(ctx);
	return 0;
}
