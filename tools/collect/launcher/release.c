/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a libcupti counts the instructions of all functions. */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>

#include "base/library.h"

enum { FIRST_ALONE = 100 }; /* an exit code beside offpeak's own */

/*
 * In the child: NVIDIA's code is not loaded into the launcher. Release 13.0 counts the first
 * function alone, as seen on an H100 and an H200.
 */
static int judge(const void *path, int fd)
{
	void *library = opk_library_flaw(path) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*get)(uint32_t * version);
	uint32_t version = 0;

	(void)fd;
	*(void **)&get = library ? dlsym(library, "cuptiGetVersion") : NULL;
	if (!get || !dlsym(library, "cuptiSassMetricsEnable") || get(&version))
		return OPK_ENVIDIA;
	return version >= 130000 && version < 130100 ? FIRST_ALONE : OPK_OK;
}

int release_check(const struct settings *settings)
{
	opk_autobuf struct opk_buf nothing = { 0 };
	int status = child_ask(&nothing, judge, settings->cupti_path);

	if (!status)
		return OPK_OK;
	return say(OPK_ENVIDIA,
	           "%s%s: SASS metrics need a libcupti of CUDA 13.1 or later, or of 12.6 "
	           "to 12.9: --cupti FILE names it; 'pip install nvidia-cuda-cupti' "
	           "brings one",
	           settings->cupti_path,
	           WIFEXITED(status) && WEXITSTATUS(status) == FIRST_ALONE
	                   ? " is of CUDA 13.0, which counts only the first function "
	                     "that is launched"
	                   : " can't be loaded, or has no SASS metrics");
}
