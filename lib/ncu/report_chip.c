/* SPDX-License-Identifier: BSD-2-Clause */
/* The chip of a report's recording, which leaves out launches on GPUs of other chips. */
#include <string.h>

#include "chip/chip.h"
#include "ncu/door.h"
#include "ncu/values.h"

/* What a report says about the GPUs on which it has launches. */
struct gpus {
	struct opk_ctx *ctx;
	struct opk_ncu_report *report;
	const char **names; /* by the device's number; "": it is not said */
	size_t count;
};

static size_t device_of(const struct opk_range *launch)
{
	return launch->device >= 0 ? (size_t)launch->device : 0;
}

/* The first name of a device counts, as among its facts. */
static void find_names(struct gpus *gpus)
{
	const struct opk_ncu_report *report = gpus->report;

	for (size_t i = 0; i < gpus->count; i++)
		gpus->names[i] = "";
	for (size_t i = 0; i < report->values.count; i++) {
		const struct opk_ncu_value *value = &report->values.items[i];
		size_t device = device_of(&report->launches.rows.items[value->launch]);

		if (device < gpus->count && !*gpus->names[device]
		    && !opk_printed_is_none(value->text)
		    && !strcmp(report->metrics.items[value->metric].name,
		               "device__attribute_display_name"))
			gpus->names[device] = value->text;
	}
}

static const char *capability_of(const struct gpus *gpus, size_t device)
{
	return device < gpus->count ? gpus->report->capabilities.items[device] : NULL;
}

static opk_chip_mask chips_with(const char *capability)
{
	return opk_capability_number(capability) ? opk_chips_meant(capability) : 0;
}

static opk_chip_mask bit_of(const char *chip)
{
	size_t i = 0;

	while (opk_chip_known(i) && strcmp(opk_chip_known(i), chip) != 0)
		i++;
	return opk_chip_known(i) ? (opk_chip_mask)1 << i : 0;
}

/* ---- a chip that is not named */

static int fail_ambiguous(struct opk_ctx *ctx, const char *capability, opk_chip_mask found)
{
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; opk_chip_known(i); i++)
		if (found >> i & 1)
			opk_buf_add_printf(&text, "%s%s", text.size ? ", " : "", opk_chip_known(i));
	opk_buf_add(&text, "", 1);
	if (text.failed)
		return opk_nomem(ctx, "a message");
	return opk_fail(
		ctx, OPK_EUSAGE,
		found ? "compute capability %.20s is that of several chips, %s: name the chip"
		      : "no chip is known for compute capability %.20s%s: name the chip",
		capability, (const char *)text.data);
}

/* The only chip with this compute capability, or the one that the device's name means. */
static int chip_of_device(const char **out, const struct gpus *gpus, size_t device)
{
	const char *capability = capability_of(gpus, device);
	opk_chip_mask found = chips_with(capability);
	opk_chip_mask named = found & opk_chips_meant(gpus->names[device]);

	for (size_t i = 0; opk_chip_known(i); i++)
		if ((named ? named : found) == (opk_chip_mask)1 << i) {
			*out = opk_chip_known(i);
			return OPK_OK;
		}
	return fail_ambiguous(gpus->ctx, capability, found);
}

/* All devices have to be of one chip. */
static int find_chip(const char **out, const struct gpus *gpus)
{
	*out = NULL;
	for (size_t i = 0; i < gpus->count; i++) {
		const char *chip = NULL;

		if (!capability_of(gpus, i))
			continue;
		TRY(chip_of_device(&chip, gpus, i));
		if (*out && strcmp(*out, chip) != 0)
			return opk_fail(gpus->ctx, OPK_EUSAGE,
			                "GPUs of several chips, %s and %s: a recording has one: "
			                "name the chip",
			                *out, chip);
		*out = chip;
	}
	return *out ? OPK_OK
	            : opk_fail(gpus->ctx, OPK_EUSAGE,
	                       "the report does not say compute capabilities: name the chip");
}

/* ---- a chip that is named */

/* How well a device fits the chip, best last. */
enum fit { FITS_NOT, FITS_UNKNOWN, FITS_NUMBER, FITS };

static enum fit fit_of(const struct gpus *gpus, size_t device, const char *chip)
{
	opk_chip_mask wanted = bit_of(chip), found, named;

