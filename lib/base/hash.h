/* SPDX-License-Identifier: BSD-2-Clause */
/* FNV-1a: fast, and good enough where input is not an attack. */
#ifndef OPK_HASH_H
#define OPK_HASH_H

#include <stddef.h>
#include <stdint.h>

#define OPK_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t opk_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
