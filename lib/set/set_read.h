/* SPDX-License-Identifier: BSD-2-Clause */
/* The YAML form of a set, piece by piece: set_yaml.c, set_items.c, set_definitions.c. */
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
	struct opk_words includes; /* as the file names them */
	struct opk_index seen;     /* metrics without a condition, to items of `metrics` */
	struct opk_words metrics;
	bool in_group, in_change;
};

void opk_set_reader_clear(struct opk_set_reader *r);

/* set_folders.c: OFFPEAK_SETS, the tool's data folder or the installed one; false: no memory. */
bool opk_set_folders(struct opk_strlist *out, const struct opk_ctx *ctx);
/* Whether the name ends in .yaml or .yml. */
bool opk_set_has_ending(const char *name);
/* Whether the text is a path, as it has a slash or the ending of one. */
bool opk_set_is_path(const char *text);
/* The path of the shipped set of that name, free(); NULL: there is none. */
int opk_set_shipped(char **out, struct opk_ctx *ctx, const char *name);
/* OPK_EUSAGE: there is none, and names like it; `near`, which may be NULL, if no set's is. */
int opk_set_none_shipped(struct opk_ctx *ctx, const char *name, const char *near);
/* set_load.c: as opk_set_find_partly(), of a path. */
int opk_set_load_partly(struct opk_set **out, struct opk_ctx *ctx, const char *path);

/* A key of a map and what reads its value into the object; without `read` it is text at `word`. */
struct opk_set_field {
	const char *name;
	void (*read)(struct opk_set_reader *r, void *object, const struct opk_yaml *value);
	size_t word; /* offset of a struct opk_word */
};

bool opk_yaml_has_key(const struct opk_yaml *map, const char *name);

/*
 * Reads a map, key by key, and a misspelt key as what it was probably meant to be. Bit i of the
 * result: the i-th field is there, or was meant. What is no map is a problem, "WHAT is needed
 * here".
 */
unsigned opk_set_read_map(struct opk_set_reader *r, void *object, const struct opk_yaml *map,
                          const struct opk_set_field *fields, size_t count, const char *what);

/* Reads what can be read, and reports no problem. */
void opk_set_read_quietly(struct opk_set_reader *r, void *object, const struct opk_yaml *value,
                          const struct opk_set_field *field);

/* Text that is not empty. */
void opk_set_read_word(struct opk_set_reader *r, struct opk_word *out,
                       const struct opk_yaml *value);
/* A list of at least one, each text and there once. */
void opk_set_read_words(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value, const char *one, const char *many);
/* Reports words that differ in case alone; words that are the same were reported before. */
void opk_set_check_cases(struct opk_set_reader *r, const struct opk_words *words, const char *one);
/*
 * The items of a list; another value is a problem, and text as good as a list of it alone. With a
 * count of 0, what is returned means nothing.
 */
const struct opk_yaml *opk_set_check_list(struct opk_set_reader *r, size_t *count,
                                          const struct opk_yaml *value, const char *many);
/* Chips, architectures and profilers, each of them known. False where it is not clear which. */
bool opk_set_read_where(struct opk_set_reader *r, struct opk_words *out,
                        const struct opk_yaml *value);
/* False where it is neither. */
bool opk_set_read_bool(struct opk_set_reader *r, bool *out, const struct opk_yaml *value);
bool opk_set_read_number(struct opk_set_reader *r, double *out, const struct opk_yaml *value);
/* Whether the text can be a name in formulas; else a problem is reported. */
bool opk_set_check_name(struct opk_set_reader *r, const struct opk_word *name, const char *what);

/* The keys of a set: `metrics` and the `add` of a change, and those for formulas. */
void opk_set_read_items(struct opk_set_reader *r, struct opk_set_items *out,
                        const struct opk_yaml *value);
void opk_set_read_changes(struct opk_set_reader *r, void *object, const struct opk_yaml *value);
void opk_set_read_roofline(struct opk_set_reader *r, void *object, const struct opk_yaml *value);

/* All of it: set_definitions.c. */
void opk_set_read(struct opk_set_reader *r, const struct opk_yaml *root);

#endif
