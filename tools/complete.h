/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_COMPLETE_H
#define OPK_COMPLETE_H

/*
 * offpeak --complete INDEX WORD...: what the word of this index, counted from the program's name,
 * may become; data/completion/offpeak asks. A candidate a line, with a blank behind it where the
 * word is done. Exit code 0: a file may stand there, too; 1: none may.
 */
int complete(int argc, char **argv);

#endif
