/* SPDX-License-Identifier: BSD-2-Clause */
/* Row writers in all formats. */
#include "testing.h"

int main(void)
{
	return 77;
}
