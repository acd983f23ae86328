/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the launcher share. */
#ifndef OPK_COLLECT_LAUNCHER_H
#define OPK_COLLECT_LAUNCHER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strlist.h"
#include "collect/shared/shared.h"

OPK_DEFINE_AUTO(opk_ctx)

/* The launcher's command line. */

/*
 * OPK_OK or OPK_EUSAGE, with a message on stderr; *program and its arguments end with NULL. --help
 * and --version end the process.
 */
int command_line_read(struct settings *settings, char ***program, int argc, char **argv);

/* A context for the files that this run writes. */
int launcher_ctx_new(struct opk_ctx **out, const struct settings *settings);

/* Before the program starts: whether the set can be collected, and how. */

/*
 * The fastest way that is sound for the set's metrics, or the one that was asked for, into the
 * settings; *passes of the set take turns, or 0: all are collected together. Checks every checksum
 * of the set. OPK_OK or an exit code, with a message on stderr.
 */
int strategy_choose(struct settings *settings, size_t *passes);
/* Whether this user may read GPU counters, as far as the driver says; otherwise a message. */
int strategy_permission(void);

/* Child processes that answer in text. */

/*
 * Adds what answer(question, fd) writes to the descriptor in a child process, whose exit code is
 * what it returns. The child's status, as wait() has it; -1 with a message.
 */
struct opk_buf;
int child_ask(struct opk_buf *text, int (*answer)(const void *question, int fd),
              const void *question);

/* Recordings that are kept, with --cache. */

/*
 * Before the program runs: copies what is kept of a run like this one, and then *found is true.
 * OPK_OK, or an exit code with a message.
 */
int cache_find(bool *found, const struct settings *settings, char **program);
/*
 * After it, with the status that wait() gave: keeps its recordings, or says why it does not. NULL:
 * there are none. OPK_EFAILED where --cache-verify finds that something else ran, or has nothing to
 * compare.
 */
int cache_keep(const struct settings *settings, const struct opk_strlist *recordings, int status);

/* What a child process with the library in it says of the GPUs. */

/* Writes the counter-availability images and facts of the GPUs to -o. OPK_OK, or a message. */
int probe_write(const struct settings *settings);
/* Facts about GPUs, driver and libcupti, NAME<tab>VALUE a line: free(). NULL with a message. */
char *probe_describe(void);
/* The library, from this program's folder: free(). NULL with a message. */
char *launcher_library(void);

/* Whether such a file may take the place of what has the name: OPK_OK, or a message. */
int outputs_check(const struct settings *settings, const char *path, enum opk_output output);
/* Unless --force is given, says which recording of this name will be replaced. */
void outputs_note_older(const struct settings *settings, const char *path);
/* Remembers what has the recording's name now: what another run puts there later stays. */
void outputs_begin(const struct settings *settings);

/* The recording's name with a suffix before its ending: "run-12.opk". */
void recording_name(char path[PATH_MAX], const char *name, const char *suffix);
/* The suffix of such a name: "-12", or "" for the name of -o itself; NULL for others. free() */
char *recording_suffix(const char *name, const char *output);

/* The files that a run's processes left, until they have their final names. */

struct part {
	char *path;
	size_t name_length; /* of the recording's name in it: the path goes on with ".TOKEN-" */
	unsigned process, image; /* its id; 1, or the number of the program that it became */
};
struct parts {
	struct part *items;
	size_t count, capacity;
	size_t running; /* others, which their processes go on with */
	size_t silent;  /* processes that go on and have left nothing so far */
};

/* A new random token for the next run: OPK_OK, or a message. */
int token_new(struct settings *settings);
/*
 * Adds those that the last run's processes left, by the output's name with its %-items; may be
 * none. Files that other users may have put there are left alone, with a message.
 */
int parts_find(struct parts *parts, const struct settings *settings);
void parts_clear(struct parts *parts);
/*
 * Makes complete recordings of those that were cut off, which say how much is missing. A message
 * where that fails: they stay as they are. Those that had not begun are removed. Those of processes
 * that still run are left to them, with a message, and leave `parts`.
 */
void parts_complete(struct parts *parts, bool verbose);
/* Whether there is such a section. */
bool part_has(const struct opk_file *file, uint32_t section);
/*
 * Whether the process that writes a part still runs, as where the program left it in the
 * background: it has our library in memory, which another one that got its id since hardly has.
 */
bool still_runs(unsigned process);
/*
 * The processes of the last run that go on without it, as daemons do: by number, which is all of an
 * item. Looked for before the parts, so that each process is found, or its part is.
 */
void running_find(struct opk_strlist *processes, const struct settings *settings);
/* Says where those without a part will leave what they record. */
void running_report(const struct opk_strlist *processes, struct parts *parts,
                    const struct settings *settings);
/* Says which files an earlier run with this output left when it was killed. */
void parts_report_leftovers(const struct settings *settings);
/* Whether one of them has a range or a sample. */
bool parts_recorded(const struct parts *parts);
/* The deepest level of user ranges that the processes saw, at least 1. */
unsigned parts_depth(const struct parts *parts);
/* One file a process, under its own name. The new names are added to the list. */
int parts_rename(struct opk_strlist *made, const struct parts *parts,
                 const struct settings *settings);
/* One file of all of them; then they are gone. `join` as in struct opk_meta, NULL: as recorded. */
int parts_merge(struct opk_strlist *made, const struct parts *parts,
                const struct settings *settings, const char *join);

#endif
