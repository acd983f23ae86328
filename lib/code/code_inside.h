/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/code alone. */
#ifndef OPK_CODE_INSIDE_H
#define OPK_CODE_INSIDE_H

#include "base/index.h"
#include "base/strlist.h"
#include "child/child.h"
#include "code/door.h"
#include "container/container.h"
#include "eval/eval.h"

/* An instruction, with its counts over all sections. */
struct opk_code_place {
	struct opk_instruction at; /* strings are of the counts' texts */
	uint64_t launches[OPK_COUNT_KINDS];
	uint64_t of_list; /* launches counted so far with the metrics of block `list` */
	size_t list;
	bool launches_unknown; /* of samples: of some launches, or all */
	/* Numbers of texts, from 1; 0: unknown. */
	uint32_t source, inlined_at, opcode, sass;
	uint32_t line; /* 0: unknown */
	/* The line in the function itself, which may call what was inlined here. */
	uint32_t own_source, own_line;
	struct opk_code_lines lines; /* of the function in that file */
};

/* A row of a section of samples. */
struct opk_sampled_row {
	const struct opk_instruction *at; /* of a section that is being read */
	size_t place, list;
	bool has_samples;
	bool is_nowhere; /* launches in a module that is not known: there is no place */
};

/* What was counted at all instructions of a file. Begins zeroed. */
struct opk_code_counts {
	OPK_LIST(struct opk_code_place) places;
	OPK_LIST(struct opk_sampled_row) sampled; /* until opk_code_find_launches() */
	size_t *order;                            /* places by module, function and offset */
	struct opk_strlist metrics;               /* of all sections */
	struct opk_index metric_numbers;
	double *values; /* one per metric for each place; NaN: not counted there */
	struct opk_code_interval interval; /* of samples */
	struct opk_strlist keys;
	struct opk_index numbers; /* of places, by key */
	struct opk_texts texts;   /* of functions */
	struct opk_strlist found; /* texts that children find in modules, each once */
	struct opk_index found_numbers;
};

/* counts.c */
int opk_code_counts_read(struct opk_code_counts *counts, struct opk_ctx *ctx,
                         struct opk_file *file);
void opk_code_counts_clear(struct opk_code_counts *counts);
#define opk_autocounts __attribute__((cleanup(opk_code_counts_clear)))

/* The number of a text that was found, from 1. */
int opk_code_add_text(uint32_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                      const char *text);
/* The text with this number; "" for 0. */
const char *opk_code_text(const struct opk_code_counts *counts, uint32_t number);

/* ---- launches.c */

int opk_code_add_sampled(struct opk_code_counts *counts, struct opk_ctx *ctx,
                         const struct opk_sampled_row *row);
/* Finds the launches of sampled functions, at the places with samples. */
void opk_code_find_launches(struct opk_code_counts *counts);

/* ---- look_up.c: what modules say about places */

/* Finds source lines, and, if they are wanted, opcodes and SASS texts. */
int opk_code_look_up(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file,
                     bool sass);

/* The places of one module, of which a child finds something. */
struct opk_code_search {
	struct opk_code_counts *counts;
	const struct opk_cubin *cubin;
	size_t first, count;      /* in the order of places */
	const char *disassembler; /* its path */
	bool with_cupti;          /* which finds lines; else the module's table says them */
};

static inline struct opk_code_place *opk_code_search_place(const struct opk_code_search *search,
                                                           size_t i)
{
	return &search->counts->places.items[search->counts->order[search->first + i]];
}

/* In the child, and then in this process: lines.c, disassembly.c. */
int opk_code_find_lines(struct opk_ctx *ctx, void *search, struct opk_child *child);
int opk_code_take_lines(const struct opk_code_search *search, struct opk_ctx *ctx,
                        struct opk_result *result);
int opk_code_find_sass(struct opk_ctx *ctx, void *search, struct opk_child *child);
int opk_code_take_sass(const struct opk_code_search *search, struct opk_ctx *ctx,
                       struct opk_result *result);

/* ---- inlined.c */

/* A row of a line table: a line that begins at an address. */
struct opk_line_row {
	uint64_t address; /* in the section */
	uint32_t section; /* of the function; 0: unknown */
	uint32_t file;    /* among the table's; more: unknown */
	uint32_t call;    /* the row of its sequence that it was inlined at, from 1; 0: none */
	uint32_t line;
	uint32_t first; /* the first row of its sequence */
	bool is_end;    /* nothing is known from here on */
};
struct opk_line_file {
	const char *folder, *name;
};
/* The line table of a cubin; begins zeroed. Borrows texts of the cubin. */
struct opk_line_table {
	OPK_LIST(struct opk_line_row) rows;
	OPK_LIST(struct opk_line_file) files;
	uint32_t *order; /* rows by section and address */
	bool is_there;   /* the cubin has one, whether or not it could be read */
};
struct opk_line_frame {
	const char *folder, *file;
	uint32_t line;
};
enum { OPK_MOST_FRAMES = 64 };

/*
 * Any bytes are fine: what is damaged or of a later version of DWARF is left out. OPK_EINPUT: there
 * are too many rows, or nothing says which function has which lines, and CUPTI gives wrong ones.
 */
int opk_line_table_read(struct opk_line_table *table, struct opk_ctx *ctx,
                        const struct opk_cubin *cubin);
void opk_line_table_clear(struct opk_line_table *table);
/* The line at an address of a section, and the calls that it was inlined at, outermost last. */
size_t opk_line_table_find(struct opk_line_frame frames[OPK_MOST_FRAMES],
                           const struct opk_line_table *table, size_t section, uint64_t address);

#endif
