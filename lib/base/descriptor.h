/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors: numbers better left to the program, and all of what is read or written. */
#ifndef OPK_DESCRIPTOR_H
#define OPK_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * For a program's begin: where one of them is closed, no file that is opened later gets its number.
 * Reading and writing fail with EBADF, as before. A program that this one runs finds them closed.
 */
void opk_reserve_standard(void);

/*
 * The library's own files keep clear of these numbers: in a process of others, messages that any
 * code writes to descriptor 2 would get into a recording. Returns `fd`, or a copy beyond them,
 * close on exec, in its place; on failure -1 with errno set, and `fd` is closed. -1 stays -1.
 */
int opk_beyond_standard(int fd);

/* The same for two ends; on failure false with errno EMFILE, and both are closed. */
bool opk_both_beyond_standard(int ends[2]);

/*
 * The same for a file that stays open in a process of others: the number is a high one, which the
 * program hardly gives to a file of its own. Where there is none, it is beyond the standard ones.
 */
int opk_out_of_the_way(int fd);

/* All of `size` bytes at `offset`, or false with errno set (0 at the end of the file). */
bool opk_pread_all(int fd, void *data, size_t size, uint64_t offset);
bool opk_write_all(int fd, const void *data, size_t size);

#endif
