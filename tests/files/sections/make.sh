#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes the golden files here anew: sh make.sh OFFPEAK. Look at the difference before you keep it.
cd "$(dirname "$0")" || exit
for file in kernel.section names.txt sampling.section syntax.section; do
	"$1" sets --import "$file" -o "${file%.*}.yaml" || exit
done
