#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# CUPTI's own single-pass sets, which 13.2 and later list if there is a driver:
#   OFFPEAK=offpeak OFFPEAK_CUDA=folder tests/gpu/single_pass.sh
# Planning a set packs it: a set of which nothing is left out fits one pass as a whole.
set -u
: "${OFFPEAK:?the tool}"
"$OFFPEAK" doctor | grep -E '^libcupti' || :
"$OFFPEAK" chips --format csv | tail -n +2 | cut -d, -f1 | while read -r chip; do
	"$OFFPEAK" sets --single-pass "$chip" --no-cache | tail -n +2 | sed "s/^/$chip,/"
done
