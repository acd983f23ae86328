#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes a manual page: manpage.sh OFFPEAK PAGE, such as manpage.sh tools/offpeak tools/offpeak-eval.1. offpeak prints its own pages from
# the table of commands. The collector is beside it, and has its help: tools/manpage.sh tools/offpeak tools/offpeak-collect.1
set -eu

collector_page() {
	cat <<END
.TH OFFPEAK-COLLECT 1 "" "$("$1-collect" --version)"
.SH NAME
offpeak\\-collect \\- record hardware metrics of a program on a GPU
.SH DESCRIPTION
.nf
END
	"$1-collect" --help all | sed "s/\\\\/\\\\\\\\/g; s/-/\\\\-/g; s/^[.']/\\\\\&&/"
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
}

name=${2##*/offpeak}
name=${name#-}
name=${name%.1}
case $name in
collect) collector_page "$1" ;;
*) "$1" --manpage ${name:+"$name"} ;;
esac >"$2.new"
mv "$2.new" "$2"
