/* SPDX-License-Identifier: BSD-2-Clause */
/* A set's metadata and images, checked byte by byte. */
#include "base/try.h"
#include "collect/shared/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "container/door.h"

/* Reports where it happened, and why. */
static int report(const struct opk_ctx *ctx, int code)
{
	size_t count = ctx ? opk_error_count(ctx) : 0;
	opk_autofree char *text = !count ? NULL
	                          : count == 1
	                                  ? opk_strdup(opk_error_message(ctx, 0))
	                                  : opk_printf("%s: %s", opk_error_message(ctx, count - 1),
	                                               opk_error_message(ctx, 0));

	opk_terminal_say(stderr, "offpeak-collect: ", text ? text : "out of memory");
	return code;
}

static int read_section(const struct collect_set *set, uint32_t type, void **data, size_t *size)
{
	for (size_t i = 0; i < opk_file_section_count(set->file); i++)
		if (opk_file_section(set->file, i)->type == type)
			return opk_file_read(data, size, set->ctx, set->file, i);
	return OPK_EINPUT;
}

static int read_images(struct collect_set *set)
{
	struct image_set *images = &set->images;

	TRY(read_section(set, OPK_SECTION_CONFIG, &images->config, &images->config_size));
	return read_section(set, OPK_SECTION_PREFIX, &images->prefix, &images->prefix_size);
}

int collect_set_open(struct collect_set *set, const char *path)
{
	int code;

	*set = (struct collect_set){ 0 };
	code = opk_ctx_new(&set->ctx, NULL);
	if (!code)
		code = opk_file_open(&set->file, set->ctx, path);
	if (!code)
		code = opk_file_meta(&set->meta, set->ctx, set->file);
	for (size_t i = 0; !code && i < opk_file_section_count(set->file); i++)
		code = opk_file_verify(set->ctx, set->file, i);
	if (code)
		return report(set->ctx, code);
	if (opk_file_complete(set->file))
		return OPK_OK;
	return say(OPK_EINPUT, "%s is cut off: build it again", path);
}

int collect_set_load(struct collect_set *set, const char *path)
{
	int code = collect_set_open(set, path);

	if (code)
		return code;
	code = read_images(set);
	if (code && opk_error_count(set->ctx))
		return report(set->ctx, code);
	if (code)
		fputs("offpeak-collect: the set has no config image or no counter-data prefix: it "
		      "was not made by 'offpeak build'\n",
		      stderr);
	return code;
}

void collect_set_clear(struct collect_set *set)
{
	free(set->images.config);
	free(set->images.prefix);
	opk_file_free(set->file);
	opk_ctx_free(set->ctx);
}

bool metric_is_inflated(const char *metric)
{
	static const char *const marks[] = { "_elapsed", "per_second", "__time_", "in_region",
		                             "in_frame" };

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strstr(metric, marks[i]))
			return true;
	return false;
}

const char **inflated_metrics(size_t *count, const struct opk_meta *meta)
{
	const char **names = calloc(meta->metric_count, sizeof *names);

	*count = 0;
	for (size_t i = 0; names && i < meta->metric_count; i++)
		if (metric_is_inflated(meta->metrics[i]))
			names[(*count)++] = meta->metrics[i];
	return names;
}
