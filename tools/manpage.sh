#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes a manual page: manpage.sh OFFPEAK PAGE DATE, such as manpage.sh tools/offpeak tools/offpeak-eval.1 2026-11-28.
# offpeak prints its pages, which are made from the table of commands. The collector's page, tools/offpeak-collect.1, is made from the
# help of the collector beside it.
set -eu

collector_page() {
	cat <<END
.TH OFFPEAK-COLLECT 1 $2 "$("$1-collect" --version)"
.SH NAME
offpeak\\-collect \\- record hardware metrics of a program on a GPU
.SH DESCRIPTION
.nf
END
	"$1-collect" --help all | sed "s/\\\\/\\\\\\\\/g; s/-/\\\\-/g; s/^[.']/\\\\\&&/"
	cat <<END
.fi
.SH EXIT STATUS
That of the program, if a range or a sample was recorded in one of its
processes; a signal that ended the program ends offpeak\\-collect, too.
Otherwise:
.TP
1
nothing was recorded: nothing was launched, nothing passed the filters, the
GPU can't be profiled, there is no permission to read its counters; its
clocks can't be locked; or the output can't be written
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
With \\-\\-best\\-effort the program is run, and the exit code is its own,
in all these cases but 2, 126 and 127. INT, QUIT, TERM and HUP that end the
program always end offpeak\\-collect.
.SH SEE ALSO
\\fBoffpeak\\fR(1), \\fBoffpeak\\-build\\fR(1), \\fBoffpeak\\-eval\\fR(1)
END
}

name=${2##*/offpeak}
name=${name#-}
name=${name%.1}
case $name in
collect) collector_page "$1" "$3" ;;
*) "$1" --manpage ${name:+"$name"} ;;
esac >"$2.new"
mv "$2.new" "$2"
