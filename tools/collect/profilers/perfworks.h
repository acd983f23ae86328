/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libnvperf_host adds to PM sampling, where it is beside libcupti: images without instances,
 * images cut to their samples, the size of a hardware record. Its calls are not in CUDA's headers;
 * where they are missing or refuse, sampling works all the same, with larger images.
 */
#ifndef OPK_PERFWORKS_H
#define OPK_PERFWORKS_H

#include "collect/shared/set_file.h"

/*
 * Opens it beside that libcupti, which must be initialised, or on the loader's path. It stays:
 * NVIDIA's code does not expect to be unloaded. Without it the rest does nothing.
 */
void perfworks_open(const char *cupti_path);
/* Bytes of hardware records a sample; 0 where unknown. */
size_t perfworks_record_bytes(const struct image_set *images);
/* Bytes of an image for so many samples made from the set's prefix; 0 where that can't be had. */
size_t perfworks_image_size(const struct image_set *images, uint32_t samples, size_t device);
bool perfworks_image_init(const struct image_set *images, uint32_t samples, size_t device,
                          uint8_t *image, size_t size);
/* Cuts an image after its last sample; its new size, the old one where it can't be cut. */
size_t perfworks_trim(uint8_t *image, size_t size);

#endif
