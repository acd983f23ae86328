/* SPDX-License-Identifier: BSD-2-Clause */
/* Begins a recording: its name, metadata, rank, and counts. */
#include "collect/recording/recording.h"

#include <limits.h>
#include <sys/stat.h>

const char *const drop_reasons[DROPS] = {
#define X(id, reason) reason,
	DROP_REASONS(X)
#undef X
};

int recording_rank(void)
{
	for (size_t i = 0; opk_rank_variable(i); i++) {
		const char *value = getenv(opk_rank_variable(i));
		int rank = value ? opk_rank_read(value) : -1;

		if (rank >= 0)
			return rank;
		/* Rows are joined by rank: a wrong rank is worse than none. */
		if (value && *value)
			say(0,
			    "note: %s=%s is not a rank, which is a whole number up to %d: it is "
			    "kept as env.%s only",
			    opk_rank_variable(i), value, INT_MAX, opk_rank_variable(i));
	}
	return -1;
}

static const char *join_of(const struct settings *settings)
{
	if (settings->turns == TURNS_NONE)
		return "";
	if (settings->mode == MODE_USER_RANGE)
		return "name";
	return settings->application ? "launch" : "kernel";
}

static unsigned no_name(const struct settings *settings, const char *problem)
{
	return say(0, "-o %s: nothing is recorded of process %d: %s", settings->output,
	           (int)getpid(), problem);
}

unsigned recording_path(char *path, size_t size, const struct settings *settings, unsigned first)
{
	enum { MOST_IMAGES = 10000000 };
	const char *problem = name_problem(settings->output);
	char name[3072], number[16] = "";
	struct stat info;

	if (problem)
		return no_name(settings, problem);
	if (!name_expand(name, sizeof name, settings->output))
		return no_name(settings, "the path is too long");
	for (unsigned image = first; image < MOST_IMAGES; image++) {
		if (image > 1)
			snprintf(number, sizeof number, "-%u", image);
		if (snprintf(path, size, "%s.%s-%d%s" PART_ENDING, name, settings->token,
		             (int)getpid(), number)
		    >= (int)size)
			return no_name(settings, "the path is too long");
		if (lstat(path, &info))
			return image;
	}
	return no_name(settings, "all names that its file could have are taken");
}

struct segments *recording_begin(const struct settings *settings, const struct collect_set *set,
                                 const char *backend, const void *availability,
                                 size_t availability_size)
{
	opk_autofacts struct facts facts = { 0 };
	struct opk_meta meta = *set->meta;
	struct segments *segments;
	char path[4096];
	unsigned image = recording_path(path, sizeof path, settings, 1);
	bool taken;

	if (!image)
		return NULL;
	facts_collect(&facts);
	facts_describe(&meta, &facts);
	meta.kind = "recording";
	meta.mode = settings->mode == MODE_SASS || settings->mode == MODE_PC
	                    ? "code"
	                    : settings_word(SETTING_MODE, settings->mode);
	meta.join = join_of(settings);
	meta.backend = backend;
	if (settings->mode == MODE_LAUNCH_RANGE && settings_push(settings))
		meta.inflated = inflated_metrics(&meta.inflated_count, set->meta);
	do
		segments = segments_new(&taken, path, &meta, availability, availability_size);
	while (taken && (image = recording_path(path, sizeof path, settings, image)));
	if (segments && settings->rotate_ns)
		segments_rotate(segments, settings, path, image);
	if (segments)
		tally_begin(settings, image);
	free((void *)meta.inflated);
	return segments;
}

void counts_add(struct counts *to, const struct counts *from)
{
	to->ranges += from->ranges;
	to->activities += from->activities;
	to->reckoned += from->reckoned;
	for (size_t i = 0; i < DROPS; i++)
		to->drops[i] += from->drops[i];
}
