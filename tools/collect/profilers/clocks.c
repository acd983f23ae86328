/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads clocks, power and temperature of the devices from NVML, and finds how far they drifted. */
#include "collect/profilers/profilers.h"

#include <math.h>

#include "base/buf.h"
#include "collect/profilers/nvml.h"

enum quantity { SM, MEMORY, POWER, TEMPERATURE, QUANTITIES };

static const char *const quantities[QUANTITIES] = { "sm_mhz", "memory_mhz", "power_w",
	                                            "temperature_c" };

/* Why a clock is lower than possible: NVML's bits that say more than "idle" or "as set". */
static const struct {
	unsigned long long bits;
	const char *text;
} slowdowns[] = {
	{ 0x04, "the power limit" },         { 0x60, "heat" },
	{ 0x80, "the power supply" },        { 0x08, "the hardware" },
	{ 0x10, "other GPUs of its group" },
};

enum { SLOWDOWNS = sizeof slowdowns / sizeof *slowdowns };

struct span {
	double least, most, sum;
	unsigned count;
};

/* Each sampler has its own thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct readings {
	struct span spans[QUANTITIES];
	unsigned count, slowed[SLOWDOWNS];
};

static struct watched {
	bool asked;
	nvml_device *handle;       /* NULL: unknown to NVML */
	struct readings all, file; /* since the beginning; since clocks_facts() */
	struct timespec slow_at;   /* power and temperature were read */
	struct timespec looked_at; /* by clocks_look() */
} devices[MAX_DEVICES];

/* NULL: NVML does not know the device. The lock is held. */
static struct watched *find(int device)
{
	struct watched *watched;

	if (device < 0 || device >= MAX_DEVICES)
		return NULL;
	watched = &devices[device];
	if (!watched->asked && nvml_open()) {
		watched->handle = nvml_find(device);
		watched->asked = true;
	}
	return watched->handle ? watched : NULL;
}

static void note(struct span *span, double value)
{
	span->least = span->count && span->least < value ? span->least : value;
	span->most = span->count && span->most > value ? span->most : value;
	span->sum += value;
	span->count++;
}

static void note_both(struct watched *watched, enum quantity quantity, double value)
{
	note(&watched->all.spans[quantity], value);
	note(&watched->file.spans[quantity], value);
}

static void note_slowdowns(struct readings *readings, unsigned long long reasons)
{
	readings->count++;
	for (size_t i = 0; i < SLOWDOWNS; i++)
		readings->slowed[i] += (reasons & slowdowns[i].bits) != 0;
}

static uint32_t read_clock(struct watched *watched, int which, enum quantity quantity)
{
	unsigned mhz = 0;

	if (nvml.nvmlDeviceGetClockInfo(watched->handle, which, &mhz) || !mhz)
		return 0;
	note_both(watched, quantity, mhz);
	return mhz;
}

/* They change slowly, and NVML's power is a mean of the last second. */
static void read_power(struct watched *watched)
{
	unsigned value;

	if (!clock_is_due(&watched->slow_at, NVML_EVERY_S))
		return;
	if (NVML_ASK(nvmlDeviceGetPowerUsage, watched->handle, &value))
		note_both(watched, POWER, value / 1000.0);
	if (NVML_ASK(nvmlDeviceGetTemperature, watched->handle, 0, &value))
		note_both(watched, TEMPERATURE, value);
}

static unsigned long long reasons_of(const struct watched *watched)
{
	unsigned long long reasons = 0;

	return NVML_ASK(nvmlDeviceGetCurrentClocksThrottleReasons, watched->handle, &reasons)
	               ? reasons
	               : 0;
}

static struct clocks read_clocks(struct watched *watched, unsigned long long reasons)
{
	note_slowdowns(&watched->all, reasons);
	note_slowdowns(&watched->file, reasons);
	read_power(watched);
	return (struct clocks){
		.sm_mhz = read_clock(watched, NVML_CLOCK_SM, SM),
		.memory_mhz = read_clock(watched, NVML_CLOCK_MEM, MEMORY),
	};
}

struct clocks clocks_read(int device)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&lock);
	struct watched *watched = find(device);

	return watched ? read_clocks(watched, reasons_of(watched)) : (struct clocks){ 0 };
}

/* Clocks of an idle GPU say nothing about what ran. */
void clocks_look(int device)
{
	static const unsigned long long idle = 1;
	opk_autounlock pthread_mutex_t *held = opk_lock(&lock);
	struct watched *watched = find(device);
	unsigned long long reasons;

	if (!watched || !clock_is_due(&watched->looked_at, NVML_EVERY_S))
		return;
	reasons = reasons_of(watched);
	if (!(reasons & idle))
		read_clocks(watched, reasons);
}

bool clocks_processes(unsigned processes[MOST_USERS], size_t *count, int device)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&lock);
	const struct watched *watched = find(device);
	struct nvml_process found[MOST_USERS];
	unsigned number = MOST_USERS;

	if (!watched
	    || !NVML_ASK(nvmlDeviceGetComputeRunningProcesses_v3, watched->handle, &number, found))
		return false;
	for (*count = 0; *count < number && *count < MOST_USERS; ++*count)
		processes[*count] = found[*count].process;
	return true;
}

/* "the power limit in 12 of 40, heat in 1 of 40 readings"; NULL: nothing, or no memory; free() */
static char *slowed_by(const struct readings *readings)
{
	struct opk_buf text = { 0 };

	for (size_t i = 0; i < SLOWDOWNS; i++)
		if (readings->slowed[i])
			opk_buf_add_printf(&text, "%s%s in %u of %u", text.size ? ", " : "",
			                   slowdowns[i].text, readings->slowed[i], readings->count);
	if (text.size)
		opk_buf_add_text(&text, " readings");
	return text.size ? opk_buf_take_text(&text) : NULL;
}

static void report(int device, const char *clock, const struct span *span, const char *slowed)
{
	if (!span->count || span->least >= span->most * (1 - OPK_CLOCK_DRIFT))
		return;
	say(0,
	    "note: device %d: the %s clock was between %.0f and %.0f MHz%s%s; times and rates "
	    "differ for that alone",
	    device, clock, span->least, span->most, slowed ? ", slowed by " : "",
	    slowed ? slowed : "");
}

void clocks_report(void)
{
	for (int device = 0; device < MAX_DEVICES; device++) {
		const struct readings *all = &devices[device].all;
		opk_autofree char *slowed = slowed_by(all);

		report(device, "SM", &all->spans[SM], slowed);
		report(device, "memory", &all->spans[MEMORY], slowed);
	}
}

static void add_span(struct facts *facts, int device, const char *name, const struct span *span)
{
	if (!span->count)
		return;
	facts_add(facts, opk_printf("%.6g", span->least), "device.%d.%s_min", device, name);
	facts_add(facts, opk_printf("%.6g", span->sum / span->count), "device.%d.%s_mean", device,
	          name);
	facts_add(facts, opk_printf("%.6g", span->most), "device.%d.%s_max", device, name);
}

void clocks_facts(struct facts *facts)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&lock);
	int count = 0;

	target.cuDeviceGetCount(&count);
	for (int device = 0; device < count && device < MAX_DEVICES; device++) {
		struct watched *watched = find(device);

		if (!watched)
			continue;
		for (size_t i = 0; i < QUANTITIES; i++)
			add_span(facts, device, quantities[i], &watched->file.spans[i]);
		facts_add(facts, slowed_by(&watched->file), "device.%d.slowed_by", device);
		watched->file = (struct readings){ 0 };
		gpu_facts(facts, device, watched->handle);
	}
}
