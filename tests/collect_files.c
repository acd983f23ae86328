/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets for the collector under the fake CUPTI, and what its recordings hold, as text:
 *
 *     collect_files set OUT [KEY=VALUE...]   keys below, in set_keys
 *     collect_files rows FILE                a line a range: KEY=VALUE with tabs between
 *     collect_files samples FILE             a line a PM-sampling image
 *     collect_files activities FILE          a line a record of what ran
 *     collect_files counts FILE              a line an instruction in each section
 *
 * `pass` of a row is what it says itself, `counted` is the pass that the profiler was in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_image.h"
#include "container/container.h"
#include "offpeak.h"

enum {
	CONFIG_SIZE = 100,
	ROTATION_SIZE = 120,
	PREFIX_SIZE = 200,
	MAX_METRICS = 16,
	MAX_PASSES = 8
};

static struct opk_ctx *ctx;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "collect_files: %s\n", opk_error_message(ctx, 0));
	exit(code);
}

struct wanted {
	const char *chip, *profiler, *kind;
	char *metrics;             /* separated by commas */
	unsigned passes, rotation; /* passes of the plans; 0: no plan for rotation */
	bool instances, no_prefix;
	const char *names[MAX_METRICS];
	size_t name_count;
	struct opk_pass_list passes_of[MAX_METRICS];
};

/* Takes KEY=VALUE of `set`. */
static bool take_key(struct wanted *wanted, const char *key, char *value)
{
	if (!strcmp(key, "chip"))
		wanted->chip = value;
	else if (!strcmp(key, "profiler"))
		wanted->profiler = value;
	else if (!strcmp(key, "kind"))
		wanted->kind = value;
	else if (!strcmp(key, "metrics"))
		wanted->metrics = value;
	else if (!strcmp(key, "passes"))
		wanted->passes = (unsigned)atoi(value);
	else if (!strcmp(key, "rotation"))
		wanted->rotation = (unsigned)atoi(value);
	else if (!strcmp(key, "instances"))
		wanted->instances = atoi(value);
	else if (!strcmp(key, "no_prefix"))
		wanted->no_prefix = atoi(value);
	else
		return false;
	return true;
}

static void split_metrics(struct wanted *wanted)
{
	char *rest = wanted->metrics, *name;

	while ((name = strsep(&rest, ",")) && wanted->name_count < MAX_METRICS)
		wanted->names[wanted->name_count++] = name;
}

/* Deals the metrics to the passes in turn; the last one goes to all. */
static void deal(struct wanted *wanted)
{
	static uint32_t numbers[MAX_PASSES];

	for (unsigned i = 0; i < MAX_PASSES; i++)
		numbers[i] = i + 1;
	for (size_t i = 0; wanted->passes > 1 && i < wanted->name_count; i++)
		wanted->passes_of[i] = i + 1 < wanted->name_count ? (
					       struct opk_pass_list){ &numbers[i % wanted->passes],
			                                              1 }
		                                                  : (struct opk_pass_list){
									    numbers, wanted->passes
								    };
}

static void add_config(struct opk_writer *writer, uint32_t type, size_t size, unsigned passes)
{
	char config[ROTATION_SIZE] = { 0 };
	struct fake_config head = { FAKE_CONFIG_MAGIC, passes };

	memcpy(config, &head, sizeof head);
	must(opk_writer_add(writer, type, config, size));
}

static void write_set(const struct wanted *wanted, const char *path)
{
	struct opk_meta meta = {
		.kind = wanted->kind,
		.generator = "collect_files",
		.chip = wanted->chip,
		.profiler = strcmp(wanted->profiler, "pm") ? OPK_PROFILER_RANGE : OPK_PROFILER_PM,
		.set_name = "",
		.set_description = "",
		.config_hash = "",
		.source = "",
		.mode = "",
		.join = "",
		.backend = "",
		.metrics = wanted->names,
		.metric_count = wanted->name_count,
		.passes = wanted->passes,
		.keep_instances = wanted->instances,
		.cupti_version = 130001,
		.metric_passes = wanted->passes_of,
		.metric_pass_count = wanted->passes > 1 ? wanted->name_count : 0,
		.rotation = { .passes = wanted->rotation, .config_hash = "" },
	};
	struct opk_writer *writer;
	char prefix[PREFIX_SIZE];

	memset(prefix, 'a', sizeof prefix);
	must(opk_writer_new(&writer, ctx, path));
	must(opk_writer_add_meta(writer, &meta));
	add_config(writer, OPK_SECTION_CONFIG, CONFIG_SIZE, wanted->passes);
	if (wanted->rotation)
		add_config(writer, OPK_SECTION_ROTATION, ROTATION_SIZE, wanted->rotation);
	if (!wanted->no_prefix)
		must(opk_writer_add(writer, OPK_SECTION_PREFIX, prefix, sizeof prefix));
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
}

