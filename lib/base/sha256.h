/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 (FIPS 180-4): tells files apart even if an attacker wants two to look the same. */
#ifndef OPK_SHA256_H
#define OPK_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPK_SHA256_TEXT = 65 }; /* hexadecimal digits and a NUL */

struct opk_sha256 {
	uint32_t state[8];
	uint64_t size;
	uint8_t block[64];
	bool plainly; /* don't use SHA instructions; tests set it after opk_sha256_begin() */
};

void opk_sha256_begin(struct opk_sha256 *hash);
void opk_sha256_add(struct opk_sha256 *hash, const void *data, size_t size);
void opk_sha256_end(struct opk_sha256 *hash, char out[OPK_SHA256_TEXT]);
/* Hashes the rest of the file; false with errno set. */
bool opk_sha256_file(char out[OPK_SHA256_TEXT], int fd);

#endif
