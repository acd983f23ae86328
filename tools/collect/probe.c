/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out what this machine's GPUs are and can count, without a program. The launcher opens the
 * library for this in a child process: NVIDIA's code may crash or print.
 */
#include "collect/profilers/profilers.h"

struct probe {
	struct settings settings;
	/* The images, and what each is for. */
	OPK_LIST(struct opk_availability) of;
	OPK_LIST(struct image {
		uint8_t *data;
		size_t size;
	})
	images;
	struct opk_strlist chips;
};

static void probe_clear(struct probe *probe)
{
	for (size_t i = 0; i < probe->images.count; i++)
		free(probe->images.items[i].data);
	free(probe->images.items);
	free(probe->of.items);
	opk_strlist_clear(&probe->chips);
}
#define opk_autoprobe __attribute__((cleanup(probe_clear)))

OPK_DEFINE_AUTO(opk_ctx)

int offpeak_probe(void);
int offpeak_describe(int fd);
int offpeak_hold_clocks(int fd);

static int driver_failed(const char *call, CUresult status)
{
	const char *name = NULL;

	if (target.cuGetErrorName(status, &name) || !name)
		name = "unknown error";
	return say(status == CUDA_ERROR_NO_DEVICE ? OPK_EFAILED : OPK_ENVIDIA, "%s: %s (%d)", call,
	           name, status);
}

/* Opens the driver and libcupti; the machine may have no device. */
static int begin(struct probe *probe)
{
	const char *problem = settings_read(&probe->settings);
	CUresult status;

	if (!problem)
		problem = target_open(probe->settings.cupti_path);
	if (problem)
		return say(OPK_ENVIDIA, "%s", problem);
	target.verbose = probe->settings.verbose;
	status = target.cuInit(0);
	return status ? driver_failed("cuInit", status) : OPK_OK;
}

static int add(struct probe *probe, CUcontext context, int device, const char *chip)
{
	struct opk_availability *of = opk_list_add(&probe->of);
	struct image *image = of ? opk_list_add(&probe->images) : NULL;
	struct patience patience;

	if (!image)
		return say(OPK_ENOMEM, "out of memory");
	*of = (struct opk_availability){ chip, context ? OPK_PROFILER_RANGE : OPK_PROFILER_PM,
		                         device };
	patience_begin(&patience, probe->settings.wait_s);
	do
		image->data = profiler_availability(context, device, &image->size);
	while (!image->data && patience_left(&patience));
	patience_end(&patience, false);
	if (image->data)
		return OPK_OK;
	probe->of.count--;
	probe->images.count--;
	return OPK_EFAILED;
}

/* The image for ranges belongs to a context. */
static int add_ranges(struct probe *probe, int device, const char *chip)
{
	CUcontext context;
	CUresult status = target.cuDevicePrimaryCtxRetain(&context, device);
	int code;

	if (status)
		return driver_failed("cuDevicePrimaryCtxRetain", status);
	code = add(probe, context, device, chip);
	target.cuDevicePrimaryCtxRelease(device);
	return code;
}

/* Every chip that can be profiled has ranges; chips without PM sampling have no image for it. */
static int ask_device(struct probe *probe, int device)
{
	TARGET_PARAMS(params, Device_GetChipName, .deviceIndex = (size_t)device);
	bool sampled;
	char *chip;

	if (!TARGET_CALL(cuptiDeviceGetChipName, &params) || !params.pChipName)
		return OPK_EFAILED;
	/* The next call may free the string. */
	chip = opk_strdup(params.pChipName);
	if (!opk_strlist_take(&probe->chips, chip))
		return say(OPK_ENOMEM, "out of memory");
	TRY(add_ranges(probe, device, chip));
	sampled = target.cuptiPmSamplingGetCounterAvailability && !add(probe, NULL, device, chip);
	/* A busy GPU may still be able to sample. */
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

	target.cuDeviceGetCount(&count);
	if (!count)
		return say(OPK_EFAILED, "there is no GPU");
	if (wanted >= count)
		return say(OPK_EUSAGE, "there is no device %d of %d, from 0 on", wanted, count);
	if (!profiler_initialize())
		return OPK_ENVIDIA;
	for (int i = 0; i < count; i++) {
		if (wanted < 0 || i == wanted)
			TRY(ask_device(probe, i));
	}
	return OPK_OK;
}

/* Writes the metadata: facts as in a recording, and what each image is for. */
static int write_meta(const struct probe *probe, struct opk_writer *writer)
{
	opk_autofacts struct facts facts = { 0 };
	struct opk_meta meta = {
		.kind = "probe",
		.keep_instances = true,
		.chip = probe->of.items->chip,
		.profiler = probe->of.items->profiler,
		.availability = probe->of.items,
		.availability_count = probe->of.count,
	};

	facts_collect(&facts);
	facts_describe(&meta, &facts);
	return opk_writer_add_meta(writer, &meta);
}

static int write_all(const struct probe *probe, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_writer_new(&writer, ctx, path));
	TRY(write_meta(probe, writer));
	for (size_t i = 0; i < probe->images.count; i++)
		TRY(opk_writer_add(writer, OPK_SECTION_AVAILABILITY, probe->images.items[i].data,
		                   probe->images.items[i].size));
	return opk_writer_finish(writer);
}

static int write_file(const struct probe *probe)
{
	struct opk_ctx_options options = OPK_INIT(options);
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	char path[4096];
	int code;

	if (!name_expand(path, sizeof path, probe->settings.output))
		return say(OPK_EUSAGE, "%s: no usable name", probe->settings.output);
	options.force = probe->settings.force;
	if (opk_ctx_new(&ctx, &options))
		return say(OPK_ENOMEM, "out of memory");
	code = write_all(probe, ctx, path);
	return !code ? OPK_OK : say(code, "%s", outer_cause(ctx));
}

EXPORT int offpeak_probe(void)
{
	opk_autoprobe struct probe probe = { 0 };

	TRY(begin(&probe));
	TRY(ask(&probe));
	return write_file(&probe);
}

/* Writes a fact per line, with a tab after its name. */
EXPORT int offpeak_describe(int fd)
{
	struct probe probe = { 0 };
	opk_autofacts struct facts facts = { 0 };

	TRY(begin(&probe));
	dprintf(fd, "cupti_version\t%u\n", target.cupti_version);
	facts_add_gpus(&facts);
	for (size_t i = 0; i < facts.count; i++)
		dprintf(fd, "%s\t%s\n", facts.items[i].name, facts.items[i].value);
	return OPK_OK;
}

EXPORT int offpeak_hold_clocks(int fd)
{
	struct probe probe = { 0 };

	TRY(begin(&probe));
	return clocks_hold(&probe.settings, fd);
}
