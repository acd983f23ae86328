/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML trees and metric sets, good and bad. */
#include "testing.h"

int main(void)
{
	return 77;
}
