/* SPDX-License-Identifier: BSD-2-Clause */
/* The run in a few lines: what, where, at which clocks, how complete. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "common/clocks.h"
#include "show/show.h"

static const char *property(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->run_count; i++)
		if (!strcmp(meta->run[i].name, name))
			return meta->run[i].value;
	return "";
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- what */

/*
 * How much time a sample takes, as far as the recording says: of samples that follow one upon the
 * other, since those of another device or after a pause begin elsewhere.
 */
static void put_interval(struct opk_buf *out, struct show *show)
{
	const struct opk_time *times;
	size_t count = 0, samples = 0;
	double span = 0;

	if (opk_file_times(&times, &count, show->app->ctx, show->file))
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
	if (span > 0 && show->group_count == 1)
		opk_buf_add_printf(out, ", %.4g s", span / 1e9);
}

static void put_samples(struct opk_buf *out, struct show *show)
{
	uint64_t count = opk_evaluation_row_count(show->evaluation);
	uint64_t left_out = opk_aggregate_left_out(show->aggregate);

	opk_buf_add_printf(out, "%" PRIu64 " sample%s", count, plural(count));
	if (left_out == 1)
		opk_buf_add_text(out, " (the first left out)");
	else if (left_out)
		opk_buf_add_printf(out, " (%" PRIu64 " first ones left out)", left_out);
	opk_buf_add_printf(out, " of %zu device%s", show->group_count, plural(show->group_count));
	put_interval(out, show);
}

static void put_ranges(struct opk_buf *out, const struct show *show)
{
	uint64_t count = 0;

	for (size_t i = 0; i < show->group_count; i++)
		count += show->groups[i].of->range.count ? show->groups[i].of->range.count : 1;
	opk_buf_add_printf(out, "%" PRIu64 " %s%s", count, show->has_kernels ? "launch" : "range",
	                   count == 1          ? ""
	                   : show->has_kernels ? "es"
	                                       : "s");
	opk_buf_add_printf(out, " of %zu %s%s", show->group_count,
	                   show->has_kernels ? "kernel" : "name", plural(show->group_count));
	if (show->kernel)
		opk_buf_add_printf(out, " like %s", show->kernel);
}

/* What ran, and how much of the time something did. */
static void put_ran(struct opk_buf *out, const struct show *show)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < show->kernel_count; i++)
		launches += show->kernels[i].ran->launches;
	opk_buf_add_printf(out, "%" PRIu64 " launch%s of %zu kernel%s", launches,
	                   launches == 1 ? "" : "es", show->kernel_count,
	                   plural(show->kernel_count));
	if (show->kernel)
		opk_buf_add_printf(out, " like %s", show->kernel);
	if (show->span_ns)
		opk_buf_add_printf(out, "; the GPU was busy %.3g%% of %.4g s",
		                   100 * (double)show->busy_ns / (double)show->span_ns,
		                   (double)show->span_ns / 1e9);
}

static void put_set(struct opk_buf *out, const struct opk_meta *meta)
{
	if (*meta->set_name)
		opk_buf_add_printf(out, "set %s: ", meta->set_name);
	opk_buf_add_printf(out, "%zu metric%s", meta->metric_count, plural(meta->metric_count));
	if (meta->passes)
		opk_buf_add_printf(out, " in %zu pass%s", meta->passes,
		                   meta->passes == 1 ? "" : "es");
	if (meta->profiler == OPK_PROFILER_PM)
		opk_buf_add_text(out, ", PM sampling");
}

static char *what(struct show *show)
{
	static const struct {
		const char *mode, *text;
	} modes[] = {
		{ "kernel", "; each kernel was replayed" },
		{ "launch", "; a range around each launch" },
		{ "user", "; ranges of the program" },
	};
	struct opk_buf out = { 0 };

	if (show_is_trace(show)) {
		if (show->timeline)
			put_ran(&out, show);
		else
			opk_buf_add_text(&out, "nothing ran");
		return opk_buf_take_text(&out);
	}
	if (!show->evaluation)
		opk_buf_add_text(&out, "no recording, but what the collector needs for one: ");
	else if (show_is_sampled(show))
		put_samples(&out, show);
	else
		put_ranges(&out, show);
	opk_buf_add_text(&out, show->evaluation ? "; " : "");
	if (show->timeline) {
		put_ran(&out, show);
		opk_buf_add_text(&out, "; ");
	}
	put_set(&out, show->meta);
	for (size_t i = 0; i < COUNT(modes); i++)
		if (!strcmp(show->meta->mode, modes[i].mode))
			opk_buf_add_text(&out, modes[i].text);
	return opk_buf_take_text(&out);
}

