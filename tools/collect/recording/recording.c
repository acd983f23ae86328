/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/recording/recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/shared/file_names.h"

enum { MAX_FACTS = 256 };

/* What META's `run` says of machine, command and environment. */
struct facts {
	struct opk_property items[MAX_FACTS];
	size_t count;
};

/* The environment that changes what runs where. */
static const char *const variables[] = {
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"CUDA_LAUNCH_BLOCKING",
	"CUDA_MODULE_LOADING",
	"CUDA_MPS_PIPE_DIRECTORY",
	"NVIDIA_TF32_OVERRIDE",
	"OMP_NUM_THREADS",
	"WORLD_SIZE",
	"RANK",
	"LOCAL_RANK",
	"OMPI_COMM_WORLD_RANK",
	"PMI_RANK",
	"PMIX_RANK",
	"SLURM_JOB_ID",
	"SLURM_PROCID",
};

static const char *const rank_variables[] = {
	"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
};

static const struct {
	const char *name;
	CUdevice_attribute attribute;
} attributes[] = {
	{ "multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT },
	{ "max_sm_clock_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE },
	{ "max_memory_clock_khz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE },
	{ "compute_capability_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR },
	{ "compute_capability_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR },
};

__attribute__((format(printf, 3, 4))) static void add(struct facts *facts, const char *name,
                                                      const char *format, ...)
{
	struct opk_property *item = &facts->items[facts->count];
	char *value;
	va_list args;
	int size;

	va_start(args, format);
	size = facts->count < MAX_FACTS ? vasprintf(&value, format, args) : -1;
	va_end(args);
	if (size < 0)
		return;
	item->name = strdup(name);
	item->value = value;
	if (item->name)
		facts->count++;
	else
		free(value);
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  ...": the first word of numbers. */
static void add_driver(struct facts *facts)
{
	FILE *file = fopen("/proc/driver/nvidia/version", "r");
	char line[512] = "", *rest = line, *word;

	if (file) {
		if (!fgets(line, sizeof line, file))
			*line = '\0';
		fclose(file);
	}
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word && word[strspn(word, "0123456789.")] == '\0') {
			add(facts, "driver", "%s", word);
			return;
		}
}

static void add_device(struct facts *facts, const struct target *target, int device)
{
	char key[64], text[128] = "";
	int value;

	if (target->cuDeviceGetName(text, sizeof text, device))
		return;
	snprintf(key, sizeof key, "device.%d.name", device);
	add(facts, key, "%s", text);
	snprintf(key, sizeof key, "device.%d.mig", device);
	add(facts, key, "%s", strstr(text, " MIG ") ? "yes" : "no");
	if (!target->cuDeviceGetPCIBusId(text, sizeof text, device)) {
		snprintf(key, sizeof key, "device.%d.pci", device);
		add(facts, key, "%s", text);
	}
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		if (target->cuDeviceGetAttribute(&value, attributes[i].attribute, device))
			continue;
		snprintf(key, sizeof key, "device.%d.%s", device, attributes[i].name);
		add(facts, key, "%d", value);
	}
}

static void add_machine(struct facts *facts, const struct target *target)
{
	char host[256] = "", started[32];
	time_t now = time(NULL);
	struct tm utc;
	int version = 0;

	gethostname(host, sizeof host - 1);
	add(facts, "hostname", "%s", host);
	strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	add(facts, "started", "%s", started);
	add(facts, "process", "%d", (int)getpid());
	add_driver(facts);
	if (!target->cuDriverGetVersion(&version))
		add(facts, "cuda_version", "%d", version);
	add(facts, "cupti", "%s", target->cupti_path);
}

static void facts_collect(struct facts *facts, const struct target *target)
{
	enum { MAX_DEVICES = 16 };
	int devices = 0;

	*facts = (struct facts){ 0 };
	add_machine(facts, target);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const char *value = getenv(settings_table[i].variable);

		if (value && settings_table[i].uses & RECORDED)
			add(facts, settings_table[i].name, "%s", value);
	}
	if (!target->cuDeviceGetCount(&devices))
		for (int device = 0; device < devices && device < MAX_DEVICES; device++)
			add_device(facts, target, device);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = getenv(variables[i]);
		char key[64];

		if (!value)
			continue;
		snprintf(key, sizeof key, "env.%s", variables[i]);
		add(facts, key, "%s", value);
	}
}

static void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free((char *)facts->items[i].name);
		free((char *)facts->items[i].value);
	}
}

int recording_rank(void)
{
	for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++) {
		const char *value = getenv(rank_variables[i]);

		if (value && *value)
			return atoi(value);
	}
	return -1;
}

static const char *join_of(const struct settings *settings)
{
	if (settings->turns == TURNS_ROTATE)
		return "kernel";
	if (settings->turns == TURNS_REPEAT)
		return "name";
	if (settings->group)
		return settings->mode == MODE_USER_RANGE ? "name" : "launch";
	return "";
}

static bool part_path(char *path, size_t size, const struct settings *settings)
{
	char name[3072];

	if (name_expand(name, sizeof name, settings->output))
		return snprintf(path, size, "%s.%s-%d" PART_ENDING, name, settings->launcher,
		                (int)getpid())
		       < (int)size;
	fprintf(stderr, "offpeak-collect: %s: no usable name of a recording\n", settings->output);
	return false;
}

struct segments *recording_begin(const struct target *target, const struct settings *settings,
                                 const struct collect_set *set, const char *backend,
                                 const void *availability, size_t availability_size)
{
	struct opk_meta meta = *set->meta;
	struct segments *segments = NULL;
	char generator[64], path[4096];
	uint32_t version = 0;
	struct facts facts;

	if (!part_path(path, sizeof path, settings))
		return NULL;
	snprintf(generator, sizeof generator, "offpeak-collect %s", opk_version());
	target->cuptiGetVersion(&version);
	facts_collect(&facts, target);
	meta.kind = "recording";
	meta.generator = generator;
	meta.cupti_version = version;
	meta.mode = settings_word(SETTING_MODE, settings->mode);
	meta.join = join_of(settings);
	meta.backend = backend;
	meta.run = facts.items;
	meta.run_count = facts.count;
	if (settings->mode == MODE_LAUNCH_RANGE && settings_push(settings))
		meta.inflated = inflated_metrics(&meta.inflated_count, set->meta);
	segments_new(&segments, path, &meta, availability, availability_size);
	free((void *)meta.inflated);
	facts_clear(&facts);
	return segments;
}
