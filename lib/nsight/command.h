/* SPDX-License-Identifier: BSD-2-Clause */
/* Nsight Compute's command lines, as people type them. */
#ifndef OPK_NSIGHT_COMMAND_H
#define OPK_NSIGHT_COMMAND_H

#include "nsight/door.h"
#include "nsight/nsight.h"

/* ---- words, as a shell divides them */

struct opk_shell_word {
	char *text;      /* without quotes */
	size_t at, size; /* of the word as it is written, in the source */
	bool replaced;   /* has a variable or a command's output, which only a shell knows */
};

struct opk_shell_words {
	struct opk_shell_word *items;
	size_t count, capacity;
};

/*
 * Appends the words of the command that begins at byte *at, and moves *at after it: commands end at
 * an end of line, ';', '|' and '&'. OPK_EINPUT: a quote is not closed.
 */
int opk_shell_words_read(struct opk_shell_words *out, struct opk_ctx *ctx,
                         struct opk_source *source, size_t *at);
void opk_shell_words_clear(struct opk_shell_words *words);
#define opk_autowords __attribute__((cleanup(opk_shell_words_clear)))

/* ---- options */

/* What is known about an option of Nsight Compute. */
struct opk_ncu_known {
	const char *name; /* "launch-skip" */
	char letter;      /* 's', or 0 */
	bool flag;        /* has no value */
	enum opk_ncu_meaning meaning;
};

/* An option by its name, which ends at `size`, or by its letter; NULL: there is none. */
const struct opk_ncu_known *opk_ncu_option_named(const char *name, size_t size);
const struct opk_ncu_known *opk_ncu_option_lettered(char letter);
/* The option whose name is most like this one; NULL: no name is like it. */
const char *opk_ncu_option_like(const char *name);

/* ---- sections and sets, which are files of Nsight Compute's own */

/* What replaces a section here. */
struct opk_ncu_section {
	const char *name;    /* "SpeedOfLight" */
	size_t draft;        /* which draft includes the sets: OPK_DRAFT_RANGE and the like */
	const char *sets[3]; /* shipped sets of the same subject; none: `reason` says why */
	const char *reason;
};

/* NULL: there is no such section. */
const struct opk_ncu_section *opk_ncu_section_find(const char *name);
/* The same for "group:NAME". */
const struct opk_ncu_section *opk_ncu_group_find(const char *name);
/* The i-th section that is known; NULL past the end. */
const struct opk_ncu_section *opk_ncu_section_known(size_t i);
/*
 * The names of a set's sections, with NULL at the end; NULL: there is no such set. *whole is the
 * shipped set that replaces all of its sections of the range profiler; NULL: each has its own.
 */
const char *const *opk_ncu_set_sections(const char **whole, const char *name);

/* The section or set whose name is most like this one; NULL: no name is like it. */
const char *opk_ncu_section_like(const char *name);
const char *opk_ncu_set_like(const char *name);
/* The names of all sets, with commas between them; free(), or NULL without memory. */
char *opk_ncu_set_names(void);

/* ---- command lines */

/* The first word that is not a prompt or of a loop or condition: "do", "then", "{". */
size_t opk_first_word(const struct opk_shell_words *words);
/*
 * The place of "ncu" among the words of a command; their number: it is another command, such as
 * "cd ~/ncu", whose words the tool's options do not follow, or several words may be the tool.
 */
size_t opk_find_ncu(const struct opk_shell_words *words);

/* Refuses a command line of another tool, such as nsys: OPK_EINPUT, with its place. */
int opk_check_other_tools(struct opk_ctx *ctx, struct opk_source *source);

/* Whether the text has a command line of Nsight Compute, outside of comments. */
bool opk_has_ncu_command(const char *text, size_t size);
/* Adds the metrics of the first such command line to the drafts; a failure sets their code. */
void opk_command_import(struct opk_ncu_command *out, struct opk_drafts *drafts,
                        struct opk_source *source);
void opk_ncu_command_clear(struct opk_ncu_command *command);

#endif
