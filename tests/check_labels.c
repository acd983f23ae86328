/* SPDX-License-Identifier: BSD-2-Clause */
/* Short labels of metrics: of whole names, and of their parts; check_sets has those of all sets. */
#include "chip/chip.h"
#include "allocation.h"
#include "chip/door.h"
#include "folder.h"

static const struct {
	struct here here;
	const char *name, *wanted;
} rows[] = {
	/* Names of every day. */
	{ HERE, "gpu__time_duration.sum", "time" },
	{ HERE, "sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy" },
	{ HERE, "smsp__warps_active.avg.per_cycle_active", "warps per scheduler" },
	{ HERE, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput" },
	/* The counter has words of its own, and the ending follows. */
	{ HERE, "sm__cycles_elapsed.max", "SM cycles, most of any SM" },
	/* Parts. */
	{ HERE, "dram__bytes_read.sum", "DRAM bytes read" },
	{ HERE, "dram__bytes_read.sum.per_second", "DRAM bytes read a second" },
	{ HERE, "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
	  "L2 sectors from L1, reads, hits" },
	{ HERE, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "L1 sectors of global loads" },
	{ HERE, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.avg",
	  "L1 sectors of global loads, misses per L1" },
	/* Words that go in front of the last piece's. */
	{ HERE, "sm__inst_executed_pipe_fma.sum", "FMA instructions" },
	{ HERE, "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_elapsed",
	  "tensor HMMA instructions, of peak" },
	{ HERE, "sm__pipe_tensor_op_dmma_cycles_active.sum", "DMMA tensor active cycles" },
	/* A throughput is of its peak. */
	{ HERE, "lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 throughput" },
	{ HERE, "l1tex__throughput.avg.pct_of_peak_sustained_active",
	  "L1 throughput while active" },
	/* Metrics of instructions have no ending, those of single-pass sets a beginning. */
	{ HERE, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "samples: long scoreboard" },
	{ HERE, "LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed",
	  "L2 throughput" },
	/* Unknown parts stay. */
	{ HERE, "new__things_done", "new things done" },
	{ HERE, "new__things.sum.per_moon", "new things sum.per_moon" },
	{ HERE, "dram__t_sectors_of_mars.avg", "DRAM sectors of mars per channel" },
	/* Names of a set's author. */
	{ HERE, "time_us", "time_us" },
	{ HERE, "fp64_rate", "fp64_rate" },
	{ HERE, "", "" },
};

/* What people write, and which of `metrics` it means. */
static const char *const metrics[] = {
	"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"gpu__time_duration.sum",
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"time_us",
	"duration_ns",
};
static const struct {
	struct here here;
	const char *words;
	size_t first, count; /* of `metrics`, which are asked */
	const char *wanted;
} meant[] = {
	{ HERE, "time", 0, 5, "gpu__time_duration.sum" },
	{ HERE, "GPU Time", 0, 5, "gpu__time_duration.sum" },
	{ HERE, "total time of the kernel", 0, 5, "gpu__time_duration.sum" },
	{ HERE, "kernel time", 5, 1, "duration_ns" },
	{ HERE, "us", 0, 5, "time_us" },
	{ HERE, "dram throughput", 0, 5, "dram__throughput.avg.pct_of_peak_sustained_elapsed" },
	{ HERE, "throughput", 0, 5, "dram__throughput.avg.pct_of_peak_sustained_elapsed" },
	{ HERE, "occupancy", 0, 5, "sm__warps_active.avg.pct_of_peak_sustained_active" },
	{ HERE, "occupancy", 0, 3, NULL },
	{ HERE, "times", 0, 5, NULL },
	{ HERE, "the kernel", 0, 5, NULL },
	{ HERE, "", 0, 5, NULL },
	{ HERE, "time", 0, 0, NULL },
};

CTX_TEST_EACH(words_of_people, meant)
{
	struct opk_nearest nearest = { .name = row->words };
	const char *found;

	ck_ok(ctx, opk_nearest_by_words(&nearest, ctx, metrics + row->first, row->count));
	found = nearest.best;
	ck_row(row, !found == !row->wanted && (!found || !strcmp(found, row->wanted)), "%s",
	       found ? found : "none");
}

CTX_TEST(parts)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autostrlist struct opk_strlist labels = { 0 };

		ck_ok(ctx, opk_metric_labels(&labels, ctx, &rows[i].name, 1));
		ck_row(&rows[i], labels.count == 1 && !strcmp(labels.items[0], rows[i].wanted),
		       "%s", labels.items[0]);
	}
}

