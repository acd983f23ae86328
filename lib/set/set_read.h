/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the YAML form of a set: set_yaml.c, set_items.c, set_definitions.c. */
#ifndef OPK_SET_READ_H
#define OPK_SET_READ_H

#include "adapters/yaml/yaml_tree.h"
#include "base/index.h"
#include "set/set.h"

enum { OPK_MAX_SET_FILE = 1 << 20, OPK_MAX_SET_METRICS = 10000, OPK_MAX_PARAMETER = 256 };

struct opk_set_reader {
	struct opk_ctx *ctx;
	struct opk_problems *problems;
	struct opk_set *set;
	struct opk_words includes; /* as in the file */
	struct opk_index seen;     /* metrics without a condition -> index in `metrics` */
	struct opk_words metrics;
	bool in_group, in_change;
};

void opk_set_reader_clear(struct opk_set_reader *r);

/* set_folders.c: OFFPEAK_SETS, the tool's data folder or the installed one; false: no memory. */
bool opk_set_folders(struct opk_strlist *out, const struct opk_ctx *ctx);
/* Whether the name ends in .yaml or .yml. */
bool opk_set_has_ending(const char *name);
/* Whether the text is a path: it has a slash, or the ending of a set's file. */
bool opk_set_is_path(const char *text);
/* The path of the shipped set with this name, free(); NULL: none. */
int opk_set_shipped(char **out, struct opk_ctx *ctx, const char *name);
/* OPK_EUSAGE: no such set, with similar names; `near`, which may be NULL, if no set is similar. */
int opk_set_none_shipped(struct opk_ctx *ctx, const char *name, const char *near);
/* set_load.c: opk_set_find_partly() for a path. */
int opk_set_load_partly(struct opk_set **out, struct opk_ctx *ctx, const char *path);

/* A key of a map, and the function for its value; without `read` it is text for `word`. */
struct opk_set_field {
	const char *name;
	void (*read)(struct opk_set_reader *r, void *object, const struct opk_yaml *value);
	size_t word; /* offset of a struct opk_word */
};

bool opk_yaml_has_key(const struct opk_yaml *map, const char *name);

/*
 * Reads a map key by key, a misspelt key as the key that was probably meant. Bit i of the result:
 * field i is present, or was meant. If `map` is not a map, adds the problem "WHAT is needed here".
 */
unsigned opk_set_read_map(struct opk_set_reader *r, void *object, const struct opk_yaml *map,
                          const struct opk_set_field *fields, size_t count, const char *what);

/* Reads what it can, and reports no problems. */
void opk_set_read_quietly(struct opk_set_reader *r, void *object, const struct opk_yaml *value,
                          const struct opk_set_field *field);

/* Reads text that must not be empty. */
void opk_set_read_word(struct opk_set_reader *r, struct opk_word *out,
                       const struct opk_yaml *value);
/* Reads a list of at least one word, each text and without duplicates. */
void opk_set_read_words(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value, const char *one, const char *many);
/* Reports words that differ only in case; equal words are reported elsewhere. */
void opk_set_check_cases(struct opk_set_reader *r, const struct opk_words *words, const char *one);
/*
 * The items of a list. Another value is a problem, and text is then read as a list of one item. If
 * the count is 0, ignore the result.
 */
const struct opk_yaml *opk_set_check_list(struct opk_set_reader *r, size_t *count,
                                          const struct opk_yaml *value, const char *many);
/* Reads known chips, architectures and profilers. False if a word is unclear. */
bool opk_set_read_where(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value);
/* False if the value is neither true nor false. */
bool opk_set_read_bool(struct opk_set_reader *r, bool *out, const struct opk_yaml *value);
bool opk_set_read_number(struct opk_set_reader *r, double *out, const struct opk_yaml *value);
/* Whether the text can be a name in formulas; else a problem is reported. */
bool opk_set_check_name(struct opk_set_reader *r, const struct opk_word *name, const char *what);

/* The keys of a set: `metrics`, a change's `add`, and those for formulas. */
void opk_set_read_items(struct opk_set_reader *r, struct opk_set_items *out,
                        const struct opk_yaml *value);
void opk_set_read_changes(struct opk_set_reader *r, void *object, const struct opk_yaml *value);
void opk_set_read_roofline(struct opk_set_reader *r, void *object, const struct opk_yaml *value);

/* set_definitions.c: reads the whole set. */
void opk_set_read(struct opk_set_reader *r, const struct opk_yaml *root);

#endif
