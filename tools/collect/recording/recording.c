/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording says of machine, command and environment. */
#include "collect/recording/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/shared/shared.h"

/* What META's `run` says of machine, command and environment. */
struct facts {
	struct opk_property *items;
	size_t count, capacity;
};

/* Environment variables that change what runs where. */
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

/* Takes name and value over. */
static void add(struct facts *facts, char *name, char *value)
{
	struct opk_property *item = name && value ? opk_append(&facts->items, &facts->capacity,
	                                                       &facts->count, sizeof *item)
	                                          : NULL;

	if (item) {
		*item = (struct opk_property){ name, value };
		return;
	}
	free(name);
	free(value);
}

static void add_text(struct facts *facts, const char *name, const char *value)
{
	add(facts, opk_strdup(name), opk_strdup(value));
}

static void add_number(struct facts *facts, const char *name, int number)
{
	add(facts, opk_strdup(name), opk_printf("%d", number));
}

/* The first word of numbers in "NVRM version: NVIDIA UNIX ...  580.159.04  ...". */
static void add_driver(struct facts *facts)
{
	opk_autofclose FILE *file = fopen("/proc/driver/nvidia/version", "r");
	char line[512] = "", *rest = line, *word;

	if (!file || !fgets(line, sizeof line, file))
		return;
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word && word[strspn(word, "0123456789.")] == '\0') {
			add_text(facts, "driver", word);
			return;
		}
}

static void add_device(struct facts *facts, const struct target *target, int device)
{
	char text[128] = "";
	int value;

	if (target->cuDeviceGetName(text, sizeof text, device))
		return;
	add(facts, opk_printf("device.%d.name", device), opk_strdup(text));
	add(facts, opk_printf("device.%d.mig", device),
	    opk_strdup(strstr(text, " MIG ") ? "yes" : "no"));
	if (!target->cuDeviceGetPCIBusId(text, sizeof text, device))
		add(facts, opk_printf("device.%d.pci", device), opk_strdup(text));
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (!target->cuDeviceGetAttribute(&value, attributes[i].attribute, device))
			add(facts, opk_printf("device.%d.%s", device, attributes[i].name),
			    opk_printf("%d", value));
}

static void add_machine(struct facts *facts, const struct target *target)
{
	char host[256] = "", started[32];
	time_t now = time(NULL);
	struct tm utc;
	int version = 0;

	gethostname(host, sizeof host - 1);
	add_text(facts, "hostname", host);
	strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	add_text(facts, "started", started);
	add_number(facts, "process", (int)getpid());
	add_driver(facts);
	if (!target->cuDriverGetVersion(&version))
		add_number(facts, "cuda_version", version);
	add_text(facts, "cupti", target->cupti_path);
}

static void facts_collect(struct facts *facts, const struct target *target)
{
	enum { MAX_DEVICES = 16 };
	const char *value;
	int devices = 0;

	add_machine(facts, target);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings_table[i].uses & RECORDED
		    && (value = getenv(settings_table[i].variable)))
			add_text(facts, settings_table[i].name, value);
	if (!target->cuDeviceGetCount(&devices))
		for (int device = 0; device < devices && device < MAX_DEVICES; device++)
			add_device(facts, target, device);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if ((value = getenv(variables[i])))
			add(facts, opk_printf("env.%s", variables[i]), opk_strdup(value));
}

static void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free((char *)facts->items[i].name);
		free((char *)facts->items[i].value);
	}
	free(facts->items);
}

/* Digits alone, for an int; -1 for anything else. */
static int read_rank(const char *text)
{
	long number;

	errno = 0;
	number = strtol(text, NULL, 10);
	return text[strspn(text, "0123456789")] || errno || number > INT_MAX ? -1 : (int)number;
}

int recording_rank(void)
{
	for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++) {
		const char *value = getenv(rank_variables[i]);
		int rank = value && *value ? read_rank(value) : -1;

		if (rank >= 0)
			return rank;
		/* Rows are joined by it: a wrong one is worse than none. */
		if (value && *value)
			fprintf(stderr,
			        "offpeak-collect: note: %s=%s is no rank, which is a whole number "
			        "up to %d: it is kept as env.%s only\n",
			        rank_variables[i], value, INT_MAX, rank_variables[i]);
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
	struct segments *segments;
	char generator[64], path[4096];
	uint32_t version = 0;
	struct facts facts = { 0 };

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
	segments = segments_new(path, &meta, availability, availability_size);
	free((void *)meta.inflated);
	facts_clear(&facts);
	return segments;
}
