/* SPDX-License-Identifier: BSD-2-Clause */
/* Statuses by name, against the installed headers where there are any. */
#include "testing.h"

int main(void)
{
	return 77;
}
