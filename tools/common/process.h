/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals and limits of the process. */
#ifndef COMMON_PROCESS_H
#define COMMON_PROCESS_H

/*
 * A signal that ends the process leaves no file under a temporary name; a file that grows too large
 * is an error like a full disk; and as many files may be open as the system lets.
 */
void process_prepare(void);

#endif
