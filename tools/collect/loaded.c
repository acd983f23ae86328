/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the libcupti of the recording: the program's, if it has one. */
#include "collect/subscriber.h"
#include "collect/shared/program_cupti.h"

const char *cupti_choose(const struct settings *settings)
{
	const char *needed = settings->mode == MODE_SAMPLING ? "cuptiPmSamplingEnable"
	                     : settings->mode == MODE_SASS   ? "cuptiSassMetricsEnable"
	                     : settings->mode == MODE_PC     ? "cuptiPCSamplingEnable"
	                                                     : "cuptiProfilerInitialize";
	char *loaded = settings->given[SETTING_CUPTI] ? NULL : cupti_loaded(NULL);

	/* The recording names it, so it is not freed. */
	if (loaded_function(loaded, needed))
		return loaded;
	free(loaded);
	return settings->cupti_path;
}

void cupti_report_other(void)
{
	char *other = target.cupti_path ? cupti_loaded(target.cupti_path) : NULL;

	if (other)
		say(0,
		    "note: the program has loaded %s, and this recording uses %s: of several files "
		    "of CUPTI in a process the first one works, so the program's own tracing may "
		    "be empty; with --cupti %s both use the same",
		    other, target.cupti_path, other);
	free(other);
}
