/* SPDX-License-Identifier: BSD-2-Clause */
/* Early returns. */
#ifndef OPK_TRY_H
#define OPK_TRY_H

/* Returns the call's code if it failed. Cleanup attributes then release what is open. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		int try_code = (call);                                                             \
                                                                                                   \
		if (try_code)                                                                      \
			return try_code;                                                           \
	} while (0)

#endif
