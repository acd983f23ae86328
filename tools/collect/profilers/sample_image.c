/* SPDX-License-Identifier: BSD-2-Clause */
/* The counter data image of PM sampling: one call decodes into it, and then it is emptied. */
#include "collect/profilers/profilers.h"

enum { IMAGE_BYTES = 192 << 20, MAX_SLOTS = 500000, MIN_SLOTS = 256 };

static size_t size_of_image(struct sample_image *image, uint32_t slots)
{
	TARGET_PARAMS(params, PmSampling_GetCounterDataSize, .pPmSamplingObject = image->object,
	              .pMetricNames = (const char **)image->set->meta->metrics,
	              .numMetrics = image->set->meta->metric_count, .maxSamples = slots);

	if (!image->instances)
		return perfworks_image_size(&image->set->images, slots, (size_t)image->device);
	return TARGET_CALL(cuptiPmSamplingGetCounterDataSize, &params) ? params.counterDataSize : 0;
}

bool sample_image_empty(struct sample_image *image)
{
	TARGET_PARAMS(params, PmSampling_CounterDataImage_Initialize,
	              .pPmSamplingObject = image->object, .counterDataSize = image->size,
	              .pCounterData = image->bytes);

	if (!image->instances)
		return perfworks_image_init(&image->set->images, image->slots,
		                            (size_t)image->device, image->bytes, image->size);
	if (image->blank) {
		memcpy(image->bytes, image->blank, image->size);
		return true;
	}
	image->blank = malloc(image->size);
	if (!image->blank || !TARGET_CALL(cuptiPmSamplingCounterDataImageInitialize, &params))
		return false;
	memcpy(image->blank, image->bytes, image->size);
	return true;
}

static uint32_t slots_for(struct sample_image *image)
{
	size_t one = size_of_image(image, 1), two = one ? size_of_image(image, 2) : 0;
	size_t slots = two > one ? IMAGE_BYTES / (two - one) : 0;

	return slots < MIN_SLOTS ? MIN_SLOTS : slots > MAX_SLOTS ? MAX_SLOTS : (uint32_t)slots;
}

static bool new_image(struct sample_image *image)
{
	free(image->bytes);
	image->slots = slots_for(image);
	image->size = size_of_image(image, image->slots);
	image->bytes = image->size ? calloc(1, image->size) : NULL;
	return image->bytes && sample_image_empty(image);
}

/* Makes an image without instances if the set was built so; CUPTI's own images have them all. */
bool sample_image_make(struct sample_image *image)
{
	image->instances = image->set->meta->keep_instances;
	if (new_image(image))
		return true;
	if (image->instances)
		return false;
	say(0, "note: libnvperf_host makes no images without instances here: the recording will be "
	       "large");
	image->instances = true;
	return new_image(image);
}

void sample_image_clear(struct sample_image *image)
{
	free(image->bytes);
	free(image->blank);
}
