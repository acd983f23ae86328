/* SPDX-License-Identifier: BSD-2-Clause */
/* What the launcher tells the injection library, through the environment. */
#ifndef OPK_SETTINGS_H
#define OPK_SETTINGS_H

#include <regex.h>

#include "offpeak.h"

enum collect_mode {
	MODE_KERNEL_REPLAY, /* auto range; any number of passes */
	MODE_LAUNCH_RANGE,  /* a range around each launch; one pass */
	MODE_USER_RANGE,    /* the program's own ranges; one pass */
	MODE_SAMPLING,      /* PM sampling */
};

/* Who takes the one-pass groups of a set that needs several. */
enum collect_turns {
	TURNS_NONE,   /* one group for the whole process: settings.group */
	TURNS_ROTATE, /* launches, image by image */
	TURNS_REPEAT, /* repetitions of an outermost user range */
};

struct settings {
	const char *set_path;
	const char *output; /* with the %-items of parts.h still in it */
	const char *launcher;
	const char *cupti_path;
	const char *command; /* the program and its arguments, as one line */
	enum collect_mode mode;
	enum collect_turns turns;
	uint64_t group;   /* TURNS_NONE: the images to collect with; 0: the whole set's */
	bool application; /* other runs of the program record other groups and levels */
	uint64_t level;   /* nesting level of user ranges to record, from 1 */
	bool has_kernel;
	regex_t kernel;
	const char *nvtx_include;    /* filters of nvtx_filter.h, one a line; NULL: none */
	uint64_t skip, count, every; /* of launches that match; count 0: all; every 0: each */
	uint64_t max_ranges;         /* 0: no limit */
	int device;                  /* -1: all */
	uint64_t interval_ns, max_samples, buffer_bytes; /* sampling; 0: the default */
	bool push;   /* launches: ranges are pushed in any case */
	bool tight;  /* launches: no idle time in their ranges, even with a filter */
	bool legacy; /* the backend of drivers without the range profiler */
	bool verbose;
};

/* Names of the environment variables; the launcher sets them, the library reads them. */
#define SETTING_SET "OFFPEAK_COLLECT_SET"
#define SETTING_OUTPUT "OFFPEAK_COLLECT_OUTPUT"
#define SETTING_LAUNCHER "OFFPEAK_COLLECT_LAUNCHER"
#define SETTING_CUPTI "OFFPEAK_COLLECT_CUPTI"
#define SETTING_COMMAND "OFFPEAK_COLLECT_COMMAND"
#define SETTING_MODE "OFFPEAK_COLLECT_MODE"
#define SETTING_TURNS "OFFPEAK_COLLECT_TURNS"
#define SETTING_APPLICATION "OFFPEAK_COLLECT_APPLICATION"
#define SETTING_GROUP "OFFPEAK_COLLECT_GROUP"
#define SETTING_LEVEL "OFFPEAK_COLLECT_LEVEL"
#define SETTING_KERNEL "OFFPEAK_COLLECT_KERNEL"
#define SETTING_NVTX_INCLUDE "OFFPEAK_COLLECT_NVTX_INCLUDE"
#define SETTING_SKIP "OFFPEAK_COLLECT_SKIP"
#define SETTING_COUNT "OFFPEAK_COLLECT_COUNT"
#define SETTING_EVERY "OFFPEAK_COLLECT_EVERY"
#define SETTING_MAX_RANGES "OFFPEAK_COLLECT_MAX_RANGES"
#define SETTING_DEVICE "OFFPEAK_COLLECT_DEVICE"
#define SETTING_INTERVAL "OFFPEAK_COLLECT_INTERVAL"
#define SETTING_MAX_SAMPLES "OFFPEAK_COLLECT_MAX_SAMPLES"
#define SETTING_BUFFER "OFFPEAK_COLLECT_BUFFER"
#define SETTING_PUSH "OFFPEAK_COLLECT_PUSH"
#define SETTING_TIGHT "OFFPEAK_COLLECT_TIGHT"
#define SETTING_LEGACY "OFFPEAK_COLLECT_LEGACY"
#define SETTING_VERBOSE "OFFPEAK_COLLECT_VERBOSE"
/* Of programs that mark ranges with offpeak_range.h: the library that takes them. */
#define SETTING_LIBRARY "OFFPEAK_COLLECT_LIBRARY"

/* Whether some launches are left out. */
bool settings_filter(const struct settings *settings);
/*
 * Whether ranges are pushed and popped. Without a filter the profiler makes a range of each launch,
 * tightly around the kernel; with one it would have to start and stop around those that are wanted,
 * which takes it 9 to 18 ms.
 */
bool settings_push(const struct settings *settings);
/* What META and the environment call a mode: "kernel", "launch", "user", "sampling". */
const char *settings_mode_name(enum collect_mode mode);
/* The value of SETTING_TURNS: "none", "rotate", "repeat". */
const char *settings_turns_name(enum collect_turns turns);
/* NULL on success, else what is wrong. */
const char *settings_read(struct settings *settings);

#endif
