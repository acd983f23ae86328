/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the launcher. */
#ifndef OPK_COLLECT_LAUNCHER_H
#define OPK_COLLECT_LAUNCHER_H

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/nearest.h"
#include "collect/shared/shared.h"

OPK_DEFINE_AUTO(opk_ctx)

/* The launcher's command line. */

/*
 * OPK_OK or OPK_EUSAGE, with a message on stderr; *program and its arguments end with NULL. `sets`
 * gets each -c. --help and --version print, and leave *program NULL.
 */
int command_line_read(struct settings *settings, struct opk_strlist *sets, char ***program,
                      int argc, char **argv);

/* The name of an option that may be meant by this one, with its dashes; NULL: none. free() */
char *option_meant(const char *name);
/* help.c: the page of --help; all about an option of that name; or "all". OPK_OK or OPK_EUSAGE. */
int help_print(const char *topic);
/*
 * shell_complete.c: prints what the INDEX-th of the WORDS may become: INDEX, WORDS. OPK_OK: or a
 * file; OPK_EFAILED: no file; or OPK_EUSAGE.
 */
int shell_complete(size_t count, char **words);

/* A context for the files that this run writes. */
int launcher_ctx_new(struct opk_ctx **out, const struct settings *settings);

/* A file to look at: NULL if it can't be opened; and what it has of these, if that is sound. */
struct peek {
	struct opk_ctx *ctx; /* NULL: out of memory */
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_stats *stats;
};
struct peek peek_at(const char *path);
void peek_end(struct peek *peek);
#define opk_autopeek __attribute__((cleanup(peek_end)))

/* Before the program starts: checks whether and how the set can be collected. */

/*
 * Sets in the settings the fastest sound mode for the set's metrics, or the requested one; *passes
 * of the set take turns, or 0: all are collected together. Checks every checksum of the set. OPK_OK
 * or an exit code, with a message on stderr.
 */
int strategy_choose(struct settings *settings, size_t *passes);
/* Opens a set, as collect_set_open(), and advises how to build one. */
int strategy_open(struct collect_set *set, const struct settings *settings, const char *path);
/* The profiler of --source; OPK_PROFILER_RANGE: not given. */
enum opk_profiler profiler_of_source(enum collect_source source);
/* Whether this user may read GPU counters, according to the driver; if not, a message. */
int strategy_permission(void);
/* driver.c: what dlopen() says where the driver's library can't be loaded; NULL: it can. */
const char *driver_flaw(void);
/*
 * OPK_ENVIDIA, with a message, where the program certainly can't be recorded: neither the driver's
 * library nor any device of it is here, and the program does not start others elsewhere. With
 * --best-effort only a warning: it may be a script that does.
 */
int driver_check(const struct settings *settings, const char *program);

/* run.c: the program as a child process, and signals that shall reach it. */

/*
 * With a limit on file sizes, lets writing fail; lets children be waited for. The program gets the
 * signals' old handlers.
 */
void signals_begin(void);
/*
 * Between several runs, and while they are joined: a signal must not leave their files behind.
 * Otherwise program_run() takes signals, and gives them back.
 */
void signals_hold(void);
/* The last signal that came meanwhile, and was the program's, too; 0: none. */
int signal_came(void);
/* A signal's handler: the program gets it. */
void signal_forward(int number);
/* Returns a status as from wait(). */
int program_run(char **program);
/* Whether it could not be run, and a message says so. */
bool program_missing(void);
/* Whether a signal to both processes stopped it: the caller shall see that we stop, too. */
bool program_stopped(int status);
/* Ends this process in the same way as the program, or returns the exit code that a shell would. */
int program_end(int status);

/* several.c: several sets for one recording; the program runs for each in turn. */

enum { MOST_SETS = 3 }; /* a set for each profiler whose recordings can be joined */

