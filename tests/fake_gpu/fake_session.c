/* SPDX-License-Identifier: BSD-2-Clause */
/* A profiling session of the fake CUPTI: ranges, passes, images. */
#include "fake_gpu/fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct session *sessions;
static bool ever;

bool session_any(void)
{
	return sessions != NULL;
}

bool session_ever(void)
{
	return ever;
}

bool session_valid(const struct session *wanted)
{
	for (const struct session *session = sessions; session; session = session->next)
		if (session == wanted)
			return true;
	return false;
}

static struct session *find(CUcontext context)
{
	struct session *session = sessions;

	while (session && (session->context != context || session->orphan))
		session = session->next;
	return session;
}

struct session *session_of(CUcontext context, bool legacy)
{
	struct session *session = find(context ? context : cupti_driver()->current());

	return session && session->legacy == legacy ? session : NULL;
}

int session_new(struct session **out, CUcontext context, bool legacy)
{
	struct session *session;

	if (profiler_ready())
		return profiler_ready();
	if (!context)
		context = cupti_driver()->current();
	if (!context || !cupti_driver()->alive(context))
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (find(context))
		return CUPTI_ERROR_INVALID_OPERATION;
	session = calloc(1, sizeof *session);
	if (!session)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	session->context = context;
	session->context_id = cupti_driver()->id_of(context);
	session->legacy = legacy;
	session->next = sessions;
	sessions = session;
	ever = true;
	*out = session;
	return CUPTI_SUCCESS;
}

void session_free(struct session *session)
{
	struct session **place = &sessions;

	while (*place != session)
		place = &(*place)->next;
	*place = session->next;
	free(session->pending);
	free(session);
}

static bool config_valid(const struct session_config *config)
{
	bool auto_range = config->range == CUPTI_AutoRange;
	bool kernel_replay = config->replay == CUPTI_KernelReplay;

	return (auto_range || config->range == CUPTI_UserRange)
	       && config->replay > CUPTI_Replay_INVALID && config->replay < CUPTI_Replay_COUNT
	       && (auto_range || !kernel_replay) && config->max_ranges && config->levels
	       && config->min_level && (!auto_range || config->levels == 1)
	       && config->pass < config->passes && config->level >= config->min_level
	       && config->level < config->min_level + config->levels;
}

void session_read_config(struct session_config *config, const void *image, size_t size)
{
	config->passes = passes_of_config(image, size);
	config->hash = 14695981039346656037U;
	for (size_t i = 0; i < size; i++)
		config->hash = (config->hash ^ ((const uint8_t *)image)[i]) * 1099511628211U;
}

int session_configure(struct session *session, const struct session_config *config,
                      struct fake_image *image)
{
	size_t next_pass;

	if (session->orphan)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (session->in_pass)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (!image || !config_valid(config))
		return CUPTI_ERROR_INVALID_PARAMETER;
	/* Passes continue in order; later SetConfigs do not change it. */
	next_pass = session->first_max && !session->legacy && config->hash == session->config.hash
	                    ? session->config.pass
	                    : config->pass;
	/* As the real older API does: user replay begins with the first pass. */
	if (session->legacy && config->replay == CUPTI_UserReplay)
		next_pass = 0;
	session->config = *config;
	session->config.pass = next_pass;
	session->image = image;
	session->path_room = image_path_room(image);
	session->count = 0;
	if (!session->first_max) {
		session->first_max = config->max_ranges;
		session->first_hash = config->hash;
	}
	session->configured = true;
	session->submitted = false;
	session->auto_index = 0;
	session->pending_count = 0;
	session->dropped = 0;
	return CUPTI_SUCCESS;
}

/* The precondition of every step of a pass. */
static int check(const struct session *session, bool in_pass)
{
	if (session->orphan)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!session->configured || session->in_pass != in_pass)
		return CUPTI_ERROR_INVALID_OPERATION;
	return cupti_driver()->spoil_capture() ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

int session_begin_pass(struct session *session)
{
	int status = check(session, false);
	/* Launches continue in the pass in which they stopped, as on an H100. */
	bool goes_on = session->submitted && session->config.range == CUPTI_AutoRange
	               && session->config.passes == 1;

	if (status)
		return status;
	if (session->config.replay != CUPTI_KernelReplay && !goes_on) {
		if (session->submitted)
			return CUPTI_ERROR_INVALID_OPERATION;
		session->auto_index = 0;
		session->count = 0;
	}
	session->in_pass = true;
	session->depth = 0;
	session->path[0] = '\0';
	return CUPTI_SUCCESS;
}

/* All passes of one nesting level come before any pass of the next level. */
static void advance(struct session *session)
{
	struct session_config *config = &session->config;

	if (++config->pass < config->passes)
		return;
	config->pass = 0;
	session->submitted = ++config->level == config->min_level + config->levels;
	if (session->submitted)
		config->level = config->min_level;
}

int session_end_pass(struct session *session)
{
	int status = check(session, true);

	if (status)
		return status;
	if (session->depth)
		return CUPTI_ERROR_INVALID_OPERATION;
	session->in_pass = false;
	if (session->config.replay == CUPTI_KernelReplay)
		session->submitted = true;
	else
		advance(session);
	return CUPTI_SUCCESS;
}

