/* SPDX-License-Identifier: BSD-2-Clause */
/* The libcupti that the program has loaded; and what the program does with it. */
#ifndef OPK_COLLECT_PROGRAM_CUPTI_H
#define OPK_COLLECT_PROGRAM_CUPTI_H

#include <stdbool.h>

/* The path of the first loaded libcupti that is not `except`; free(). NULL: there is none. */
char *cupti_loaded(const char *except);
/* A function of a library that is loaded; NULL: there is none, or `path` is NULL. */
void *loaded_function(const char *path, const char *symbol);

/*
 * What the program uses of CUPTI itself, in bits. liboffpeak-preload.so sees its calls, and asks
 * the collector to make way: offpeak_make_way() of liboffpeak-inject.so, with one of these bits,
 * before CUPTI gets the call; with 0 after a call that gave something back. The collector asks
 * offpeak_program_uses() of the preloaded library.
 */
enum program_use {
	USE_CALLBACKS = 1,  /* it subscribed */
	USE_ACTIVITIES = 2, /* it enabled activity records */
	USE_COUNTERS = 4,   /* it enabled a profiler */
	USE_BUFFERS = 8,    /* it has registered, at any time, where activity records go to */
};
void offpeak_make_way(unsigned use);
/* Whether the collector uses CUPTI's profiler: without it, ending a sampler would crash. */
bool offpeak_profiles(void);
/*
 * Keeps the collector's threads from CUPTI while the program ends it, until `ends` is false; then
 * `ended` says whether CUPTI has ended.
 */
void offpeak_end_cupti(bool ends, bool ended);
unsigned offpeak_program_uses(void);
/*
 * The preloaded library calls this function before the program's exit handlers run. NVIDIA's
 * libraries register handlers in the midst of calls, and crash in a call that goes on after that.
 */
void offpeak_preloaded(void (*before_exit)(void));

#endif
