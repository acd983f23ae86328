# SPDX-License-Identifier: BSD-2-Clause
# Completion of offpeak-collect for fish, which looks for a file of this name.
source (status dirname)/offpeak.fish
