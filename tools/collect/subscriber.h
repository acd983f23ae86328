/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI's callbacks, which only one library of a process can have, unless all request sharing in
 * the same way: they collide with a program that traces itself (torch.profiler).
 */
#ifndef OPK_COLLECT_SUBSCRIBER_H
#define OPK_COLLECT_SUBSCRIBER_H

#include "collect/shared/shared.h"
#include "collect/shared/target.h"

/*
 * If a process has several files of CUPTI, such as PyTorch's and the toolkit's, only the first one
 * used works: the others find its callbacks taken for good, or crash.
 */

/* The file to use: --cupti, else the program's if it can do what the mode needs. */
const char *cupti_choose(const struct settings *settings);
/* Says on stderr if the program has loaded another libcupti. */
void cupti_report_other(void);

enum { SUBSCRIBER_NAME = 64 };

/*
 * Subscribes, from CUPTI 13.2 on together with others if `share`. If another library has the
 * callbacks, `other` receives its name, if known; else "". Returns CUPTI's status.
 */
CUptiResult subscriber_take(CUpti_CallbackFunc callback, char other[SUBSCRIBER_NAME], bool share);
/* Enables the callbacks of a call or an event. False with a message on stderr. */
bool subscriber_enable(CUpti_CallbackDomain domain, CUpti_CallbackId id);
/* Unsubscribes for good: the program may have the callbacks. */
void subscriber_leave(void);
/*
 * Call it when the program ends, and CUPTI with it: waits for a thread that unsubscribes; none does
 * later, and CUPTI is not asked any more. The caller may hold no lock that callbacks wait for. As
 * subscriber_lost(), the first time.
 */
bool subscriber_stay(void);
/* The program has ended this subscription by a cuptiFinalize() that was seen. */
void subscriber_forget(void);
/* Whether the program ended this subscription by cuptiFinalize(). */
bool subscriber_lost(void);

#endif
