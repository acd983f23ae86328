/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording says of machine, devices, command and environment. */
#include "collect/recording/recording.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/shared/shared.h"

static const char *const variables[] = { RECORDED_VARIABLES };

/* The driver's own names, in lower case here, which `device__attribute_NAME` finds again. */
#define NAMED(attribute)                                                                           \
	{                                                                                          \
#attribute, CU_DEVICE_ATTRIBUTE_##attribute                                        \
	}

static const struct {
	const char *name;
	CUdevice_attribute attribute;
} attributes[] = {
	{ "multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT },
	{ "max_sm_clock_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE },
	{ "max_memory_clock_khz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE },
	NAMED(COMPUTE_CAPABILITY_MAJOR),
	NAMED(COMPUTE_CAPABILITY_MINOR),
	NAMED(GLOBAL_MEMORY_BUS_WIDTH),
	NAMED(L2_CACHE_SIZE),
	NAMED(MAX_PERSISTING_L2_CACHE_SIZE),
	NAMED(MAX_THREADS_PER_MULTIPROCESSOR),
	NAMED(MAX_BLOCKS_PER_MULTIPROCESSOR),
	NAMED(MAX_REGISTERS_PER_MULTIPROCESSOR),
	NAMED(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
	NAMED(MAX_THREADS_PER_BLOCK),
	NAMED(MAX_REGISTERS_PER_BLOCK),
	NAMED(MAX_SHARED_MEMORY_PER_BLOCK),
	NAMED(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
	NAMED(RESERVED_SHARED_MEMORY_PER_BLOCK),
	NAMED(TOTAL_CONSTANT_MEMORY),
	NAMED(WARP_SIZE),
	NAMED(ASYNC_ENGINE_COUNT),
	NAMED(CONCURRENT_KERNELS),
	NAMED(COOPERATIVE_LAUNCH),
	NAMED(CLUSTER_LAUNCH),
	NAMED(ECC_ENABLED),
	NAMED(INTEGRATED),
	NAMED(PAGEABLE_MEMORY_ACCESS),
	NAMED(MPS_ENABLED),
};

/* Takes name and value over. */
static void add(struct facts *facts, char *name, char *value)
{
	struct opk_property *item = name && value ? opk_list_add(facts) : NULL;

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

/* As nvidia-smi writes it. */
static void add_uuid(struct facts *facts, int device, bool mig)
{
	char text[2 * sizeof(CUuuid) + 1];
	CUuuid uuid;

	if (!target.cuDeviceGetUuid_v2 || target.cuDeviceGetUuid_v2(&uuid, device))
		return;
	for (size_t i = 0; i < sizeof uuid.bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
	add(facts, opk_printf("device.%d.uuid", device),
	    opk_printf("%s-%.8s-%.4s-%.4s-%.4s-%s", mig ? "MIG" : "GPU", text, text + 8, text + 12,
	               text + 16, text + 20));
}

static void add_attribute(struct facts *facts, const char *attribute, int value, int device)
{
	char *name = opk_printf("device.%d.%s", device, attribute);

	for (char *c = name; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	add(facts, name, opk_printf("%d", value));
}

static void add_device(struct facts *facts, int device)
{
	char text[128] = "";
	size_t bytes;
	int value;
	bool mig;

	if (target.cuDeviceGetName(text, sizeof text, device))
		return;
	mig = strstr(text, " MIG ");
	add(facts, opk_printf("device.%d.name", device), opk_strdup(text));
	add(facts, opk_printf("device.%d.mig", device), opk_strdup(mig ? "yes" : "no"));
	add_uuid(facts, device, mig);
	if (!target.cuDeviceGetPCIBusId(text, sizeof text, device))
		add(facts, opk_printf("device.%d.pci", device), opk_strdup(text));
	if (!target.cuDeviceTotalMem(&bytes, device))
		add(facts, opk_printf("device.%d.memory_bytes", device), opk_printf("%zu", bytes));
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (!target.cuDeviceGetAttribute(&value, attributes[i].attribute, device))
			add_attribute(facts, attributes[i].name, value, device);
}

static void add_machine(struct facts *facts)
{
	char host[256] = "", started[32];
	time_t now = time(NULL);
	struct tm utc;

	gethostname(host, sizeof host - 1);
	add_text(facts, "hostname", host);
	strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	add_text(facts, "started", started);
	add_number(facts, "process", (int)getpid());
}

void facts_add_gpus(struct facts *facts)
{
	enum { MAX_DEVICES = 16 };
	int version = 0, devices = 0;

	add_driver(facts);
	if (!target.cuDriverGetVersion(&version))
		add_number(facts, "cuda_version", version);
	add_text(facts, "cupti", target.cupti_path);
	if (!target.cuDeviceGetCount(&devices))
		for (int device = 0; device < devices && device < MAX_DEVICES; device++)
			add_device(facts, device);
}

void facts_collect(struct facts *facts)
{
	const char *value;

	add_machine(facts);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings_table[i].uses & RECORDED
		    && (value = getenv(settings_table[i].variable)))
			add_text(facts, settings_table[i].name, value);
	facts_add_gpus(facts);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if ((value = getenv(variables[i])))
			add(facts, opk_printf("env.%s", variables[i]), opk_strdup(value));
}

void facts_describe(struct opk_meta *meta, struct facts *facts)
{
	snprintf(facts->generator, sizeof facts->generator, "offpeak-collect %s", opk_version());
	meta->generator = facts->generator;
	meta->cupti_version = target.cupti_version;
	meta->run = facts->items;
	meta->run_count = facts->count;
}

void facts_clear(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free((char *)facts->items[i].name);
		free((char *)facts->items[i].value);
	}
	free(facts->items);
}
