/* SPDX-License-Identifier: BSD-2-Clause */
/* Empty counter data images from a counter-data prefix. */
#ifndef OPK_IMAGES_H
#define OPK_IMAGES_H

#include "collect/shared/set_file.h"
#include "collect/shared/target.h"

/* Bytes of an image for so many ranges; 0 with a message on stderr. */
size_t image_size(const struct target *target, const struct image_set *set, uint32_t ranges);
/* As many ranges as an image of about that size holds, from 1 to `most`. */
uint32_t image_ranges(const struct target *target, const struct image_set *set, size_t bytes,
                      uint32_t most);
/* An empty image: free(). NULL with a message on stderr. */
uint8_t *image_new(const struct target *target, const struct image_set *set, uint32_t ranges,
                   size_t *size);

#endif
