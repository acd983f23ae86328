/* SPDX-License-Identifier: BSD-2-Clause */
/* Chips, catalogs, plans, prefixes over the real libraries. */
#include "testing.h"

int main(void)
{
	return 77;
}
