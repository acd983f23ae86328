/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of chips, and what is known of them without NVIDIA's libraries. */
#ifndef OPK_CHIP_H
#define OPK_CHIP_H

#include "base/ctx.h"

/* Chips are named in any case, and shown in upper case; free(). */
char *opk_chip_upper(const char *name);
/* The library's spelling of a chip's name in any case; OPK_EUSAGE with a suggestion; free(). */
int opk_chip_resolve(char **out, struct opk_ctx *ctx, const char *name);
/* "Hopper" of "GH100"; "" where it is not known. */
const char *opk_chip_architecture(const char *chip);
/* The i-th chip that we know without NVIDIA's libraries; NULL past the end. */
const char *opk_chip_known(size_t i);
/* What is known of that chip; nothing past the end. */
struct opk_chip_facts opk_chip_known_facts(size_t i);

#endif
