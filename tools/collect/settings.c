/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool settings_filter(const struct settings *settings)
{
	return settings->has_kernel || settings->skip || settings->count || settings->every
	       || settings->max_ranges;
}

const char *settings_mode_name(enum collect_mode mode)
{
	return mode == MODE_LAUNCH_RANGE ? "launch" : "kernel";
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

const char *settings_read(struct settings *settings)
{
	const char *mode = getenv(SETTING_MODE), *kernel = getenv(SETTING_KERNEL);
	const char *output = getenv(SETTING_OUTPUT);

	*settings = (struct settings){
		.set_path = getenv(SETTING_SET),
		.cupti_path = getenv(SETTING_CUPTI),
		.skip = number(SETTING_SKIP),
		.count = number(SETTING_COUNT),
		.every = number(SETTING_EVERY),
		.max_ranges = number(SETTING_MAX_RANGES),
		.verbose = getenv(SETTING_VERBOSE) != NULL,
	};
	if (!settings->set_path || !output)
		return "not started by offpeak-collect";
	snprintf(settings->output_path, sizeof settings->output_path, "%s.%d" PART_ENDING, output,
	         (int)getpid());
	if (!settings->cupti_path)
		settings->cupti_path = "libcupti.so";
	if (mode && !strcmp(mode, "launch"))
		settings->mode = MODE_LAUNCH_RANGE;
	settings->has_kernel = kernel && *kernel;
	if (settings->has_kernel && regcomp(&settings->kernel, kernel, REG_EXTENDED | REG_NOSUB))
		return "the kernel filter is no regular expression";
	return NULL;
}