/* ---- where */

static void add_fact(struct opk_buf *out, const char *before, const char *fact)
{
	if (*fact)
		opk_buf_add_printf(out, "%s%s%s", out->size ? ", " : "", before, fact);
}

static char *where(const struct show *show)
{
	const struct opk_meta *meta = show->meta;
	const char *device = property(meta, "device.0.name");
	struct opk_buf out = { 0 };

	if (*device)
		opk_buf_add_printf(&out, "%s (%s)", device, meta->chip);
	else
		opk_buf_add_text(&out, meta->chip);
	add_fact(&out, "host ", property(meta, "hostname"));
	add_fact(&out, "driver ", property(meta, "driver"));
	add_fact(&out, "", property(meta, "started"));
	add_fact(&out, "from ", meta->source);
	add_fact(&out, "", property(meta, "command"));
	return opk_buf_take_text(&out);
}

/* ---- how complete */

static void put_drops(struct opk_buf *out, const struct opk_stats *stats)
{
	for (size_t i = 0; stats && i < stats->drop_count; i++)
		opk_buf_add_printf(out, "; %" PRIu64 " missing: %s", stats->drops[i].count,
		                   stats->drops[i].reason);
}

/* Metrics that no group has a value of. */
static size_t count_nan(const struct show *show)
{
	size_t count = 0;

	for (size_t i = 0; i < show->shown && show->group_count; i++) {
		size_t column = show_find(show, show->names.items[i]);
		bool any = column == SIZE_MAX;

		for (size_t j = 0; !any && j < show->group_count; j++)
			any = !isnan(show->groups[j].of->columns[column].mean);
		count += !any;
	}
	return count;
}

static char *how_complete(struct show *show)
{
	const struct opk_stats *stats = NULL;
	struct opk_buf out = { 0 };
	uint64_t begun;
	size_t nan;

	if (opk_file_complete(show->file))
		opk_buf_add_text(&out, "yes");
	else
		opk_buf_add_printf(&out, "no: cut off after %zu whole sections",
		                   opk_file_section_count(show->file));
	if (!opk_file_stats(&stats, show->app->ctx, show->file))
		put_drops(&out, stats);
	if (!show->evaluation)
		return opk_buf_take_text(&out);
	begun = opk_evaluation_incomplete_samples(show->evaluation);
	nan = count_nan(show);
	if (begun)
		opk_buf_add_printf(&out, "; %" PRIu64 " sample%s begun, but not completed", begun,
		                   begun == 1 ? " was" : "s were");
	if (nan)
		opk_buf_add_printf(&out, "; %zu of %zu columns have no value (nan)", nan,
		                   show->shown);
	return opk_buf_take_text(&out);
}

/* Clocks of the ranges; "" where they are unknown. */
static char *how_fast(struct show *show)
{
	const struct opk_range *ranges;
	struct opk_buf out = { 0 };
	opk_autofree char *sm = NULL, *memory = NULL;
	struct clocks clocks;
	size_t count;

	if (opk_file_ranges(&ranges, &count, show->app->ctx, show->file))
		return opk_strdup("");
	clocks_find(&clocks, ranges, count);
	if (!clocks.sm.most && !clocks.memory.most)
		return opk_strdup("");
	sm = clock_text(&clocks.sm);
	memory = clock_text(&clocks.memory);
	if (!sm || !memory)
		return NULL;
	opk_buf_add_printf(&out, "SM %s MHz, memory %s MHz", *sm ? sm : "?",
	                   *memory ? memory : "?");
	if (clocks.sm.drifted || clocks.memory.drifted)
		opk_buf_add_text(&out, ": times and rates differ for that alone");
	return opk_buf_take_text(&out);
}

int show_run(struct show *show)
{
	opk_autofree char *run = what(show), *machine = where(show);
	opk_autofree char *clocks = how_fast(show), *complete = how_complete(show);
	struct app_fields fields = { .count = 0 };

	if (!run || !machine || !clocks || !complete)
		return app_nomem(show->app);
	field_text(&fields, "run", run);
	field_text(&fields, "machine", machine);
	if (*clocks)
		field_text(&fields, "clocks", clocks);
	field_text(&fields, "complete", complete);
	return app_record(show->app, &fields);
}
