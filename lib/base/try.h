/* SPDX-License-Identifier: BSD-2-Clause */
/* Early returns. */
#ifndef OPK_TRY_H
#define OPK_TRY_H

/* Returns what the call returns, if it failed. What is open is then left to its cleanup. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		int try_code = (call);                                                             \
                                                                                                   \
		if (try_code)                                                                      \
			return try_code;                                                           \
	} while (0)

#endif
