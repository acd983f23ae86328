/* SPDX-License-Identifier: BSD-2-Clause */
/* Classifies a name: its profiler, and whether hardware counts it at all. */
#include "nsight/nsight.h"

#include <string.h>

/* Families of names that no hardware counter has; the first match counts. */
static const struct {
	const char *prefix, *reason;
} families[] = {
	{ "launch__",
	  "of the launch or its occupancy as calculated; eval takes those that recordings have" },
	{ "device__", "attributes of the device" },
	{ "derived__", "derived by Nsight Compute itself" },
	{ "smsp__pcsamp_", "states of warps, sampled at instructions" },
	{ "sass__", "counted by patched code, for each instruction" },
	{ "memory_", "counted for each line of source" },
	{ "profiler__", "settings of the profiler" },
	{ "numa__", "of the machine, from the driver" },
	{ "nvlink__", "of the machine, from the driver" },
	{ "c2clink__", "of the machine, from the driver" },
	{ "tpc__pcsamp_", "states of warps, sampled at instructions" },
};

static const char built_in[] = "lists of metrics that Nsight Compute has built in";

static bool takes_prefix(const char **text, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(*text, prefix, length))
		return false;
	*text += length;
	return true;
}

bool opk_asked_has_rollup(const char *name)
{
	const char *base = strstr(name, "__");

	return base && strchr(base, '.');
}

static const char *reason_against(const char *name)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (!strncmp(families[i].prefix, name, strlen(families[i].prefix)))
			return families[i].reason;
	return strstr(name, "__") ? NULL : "counted for each line of source";
}

/* Names of PM sampling like "SM_A.TriageCompute.sm__cycles_active.avg": a dot before "__". */
static bool has_set(const char *name)
{
	const char *dot = strchr(name, '.'), *base = strstr(name, "__");

	return dot && base && dot < base;
}

/* Links, buses and memory controllers outside the GPU's own units, according to CUPTI. */
static bool counts_device(const char *name)
{
	static const char *const units[] = { "ctc", "mcc", "nvlrx", "nvltx", "pcie" };
	const char *base = strstr(name, "__"), *unit = base;

	while (unit && unit > name && unit[-1] != '.')
		unit--;
	for (size_t i = 0; base && i < sizeof units / sizeof *units; i++)
		if ((size_t)(base - unit) == strlen(units[i])
		    && !strncmp(unit, units[i], strlen(units[i])))
			return true;
	return false;
}

struct opk_asked opk_asked_name(const char *text)
{
	struct opk_asked asked = { .name = text };
	bool again;

	do {
		again = false;
		if (takes_prefix(&asked.name, "pmsampling:"))
			again = (asked.profiler = OPK_PROFILER_PM);
		else if (takes_prefix(&asked.name, "breakdown:"))
			again = asked.breakdown = true;
	} while (again);
	if (takes_prefix(&asked.name, "regex:")) {
		asked.pattern = true;
		return asked;
	}
	if (!strncmp(asked.name, "group:", 6)) {
		asked.group = true;
		asked.reason = reason_against(asked.name + 6);
		asked.reason = asked.reason && strstr(asked.name, "__pcsamp_") ? asked.reason
		                                                               : built_in;
		return asked;
	}
	if (has_set(asked.name))
		asked.profiler = OPK_PROFILER_PM;
	asked.reason = reason_against(asked.name);
	asked.device = counts_device(asked.name);
	return asked;
}
