/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks for NVIDIA's driver, so that the program is not started where nothing can be recorded. */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>
#include <glob.h>

/*
 * The kernel's side of the driver, also in containers: GPUs of PCIe, WSL's, which shares Windows'
 * driver, and Tegra's.
 */
static const char *const devices[] = {
	"/dev/nvidia*", "/proc/driver/nvidia/version", "/dev/dxg", "/dev/nvhost*", "/dev/nvmap",
	"/dev/nvgpu*",
};

/* They start the program on other machines, which may have GPUs. */
static const char *const remote[] = {
	"srun",  "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun",
	"jsrun", "lrun",   "aprun",   "palsrun",       "flux",    "ssh",
};

static bool has_device(void)
{
	glob_t found;

	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (!glob(devices[i], GLOB_NOSORT, NULL, &found)) {
			globfree(&found);
			return true;
		}
	return false;
}

static bool is_remote(const char *program)
{
	for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
		if (!strcmp(name_of_file(program), remote[i]))
			return true;
	return false;
}

const char *driver_flaw(void)
{
	return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) ? NULL : dlerror();
}

int driver_check(const struct settings *settings, const char *program)
{
	const char *flaw = NULL;

	/* A watch loads the driver itself, and runs no program. */
	if (!settings->watch && !has_device() && !is_remote(program))
		flaw = driver_flaw();
	if (!flaw)
		return OPK_OK;
	if (settings->best_effort)
		return say(OPK_OK,
		           "warning: there is no NVIDIA driver here, so the program will probably "
		           "run unrecorded: %s",
		           flaw);
	return say(OPK_ENVIDIA,
	           "there is no NVIDIA driver here, so %s was not started: %s; --best-effort "
	           "starts it all the same",
	           program, flaw);
}
