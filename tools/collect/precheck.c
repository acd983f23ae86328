/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/precheck.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(int code, const char *what)
{
	fprintf(stderr, "offpeak-collect: %s\n", what);
	return code;
}

bool inflated_by_launch_range(const char *metric)
{
	return strstr(metric, "_elapsed") || strstr(metric, "per_second")
	       || strstr(metric, "__time_") || strstr(metric, "in_region")
	       || strstr(metric, "in_frame");
}

static size_t count_inflated(const struct opk_meta *meta)
{
	size_t count = 0;

	for (size_t i = 0; i < meta->metric_count; i++)
		count += inflated_by_launch_range(meta->metrics[i]);
	return count;
}

/* The driver tells in /proc whether only root may profile. */
static bool may_profile(void)
{
	FILE *file = fopen("/proc/driver/nvidia/params", "r");
	char line[256];
	int admin_only = 0;

	while (file && fgets(line, sizeof line, file))
		sscanf(line, "RmProfilingAdminOnly: %d", &admin_only);
	if (file)
		fclose(file);
	return !admin_only || geteuid() == 0;
}

static int choose_mode(enum collect_mode *mode, const struct opk_meta *meta, const char *wanted,
                       bool verbose)
{
	size_t inflated = count_inflated(meta);
	bool sound = meta->passes == 1 && !inflated;

	if (strcmp(wanted, "kernel") && strcmp(wanted, "launch") && strcmp(wanted, "auto"))
		return fail(OPK_EUSAGE, "--mode is kernel, launch or auto");
	if (!strcmp(wanted, "launch") && meta->passes != 1)
		return fail(OPK_EUSAGE,
		            "a range around each launch has one pass, the set needs more: use "
		            "--mode kernel, or build smaller sets");
	*mode = !strcmp(wanted, "launch") || (!strcmp(wanted, "auto") && sound)
	                ? MODE_LAUNCH_RANGE
	                : MODE_KERNEL_REPLAY;
	if (*mode == MODE_LAUNCH_RANGE && inflated)
		fprintf(stderr,
		        "offpeak-collect: note: %zu of %zu metrics count idle time around short "
		        "kernels in this mode\n",
		        inflated, meta->metric_count);
	if (verbose)
		fprintf(stderr, "offpeak-collect: mode %s: %zu pass%s, %zu metrics of time\n",
		        settings_mode_name(*mode), meta->passes, meta->passes == 1 ? "" : "es",
		        inflated);
	return OPK_OK;
}

static int check_set(struct opk_ctx *ctx, const struct opk_meta **meta, struct opk_file **file,
                     const char *path)
{
	int code = opk_file_open(file, ctx, path);

	if (!code)
		code = opk_file_meta(meta, ctx, *file);
	for (size_t i = 0; !code && i < opk_file_section_count(*file); i++)
		code = opk_file_verify(ctx, *file, i);
	if (code)
		return fail(code, opk_error_message(ctx, opk_error_count(ctx) - 1));
	if (!opk_file_complete(*file) || strcmp((*meta)->kind, "set"))
		return fail(OPK_EINPUT, "the set was not made by 'offpeak build', or is cut off");
	if ((*meta)->profiler != OPK_PROFILER_RANGE)
		return fail(OPK_EUSAGE, "PM-sampling sets can't be collected yet");
	return OPK_OK;
}

int precheck(enum collect_mode *mode, const char *set_path, const char *wanted, bool verbose)
{
	struct opk_file *file = NULL;
	const struct opk_meta *meta;
	struct opk_ctx *ctx;
	int code;

	if (opk_ctx_new(&ctx, NULL))
		return fail(OPK_EFAILED, "out of memory");
	code = check_set(ctx, &meta, &file, set_path);
	if (!code)
		code = choose_mode(mode, meta, wanted, verbose);
	if (!code && !may_profile())
		code = fail(OPK_EFAILED,
		            "no permission to read GPU counters (error 35): run as root or with "
		            "CAP_SYS_ADMIN, or load the driver with "
		            "NVreg_RestrictProfilingToAdminUsers=0");
	opk_file_free(file);
	opk_ctx_free(ctx);
	return code;
}