static struct pending_range *find_pending(struct session *session, const char *path)
{
	for (size_t i = session->pending_count; i-- > 0;)
		if (session->pending[i].pass == session->config.pass
		    && !strcmp(session->pending[i].path, path))
			return &session->pending[i];
	return NULL;
}

static struct pending_range *add_pending(struct session *session, const char *path)
{
	size_t count = session->pending_count;
	struct pending_range *range;

	if (!(count & (count + 1)))
		session->pending = realloc(session->pending, (2 * count + 1) * sizeof *range);
	if (!session->pending)
		abort();
	range = &session->pending[session->pending_count++];
	*range = (struct pending_range){ .pass = session->config.pass, .passes = 1 };
	range->depth = session->config.level;
	snprintf(range->path, sizeof range->path, "%s", path);
	return range;
}

/*
 * A range with this path begins; the same path is the same range. False: there are more than
 * maxRangesPerPass. Ranges beyond the first config's number, and all ranges of another config
 * image, are lost silently.
 */
static bool begin_range(struct session *session, const char *path)
{
	if (find_pending(session, path))
		return true;
	if (session->count == session->config.max_ranges)
		return false;
	if (session->count++ < session->first_max && session->config.hash == session->first_hash)
		add_pending(session, path);
	return true;
}

int session_push(struct session *session, const char *name)
{
	int status = name ? check(session, true) : CUPTI_ERROR_INVALID_PARAMETER;
	size_t length = strlen(session->path);

	if (status)
		return status;
	if (session->config.range != CUPTI_UserRange || session->depth == MAX_DEPTH)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (length + strlen(name) + 2 > session->path_room)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (length)
		session->path[length++] = FAKE_RANGE_SEPARATOR;
	strcpy(session->path + length, name);
	if (session->depth + 1 == session->config.level && !begin_range(session, session->path)) {
		session->path[length ? length - 1 : 0] = '\0';
		return CUPTI_ERROR_INVALID_OPERATION;
	}
	session->depth++;
	return CUPTI_SUCCESS;
}

int session_pop(struct session *session)
{
	int status = check(session, true);
	char *last = strrchr(session->path, FAKE_RANGE_SEPARATOR);

	if (status)
		return status;
	if (!session->depth)
		return CUPTI_ERROR_INVALID_OPERATION;
	*(last ? last : session->path) = '\0';
	session->depth--;
	return CUPTI_SUCCESS;
}

static void ran_automatic(struct session *session)
{
	struct pending_range *range;
	char path[24];

	snprintf(path, sizeof path, "%zu", session->auto_index++);
	if (!begin_range(session, path)) {
		session->dropped++;
		return;
	}
	range = find_pending(session, path);
	if (range && session->config.replay == CUPTI_KernelReplay)
		range->passes = session->config.passes;
	if (range)
		range->launches = range->passes;
}

/* Kernels in a nested range count for the range that this pass measures. */
static void ran_in_range(struct session *session, size_t kernels)
{
	char path[MAX_PATH_LENGTH];
	struct pending_range *range;
	char *end = path - 1;

	if (session->depth < session->config.level)
		return;
	strcpy(path, session->path);
	for (unsigned level = 0; end && level < session->config.level; level++)
		end = strchr(end + 1, FAKE_RANGE_SEPARATOR);
	if (end)
		*end = '\0';
	range = find_pending(session, path);
	if (range)
		range->launches += kernels;
}

void session_ran(CUcontext context, size_t kernels)
{
	struct session *session = find(context);

	if (!session || !session->in_pass || !session->enabled)
		return;
	if (session->config.range == CUPTI_UserRange)
		ran_in_range(session, kernels);
	else
		for (size_t i = 0; i < kernels; i++)
			ran_automatic(session);
}

static struct fake_range_record *find_record(struct fake_image *image, const char *path)
{
	struct fake_range_record *record;

	for (size_t i = image->count; i-- > 0;) {
		record = image_record(image, i);
		if (!strcmp(record->path, path))
			return record;
	}
	if (image->count == image->max_records)
		return NULL;
	record = image_record(image, image->count++);
	strcpy(record->path, path);
	return record;
}

int session_decode(struct session *session, size_t *dropped)
{
	if (session->orphan)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!session->configured || session->in_pass)
		return CUPTI_ERROR_INVALID_OPERATION;
	*dropped = session->dropped;
	for (size_t i = 0; i < session->pending_count; i++) {
		const struct pending_range *range = &session->pending[i];
		struct fake_range_record *record = find_record(session->image, range->path);

		if (!record) {
			++*dropped;
			continue;
		}
		record->launches += range->launches;
		record->passes += (uint32_t)range->passes;
		record->depth = range->depth;
		record->pass = (uint32_t)range->pass;
	}
	session->pending_count = 0;
	session->dropped = 0;
	return CUPTI_SUCCESS;
}

void session_context_destroyed(CUcontext context)
{
	struct session *session = find(context);

	if (!session)
		return;
	fake_log("lost", 0, "session of context %u", session->context_id);
	session->orphan = true;
}
