/* SPDX-License-Identifier: BSD-2-Clause */
/* What the launcher tells the injection library, through the environment. */
#ifndef OPK_SETTINGS_H
#define OPK_SETTINGS_H

#include <regex.h>

#include "offpeak.h"

enum collect_mode {
	MODE_KERNEL_REPLAY, /* auto range; any number of passes */
	MODE_LAUNCH_RANGE,  /* a user range around each launch; one pass */
};

struct settings {
	const char *set_path;
	char output_path[4096]; /* of this process: the launcher's name, .PID and PART_ENDING */
	const char *cupti_path;
	enum collect_mode mode;
	bool has_kernel;
	regex_t kernel;
	uint64_t skip, count, every; /* of launches that match; count 0: all; every 0: each */
	uint64_t max_ranges;         /* 0: no limit */
	bool verbose;
};

/* Names of the environment variables; the launcher sets them, the library reads them. */
/* Behind the launcher's output name and ".PID": the recording of a process that still runs. */
#define PART_ENDING ".part"

#define SETTING_SET "OFFPEAK_COLLECT_SET"
#define SETTING_OUTPUT "OFFPEAK_COLLECT_OUTPUT"
#define SETTING_CUPTI "OFFPEAK_COLLECT_CUPTI"
#define SETTING_MODE "OFFPEAK_COLLECT_MODE"
#define SETTING_KERNEL "OFFPEAK_COLLECT_KERNEL"
#define SETTING_SKIP "OFFPEAK_COLLECT_SKIP"
#define SETTING_COUNT "OFFPEAK_COLLECT_COUNT"
#define SETTING_EVERY "OFFPEAK_COLLECT_EVERY"
#define SETTING_MAX_RANGES "OFFPEAK_COLLECT_MAX_RANGES"
#define SETTING_VERBOSE "OFFPEAK_COLLECT_VERBOSE"

/* Whether some launches are left out. */
bool settings_filter(const struct settings *settings);
/* "kernel" or "launch". */
const char *settings_mode_name(enum collect_mode mode);
/* NULL on success, else what is wrong. */
const char *settings_read(struct settings *settings);

#endif
