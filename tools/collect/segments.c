/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/segments.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WAITING = 4 };

struct segment {
	void *image;
	struct opk_range *ranges;
	size_t image_size, range_count;
};

/* abi::__cxa_demangle */
typedef char *demangle_fn(const char *symbol, char *buffer, size_t *length, int *status);

struct segments {
	demangle_fn *demangle; /* NULL: symbols stay as they are */
	struct opk_ctx *ctx; /* of the thread, once it runs */
	struct opk_writer *writer;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct segment waiting[MAX_WAITING];
	size_t count;
	bool ending;
	char error[512];
};

static void keep_error(struct segments *segments)
{
	size_t count = opk_error_count(segments->ctx);

	if (!*segments->error)
		snprintf(segments->error, sizeof segments->error, "%s",
		         count ? opk_error_message(segments->ctx, 0) : "out of memory");
}

void segments_free_ranges(struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].kernel != ranges[i].symbol)
			free((char *)ranges[i].kernel);
		free((char *)ranges[i].symbol);
	}
	free(ranges);
}

/* libstdc++ has it; most programs that launch kernels have libstdc++. */
static demangle_fn *find_demangle(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	return library ? (demangle_fn *)dlsym(library, "__cxa_demangle") : NULL;
}

static void demangle(struct segments *segments, struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int status = 0;

		ranges[i].kernel = segments->demangle && ranges[i].symbol
		                           ? segments->demangle(ranges[i].symbol, NULL, NULL, &status)
		                           : NULL;
		if (!ranges[i].kernel)
			ranges[i].kernel = ranges[i].symbol;
	}
}

static void write_segment(struct segments *segments, const struct segment *segment)
{
	int code = OPK_OK;

	demangle(segments, segment->ranges, segment->range_count);
	if (!*segments->error)
		code = opk_writer_add(segments->writer, OPK_SECTION_DATA, segment->image,
		                      segment->image_size);
	if (!*segments->error && !code)
		code = opk_writer_add_ranges(segments->writer, segment->ranges,
		                             segment->range_count);
	if (code)
		keep_error(segments);
	free(segment->image);
	segments_free_ranges(segment->ranges, segment->range_count);
}

static bool take(struct segments *segments, struct segment *segment)
{
	bool any;

	pthread_mutex_lock(&segments->lock);
	while (!segments->count && !segments->ending)
		pthread_cond_wait(&segments->changed, &segments->lock);
	any = segments->count > 0;
	if (any) {
		*segment = segments->waiting[0];
		memmove(segments->waiting, segments->waiting + 1,
		        --segments->count * sizeof *segments->waiting);
		pthread_cond_broadcast(&segments->changed);
	}
	pthread_mutex_unlock(&segments->lock);
	return any;
}

static void *run(void *data)
{
	struct segments *segments = data;
	struct segment segment;

	while (take(segments, &segment))
		write_segment(segments, &segment);
	return NULL;
}

/* The program's signals are the program's: none is delivered to this thread. */
static int start_thread(struct segments *segments)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&segments->thread, NULL, run, segments);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed ? OPK_EFAILED : OPK_OK;
}

int segments_new(struct segments **out, const char *path, const struct opk_meta *meta,
                 const void *availability, size_t availability_size)
{
	struct segments *segments = calloc(1, sizeof *segments);
	int code;

	if (!segments || opk_ctx_new(&segments->ctx, NULL))
		return OPK_ENOMEM;
	segments->demangle = find_demangle();
	pthread_mutex_init(&segments->lock, NULL);
	pthread_cond_init(&segments->changed, NULL);
	code = opk_writer_new_live(&segments->writer, segments->ctx, path);
	if (!code)
		code = opk_writer_add_meta(segments->writer, meta);
	if (!code)
		code = opk_writer_add(segments->writer, OPK_SECTION_AVAILABILITY, availability,
		                      availability_size);
	if (!code)
		code = start_thread(segments);
	if (code) {
		fprintf(stderr, "offpeak-collect: %s\n",
		        opk_error_count(segments->ctx) ? opk_error_message(segments->ctx, 0)
		                                       : "no thread");
		opk_writer_free(segments->writer);
		opk_ctx_free(segments->ctx);
		free(segments);
		return code;
	}
	*out = segments;
	return OPK_OK;
}

void segments_add(struct segments *segments, void *image, size_t size, struct opk_range *ranges,
                  size_t range_count)
{
	pthread_mutex_lock(&segments->lock);
	while (segments->count == MAX_WAITING)
		pthread_cond_wait(&segments->changed, &segments->lock);
	segments->waiting[segments->count++] =
		(struct segment){ image, ranges, size, range_count };
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
}

const char *segments_finish(struct segments *segments)
{
	pthread_mutex_lock(&segments->lock);
	segments->ending = true;
	pthread_cond_broadcast(&segments->changed);
	pthread_mutex_unlock(&segments->lock);
	pthread_join(segments->thread, NULL);
	if (!*segments->error && opk_writer_finish(segments->writer))
		keep_error(segments);
	return *segments->error ? segments->error : NULL;
}
