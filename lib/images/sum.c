/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges recordings into one with sums of their ranges. */
#include <string.h>

#include "base/option_struct.h"
#include "container/container.h"
#include "images/images.h"

struct sum {
	struct opk_ctx *ctx;
	unsigned key;
	enum opk_level level;
	bool part;
	struct opk_file **files;
	size_t file_count;
	struct opk_merger *merger;
	const struct opk_meta *meta;
	struct opk_survey survey;
	struct opk_sums sums;
	struct opk_range *ranges; /* one per sum, in their order */
};

static int open_files(struct sum *s, const char *const *paths, size_t count)
{
	s->files = opk_alloc_array(count, sizeof *s->files);
	if (!s->files)
		return opk_nomem(s->ctx, "files");
	for (; s->file_count < count; s->file_count++)
		TRY(opk_file_open(&s->files[s->file_count], s->ctx, paths[s->file_count]));
	return OPK_OK;
}

/* ---- recordings with one pass per image ---------------------------------------------------- */

static int check_equal(struct sum *s, const struct opk_summed *a, const struct opk_summed *b)
{
	const struct opk_grouped *parts = s->sums.parts.groups;
	const struct opk_grouped *group = &s->sums.groups.groups[a->group];
	bool by_kernel = s->key & OPK_KEY_KERNEL;
	uint64_t first = parts[a - s->sums.sums].ranges, other = parts[b - s->sums.sums].ranges;

	if (first == other)
		return OPK_OK;
	return opk_fail(
		s->ctx, OPK_EUSAGE,
		"key group '%s' has %ju range%s of pass %u, and %ju of pass %u: their sums don't go "
		"together; eval with aggregate reports each metric by itself",
		by_kernel ? group->range.kernel : group->name, (uintmax_t)first,
		first == 1 ? "" : "s", a->pass, (uintmax_t)other, b->pass);
}

/* In such a recording one sum of each pass makes a joined row. */
static int check_passes(struct sum *s)
{
	size_t groups = s->sums.groups.count;
	opk_autofree const struct opk_summed **firsts = opk_alloc_array(groups + 1, sizeof *firsts);

	if (!firsts)
		return opk_nomem(s->ctx, "sums");
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct opk_summed *sum = &s->sums.sums[i];

		if (!firsts[sum->group])
			firsts[sum->group] = sum;
		TRY(check_equal(s, firsts[sum->group], sum));
	}
	return OPK_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

/*
 * Whether sums have names. Joined rows match by name and GPU: the group's name, or the slot's
 * number. A part keeps names for the final sum.
 */
static bool is_named(const struct sum *s)
{
	return s->part || !*s->meta->join
	       || (s->key & ~(OPK_KEY_GPU | OPK_KEY_HOST | OPK_KEY_RANK)) == OPK_KEY_NAME;
}

static int make_ranges(struct sum *s)
{
	bool named = is_named(s);

	s->ranges = opk_alloc_array(s->sums.count + 1, sizeof *s->ranges);
	if (!s->ranges)
		return opk_nomem(s->ctx, "a range table");
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct opk_summed *sum = &s->sums.sums[s->sums.order[i]];
		const struct opk_grouped *group = &s->sums.groups.groups[sum->group];
		const struct opk_grouped *part = &s->sums.parts.groups[s->sums.order[i]];

		s->ranges[i] = group->range;
		s->ranges[i].name = !named              ? s->sums.numbers.items[i]
		                    : group->many_names ? ""
		                                        : group->name;
		s->ranges[i].pass = sum->pass;
		s->ranges[i].count = part->ranges;
		s->ranges[i].duration_ns = part->duration_count == part->rows ? part->durations : 0;
	}
	opk_ranges_unplace(s->ranges, s->sums.count, opk_merger_common(s->merger));
	return OPK_OK;
}

static int plan(struct sum *s)
{
	const struct opk_sums_options options = {
		.key = s->key, .level = s->level, .single = true, .part = s->part
	};

	TRY(opk_survey_make(&s->survey, s->ctx, s->files, s->file_count));
	TRY(opk_sums_init(&s->sums, s->ctx, &s->survey, &options));
	if (*s->meta->join && !s->part)
		TRY(check_passes(s));
	return make_ranges(s);
}

/* ---- the file --------------------------------------------------------------------------- */

static int write_all(struct sum *s, struct opk_writer *writer, struct opk_result *result)
{
	const struct opk_range *ranges = s->ranges;

	TRY(opk_merger_put_head(s->merger, writer, *s->meta->join ? "name" : NULL));
	for (size_t i = 0; i < s->sums.target_count; i++) {
		size_t slots = s->sums.targets[i].slots;
		opk_autofree void *image = NULL;
		size_t size;

		TRY(opk_recombine_next(&image, &size, s->ctx, result));
		TRY(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
		TRY(opk_writer_add_ranges(writer, ranges, slots, sizeof(struct opk_range)));
		ranges += slots;
	}
	for (size_t i = 0; i < s->file_count; i++)
		TRY(opk_merger_copy_records(s->merger, writer, s->files[i], i));
	return opk_writer_finish(writer);
}

static int sum(struct sum *s, const char *const *paths, size_t count, const char *path)
{
	opk_autosent struct opk_result result = { 0 };
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_check_output(s->ctx, path, OPK_OUTPUT_MERGED));
	TRY(opk_merger_new(&s->merger, s->ctx, paths, count, NULL));
	opk_merger_note_twice(s->merger);
	s->meta = opk_merger_meta(s->merger);
	if (s->meta->profiler == OPK_PROFILER_PM)
		return opk_fail(s->ctx, OPK_EUSAGE,
		                "samples can't be summed to one of a recording; "
		                "eval with aggregate device reports their sums");
	TRY(open_files(s, paths, count));
	TRY(plan(s));
	TRY(opk_recombine(&result, s->ctx,
	                  &(struct opk_recombination){
				  .survey = &s->survey,
				  .targets = s->sums.targets,
				  .target_count = s->sums.target_count,
			  }));
	TRY(opk_writer_new_made(&writer, s->ctx, path, OPK_OUTPUT_MERGED));
	return write_all(s, writer, &result);
}

static void clear(struct sum *s)
{
	free(s->ranges);
	opk_sums_clear(&s->sums);
	opk_survey_clear(&s->survey);
	for (size_t i = 0; i < s->file_count; i++)
		opk_file_free(s->files[i]);
	free(s->files);
	opk_merger_free(s->merger);
}

int opk_sum(struct opk_ctx *ctx, const char *const *paths, size_t count,
            const struct opk_sum_options *given, const char *path)
{
	OPK_OPTIONS(opk_sum_options, options, given);
	__attribute__((cleanup(clear))) struct sum s = { .ctx = ctx, .part = options.part };

	if (!options.key)
		return opk_fail(ctx, OPK_EUSAGE, "sums of which ranges? A key is needed");
	TRY(opk_key_parse(&s.key, ctx, options.key));
	TRY(opk_level_parse(&s.level, ctx, options.level));
	return sum(&s, paths, count, path);
}
