/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_UTF8_H
#define OPK_UTF8_H

#include <stddef.h>

/* Length of the UTF-8 character at the start of `size` bytes; 0 for what is none (RFC 3629). */
size_t opk_utf8_length(const unsigned char *text, size_t size);

#endif
