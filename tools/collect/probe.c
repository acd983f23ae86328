/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the GPUs of this machine are and can count, without a program. The launcher opens the
 * library for this in a child process: NVIDIA's code may crash or print.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "collect/profilers/profilers.h"
#include "collect/recording/recording.h"
#include "collect/shared/shared.h"

/* An image with what it is of. */
struct image {
	struct opk_availability of;
	uint8_t *data;
	size_t size;
};

struct probe {
	struct settings settings;
	struct target target;
	OPK_LIST(struct image) images;
	struct opk_strlist chips;
};

int offpeak_probe(void);
int offpeak_describe(int fd);

static int complain(int code, const char *what, const char *why)
{
	say(0, "%s%s", what, why);
	return code;
}

static int driver_failed(const struct probe *probe, const char *call, CUresult status)
{
	const char *name = NULL;

	if (probe->target.cuGetErrorName(status, &name) || !name)
		name = "unknown error";
	say(0, "%s: %s (%d)", call, name, status);
	return status == CUDA_ERROR_NO_DEVICE ? OPK_EFAILED : OPK_ENVIDIA;
}

/* The driver and libcupti; there may be no device. */
static int begin(struct probe *probe)
{
	const char *problem = settings_read(&probe->settings);
	CUresult status;

	if (!problem)
		problem = target_open(&probe->target, probe->settings.cupti_path);
	if (problem)
		return complain(OPK_ENVIDIA, problem, "");
	probe->target.verbose = probe->settings.verbose;
	status = probe->target.cuInit(0);
	return status ? driver_failed(probe, "cuInit", status) : OPK_OK;
}

static int add(struct probe *probe, CUcontext context, int device, const char *chip)
{
	struct patience patience;
	struct image *image;
	uint8_t *data;
	size_t size;

	patience_begin(&patience, probe->settings.wait_s);
	do
		data = profiler_availability(&probe->target, context, device, &size);
	while (!data && patience_left(&patience));
	patience_end(&patience, false);
	image = data ? opk_list_add(&probe->images) : NULL;
	if (!image) {
		free(data);
		return data ? complain(OPK_ENOMEM, "out of memory", "") : OPK_EFAILED;
	}
	*image = (struct image){
		.of = { chip, context ? OPK_PROFILER_RANGE : OPK_PROFILER_PM, device },
		.data = data,
		.size = size,
	};
	return OPK_OK;
}

/* The image for ranges is a context's. */
static int add_ranges(struct probe *probe, int device, const char *chip)
{
	CUcontext context;
	CUresult status = probe->target.cuDevicePrimaryCtxRetain(&context, device);
	int code;

	if (status)
		return driver_failed(probe, "cuDevicePrimaryCtxRetain", status);
	code = add(probe, context, device, chip);
	probe->target.cuDevicePrimaryCtxRelease(device);
	return code;
}

/* Every chip that can be profiled has ranges; some have no PM sampling, and so no image for it. */
static int ask_device(struct probe *probe, int device)
{
	TARGET_PARAMS(params, Device_GetChipName, .deviceIndex = (size_t)device);
	bool sampled;
	char *chip;
	int code;

	if (!TARGET_CALL(&probe->target, cuptiDeviceGetChipName, &params) || !params.pChipName)
		return OPK_EFAILED;
	/* The string may be gone with the next call. */
	chip = opk_strdup(params.pChipName);
	if (!opk_strlist_take(&probe->chips, chip))
		return complain(OPK_ENOMEM, "out of memory", "");
	code = add_ranges(probe, device, chip);
	if (code)
		return code;
	sampled = probe->target.cuptiPmSamplingGetCounterAvailability
	          && !add(probe, NULL, device, chip);
	/* That says nothing of what it can do. */
	if (!sampled && patience_met())
		return OPK_EFAILED;
	if (!sampled)
		say(0, "note: device %d, %s: no PM sampling", device, chip);
	else if (probe->settings.verbose)
		say(0, "device %d, %s: ranges and PM sampling", device, chip);
	return OPK_OK;
}

