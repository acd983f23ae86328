/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects a recording's facts about machine, devices, command and environment. */
#include "collect/recording/recording.h"

#include <ctype.h>
#include <stdarg.h>

static const char *const variables[] = { RECORDED_VARIABLES };

/* The driver's names, here in lower case, which `device__attribute_NAME` uses, too. */
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

void facts_add(struct facts *facts, char *value, const char *format, ...)
{
	struct opk_property *item = value ? opk_list_add(facts) : NULL;
	char *name = NULL;
	va_list args;

	va_start(args, format);
	if (item)
		name = opk_vprintf(format, args);
	va_end(args);
	if (name) {
		*item = (struct opk_property){ name, value };
		return;
	}
	facts->count -= item != NULL;
	free(value);
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
			facts_add(facts, opk_strdup(word), "driver");
			return;
		}
}

static bool is_mig(const char *device_name)
{
	return strstr(device_name, " MIG ");
}

bool facts_uuid(char out[DEVICE_UUID], int device)
{
	char text[2 * sizeof(CUuuid) + 1], name[128] = "";
	CUuuid uuid;

	if (!target.cuDeviceGetUuid_v2 || target.cuDeviceGetUuid_v2(&uuid, device)
	    || target.cuDeviceGetName(name, sizeof name, device))
		return false;
	for (size_t i = 0; i < sizeof uuid.bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)uuid.bytes[i]);
	snprintf(out, DEVICE_UUID, "%s-%.8s-%.4s-%.4s-%.4s-%s", is_mig(name) ? "MIG" : "GPU", text,
	         text + 8, text + 12, text + 16, text + 20);
	return true;
}

static void add_attribute(struct facts *facts, const char *attribute, int value, int device)
{
	opk_autofree char *name = opk_strdup(attribute);

	for (char *c = name; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (name)
		facts_add(facts, opk_printf("%d", value), "device.%d.%s", device, name);
}

static void add_device(struct facts *facts, int device)
{
	char text[128] = "", uuid[DEVICE_UUID];
	size_t bytes;
	int value;

	if (target.cuDeviceGetName(text, sizeof text, device))
		return;
	facts_add(facts, opk_strdup(text), "device.%d.name", device);
	facts_add(facts, opk_strdup(is_mig(text) ? "yes" : "no"), "device.%d.mig", device);
	if (facts_uuid(uuid, device))
		facts_add(facts, opk_strdup(uuid), "device.%d.uuid", device);
	if (!target.cuDeviceGetPCIBusId(text, sizeof text, device))
		facts_add(facts, opk_strdup(text), "device.%d.pci", device);
	if (!target.cuDeviceTotalMem(&bytes, device))
		facts_add(facts, opk_printf("%zu", bytes), "device.%d.memory_bytes", device);
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
	facts_add(facts, opk_strdup(host), "hostname");
	strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	facts_add(facts, opk_strdup(started), "started");
	facts_add(facts, opk_printf("%d", (int)getpid()), "process");
}

void facts_add_gpus(struct facts *facts)
{
	enum { MAX_DEVICES = 16 };
	int version = 0, devices = 0;

	add_driver(facts);
	if (!target.cuDriverGetVersion(&version))
		facts_add(facts, opk_printf("%d", version), "cuda_version");
	facts_add(facts, opk_strdup(target.cupti_path), "cupti");
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
			facts_add(facts, opk_strdup(value), "%s", settings_table[i].name);
	facts_add_gpus(facts);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if ((value = getenv(variables[i])))
			facts_add(facts, opk_strdup(value), "env.%s", variables[i]);
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
