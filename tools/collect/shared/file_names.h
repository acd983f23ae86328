/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of recordings: one a process. */
#ifndef OPK_NAMES_H
#define OPK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the name while a process writes the file: NAME.LAUNCHER-PROCESS.part, with their ids. */
#define PART_ENDING ".part"

/*
 * Writes `format` with its items replaced, as in Nsight Compute: %h host name, %p process id,
 * %q{NAME} environment variable ("" where unset), %% a percent sign. False for any other item, or
 * where the room is short.
 */
bool name_expand(char *out, size_t size, const char *format);
/* Whether there is an item that may differ from process to process. */
bool name_varies(const char *format);
/* A pattern for glob(): '*' for each item. False as above. */
bool name_pattern(char *out, size_t size, const char *format);

#endif
