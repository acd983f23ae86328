/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors: numbers to leave to the program, and complete reads and writes. */
#ifndef OPK_DESCRIPTOR_H
#define OPK_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * For the start of a program: if descriptor 0, 1 or 2 is closed, no later file gets its number.
 * Using it still fails with EBADF, and programs that this one runs find it closed.
 */
void opk_reserve_standard(void);

/*
 * Keeps the library's files away from these numbers: in another program's process, messages
 * written to descriptor 2 would get into a recording. Returns `fd`, or a close-on-exec copy beyond
 * them, which replaces it; on failure -1 with errno set, and `fd` is closed. -1 stays -1.
 */
int opk_beyond_standard(int fd);

/* The same for both ends of a pipe; on failure false with errno EMFILE, and both are closed. */
bool opk_both_beyond_standard(int ends[2]);

/*
 * The same for a file that stays open in another program's process: picks a high number, which the
 * program is unlikely to use. If no high one is free, any number beyond the standard ones.
 */
int opk_out_of_the_way(int fd);

/*
 * Whether the descriptor still is that file: the program may have closed it, and have a file of its
 * own there. *info: what it is, unless it is closed.
 */
bool opk_is_still(int fd, dev_t device, ino_t inode, struct stat *info);

/* Reads all `size` bytes at `offset`; false with errno set (0 at the end of the file). */
bool opk_pread_all(int fd, void *data, size_t size, uint64_t offset);
bool opk_write_all(int fd, const void *data, size_t size);

#endif
