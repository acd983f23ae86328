/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/shared/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = { "kernel", "launch", "user", "sampling" };
static const char *const turns_names[] = { "none", "rotate", "repeat" };

static const struct {
	const char *variable;
	size_t offset;
} numbers[] = {
	{ SETTING_GROUP, offsetof(struct settings, group) },
	{ SETTING_LEVEL, offsetof(struct settings, level) },
	{ SETTING_SKIP, offsetof(struct settings, skip) },
	{ SETTING_COUNT, offsetof(struct settings, count) },
	{ SETTING_EVERY, offsetof(struct settings, every) },
	{ SETTING_MAX_RANGES, offsetof(struct settings, max_ranges) },
	{ SETTING_INTERVAL, offsetof(struct settings, interval_ns) },
	{ SETTING_MAX_SAMPLES, offsetof(struct settings, max_samples) },
	{ SETTING_BUFFER, offsetof(struct settings, buffer_bytes) },
};

bool settings_filter(const struct settings *settings)
{
	return settings->has_kernel || settings->skip || settings->count || settings->every
	       || settings->max_ranges || settings->nvtx_include;
}

bool settings_push(const struct settings *settings)
{
	return settings->mode == MODE_USER_RANGE
	       || (settings->mode == MODE_LAUNCH_RANGE
	           && (settings->push || (settings_filter(settings) && !settings->tight)));
}

const char *settings_mode_name(enum collect_mode mode)
{
	return mode_names[mode];
}

const char *settings_turns_name(enum collect_turns turns)
{
	return turns_names[turns];
}

static int find_name(const char *const *names, int count, const char *variable)
{
	const char *text = getenv(variable);

	for (int i = 0; text && i < count; i++)
		if (!strcmp(names[i], text))
			return i;
	return 0;
}

static void read_numbers(struct settings *settings)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const char *text = getenv(numbers[i].variable);
		uint64_t value = text ? strtoull(text, NULL, 10) : 0;

		memcpy((char *)settings + numbers[i].offset, &value, sizeof value);
	}
}

const char *settings_read(struct settings *settings)
{
	const char *kernel = getenv(SETTING_KERNEL), *device = getenv(SETTING_DEVICE);

	*settings = (struct settings){
		.set_path = getenv(SETTING_SET),
		.output = getenv(SETTING_OUTPUT),
		.launcher = getenv(SETTING_LAUNCHER),
		.cupti_path = getenv(SETTING_CUPTI),
		.command = getenv(SETTING_COMMAND),
		.nvtx_include = getenv(SETTING_NVTX_INCLUDE),
		.mode = (enum collect_mode)find_name(mode_names, 4, SETTING_MODE),
		.turns = (enum collect_turns)find_name(turns_names, 3, SETTING_TURNS),
		.device = device ? atoi(device) : -1,
		.application = getenv(SETTING_APPLICATION) != NULL,
		.push = getenv(SETTING_PUSH) != NULL,
		.tight = getenv(SETTING_TIGHT) != NULL,
		.legacy = getenv(SETTING_LEGACY) != NULL,
		.verbose = getenv(SETTING_VERBOSE) != NULL,
	};
	read_numbers(settings);
	if (!settings->set_path || !settings->output || !settings->launcher)
		return "not started by offpeak-collect";
	if (!settings->cupti_path)
		settings->cupti_path = "libcupti.so";
	if (!settings->level)
		settings->level = 1;
	settings->has_kernel = kernel && *kernel;
	if (settings->has_kernel && regcomp(&settings->kernel, kernel, REG_EXTENDED | REG_NOSUB))
		return "the kernel filter is no regular expression";
	return NULL;
}
