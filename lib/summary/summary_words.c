/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes the run in a few lines: what, where, at which clocks, how complete. */
#include <inttypes.h>

#include "baked/door.h"
#include "base/number_text.h"
#include "container/door.h"
#include "eval/door.h"
#include "images/door.h"
#include "summary/summary_inside.h"

/* ---- what */

/*
 * Writes the mean length of a sample, if the recording has times. Only samples that follow each
 * other count: others are of another device or after a pause.
 */
static void put_interval(struct opk_buf *out, struct opk_summary *s)
{
	const struct opk_time *times;
	size_t count = 0, samples = 0;
	double span = 0;

	if (opk_file_times(&times, &count, s->ctx, s->file))
		return;
	for (size_t i = 1; i < count; i++) {
		if (times[i].device != times[i - 1].device || times[i].start != times[i - 1].end
		    || times[i].end < times[i].start)
			continue;
		span += (double)(times[i].end - times[i].start);
		samples++;
	}
	if (span > 0)
		opk_buf_add_printf(out, ", every %.4g us", span / 1e3 / (double)samples);
	if (span > 0 && s->group_count == 1)
		opk_buf_add_printf(out, ", %.4g s", span / 1e9);
}

static void put_samples(struct opk_buf *out, struct opk_summary *s)
{
	uint64_t count = opk_evaluation_row_count(s->evaluation);
	uint64_t left_out = opk_aggregate_left_out(s->aggregate);

	opk_buf_add_printf(out, "%" PRIu64 " sample%s", count, opk_plural(count));
	if (left_out == 1)
		opk_buf_add_text(out, " (the first left out)");
	else if (left_out)
		opk_buf_add_printf(out, " (%" PRIu64 " first ones left out)", left_out);
	opk_buf_add_printf(out, " of %zu device%s", s->group_count, opk_plural(s->group_count));
	put_interval(out, s);
}

static void put_ranges(struct opk_buf *out, const struct opk_summary *s)
{
	bool kernels = s->kind == OPK_SUMMARY_KERNELS;
	uint64_t count = 0;

	for (size_t i = 0; i < s->group_count; i++)
		count += s->groups[i].of->range.count ? s->groups[i].of->range.count : 1;
	opk_buf_add_printf(out, "%" PRIu64 " %s%s", count, kernels ? "launch" : "range",
	                   count == 1 ? ""
	                   : kernels  ? "es"
	                              : "s");
	opk_buf_add_printf(out, " of %zu %s%s", s->group_count, kernels ? "kernel" : "name",
	                   opk_plural(s->group_count));
	if (s->options.kernel)
		opk_buf_add_printf(out, " like %s", s->options.kernel);
}

/* GPUs run at the same time, so the text for several GPUs gives their mean. */
static void put_busy(struct opk_buf *out, const struct opk_summary *s)
{
	double busy = 100 * (double)s->busy_ns / (double)s->span_ns;
	double span = (double)s->span_ns / 1e9;

	if (!s->span_ns)
		return;
	if (s->gpu_count == 1)
		opk_buf_add_printf(out, "; the GPU was busy %.3g%% of %.4g s", busy, span);
	else
		opk_buf_add_printf(out,
		                   "; %zu GPUs were busy %.3g%% of the time, which was %.4g s for "
		                   "each on average",
		                   s->gpu_count, busy, span / (double)s->gpu_count);
}

/* Says how long calls took to reach the GPU, and how long it waited for calls. */
static void put_calls(struct opk_buf *out, const struct opk_summary *s)
{
	if (!s->called || !s->span_ns)
		return;
	opk_buf_add_printf(out,
	                   "; work began %.3g us after it was called (median), and for %.3g%% of "
	                   "the time %s waited for calls",
	                   (double)s->latency_ns / 1e3,
	                   100 * (double)s->host_gap_ns / (double)s->span_ns,
	                   s->gpu_count == 1 ? "the GPU" : "GPUs");
}

