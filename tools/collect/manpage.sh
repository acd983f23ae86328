#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The launcher's --help as a man page: manpage.sh OFFPEAK-COLLECT
set -eu
cat <<END
.TH OFFPEAK-COLLECT 1 "" "$("$1" --version)"
.SH NAME
offpeak\\-collect \\- record hardware metrics of a program on a GPU
.SH DESCRIPTION
.nf
END
"$1" --help all | sed "s/\\\\/\\\\\\\\/g; s/-/\\\\-/g; s/^[.']/\\\\\&&/"
cat <<END
.fi
.SH EXIT STATUS
That of the program, if a range or a sample was recorded in one of its processes; a signal that ended the
program ends offpeak\\-collect, too. Otherwise:
.TP
1
nothing was recorded: nothing was launched, nothing passed the filters, the GPU can't be profiled, there is
no permission to read its counters; its clocks can't be locked; or the output can't be written
.TP
2
wrong usage
.TP
3
nothing was recorded: there is no NVIDIA driver, or libcupti can't be used
.TP
4
the set can't be used
.TP
126, 127
the program can't be run, or is not there
.PP
With \\-\\-best\\-effort the program is run, and the exit code is its own, in all these cases but 2, 126 and 127.
INT, QUIT, TERM and HUP that end the program always end offpeak\\-collect.
.SH SEE ALSO
\\fBoffpeak\\fR(1), \\fBoffpeak\\-build\\fR(1), \\fBoffpeak\\-eval\\fR(1)
END