/* How one set is collected, or what needs no set. */
struct collection {
	struct settings settings;
	size_t passes;    /* as from strategy_choose() */
	const char *what; /* it records; NULL: there is one collection */
	char *chip;
	enum opk_profiler profiler;
	char *environment[SETTINGS_TOTAL]; /* the settings' variables; NULL: unset */
};

struct collections {
	struct collection items[MOST_SETS];
	size_t count;
};

/*
 * A collection for each set, with the settings that concern it. OPK_OK, or a message: some set
 * can't be collected beside the others.
 */
int several_plan(struct collections *all, const struct settings *settings,
                 const struct opk_strlist *sets);
/* Gives the environment the variables that several_keep() found there. */
void several_enter(const struct collection *one);
int several_keep(struct collection *one);

/* Child processes that answer with text. */

/* Waits until the child has ended, also if signals come; returns its status as from wait(). */
int child_wait(pid_t pid);
/*
 * Runs answer(question, fd) in a child process, whose exit code is its result, and adds the text
 * that it writes to the descriptor. Returns the child's status as from wait(); -1 with a message.
 */
struct opk_buf;
int child_ask(struct opk_buf *text, int (*answer)(const void *question, int fd),
              const void *question);

/* Kept recordings, with --cache. */

/*
 * Before the program: copies the kept recordings of an equal run, and then sets *found. OPK_OK, or
 * an exit code with a message.
 */
int cache_find(bool *found, const struct settings *settings, char **program);
/*
 * After the program, with its status from wait(): keeps its recordings, or says why not. NULL: no
 * recordings. OPK_EFAILED if --cache-verify finds that something else ran, or has nothing to
 * compare.
 */
int cache_keep(const struct settings *settings, const struct opk_strlist *recordings, int status);

/* What a child process with the library loaded reports about the GPUs. */

/* Writes the GPUs' counter-availability images and facts to -o. OPK_OK, or a message. */
int probe_write(const struct settings *settings);
/* Facts about GPUs, driver and libcupti, NAME<tab>VALUE per line: free(). NULL with a message. */
char *probe_describe(void);
/* The library's path, from this program's folder: free(). NULL with a message. */
char *launcher_library(void);
/* A function of the library, with one argument, which it may ignore. */
struct question {
	const char *library, *function;
};
/* Calls it, in a child process; `data` is a question. */
int library_answer(const void *data, int fd);

/* clock_guard.c */

/*
 * Locks the clocks as the settings say, until clock_guard_end(), which finish() calls, or this
 * process is gone. Tells the recordings what was locked. OPK_OK, or a message.
 */
int clock_guard_begin(struct collections *all);
void clock_guard_end(void);

/* watch.c: GPUs without a program, as a program that the launcher runs. */

#define WATCH_WORD "--watching"
/* The command line of that program, which is this one; what the launcher does before. */
extern char *watch_program[];
void watch_prepare(void);
/* What it does: until its time is over, a signal comes, or no GPU is sampled. */
int watch_gpus(const char *launcher);
/* In a process of its own, with the watch's environment: archive_dump(). */
int watch_dump(const char *last);

/* archive.c: the files of a long watch. */

/*
 * Gives finished files their names (--rotate-files), or deletes those that are too old (--keep),
 * except the `last` one if it is still being written, and those up to `held`, which a dump needs.
 * OPK_OK, or a message.
 */
int archive_tidy(const struct settings *settings, bool last, unsigned held);
/* Whether a file has got its name since this run began. */
bool archive_any(const struct settings *settings);
/* Whether the part is of a flight recorder of this machine, by what it says. */
bool archive_is_recorders(const struct peek *peek);
/* Writes what files up to that number have into one, whose name has the time. */
int archive_dump(const struct settings *settings, unsigned last);
/*
 * Asks the watch whose -o is settings->dump for such a file, and prints its name when it is there:
 * OPK_OK, or a message.
 */
int archive_ask(struct settings *settings);