static int ask(struct probe *probe)
{
	int wanted = probe->settings.device, count = 0;

	probe->target.cuDeviceGetCount(&count);
	if (!count)
		return complain(OPK_EFAILED, "there is no GPU", "");
	if (wanted >= count)
		return say(OPK_EUSAGE, "there is no device %d of %d, from 0 on", wanted, count);
	if (!profiler_initialize(&probe->target))
		return OPK_ENVIDIA;
	for (int i = 0; i < count; i++) {
		if (wanted < 0 || i == wanted)
			TRY(ask_device(probe, i));
	}
	return OPK_OK;
}

static int write_images(const struct probe *probe, struct opk_writer *writer)
{
	for (size_t i = 0; i < probe->images.count; i++)
		TRY(opk_writer_add(writer, OPK_SECTION_AVAILABILITY, probe->images.items[i].data,
		                   probe->images.items[i].size));
	return opk_writer_finish(writer);
}

/* The metadata: facts as in a recording, and which image is of what. */
static int write_meta(const struct probe *probe, struct opk_writer *writer)
{
	opk_autofree struct opk_availability *of = opk_alloc_array(probe->images.count, sizeof *of);
	struct facts facts = { 0 };
	struct opk_meta meta = { .kind = "probe", .keep_instances = true };
	char generator[64];
	int code;

	if (!of)
		return OPK_ENOMEM;
	for (size_t i = 0; i < probe->images.count; i++)
		of[i] = probe->images.items[i].of;
	snprintf(generator, sizeof generator, "offpeak-collect %s", opk_version());
	meta.cupti_version = probe->target.cupti_version;
	facts_collect(&facts, &probe->target);
	meta.generator = generator;
	meta.chip = of->chip;
	meta.profiler = of->profiler;
	meta.availability = of;
	meta.availability_count = probe->images.count;
	meta.run = facts.items;
	meta.run_count = facts.count;
	code = opk_writer_add_meta(writer, &meta);
	facts_clear(&facts);
	return code;
}

static int write_file(const struct probe *probe)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_writer *writer = NULL;
	struct opk_ctx *ctx = NULL;
	char path[4096];
	int code;

	if (!name_expand(path, sizeof path, probe->settings.output))
		return complain(OPK_EUSAGE, probe->settings.output, ": no usable name");
	options.force = probe->settings.force;
	code = opk_ctx_new(&ctx, &options);
	if (!code)
		code = opk_writer_new(&writer, ctx, path);
	if (!code)
		code = write_meta(probe, writer);
	if (!code)
		code = write_images(probe, writer);
	if (code)
		complain(code,
		         ctx && opk_error_count(ctx)
		                 ? opk_error_message(ctx, opk_error_count(ctx) - 1)
		                 : "out of memory",
		         "");
	opk_writer_free(writer);
	opk_ctx_free(ctx);
	return code;
}

__attribute__((visibility("default"))) int offpeak_probe(void)
{
	struct probe probe = { 0 };
	int code = begin(&probe);

	if (!code)
		code = ask(&probe);
	if (!code)
		code = write_file(&probe);
	for (size_t i = 0; i < probe.images.count; i++)
		free(probe.images.items[i].data);
	free(probe.images.items);
	opk_strlist_clear(&probe.chips);
	return code;
}

/* A fact a line, with a tab after its name. */
__attribute__((visibility("default"))) int offpeak_describe(int fd)
{
	struct probe probe = { 0 };
	struct facts facts = { 0 };
	int code = begin(&probe);

	if (code)
		return code;
	dprintf(fd, "cupti_version\t%u\n", probe.target.cupti_version);
	facts_add_gpus(&facts, &probe.target);
	for (size_t i = 0; i < facts.count; i++)
		dprintf(fd, "%s\t%s\n", facts.items[i].name, facts.items[i].value);
	facts_clear(&facts);
	return OPK_OK;
}