static int make_set(const char *path, char **keys)
{
	char metrics[] = "sm__inst_executed.sum,sm__warps_active.sum,dram__bytes.sum";
	struct wanted wanted = {
		.chip = "GH100",
		.profiler = "range",
		.kind = "set",
		.metrics = metrics,
		.passes = 1,
	};

	for (; *keys; keys++) {
		char *value = strchr(*keys, '=');

		if (value)
			*value++ = '\0';
		if (!value || !take_key(&wanted, *keys, value)) {
			fprintf(stderr, "collect_files: no such key: %s\n", *keys);
			return 2;
		}
	}
	split_metrics(&wanted);
	deal(&wanted);
	write_set(&wanted, path);
	return 0;
}

/* The n-th counter data image; NULL: there are fewer. */
static struct fake_image *read_image(const struct opk_file *file, size_t n)
{
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		void *data;
		size_t size;

		if (opk_file_section(file, i)->type != OPK_SECTION_DATA || n--)
			continue;
		must(opk_file_read(&data, &size, ctx, file, i));
		if (size >= sizeof(struct fake_image) && !memcmp(data, FAKE_IMAGE_MAGIC, 8))
			return data;
		fprintf(stderr, "collect_files: an image is not the fake's\n");
		exit(1);
	}
	return NULL;
}

static const void *record_of(const struct fake_image *image, size_t i)
{
	return (const char *)(image + 1) + i * image->record_size;
}

static void print_row(const struct opk_range *row)
{
	printf("name=%s\tkernel=%s\tsymbol=%s\tnvtx=%s\t", row->name, row->kernel, row->symbol,
	       row->nvtx);
	printf("grid=%ux%ux%u\tblock=%ux%ux%u\t", row->grid[0], row->grid[1], row->grid[2],
	       row->block[0], row->block[1], row->block[2]);
	printf("device=%d\tcontext=%u\tprocess=%u\trank=%d\tpass=%u\t", row->device, row->context,
	       row->process, row->rank, row->pass);
	printf("launch=%" PRIu64 "\tstream=%" PRIu64 "\tduration=%" PRIu64 "\t", row->launch,
	       row->stream, row->duration_ns);
	printf("sm_mhz=%u\tmemory_mhz=%u\t", row->sm_mhz, row->memory_mhz);
	printf("cluster=%ux%ux%u\tstatic=%d\tcarveout=%d\t", row->cluster[0], row->cluster[1],
	       row->cluster[2], (int)row->static_shared_plus_1 - 1, (int)row->carveout_plus_1 - 1);
	printf("shared=%u\tregisters=%u\ttimes=%s", row->shared_bytes, row->registers,
	       row->start_ns && row->end_ns >= row->start_ns ? "good" : "bad");
}

/* Prints records and rows in pairs; "MISSING" if there are fewer of one of them. */
static int print_rows(const struct opk_file *file, const struct opk_range *rows, size_t count)
{
	struct fake_image *image;
	size_t row = 0, n = 0;

	for (; (image = read_image(file, n)); n++) {
		for (uint32_t i = 0; i < image->count; i++, row++) {
			const struct fake_range_record *record = record_of(image, i);

			if (row < count)
				print_row(&rows[row]);
			else
				printf("row=MISSING");
			printf("\timage=%zu\trecord=%s\tlaunches=%" PRIu64
			       "\tpasses=%u\tcounted=%u\n",
			       n, record->path, record->launches, record->passes, record->pass + 1);
		}
		free(image);
	}
	for (; row < count; row++) {
		print_row(&rows[row]);
		printf("\timage=MISSING\n");
	}
	return 0;
}

/* Whether each sample after the first begins at the end of the one before. */
static bool joined(const struct opk_time *times, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (times[i].start != times[i - 1].end || times[i].end <= times[i].start)
			return false;
	return true;
}

