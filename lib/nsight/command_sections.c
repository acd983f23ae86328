/* SPDX-License-Identifier: BSD-2-Clause */
/* Nsight Compute's sections and sets by name, and the shipped sets of the same subjects. */
#include <string.h>

#include "base/nearest.h"
#include "nsight/command.h"

#define RANGE OPK_DRAFT_RANGE
#define PM OPK_DRAFT_PM
#define DEVICE OPK_DRAFT_DEVICE

static const char launches[] = "facts about launches, which every recording has";
static const char code[] = "counted and sampled for each instruction: the sets source and hot";
static const char machine[] = "of the machine, from the driver";
static const char tiles[] = "about programs in CUDA Tile";

static const struct opk_ncu_section sections[] = {
	{ "SpeedOfLight", RANGE, { "speed-of-light", "speed-of-light-breakdown" }, NULL },
	{ "SpeedOfLight_RooflineChart", RANGE, { "roofline" }, NULL },
	{ "SpeedOfLight_HierarchicalSingleRooflineChart",
	  RANGE,
	  { "roofline-hierarchical" },
	  NULL },
	{ "SpeedOfLight_HierarchicalDoubleRooflineChart",
	  RANGE,
	  { "roofline-hierarchical" },
	  NULL },
	{ "SpeedOfLight_HierarchicalHalfRooflineChart", RANGE, { "roofline-hierarchical" }, NULL },
	{ "SpeedOfLight_HierarchicalTensorRooflineChart", RANGE, { "roofline-tensor" }, NULL },
	{ "ComputeWorkloadAnalysis", RANGE, { "compute", "pipes" }, NULL },
	{ "MemoryWorkloadAnalysis", RANGE, { "memory" }, NULL },
	{ "MemoryWorkloadAnalysis_Chart", RANGE, { "l1", "l2" }, NULL },
	{ "MemoryWorkloadAnalysis_Tables",
	  RANGE,
	  { "l1-traffic", "l2-traffic", "shared-memory" },
	  NULL },
	{ "InstructionStats", RANGE, { "instruction-mix" }, NULL },
	{ "Occupancy", RANGE, { "occupancy" }, NULL },
	{ "SchedulerStats", RANGE, { "scheduler" }, NULL },
	{ "WarpStateStats", RANGE, { "stalls" }, NULL },
	{ "WorkloadDistribution", RANGE, { "balance" }, NULL },
	{ "PmSampling", PM, { "pm-overview" }, NULL },
	{ "PmSampling_WarpStates", PM, { "pm-overview" }, NULL },
	{ "Nvlink", DEVICE, { "nvlink" }, NULL },
	{ "Nvlink_Tables", DEVICE, { "nvlink" }, NULL },
	{ "C2CLink", DEVICE, { "c2c" }, NULL },
	{ "LaunchStats", RANGE, { NULL }, launches },
	{ "SourceCounters", RANGE, { NULL }, code },
	{ "NumaAffinity", RANGE, { NULL }, machine },
	{ "Nvlink_Topology", RANGE, { NULL }, machine },
	{ "Tile", RANGE, { NULL }, tiles },
};

/* Groups of metrics, which Nsight Compute has built in. */
static const struct opk_ncu_section groups[] = {
	{ "memory__chart", RANGE, { "l1", "l2" }, NULL },
	{ "memory__dram_table", RANGE, { "memory" }, NULL },
	{ "memory__first_level_cache_table", RANGE, { "l1-traffic" }, NULL },
	{ "memory__l2_cache_table", RANGE, { "l2-traffic" }, NULL },
	{ "memory__l2_cache_evict_policy_table", RANGE, { "l2-traffic" }, NULL },
	{ "memory__shared_table", RANGE, { "shared-memory" }, NULL },
};

enum { SECTIONS = sizeof sections / sizeof *sections };

#define BASIC "LaunchStats", "Occupancy", "SpeedOfLight", "WorkloadDistribution"
#define DETAILED                                                                                   \
	BASIC, "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis",                                \
		"MemoryWorkloadAnalysis_Chart", "SourceCounters", "SpeedOfLight_RooflineChart"
#define ROOFLINES                                                                                  \
	"SpeedOfLight_RooflineChart", "SpeedOfLight_HierarchicalSingleRooflineChart",              \
		"SpeedOfLight_HierarchicalDoubleRooflineChart",                                    \
		"SpeedOfLight_HierarchicalHalfRooflineChart",                                      \
		"SpeedOfLight_HierarchicalTensorRooflineChart"

/* As of 2026.2; older releases have fewer sections in some sets. */
static const struct {
	const char *name, *whole;
	const char *const *sections;
} sets[] = {
	{ "basic", NULL, (const char *const[]){ BASIC, NULL } },
	{ "default", NULL, (const char *const[]){ BASIC, NULL } },
	{ "detailed", NULL, (const char *const[]){ DETAILED, NULL } },
	{ "full", "full",
	  (const char *const[]){ DETAILED, "InstructionStats", "MemoryWorkloadAnalysis_Tables",
	                         "NumaAffinity", "Nvlink_Tables", "Nvlink_Topology", "PmSampling",
	                         "SchedulerStats", ROOFLINES, "WarpStateStats", NULL } },
	{ "nvlink", NULL,
	  (const char *const[]){ "Nvlink", "Nvlink_Tables", "Nvlink_Topology", NULL } },
	{ "pmsampling", NULL,
	  (const char *const[]){ "PmSampling", "PmSampling_WarpStates", NULL } },
	{ "roofline", NULL,
	  (const char *const[]){ "SpeedOfLight", ROOFLINES, "WorkloadDistribution", NULL } },
	{ "source", NULL, (const char *const[]){ "SourceCounters", NULL } },
};

const struct opk_ncu_section *opk_ncu_section_known(size_t i)
{
	return i < SECTIONS ? &sections[i] : NULL;
}

const struct opk_ncu_section *opk_ncu_group_find(const char *name)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	return NULL;
}

const struct opk_ncu_section *opk_ncu_section_find(const char *name)
{
	for (size_t i = 0; i < SECTIONS; i++)
		if (!strcmp(sections[i].name, name))
			return &sections[i];
	return NULL;
}

const char *const *opk_ncu_set_sections(const char **whole, const char *name)
{
	*whole = NULL;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		if (strcmp(sets[i].name, name) != 0)
			continue;
		*whole = sets[i].whole;
		return sets[i].sections;
	}
	return NULL;
}

const char *opk_ncu_section_like(const char *name)
{
	struct opk_nearest nearest = { .name = name };

	for (size_t i = 0; i < SECTIONS; i++)
		opk_nearest_try(&nearest, sections[i].name);
	return nearest.best;
}

const char *opk_ncu_set_like(const char *name)
{
	struct opk_nearest nearest = { .name = name };

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		opk_nearest_try(&nearest, sets[i].name);
	return nearest.best;
}

char *opk_ncu_set_names(void)
{
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		opk_buf_add_printf(&text, "%s%s", i ? ", " : "", sets[i].name);
	return opk_buf_take_text(&text);
}