	/* A chip whose compute capability is not known may have any. */
	if (!*opk_chip_get_facts(chip).compute_capability)
		return FITS;
	found = chips_with(capability_of(gpus, device));
	if (!(found & wanted))
		return found ? FITS_NOT : FITS_UNKNOWN;
	named = found & opk_chips_meant(gpus->names[device]);
	return !named || named & wanted ? FITS : FITS_NUMBER;
}

static char *describe_gpu(const struct gpus *gpus, size_t device, const char *verb)
{
	const char *name = gpus->names[device];

	return opk_printf("device %zu%s%s%s %s compute capability %.20s", device, *name ? " (" : "",
	                  name, *name ? ")" : "", verb, capability_of(gpus, device));
}

static int fail_other(const struct gpus *gpus, size_t device, const char *chip)
{
	opk_autofree char *gpu = describe_gpu(gpus, device, "has");

	return gpu ? opk_fail(gpus->ctx, OPK_EUSAGE, "the report says that %s, and %s has %s", gpu,
	                      chip, opk_chip_get_facts(chip).compute_capability)
	           : opk_nomem(gpus->ctx, "a message");
}

/* Takes launches on these devices out, with their values. */
static int leave_out(struct opk_ncu_imported *out, const struct gpus *gpus, const bool *left_out)
{
	struct opk_ncu_report *report = gpus->report;
	size_t count = report->launches.rows.count, kept = 0, values = 0;
	opk_autofree uint32_t *numbers = opk_alloc_array(count + 1, sizeof *numbers);
	opk_autofree size_t *launches = opk_alloc_array(gpus->count + 1, sizeof *launches);

	if (!numbers || !launches)
		return opk_nomem(gpus->ctx, "a report");
	for (size_t i = 0; i < count; i++) {
		size_t device = device_of(&report->launches.rows.items[i]);
		bool out_of_it = device < gpus->count && left_out[device];

		numbers[i] = out_of_it ? UINT32_MAX : (uint32_t)kept;
		if (out_of_it)
			launches[device]++;
		else
			report->launches.rows.items[kept++] = report->launches.rows.items[i];
	}
	report->launches.rows.count = kept;
	for (size_t i = 0; i < report->values.count; i++) {
		struct opk_ncu_value value = report->values.items[i];

		value.launch = numbers[value.launch];
		if (value.launch != UINT32_MAX)
			report->values.items[values++] = value;
	}
	report->values.count = values;
	for (size_t i = 0; i < gpus->count; i++) {
		opk_autofree char *gpu = left_out[i] ? describe_gpu(gpus, i, "of") : NULL;

		if (left_out[i]
		    && (!gpu
		        || !opk_strlist_take(&out->other_gpus,
		                             opk_printf("%zu on %s", launches[i], gpu))))
			return opk_nomem(gpus->ctx, "a report");
		if (left_out[i])
			report->capabilities.items[i] = NULL;
	}
	return OPK_OK;
}

/* The devices that fit the chip best are taken, and those about which nothing is said. */
static int take_chip(struct opk_ncu_imported *out, const struct gpus *gpus, const char *chip)
{
	opk_autofree bool *left_out = opk_alloc_array(gpus->count + 1, sizeof *left_out);
	enum fit best = FITS_NOT;
	bool any = false;

	if (!left_out)
		return opk_nomem(gpus->ctx, "a report");
	for (size_t i = 0; i < gpus->count; i++)
		if (capability_of(gpus, i) && fit_of(gpus, i, chip) > best)
			best = fit_of(gpus, i, chip);
	for (size_t i = 0; i < gpus->count; i++) {
		if (!capability_of(gpus, i))
			continue;
		if (best == FITS_NOT)
			return fail_other(gpus, i, chip);
		left_out[i] = fit_of(gpus, i, chip) != best;
		any |= left_out[i];
		if (best == FITS_UNKNOWN && !left_out[i]
		    && !opk_strlist_take(&out->unknown_gpus, describe_gpu(gpus, i, "has")))
			return opk_nomem(gpus->ctx, "a report");
	}
	return any ? leave_out(out, gpus, left_out) : OPK_OK;
}

int opk_ncu_choose_chip(const char **chip, struct opk_ncu_imported *out, struct opk_ctx *ctx,
                        struct opk_ncu_report *report)
{
	struct gpus gpus = { ctx, report, .count = report->capabilities.count };
	opk_autofree const char **names = opk_alloc_array(gpus.count + 1, sizeof *names);

	if (!names)
		return opk_nomem(ctx, "a report");
	gpus.names = names;
	find_names(&gpus);
	return *chip ? take_chip(out, &gpus, *chip) : find_chip(chip, &gpus);
}
