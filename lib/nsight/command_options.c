/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of Nsight Compute's command line, from 2019.5 to 2026.2. */
#include <string.h>

#include "base/nearest.h"
#include "nsight/command.h"

#define VALUE(name, letter, meaning)                                                               \
	{                                                                                          \
		name, letter, false, OPK_NCU_##meaning                                             \
	}
#define FLAG(name, letter, meaning)                                                                \
	{                                                                                          \
		name, letter, true, OPK_NCU_##meaning                                              \
	}

static const struct opk_ncu_known known[] = {
	VALUE("metrics", 0, METRICS),
	VALUE("section", 0, SECTION),
	VALUE("set", 0, SET),
	VALUE("kernel-name", 'k', KERNEL),
	VALUE("kernel-regex", 0, KERNEL_REGEX),
	VALUE("kernel-name-base", 0, KERNEL_BASE),
	VALUE("kernel-regex-base", 0, KERNEL_BASE),
	VALUE("kernel-id", 0, KERNEL_ID),
	VALUE("launch-skip", 's', SKIP),
	VALUE("launch-count", 'c', COUNT),
	VALUE("launch-skip-before-match", 0, SKIP_ALL),
	VALUE("nvtx-include", 0, NVTX_INCLUDE),
	VALUE("nvtx-exclude", 0, NVTX_EXCLUDE),
	VALUE("replay-mode", 0, REPLAY),
	VALUE("cache-control", 0, CACHES),
	VALUE("clock-control", 0, CLOCKS),
	VALUE("devices", 0, DEVICES),
	VALUE("device", 0, DEVICES),
	VALUE("profile-from-start", 0, FROM_START),
	VALUE("target-processes", 0, PROCESSES),
	VALUE("graph-profiling", 0, GRAPHS),
	VALUE("filter-mode", 0, FILTER_MODE),
	VALUE("pm-sampling-interval", 0, PM_INTERVAL),
	VALUE("export", 'o', EXPORT),
	FLAG("force-overwrite", 'f', FORCE),
	FLAG("verbose", 0, VERBOSE),

	/* The collector does the same by itself, or has nothing to do for it. */
	FLAG("nvtx", 0, NEEDLESS),
	FLAG("quiet", 0, NEEDLESS),
	FLAG("disable-profiler-start-stop", 0, NEEDLESS),
	FLAG("disable-extra-suffixes", 0, NEEDLESS),
	FLAG("support-32bit", 0, NEEDLESS),
	VALUE("config-file", 0, NEEDLESS),
	VALUE("check-exit-code", 0, NEEDLESS),
	FLAG("section-folder-restore", 0, NEEDLESS),

	/* How results are shown: the recording is evaluated later. */
	FLAG("csv", 0, SHOWING),
	FLAG("open-in-ui", 0, SHOWING),
	FLAG("details-all", 0, SHOWING),
	FLAG("print-fp", 0, SHOWING),
	FLAG("fp", 0, SHOWING),
	FLAG("print-rule-details", 0, SHOWING),
	VALUE("page", 0, SHOWING),
	VALUE("view", 0, SHOWING),
	VALUE("log-file", 0, SHOWING),
	VALUE("units", 0, SHOWING),
	VALUE("summary", 0, SHOWING),
	VALUE("print-details", 0, SHOWING),
	VALUE("print-kernel-base", 0, SHOWING),
	FLAG("print-metric-attribution", 0, SHOWING),
	VALUE("print-metric-instances", 0, SHOWING),
	VALUE("print-metric-name", 0, SHOWING),
	VALUE("print-nvtx-rename", 0, SHOWING),
	VALUE("print-source", 0, SHOWING),
	VALUE("print-summary", 0, SHOWING),
	VALUE("print-units", 0, SHOWING),
	VALUE("resolve-source-file", 0, SHOWING),
	VALUE("rename-kernels", 0, SHOWING),
	VALUE("rename-kernels-export", 0, SHOWING),
	VALUE("rename-kernels-path", 0, SHOWING),
	VALUE("apply-rules", 0, SHOWING),
	VALUE("rule", 0, SHOWING),

	/* Nothing is collected. */
	VALUE("import", 'i', NOTHING),
	VALUE("mode", 0, MODE),
	FLAG("help", 'h', NOTHING),
	FLAG("version", 'v', NOTHING),
	FLAG("list-sets", 0, NOTHING),
	FLAG("list-sections", 0, NOTHING),
	FLAG("list-rules", 0, NOTHING),
	FLAG("list-metrics", 0, NOTHING),
	FLAG("list-chips", 0, NOTHING),
	FLAG("query-metrics", 0, NOTHING),
	VALUE("query-metrics-mode", 0, NOTHING),
	VALUE("query-metrics-collection", 0, NOTHING),
	VALUE("chips", 0, NOTHING),
	VALUE("port", 'p', OTHER),
	VALUE("hostname", 0, OTHER),
	VALUE("max-connections", 0, OTHER),
	VALUE("config-file-path", 0, OTHER),
	VALUE("injection-path-32", 0, OTHER),
	VALUE("injection-path-64", 0, OTHER),
	VALUE("preload-library", 0, OTHER),
	FLAG("call-stack", 0, OTHER),
	VALUE("call-stack-type", 0, OTHER),
	VALUE("target-processes-filter", 0, OTHER),
	FLAG("null-stdin", 0, OTHER),
	VALUE("kill", 0, OTHER),
	VALUE("app-replay-buffer", 0, OTHER),
	VALUE("app-replay-match", 0, OTHER),
	VALUE("app-replay-mode", 0, OTHER),
	VALUE("range-replay-options", 0, OTHER),
	VALUE("range-filter", 0, OTHER),
	VALUE("nvtx-push-pop-scope", 0, OTHER),
	VALUE("native-include", 0, OTHER),
	VALUE("native-exclude", 0, OTHER),
	VALUE("python-include", 0, OTHER),
	VALUE("python-exclude", 0, OTHER),
	VALUE("section-folder", 0, OTHER),
	VALUE("section-folder-recursive", 0, OTHER),
	VALUE("import-source", 0, OTHER),
	VALUE("import-sass", 0, OTHER),
	VALUE("source-folders", 0, OTHER),
	VALUE("source-folder", 0, OTHER),
	VALUE("pipeline-boost-state", 0, OTHER),
	VALUE("pm-sampling-buffer-size", 0, OTHER),
	VALUE("pm-sampling-max-passes", 0, OTHER),
	VALUE("warp-sampling-interval", 0, OTHER),
	VALUE("warp-sampling-max-passes", 0, OTHER),
	VALUE("warp-sampling-buffer-size", 0, OTHER),
	VALUE("sampling-interval", 0, OTHER),
	VALUE("sampling-max-passes", 0, OTHER),
	VALUE("sampling-buffer-size", 0, OTHER),
	VALUE("communicator", 0, OTHER),
	VALUE("communicator-num-peers", 0, OTHER),
	VALUE("communicator-tcp-num-peers", 0, OTHER),
	VALUE("communicator-shmem-num-peers", 0, OTHER),
	FLAG("lockstep-kernel-launch", 0, OTHER),
	VALUE("mps", 0, OTHER),
};

enum { KNOWN = sizeof known / sizeof *known };

const struct opk_ncu_known *opk_ncu_option_named(const char *name, size_t size)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == size && !strncmp(known[i].name, name, size))
			return &known[i];
	return NULL;
}

const struct opk_ncu_known *opk_ncu_option_lettered(char letter)
{
	for (size_t i = 0; letter && i < KNOWN; i++)
		if (known[i].letter == letter)
			return &known[i];
	return NULL;
}

const char *opk_ncu_option_like(const char *name)
{
	struct opk_nearest nearest = { .name = name };

	for (size_t i = 0; i < KNOWN; i++)
		opk_nearest_try(&nearest, known[i].name);
	return nearest.best;
}
