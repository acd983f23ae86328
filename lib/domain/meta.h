/* SPDX-License-Identifier: BSD-2-Clause */
/* The META section: struct opk_meta as JSON. */
#ifndef OPK_META_H
#define OPK_META_H

#include "base/buf.h"
#include "base/ctx.h"

void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* "crc32:89abcdef"; `out` takes 15 bytes. */
void opk_config_hash(char out[15], const void *config, size_t size);

#endif
