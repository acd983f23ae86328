/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake's counter data images: a header, then records of equal size. Like NVIDIA's, they grow
 * with the number of ranges and store how many they hold; all else differs. Tests read them with
 * these structs.
 */
#ifndef FAKE_IMAGE_H
#define FAKE_IMAGE_H

#include <stdint.h>

#define FAKE_IMAGE_MAGIC "FAKEIMG1"

#define FAKE_CONFIG_MAGIC "FAKECFG1"

/* A config image may begin with this. */
struct fake_config {
	char magic[8];
	uint32_t passes;
};

enum fake_image_kind { FAKE_IMAGE_RANGES = 1, FAKE_IMAGE_SAMPLES = 2 };

/* Separates the names of nested ranges. */
#define FAKE_RANGE_SEPARATOR '\x1f'

struct fake_image {
	char magic[8];
	uint32_t kind;
	uint32_t record_size;
	uint32_t max_records;
	uint32_t count;
	uint64_t prefix_size;
};

struct fake_range_record {
	uint64_t launches; /* kernels, over all passes */
	uint32_t passes;   /* decoded so far */
	uint32_t depth;
	uint32_t pass; /* the last one */
	char path[];   /* names joined by FAKE_RANGE_SEPARATOR, ended by 0 */
};

/* Times on the GPU's clock, which differs from the host's. */
struct fake_sample_record {
	uint64_t start, end;
	uint64_t value;
};

#endif
