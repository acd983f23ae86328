/* SPDX-License-Identifier: BSD-2-Clause */
/* --clock-control: locks the clocks of GPUs until the launcher is gone. */
#include "collect/profilers/nvml.h"
#include "collect/profilers/profilers.h"

/* What is locked. */
struct locks {
	nvml_device *devices[MAX_DEVICES]; /* NULL: not by us */
	char text[1024];                   /* "device 0: base, device 1: 1980 MHz" */
};

static int refuse(int device, int status)
{
	return say(OPK_EFAILED,
	           "the clocks of device %d can't be locked: %s (NVML error %d); --clock-control "
	           "none leaves them as they are",
	           device,
	           status == NVML_NO_PERMISSION   ? "that wants root"
	           : status == NVML_NOT_SUPPORTED ? "the GPU does not allow it"
	                                          : "the driver refuses it",
	           status);
}

static int lock_device(struct locks *locks, int device, enum collect_clocks control)
{
	nvml_device *handle = nvml_find(device);
	unsigned mhz = NVML_BASE_CLOCK;
	size_t size = strlen(locks->text);
	char uuid[DEVICE_UUID], what[32] = "base";
	int status;

	if (!handle || !nvml.nvmlDeviceSetGpuLockedClocks || !nvml.nvmlDeviceResetGpuLockedClocks)
		return say(OPK_ENVIDIA, "--clock-control needs NVML, libnvidia-ml.so.1");
	if (facts_uuid(uuid, device) && !strncmp(uuid, "MIG-", 4))
		return say(OPK_EFAILED,
		           "device %d is a part of a GPU, whose other parts have the same clocks",
		           device);
	if (control == CLOCKS_BOOST) {
		if (!NVML_ASK(nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_SM, &mhz))
			return refuse(device, NVML_NOT_SUPPORTED);
		snprintf(what, sizeof what, "%u MHz", mhz);
	}
	status = nvml.nvmlDeviceSetGpuLockedClocks(handle, mhz, mhz);
	if (status)
		return refuse(device, status);
	locks->devices[device] = handle;
	snprintf(locks->text + size, sizeof locks->text - size, "%sdevice %d: %s", size ? ", " : "",
	         device, what);
	return OPK_OK;
}

static int lock_all(struct locks *locks, const struct settings *settings)
{
	int count = 0;

	target.cuDeviceGetCount(&count);
	for (int i = 0; i < count && i < MAX_DEVICES; i++)
		if (settings->device < 0 || settings->device == i)
			TRY(lock_device(locks, i, settings->clock_control));
	return *locks->text ? OPK_OK : say(OPK_EFAILED, "there is no such GPU to lock clocks of");
}

static int free_all(const struct locks *locks)
{
	int code = OPK_OK;

	for (int i = 0; i < MAX_DEVICES; i++) {
		int status = locks->devices[i]
		                     ? nvml.nvmlDeviceResetGpuLockedClocks(locks->devices[i])
		                     : 0;

		if (status)
			code = say(OPK_EFAILED,
			           "the clocks of device %d stay locked (NVML error %d): "
			           "'nvidia-smi -rgc' frees them",
			           i, status);
	}
	return code;
}

int clocks_hold(const struct settings *settings, int fd)
{
	struct locks locks = { .text = "" };
	int code = lock_all(&locks, settings), freed;
	ssize_t size = 0;
	char byte;

	if (!code && dprintf(fd, "%s\n", locks.text) > 0)
		while ((size = read(fd, &byte, 1)) > 0 || (size < 0 && errno == EINTR))
			;
	freed = free_all(&locks);
	return code ? code : freed;
}
