/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a libcupti whose release counts the instructions of all functions. */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>
#include <glob.h>

#include "base/library.h"

/* In the child: NVIDIA's code is not loaded into the launcher. */
static int answer(const void *path, int fd)
{
	void *library = opk_library_flaw(path) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*get)(uint32_t * version);
	uint32_t version = 0;

	*(void **)&get = library ? dlsym(library, "cuptiGetVersion") : NULL;
	if (!get || !dlsym(library, "cuptiSassMetricsEnable") || get(&version))
		return OPK_ENVIDIA;
	return dprintf(fd, "%u", version) < 0 ? OPK_EFAILED : OPK_OK;
}

/* 0: it can't be loaded, or has no SASS metrics. */
static unsigned long version_of(const char *path)
{
	opk_autobuf struct opk_buf buf = { 0 };
	int status = child_ask(&buf, answer, path);
	opk_autofree char *text = opk_buf_take_text(&buf);

	return text && !status ? strtoul(text, NULL, 10) : 0;
}

/* Of 13.0 the counts of all functions but the first are missing; seen on an H100 and an H200. */
static bool is_good(const char *path)
{
	unsigned long version = version_of(path);

	return version && (version < 130000 || version >= 130100);
}

/* Where wheels and toolkits have it; %s is a folder from the environment. */
static const struct {
	const char *pattern, *variable;
} places[] = {
	{ "%s/lib64/libcupti.so.1*", "CUDA_HOME" },
	{ "%s/extras/CUPTI/lib64/libcupti.so.1*", "CUDA_HOME" },
	{ "%s/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1*", "VIRTUAL_ENV" },
	{ "%s/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1*", "CONDA_PREFIX" },
	{ "%s/.local/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1*", "HOME" },
	{ "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1*", NULL },
	{ "/usr/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1*", NULL },
	{ "/usr/local/cuda*/lib64/libcupti.so.1*", NULL },
	{ "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1*", NULL },
};

/* free(); NULL: none. */
static char *find_good(void)
{
	char *found = NULL;
	glob_t paths;

	for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++) {
		const char *folder = places[i].variable ? getenv(places[i].variable) : "";
		opk_autofree char *pattern = NULL;

		if (!folder || asprintf(&pattern, places[i].pattern, folder) < 0)
			continue;
		if (glob(pattern, 0, NULL, &paths))
			continue;
		for (size_t j = 0; !found && j < paths.gl_pathc; j++)
			if (is_good(paths.gl_pathv[j]))
				found = strdup(paths.gl_pathv[j]);
		globfree(&paths);
	}
	return found;
}

int release_choose(struct settings *settings)
{
	unsigned long version = version_of(settings->cupti_path);
	char *found;

	if (is_good(settings->cupti_path))
		return OPK_OK;
	found = settings->given[SETTING_CUPTI] ? NULL : find_good();
	if (!found)
		return say(OPK_ENVIDIA,
		           "%s%s: SASS metrics need a libcupti of CUDA 13.1 or later, or of 12.6 "
		           "to 12.9: --cupti FILE names it; 'pip install nvidia-cuda-cupti' "
		           "brings one",
		           settings->cupti_path,
		           version ? " is of CUDA 13.0, which counts only the first function "
		                     "that is launched"
		                   : " can't be loaded, or has no SASS metrics");
	if (settings->verbose)
		say(0, "%s is used, as %s does not count all functions", found,
		    settings->cupti_path);
	settings_export(SETTING_CUPTI, found);
	settings->cupti_path = found;
	settings->given[SETTING_CUPTI] = true;
	return OPK_OK;
}