/* Whether such a file may replace the file with that name: OPK_OK, or a message. */
int outputs_check(const struct settings *settings, const char *path, enum opk_output output);
/* Unless --force is given, reports which recording with this name will be replaced. */
void outputs_note_older(const struct settings *settings, const char *path);
/* Remembers the file that has the recording's name now: a later file of another run stays. */
void outputs_begin(const struct settings *settings);

/* Whether another run, or this one since it began, has put a file there. */
bool outputs_is_anothers(const char *path);

/* Says on a terminal, or with -v, what a watch has made. */
void outputs_report_watch(const struct settings *settings, const struct opk_strlist *made);

/* The recording's name with a suffix before its ending: "run-12.opk". */
void recording_name(char path[PATH_MAX], const char *name, const char *suffix);
/* The suffix in such a name: "-12", or "" for the name of -o itself; NULL for others. free() */
char *recording_suffix(const char *name, const char *output);

/* Files that a run's processes left, until they get their final names. */

struct part {
	char *path;
	size_t name_length; /* of the recording's name in it: the path goes on with ".TOKEN-" */
	unsigned process,
		image; /* process id; number of its program, from 1: exec starts another */
};
struct parts {
	struct part *items;
	size_t count, capacity;
	size_t running; /* number of other parts, still being written */
	size_t silent;  /* processes that continue and have left no file so far */
	bool quiet;     /* parts_find() does not name the files that it skips */
};

/* Makes a random token for the next run: OPK_OK, or a message. */
int token_new(struct settings *settings);
/*
 * Adds the parts of the last run's processes, or of all runs if the token is "*", found by the
 * output's name with its %-items; may be none. Skips files that other users may have put there,
 * with a message.
 */
int parts_find(struct parts *parts, const struct settings *settings);
void parts_clear(struct parts *parts);
/*
 * Completes parts that were cut off, with what is missing; on failure they stay as they are, with a
 * message. Removes parts that had not begun. Parts of processes that still run stay with these,
 * with a message, and leave `parts`.
 */
void parts_complete(struct parts *parts, bool verbose);
/*
 * Whether the process that writes a part still runs, for example in the background: it has our
 * library in memory; another process that got its id since hardly has.
 */
bool still_runs(unsigned process);
/*
 * Lists processes of the last run that outlive it, such as daemons: an item is a number. Call it
 * before parts_find(), so that each process, or its part, is found.
 */
void running_find(struct opk_strlist *processes, const struct settings *settings);
/* Says where processes without a part will leave their recordings. */
void running_report(const struct opk_strlist *processes, struct parts *parts,
                    const struct settings *settings);
/* Reports files that an earlier run with this output left when it was killed. */
void parts_report_leftovers(const struct settings *settings);
/* Whether a part has a range or a sample. */
bool parts_recorded(const struct parts *parts);
/* The deepest level of user ranges in any process, at least 1. */
unsigned parts_depth(const struct parts *parts);
/*
 * Gives a part this name by `move`, which is opk_move_file or opk_move_new_file, and a recording's
 * mode. OPK_OK, PART_TAKEN if another file has got the name, or a message.
 */
enum { PART_TAKEN = -1 };
int part_rename(const struct part *part, const char *path,
                bool (*move)(const char *from, const char *to));
/* The ending of a file that is merged, until it has its name. */
#define MERGED_ENDING ".merged"
/* Makes one file per process, each with its own name. Adds the new names to the list. */
int parts_rename(struct opk_strlist *made, const struct parts *parts,
                 const struct settings *settings);
/* One file of all of them; then they are gone. `join` as in struct opk_meta, NULL: as recorded. */
int parts_merge(struct opk_strlist *made, const struct parts *parts,
                const struct settings *settings, const char *join);

/* release.c */

/* For SASS metrics: OPK_OK, or a message if libcupti counts only one function, or none. */
int release_check(const struct settings *settings);

#endif