/* Writes what ran, and how busy the GPUs were. */
static void put_ran(struct opk_buf *out, const struct opk_summary *s)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < s->kernel_count; i++)
		launches += s->kernels[i].ran->launches;
	opk_buf_add_printf(out, "%" PRIu64 " launch%s of %zu kernel%s", launches,
	                   launches == 1 ? "" : "es", s->kernel_count, opk_plural(s->kernel_count));
	if (s->take.by)
		opk_buf_add_printf(out, " by %s", s->take.by);
	if (s->options.kernel)
		opk_buf_add_printf(out, " like %s", s->options.kernel);
	put_busy(out, s);
	put_calls(out, s);
}

/* Writes how values of several passes were collected. */
static void put_mode(struct opk_buf *out, const struct opk_meta *meta)
{
	static const struct {
		const char *word, *text;
	} modes[] = {
		{ "kernel", "; each kernel was replayed" },
		{ "launch", "; a range around each launch" },
		{ "user", "; ranges of the program" },
	}, joins[] = {
		{ "kernel", "; the passes took turns, one a launch" },
		{ "launch", "; the passes took turns, one a run of the program" },
		{ "name", "; the passes took turns, one a range" },
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(meta->mode, modes[i].word))
			opk_buf_add_text(out, modes[i].text);
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strcmp(meta->join, joins[i].word))
			opk_buf_add_text(out, joins[i].text);
}

static void put_set(struct opk_buf *out, struct opk_summary *s)
{
	const struct opk_meta *meta = s->meta;
	struct opk_values_origin origin = { 0 };
	bool imported;

	/* How another tool collects is not known. */
	imported = !opk_allow(s->ctx, opk_values_origin_find(&origin, s->ctx, s->file), OPK_EINPUT)
	           && opk_values_are_foreign(&origin);
	if (*meta->set_name)
		opk_buf_add_printf(out, "set %s: ", meta->set_name);
	opk_buf_add_printf(out, "%zu metric%s", meta->metric_count, opk_plural(meta->metric_count));
	if (meta->passes && !imported)
		opk_buf_add_printf(out, " in %zu pass%s", meta->passes,
		                   meta->passes == 1 ? "" : "es");
	if (meta->profiler == OPK_PROFILER_PM)
		opk_buf_add_text(out, ", PM sampling");
	if (imported)
		opk_buf_add_printf(out, ", as %s computed %s", origin.generator,
		                   meta->metric_count == 1 ? "it" : "them");
	else
		put_mode(out, meta);
}

static char *what(struct opk_summary *s)
{
	struct opk_buf out = { 0 };

	if (summary_is_trace(s)) {
		if (s->timeline)
			put_ran(&out, s);
		else
			opk_buf_add_text(&out, "nothing ran");
		return opk_buf_take_text(&out);
	}
	if (summary_is_code(s))
		opk_buf_add_text(&out, "counts or samples of instructions; ");
	else if (!s->evaluation && !s->only_words)
		opk_buf_add_text(&out, "no recording, but what the collector needs for one: ");
	else if (s->evaluation && summary_is_sampled(s))
		put_samples(&out, s);
	else if (s->evaluation)
		put_ranges(&out, s);
	opk_buf_add_text(&out, s->evaluation ? "; " : "");
	if (s->timeline) {
		put_ran(&out, s);
		opk_buf_add_text(&out, "; ");
	}
	put_set(&out, s);
	return opk_buf_take_text(&out);
}

/* ---- where */

static void add_fact(struct opk_buf *out, const char *before, const char *fact)
{
	if (*fact)
		opk_buf_add_printf(out, "%s%s%s", out->size ? ", " : "", before, fact);
}

static char *where(const struct opk_summary *s)
{
	const struct opk_meta *meta = s->meta;
	const char *device = opk_meta_fact(meta, "device.0.name");
	struct opk_buf out = { 0 };

	if (*device)
		opk_buf_add_printf(&out, "%s (%s)", device, meta->chip);
	else
		opk_buf_add_text(&out, meta->chip);
	add_fact(&out, "host ", opk_meta_fact(meta, "hostname"));
	add_fact(&out, "driver ", opk_meta_fact(meta, "driver"));
	add_fact(&out, "", opk_meta_fact(meta, "started"));
	add_fact(&out, "from ", meta->source);
	add_fact(&out, "", opk_meta_fact(meta, "command"));
	return opk_buf_take_text(&out);
}

/* ---- how complete */

