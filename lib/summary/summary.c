/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of a recording: makes it step by step, and gives its parts. */
#include <math.h>

#include "base/option_struct.h"
#include "chip/door.h"
#include "images/door.h"
#include "summary/summary_inside.h"

static int find_kind(struct opk_summary *s)
{
	TRY(opk_file_meta(&s->meta, s->ctx, s->file));
	TRY(opk_file_ranges(&s->ranges, &s->range_count, s->ctx, s->file));
	s->kind = summary_is_sampled(s)                                ? OPK_SUMMARY_DEVICES
	          : opk_ranges_have_kernels(s->ranges, s->range_count) ? OPK_SUMMARY_KERNELS
	                                                               : OPK_SUMMARY_RANGES;
	return OPK_OK;
}

static int find_names(struct opk_summary *s)
{
	TRY(opk_kernel_names_new(&s->kernel_names, s->ctx, s->options.kernel_names));
	return opk_kernel_names_add(s->kernel_names, s->ctx, s->ranges, s->range_count);
}

/* Opens the source of descriptions and peaks, for chips that the library knows. */
static int open_catalog(struct opk_summary *s)
{
	if (!s->bake)
		TRY(opk_catalog_of_file(&s->catalog, s->ctx, s->file, s->meta->chip,
		                        s->meta->profiler));
	if (s->catalog)
		return OPK_OK;
	TRY(opk_catalog_new(&s->catalog, s->ctx, s->meta->chip, s->meta->profiler));
	return opk_catalog_complete(s->catalog, s->ctx);
}

static int make(struct opk_summary *s)
{
	int code = find_kind(s);

	if (!code)
		code = find_names(s);
	if (!code && !summary_lacks_rows(s))
		code = open_catalog(s);
	if (!code && !summary_lacks_rows(s))
		code = opk_summary_list_columns(s);
	opk_catalog_free(opk_take(s->catalog));
	if (!code)
		code = opk_summary_make_condition(s);
	if (!code && !summary_is_set(s) && !summary_lacks_rows(s))
		code = opk_summary_evaluate(s);
	if (!code && !summary_is_set(s))
		code = opk_summary_read_kernels(s);
	return code ? code : opk_summary_write_words(s);
}

/* NULL when out of memory. */
static struct opk_summary *begin(struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_summary *s = opk_alloc(sizeof *s);

	if (s) {
		s->ctx = ctx;
		s->file = file;
	}
	return s;
}

int opk_summary_make(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_summary_options *given,
                     const struct opk_summary_values *values)
{
	OPK_OPTIONS(opk_summary_options, options, given);
	struct opk_summary *s = begin(ctx, file);
	int code;

	if (!s)
		return opk_nomem(ctx, "a summary");
	s->options = options;
	if (values)
		s->take = *values;
	code = make(s);
	/* The caller's texts were valid only while it was made. */
	s->options = (struct opk_summary_options){ 0 };
	if (code) {
		opk_summary_free(s);
		return code;
	}
	*out = s;
	return OPK_OK;
}

int opk_summary_names(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_strlist *also)
{
	struct opk_summary *s = begin(ctx, file);
	int code = s ? find_kind(s) : opk_nomem(ctx, "a summary");

	if (s)
		s->take.also = also;
	if (!code)
		code = open_catalog(s);
	if (!code)
		code = opk_summary_list_columns(s);
	for (size_t i = 0; !code && i < s->names.count; i++)
		if (!opk_strlist_add(out, s->names.items[i]))
			code = summary_nomem(s);
	opk_summary_free(s);
	return code;
}

int opk_summary_bake(struct opk_ctx *ctx, struct opk_file *file, const struct opk_strlist *also,
                     struct opk_value_sink *sink)
{
	struct opk_summary *s = begin(ctx, file);
	int code = s ? find_kind(s) : opk_nomem(ctx, "a summary");

	if (s) {
		s->take.also = also;
		s->bake = sink;
	}
	if (!code)
		code = find_names(s);
	if (!code)
		code = open_catalog(s);
	if (!code)
		code = opk_summary_list_columns(s);
	if (!code)
		code = opk_summary_evaluate(s);
	opk_summary_free(s);
	return code;
}

int opk_summary_make_head(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_summary *s = begin(ctx, file);
	int code;

	if (!s)
		return opk_nomem(ctx, "a summary");
	s->only_words = true;
	code = find_kind(s);
	if (!code)
		code = opk_summary_write_words(s);
	if (code)
		opk_summary_free(opk_take(s));
	*out = s;
	return code;
}

int opk_summary_new(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_summary_options *options)
{
	return opk_summary_make(out, ctx, file, options, NULL);
}

void opk_summary_free(struct opk_summary *s)
{
	if (!s)
		return;
	opk_summary_clear_kernels(s);
	free(s->groups);
	free(s->columns);
	opk_aggregate_free(s->aggregate);
	opk_evaluation_free(s->evaluation);
	free((char *)s->condition);
	opk_catalog_free(s->catalog);
	opk_strlist_clear(&s->names);
	opk_strlist_clear(&s->peaks);
	opk_strlist_clear(&s->descriptions);
	opk_strlist_clear(&s->column_words);
	opk_strlist_clear(&s->remarks);
	opk_kernel_names_free(s->kernel_names);
	free((char *)s->words.run);
	free((char *)s->words.machine);
	free((char *)s->words.clocks);
	free((char *)s->words.complete);
	free(s);
}

size_t opk_summary_peak_count(const struct opk_summary *s)
{
	return s->timeline ? opk_evaluation_column_count(s->timeline) : 0;
}

const char *opk_summary_peak(const struct opk_summary *s, size_t i)
{
	return opk_evaluation_column(s->timeline, i);
}

bool opk_summary_has_peak(const struct opk_summary *s, size_t i)
{
	for (size_t k = 0; k < s->kernel_count; k++)
		if (!isnan(s->kernels[k].peaks[i]))
			return true;
	return false;
}
