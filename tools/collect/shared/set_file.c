/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a set's metadata and images, and checks all bytes. */
#include "collect/shared/shared.h"

/* Reports the place and the reason of an error. */
static int report(const struct opk_ctx *ctx, int code)
{
	if (!ctx || opk_error_count(ctx) < 2)
		return say(code, "%s", outer_cause(ctx));
	return say(code, "%s: %s", outer_cause(ctx), opk_error_message(ctx, 0));
}

static int read_section(const struct collect_set *set, uint32_t type, void **data, size_t *size)
{
	long i = opk_file_find(set->file, type);

	return i < 0 ? OPK_EINPUT : opk_file_read(data, size, set->ctx, set->file, (size_t)i);
}

/* Rotation is best with many passes in which a launch costs little. */
static void choose_plan(struct collect_set *set, const struct settings *settings)
{
	struct opk_meta_rotation *rotation = &set->chosen.rotation;

	set->rotates = rotation->passes && settings->replay == REPLAY_ROTATE
	               && settings->prefer == PREFER_CHEAP;
	if (set->rotates) {
		set->chosen.passes = rotation->passes;
		set->chosen.config_hash = rotation->config_hash;
		set->chosen.metric_passes = rotation->metric_passes;
		set->chosen.metric_pass_count = rotation->metric_pass_count;
	}
	*rotation = (struct opk_meta_rotation){ 0 };
	set->meta = &set->chosen;
}

static int verify(struct collect_set *set, const char *path)
{
	const struct opk_meta *meta;

	TRY(opk_ctx_new(&set->ctx, NULL));
	TRY(opk_file_open(&set->file, set->ctx, path));
	TRY(opk_file_meta(&meta, set->ctx, set->file));
	set->chosen = *meta;
	for (size_t i = 0; i < opk_file_section_count(set->file); i++)
		TRY(opk_file_verify(set->ctx, set->file, i));
	return OPK_OK;
}

int collect_set_open(struct collect_set *set, const struct settings *settings, const char *path)
{
	int code;

	*set = (struct collect_set){ 0 };
	code = verify(set, path);
	if (code)
		return report(set->ctx, code);
	choose_plan(set, settings);
	return opk_file_complete(set->file)
	               ? OPK_OK
	               : say(OPK_EINPUT, "%s is cut off: build it again", path);
}

int collect_set_load(struct collect_set *set, const struct settings *settings, const char *path)
{
	struct image_set *images = &set->images;
	int code;

	TRY(collect_set_open(set, settings, path));
	code = read_section(set, set->rotates ? OPK_SECTION_ROTATION : OPK_SECTION_CONFIG,
	                    &images->config, &images->config_size);
	if (!code)
		code = read_section(set, OPK_SECTION_PREFIX, &images->prefix, &images->prefix_size);
	if (code && opk_error_count(set->ctx))
		return report(set->ctx, code);
	return !code ? OPK_OK
	             : say(code,
	                   "the set has no config image or no counter-data prefix: it was not made "
	                   "by 'offpeak build'");
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