static void put_drops(struct opk_buf *out, const char *before, const struct opk_stats *stats)
{
	for (size_t i = 0; stats && i < stats->drop_count; i++, before = "; ")
		opk_buf_add_printf(out, "%s%" PRIu64 " missing: %s", before, stats->drops[i].count,
		                   stats->drops[i].reason);
}

/* Counts metrics without a value in any group. */
static size_t count_nan(const struct opk_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->column_count; i++)
		count += s->columns[i].unknown;
	return count;
}

/* Writes whether all is there: a whole file may lack rows that were lost, or whole samples. */
static void put_whether(struct opk_buf *out, const struct opk_summary *s,
                        const struct opk_stats *stats)
{
	bool lacks_rows = stats && stats->drop_count;

	if (!opk_file_complete(s->file))
		opk_buf_add_printf(out, "no: cut off after %zu whole sections",
		                   opk_file_section_count(s->file));
	else if (s->evaluation && summary_is_sampled(s) && !opk_evaluation_row_count(s->evaluation))
		opk_buf_add_text(out, "no: no sample was recorded completely");
	else
		opk_buf_add_text(out, lacks_rows ? "no" : "yes");
	put_drops(out, out->size > strlen("no") ? "; " : ": ", stats);
}

static char *how_complete(struct opk_summary *s)
{
	const struct opk_stats *stats = NULL;
	struct opk_buf out = { 0 };
	uint64_t begun;
	size_t nan;

	opk_file_stats(&stats, s->ctx, s->file);
	put_whether(&out, s, stats);
	if (!s->evaluation)
		return opk_buf_take_text(&out);
	begun = opk_evaluation_incomplete_samples(s->evaluation);
	nan = count_nan(s);
	if (begun)
		opk_buf_add_printf(&out, "; %" PRIu64 " sample%s begun, but not completed", begun,
		                   begun == 1 ? " was" : "s were");
	if (nan)
		opk_buf_add_printf(&out, "; %zu of %zu columns have no value (nan)", nan,
		                   s->column_count);
	return opk_buf_take_text(&out);
}

/* Adds what slowed GPUs during the run: "; GPU 0 was slowed by heat in 1 of 4 readings". */
static void put_slowdowns(struct opk_buf *out, struct opk_summary *s)
{
	const struct opk_stats *stats = NULL;
	int device, length;

	if (opk_file_stats(&stats, s->ctx, s->file) || !stats)
		return;
	for (size_t i = 0; i < stats->run_count; i++) {
		const char *name = stats->run[i].name;

		length = 0;
		if (sscanf(name, "device.%d.slowed_by%n", &device, &length) != 1 || !length
		    || name[length])
			continue;
		opk_buf_add_printf(out, "%sGPU %d was slowed by %s", out->size ? "; " : "", device,
		                   stats->run[i].value);
	}
}

/* The clocks of the ranges, what they were locked to, and what slowed them; "": unknown. */
static char *how_fast(struct opk_summary *s)
{
	char sm[OPK_CLOCK_TEXT], memory[OPK_CLOCK_TEXT];
	const char *locked = opk_meta_fact(s->meta, "clocks");
	struct opk_buf out = { 0 };
	struct opk_clocks clocks;

	opk_clocks_find(&clocks, s->ranges, s->range_count);
	opk_clock_text(sm, &clocks.sm);
	opk_clock_text(memory, &clocks.memory);
	if (clocks.sm.most || clocks.memory.most)
		opk_buf_add_printf(&out, "SM %s MHz, memory %s MHz%s", *sm ? sm : "?",
		                   *memory ? memory : "?",
		                   clocks.sm.drifted || clocks.memory.drifted
		                           ? ": times and rates differ for that alone"
		                           : "");
	if (*locked)
		opk_buf_add_printf(&out, "%slocked: %s", out.size ? "; " : "", locked);
	put_slowdowns(&out, s);
	return out.size ? opk_buf_take_text(&out) : opk_strdup("");
}

int opk_summary_write_words(struct opk_summary *s)
{
	struct opk_summary_words *words = &s->words;

	words->run = what(s);
	words->machine = where(s);
	words->clocks = how_fast(s);
	words->complete = how_complete(s);
	return words->run && words->machine && words->clocks && words->complete ? OPK_OK
	                                                                        : summary_nomem(s);
}
