/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_CONFINE_H
#define OPK_CONFINE_H

/*
 * Takes away for good, from this process and those that it may start, what code has no business
 * with that only reads bytes: opening files for writing, making, changing and removing them,
 * running programs, signals to others, TCP connections, new privileges. What is open stays open.
 * Where the kernel is older (Landlock: 5.13), some of it remains possible.
 */
void opk_confine(void);

#endif
