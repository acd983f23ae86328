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
"$1" --help | sed "s/\\\\/\\\\\\\\/g; s/-/\\\\-/g; s/^[.']/\\\\\&&/"
cat <<END
.fi
.SH EXIT STATUS
The program's own. Where it is not run: 1 failed, 2 usage, 3 NVIDIA library or permission missing,
4 bad set, 126 and 127 as a shell says that a program can't be run.
.SH SEE ALSO
\\fBoffpeak\\fR(1), \\fBoffpeak\\-build\\fR(1), \\fBoffpeak\\-eval\\fR(1)
END