/* A label of two names is of neither: of a metric and a column of that name, only of the column. */
CTX_TEST(labels_are_unique)
{
	static const char *const names[] = { "smsp__inst_executed.sum",
		                             "gpu__time_duration.sum",
		                             "LTS.TriageCompute.lts__throughput.max",
		                             "lts__throughput.max",
		                             "time",
		                             "dram__bytes.sum" };
	static const char *const wanted[] = { "instructions",
		                              "gpu__time_duration.sum",
		                              "LTS.TriageCompute.lts__throughput.max",
		                              "lts__throughput.max",
		                              "time",
		                              "DRAM bytes" };
	opk_autostrlist struct opk_strlist labels = { 0 };

	ck_ok(ctx, opk_metric_labels(&labels, ctx, names, COUNT(names)));
	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_str_eq(labels.items[i], wanted[i]);
}

/* Names that are too long, or have many pieces, are whole. */
CTX_TEST(long_names)
{
	opk_autofree char *name = opk_alloc(400);
	opk_autostrlist struct opk_strlist labels = { 0 };

	memset(name, 'a', 399);
	memcpy(name, "sm__", 4);
	ck_ok(ctx, opk_metric_labels(&labels, ctx, (const char *const *)&name, 1));
	ck_assert_str_eq(labels.items[0], name);
	opk_strlist_clear(&labels);
	for (size_t i = 4; i < 250; i += 2)
		name[i] = '_';
	name[250] = '\0';
	ck_ok(ctx, opk_metric_labels(&labels, ctx, (const char *const *)&name, 1));
	ck_assert(*labels.items[0]);
	/* Their words are longer than there is room for. */
	for (size_t i = 0; i < 3; i++) {
		opk_strlist_clear(&labels);
		strcpy(name, "sm__");
		while (strlen(name) < 245)
			strcat(name, i == 0 ? "st_" : i == 1 ? "pipe_xu_st_" : "tma_red_op_dmma_");
		ck_ok(ctx, opk_metric_labels(&labels, ctx, (const char *const *)&name, 1));
		ck_assert_uint_lt(strlen(labels.items[0]), 512);
	}
}

static const char *label_with(struct opk_ctx *ctx, struct opk_strlist *labels, const char *text)
{
	static const char *const name = "dram__bytes.sum";

	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(folder);
	opk_strlist_clear(labels);
	if (text)
		put_file("metric_words.tsv", text, strlen(text));
	return opk_metric_labels(labels, ctx, &name, 1) ? NULL : labels->items[0];
}

CTX_TEST(damaged_files)
{
	static const struct {
		struct here here;
		const char *text, *label, *error;
	} files[] = {
		{ HERE, NULL, "dram__bytes.sum", NULL }, /* it is not installed */
		{ HERE, "# nothing\n\n", "dram bytes sum", NULL },
		{ HERE, "unit\tdram\tMemory\tchip\r\nending\t.sum\t of %s\n",
		  "Memory bytes of chips", NULL },
		{ HERE, "unit\tdram\n", NULL, "metric_words.tsv:1: not a kind, a key and words" },
		{ HERE, "\nunit\tdram\ta\tb\tc\n", NULL, ":2: not a kind" },
		{ HERE, "unit\t\ta\n", NULL, ":1: not a kind" },
		{ HERE, "part\ta\tb\npart\ta\tc\n", NULL, ":2: there is such a row before" },
	};
	for (size_t i = 0; i < COUNT(files); i++) {
		opk_autostrlist struct opk_strlist labels = { 0 };
		const char *label = label_with(ctx, &labels, files[i].text);

		ck_row(&files[i], !label == !files[i].label, "%s", label);
		ck_row(&files[i], !label || !strcmp(label, files[i].label), "%s", label);
		ck_row(&files[i], label || told(ctx, files[i].error), "%s", errors_of(ctx));
		opk_clear_errors(ctx);
	}
}

/* Each allocation that fails is reported. */
CTX_TEST(short_of_memory)
{
	static const char *const names[] = { "dram__bytes.sum", "dram__bytes_read.sum" };
	opk_autostrlist struct opk_strlist labels = { 0 };

	for (long n = 0; is_short(ctx, n, opk_metric_labels(&labels, ctx, names, COUNT(names)));
	     n++)
		opk_clear_errors(ctx);
	ck_assert_str_eq(labels.items[1], "DRAM bytes read");
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