static int print_samples(const struct opk_file *file, const struct opk_time *times, size_t count)
{
	struct fake_image *image;
	size_t done = 0;

	for (size_t n = 0; (image = read_image(file, n)); n++) {
		const struct fake_sample_record *first = record_of(image, 0);

		printf("image=%zu\tsamples=%u\troom=%u\tconfig=%d\tfirst=%" PRIu64, n, image->count,
		       image->max_records, (int)image->prefix_size - PREFIX_SIZE,
		       image->count ? first->value : 0);
		if (done + image->count <= count)
			printf("\tdevice=%jd\tjoined=%s\tinterval=%" PRIu64 "\tend=%" PRIu64,
			       image->count ? (intmax_t)times[done].device : -1,
			       joined(times + done, image->count) ? "yes" : "no",
			       image->count > 1 ? times[done + 1].end - times[done + 1].start : 0,
			       image->count ? times[done + image->count - 1].end : 0);
		printf("\n");
		done += image->count;
		free(image);
	}
	printf("total=%zu\ttimes=%zu\n", done, count);
	return 0;
}

static void print_activity(const struct opk_activity *a)
{
	static const char *const kinds[] = { "?", "kernel", "copy", "set", "range", "call" };

	printf("kind=%s\tname=%s\tsymbol=%s\t", kinds[a->kind], a->name, a->symbol);
	printf("grid=%ux%ux%u\tblock=%ux%ux%u\t", a->grid[0], a->grid[1], a->grid[2], a->block[0],
	       a->block[1], a->block[2]);
	printf("registers=%u\tstatic=%u\tshared=%u\tbytes=%" PRIu64 "\t", a->registers,
	       a->static_shared_bytes, a->shared_bytes, a->bytes);
	printf("cluster=%ux%ux%u\tcarveout=%d\t", a->cluster[0], a->cluster[1], a->cluster[2],
	       (int)a->carveout_plus_1 - 1);
	printf("device=%d\tcontext=%u\tstream=%" PRIu64 "\tprocess=%u\trank=%d\t", a->device,
	       a->context, a->stream, a->process, a->rank);
	printf("correlation=%u\tnode=%" PRIu64 "\tthread=%" PRIu64 "\texternal=%" PRIu64 "\t",
	       a->correlation, a->graph_node, a->thread, a->external);
	printf("start=%" PRIu64 "\tend=%" PRIu64 "\tlength=%" PRIu64 "\n", a->start_ns, a->end_ns,
	       a->end_ns - a->start_ns);
}

/* An INSN section; the sum of the values tells whether they are right. */
static void print_counts(const struct opk_file *file, size_t section)
{
	struct opk_instruction_block block = { 0 };
	const struct opk_instruction_table *table = &block.table;

	must(opk_instruction_block_read(&block, ctx, file, section));
	for (size_t i = 0; i < table->count; i++) {
		const struct opk_instruction *row = &table->rows[i];
		uint64_t sum = 0;

		for (size_t j = 0; j < table->metric_count; j++)
			sum += table->values[i * table->metric_count + j];
		printf("symbol=%s\toffset=%u\tlaunch=%u\tlaunches=%u\tdevice=%d\tprocess=%u\t",
		       row->function, row->offset, row->launch, row->launches, row->device,
		       row->process);
		printf("module=%" PRIx64 "\tsum=%" PRIu64 "\n", row->module, sum);
	}
	opk_instruction_block_clear(&block);
}

static int print_file(const char *what, const char *path)
{
	const struct opk_range *rows = NULL;
	const struct opk_time *times = NULL;
	const struct opk_activity *activities;
	struct opk_file *file;
	size_t count = 0;
	int code = 2;

	must(opk_file_open(&file, ctx, path));
	if (!strcmp(what, "rows")) {
		must(opk_file_ranges(&rows, &count, ctx, file));
		code = print_rows(file, rows, count);
	} else if (!strcmp(what, "samples")) {
		must(opk_file_times(&times, &count, ctx, file));
		code = print_samples(file, times, count);
	} else if (!strcmp(what, "activities")) {
		must(opk_file_activities(&activities, &count, ctx, file));
		for (size_t i = 0; i < count; i++)
			print_activity(&activities[i]);
		code = 0;
	}
	for (size_t i = 0; !strcmp(what, "counts") && i < opk_file_section_count(file); i++) {
		if (opk_file_section(file, i)->type == OPK_SECTION_INSTRUCTIONS)
			print_counts(file, i);
		code = 0;
	}
	opk_file_free(file);
	return code;
}

int main(int argc, char **argv)
{
	int code = 2;

	if (argc < 3 || opk_ctx_new(&ctx, NULL))
		return code;
	code = strcmp(argv[1], "set") ? print_file(argv[1], argv[2]) : make_set(argv[2], argv + 3);
	opk_ctx_free(ctx);
	return code;
}
