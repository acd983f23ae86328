/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about a GPU that NVML alone knows: its links, its part of a GPU, how it is operated. */
#include "base/buf.h"
#include "collect/profilers/nvml.h"
#include "collect/profilers/profilers.h"

/* What is at the other end of links, and how many lead there. */
struct peer {
	char name[48];
	unsigned links;
};

/* Switches count together. */
static void name_peer(char name[48], nvml_device *handle, unsigned link)
{
	struct nvml_pci remote = { .address = "" };
	int type = -1;

	(void)NVML_ASK(nvmlDeviceGetNvLinkRemoteDeviceType, handle, link, &type);
	if (type != NVML_LINK_TO_SWITCH
	    && !NVML_ASK(nvmlDeviceGetNvLinkRemotePciInfo_v2, handle, link, &remote))
		strcpy(remote.address, "?");
	snprintf(name, 48, "%s%.31s",
	         type == NVML_LINK_TO_SWITCH ? "switches"
	         : type == NVML_LINK_TO_GPU  ? "GPU "
	                                     : "",
	         remote.address);
}

static void add_link(struct peer *peers, nvml_device *handle, unsigned link)
{
	struct peer *peer = peers;
	char name[48];

	name_peer(name, handle, link);
	while (peer->links && strcmp(peer->name, name) != 0)
		peer++;
	strcpy(peer->name, name);
	peer->links++;
}

/* "18 to switches", or "4 to GPU 00000000:41:00.0, 4 to GPU 00000000:81:00.0"; or "none". */
static char *links_of(nvml_device *handle)
{
	struct peer peers[NVML_MOST_LINKS + 1] = { 0 };
	struct opk_buf text = { 0 };
	unsigned link = 0;
	int active;

	for (; link < NVML_MOST_LINKS && NVML_ASK(nvmlDeviceGetNvLinkState, handle, link, &active);
	     link++)
		if (active)
			add_link(peers, handle, link);
	for (const struct peer *peer = peers; peer->links; peer++)
		opk_buf_add_printf(&text, "%s%u to %s", peer == peers ? "" : ", ", peer->links,
		                   peer->name);
	if (link && !text.size)
		opk_buf_add_text(&text, "none");
	return link ? opk_buf_take_text(&text) : NULL;
}

/* Adds which part of a GPU (MIG) the device is, if it is a part. */
static void add_instance(struct facts *facts, int device, const char *uuid)
{
	nvml_device *part;
	unsigned id;

	if (strncmp(uuid, "MIG-", 4) != 0 || !NVML_ASK(nvmlDeviceGetHandleByUUID, uuid, &part))
		return;
	if (NVML_ASK(nvmlDeviceGetGpuInstanceId, part, &id))
		facts_add(facts, opk_printf("%u", id), "device.%d.gpu_instance", device);
	if (NVML_ASK(nvmlDeviceGetComputeInstanceId, part, &id))
		facts_add(facts, opk_printf("%u", id), "device.%d.compute_instance", device);
}

void gpu_facts(struct facts *facts, int device, nvml_device *handle)
{
	char uuid[DEVICE_UUID];
	unsigned milliwatts;
	int on;

	if (NVML_ASK(nvmlDeviceGetPersistenceMode, handle, &on))
		facts_add(facts, opk_strdup(on ? "on" : "off"), "device.%d.persistence", device);
	if (NVML_ASK(nvmlDeviceGetEnforcedPowerLimit, handle, &milliwatts))
		facts_add(facts, opk_printf("%.6g", milliwatts / 1000.0), "device.%d.power_limit_w",
		          device);
	facts_add(facts, links_of(handle), "device.%d.nvlinks", device);
	if (facts_uuid(uuid, device))
		add_instance(facts, device, uuid);
}
