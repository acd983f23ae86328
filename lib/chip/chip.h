/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chips, their catalogues of metrics, the cache of both, and names: near ones, nvprof's,
 * filters.
 */
#ifndef OPK_CHIP_H
#define OPK_CHIP_H

#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "base/problems.h"
#include "base/strlist.h"
#include "chip/door.h"

/* Names of chips, and what is known of them without NVIDIA's libraries. */

/*
 * Chips are named by their names in any case, by products ("H100"), and by compute capabilities
 * ("sm_90", "90"): the name of the chip that a word means, in upper case. Another word comes back
 * in upper case. free().
 */
char *opk_chip_spelling(const char *word);
/* Whether the word means the chip, perhaps among others: its architecture does, too. */
bool opk_chip_is_meant(const char *chip, const char *word);
/*
 * The library's spelling of the chip that a word means; free(). OPK_EUSAGE with a suggestion, or
 * with the chips where the word means several.
 */
int opk_chip_resolve(char **out, struct opk_ctx *ctx, const char *name);
/* "Hopper" of "GH100"; "" where it is not known. */
const char *opk_chip_architecture(const char *chip);
/* The i-th chip that we know without NVIDIA's libraries; NULL past the end. */
const char *opk_chip_known(size_t i);
/* What is known of that chip; nothing past the end. */
struct opk_chip_facts {
	const char *architecture;       /* "Hopper" */
	const char *compute_capability; /* "9.0" */
	const char *const *products;    /* examples, spelt without blanks: "H100" */
	size_t product_count;
};
struct opk_chip_facts opk_chip_known_facts(size_t i);
/* What is known of a chip of NVIDIA's library; "" and no products where nothing is. */
struct opk_chip_facts opk_chip_get_facts(const char *chip);
/* The releases of CUPTI that list a chip, "12.8"; NULL: it was there in 12.6, and is in 13.5. */
struct opk_chip_releases {
	const char *first, *last;
};
struct opk_chip_releases opk_chip_get_releases(const char *chip);

/*
 * What NVIDIA's libraries said, in the user's cache folder: one file for each thing and pair of
 * libraries. It is only ever a shortcut: what can't be read is as if it were not there, and what
 * can't be written is left.
 */

/* Names the thing and the libraries that described it; free(). NULL: nothing is cached. */
char *opk_cache_whom(struct opk_ctx *ctx, const char *format, ...) OPK_PRINTF(2, 3);
/*
 * What was stored for `whom`, which may be NULL; free(). A NUL follows it. NULL where there is
 * nothing. `kind` ends the file's name.
 */
void *opk_cache_load(size_t *size, struct opk_ctx *ctx, const char *kind, const char *whom);
/* Whether opk_cache_store() has a folder to write to, which may be made for it. */
bool opk_cache_takes(struct opk_ctx *ctx, const char *whom);
void opk_cache_store(struct opk_ctx *ctx, const char *kind, const char *whom, const void *data,
                     size_t size);

/*
 * A catalogue as flat records over one pool of text: filled from NVIDIA's libraries, and the same
 * in the cache's files. Text is named by its offset in the pool; offset 0 is "".
 */

struct opk_base_record {
	uint32_t name, hw_unit, dim_unit, description;
	uint32_t type;         /* enum opk_metric_type */
	uint32_t scope;        /* enum opk_scope */
	uint32_t first, count; /* its submetrics */
};

/* What comes after the base name in a full one. */
struct opk_sub_record {
	uint32_t suffix; /* ".sum.per_second" */
	uint32_t dim_unit;
	int32_t passes;  /* 0: not counted; negative: refused with this CUPTI status */
	uint32_t method; /* enum opk_method */
};

struct opk_catalog_table {
	struct opk_base_record *bases;
	size_t base_count;
	struct opk_sub_record *subs;
	size_t sub_count, sub_capacity;
	struct opk_buf text;
	uint32_t *slots; /* of the hash table that finds text again; only while it is filled */
	size_t slot_count, used;
};

/* Room for so many base metrics, zeroed; false when out of memory. */
bool opk_catalog_table_init(struct opk_catalog_table *table, size_t base_count);
/* Where the text is; false when out of memory. */
bool opk_catalog_table_text(uint32_t *out, struct opk_catalog_table *table, const char *text);
/* One more submetric of the last base metric that has any. */
bool opk_catalog_table_add(struct opk_catalog_table *table, struct opk_base_record *base,
                           const struct opk_sub_record *sub);
static inline const char *opk_catalog_table_get(const struct opk_catalog_table *table,
                                                uint32_t text)
{
	return (const char *)table->text.data + text;
}
void opk_catalog_table_clear(struct opk_catalog_table *table);

/* As bytes of this machine's order; buf.failed when out of memory. */
void opk_catalog_table_write(struct opk_buf *buf, const struct opk_catalog_table *table);
/* From such bytes; false where they are not sound, or memory is out. */
bool opk_catalog_table_read(struct opk_catalog_table *table, const void *data, size_t size);

#define opk_autotable __attribute__((cleanup(opk_catalog_table_clear)))

/* The catalog of a chip's metrics, and names among them. */

struct opk_catalog {
	char *chip;
	char *set; /* of CUPTI's single-pass sets, whose names it has, too; NULL: none */
	enum opk_profiler profiler;
	struct opk_catalog_table table;
	struct opk_metric *metrics; /* the base records, in order, with their text */
	bool complete;              /* the submetrics are there */
	struct opk_nv_host *host;   /* NULL where the table came from the cache */
	void *availability;         /* of the GPU that passes are counted for; NULL: any */
	size_t availability_size;
};

/* The table in the cache folder; false where it is not there. */
bool opk_catalog_cache_read(struct opk_catalog_table *table, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);
void opk_catalog_cache_write(struct opk_ctx *ctx, const struct opk_catalog_table *table,
                             const char *chip, enum opk_profiler profiler);

/*
 * opk_catalog_new() with the names of one of CUPTI's single-pass sets, which CUPTI 13.2 and later
 * know only of a host object for the set; it is in no cache. `set` NULL: opk_catalog_new().
 */
int opk_catalog_of_set_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                           enum opk_profiler profiler, const char *set);
/* Its host object, which is opened where it is not open yet. */
int opk_catalog_need_host(struct opk_catalog *catalog, struct opk_ctx *ctx);

/* From NVIDIA's libraries: the base metrics, then their submetrics. */
int opk_catalog_fill_bases(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip);
int opk_catalog_fill_subs(struct opk_catalog *catalog, struct opk_ctx *ctx);

/* What makes a metric's plainest full name: opk_catalog_plainest(). */
const char *opk_plainest_suffix(enum opk_metric_type type);
/* How much of a name is the base metric's. */
size_t opk_base_length(const char *name);
/* Finds the submetric with this suffix; false where there is none. */
bool opk_catalog_find_submetric(size_t *out, const struct opk_catalog *catalog,
                                const struct opk_metric *metric, const char *suffix);
/*
 * Whether some metric is listed with what comes after the base name in this one. CUPTI plans and
 * evaluates more than it lists: of regions and frames (".sum.per_cycle_in_region"), and what it
 * gives for these is 0 or inf.
 */
bool opk_has_listed_suffix(const char *name);
/* Whether `name` is a full metric name of the chip: base metric, and a rollup or submetric. */
bool opk_catalog_has_full(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *name);
/* Why `name` is not a full name of the catalog's chip, which the text calls `chip`; free(). */
char *opk_catalog_explain(const struct opk_catalog *catalog, const char *chip, const char *name);
/* Adds that as a problem. */
void opk_catalog_report(struct opk_problems *problems, const struct opk_place *place,
                        const struct opk_catalog *catalog, const char *name);

/* Sets of chips that something is for, by compute capability, without NVIDIA's libraries. */

/* A bit for each chip that chip_facts.c has, in its order, and one for all that are yet to come. */
typedef uint64_t opk_chip_mask;
enum { OPK_CHIP_MASK_LATER = 63 };
#define OPK_CHIPS_LATER ((opk_chip_mask)1 << OPK_CHIP_MASK_LATER)

opk_chip_mask opk_chips_all(void);
/* The chips that a word means: a name, architecture, compute capability or product; 0: none. */
opk_chip_mask opk_chips_meant(const char *word);
/* Whether it means a chip older than Volta, the first that CUPTI's profilers know. */
bool opk_chip_is_older(const char *word);
/* "9.0" as 90 and "10.3" as 103; 0: it is none, or something follows it. */
unsigned opk_capability_number(const char *text);
/*
 * Compute capabilities as in sm_90 or CC_100, both ends included. Chips to come are there where
 * there is no upper end. A chip whose capability is not known goes with the one before it.
 */
enum { OPK_CC_NONE = 0, OPK_CC_OPEN = 100000 };
opk_chip_mask opk_chips_between(unsigned least, unsigned most);
/* Architectures that are there as a whole, else chips; chips to come are not named. */
bool opk_chip_mask_names(struct opk_strlist *out, opk_chip_mask mask);

/* Text files of the data folder. */

/*
 * The context's folder of shipped data, or share/offpeak beside the library's own folder, wherever
 * that was installed or moved to, or where configure was told. Kept for the life of the process.
 */
const char *opk_data_dir(const struct opk_ctx *ctx);
/*
 * A shipped text file of the data folder, and its path for messages; free() both. NULL text where
 * none is installed.
 */
int opk_data_file(char **text, char **path, struct opk_ctx *ctx, const char *name);

/* nvprof's names: data/legacy_names.tsv, a row a name, metrics before events. */

/* Legacy names most like a misspelt one, the likeliest first; put before what the list has. */
int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name);
/*
 * What a name without "__" may have been where no chip is known: "sm__throughput" for
 * "sm_throughput", or a legacy name. free(); NULL: none is like it.
 */
int opk_name_meant(char **out, struct opk_ctx *ctx, const char *name);
/* What the table says of a name. */
struct opk_legacy_row {
	char *file; /* the text of the others is in it; NULL: nvprof had no such name */
	const char *kind, *name;
	const char *nvidia; /* NVIDIA's own formula; "": it names none */
	/*
	 * Formulas with '|' between, of which the first counts whose metrics the chip has:
	 * NVIDIA's, or what corrects it. "": no chip has a counterpart.
	 */
	const char *today;
	const char *unit; /* "": that of the formula */
	const char *note; /* what is to be known of it; why it is corrected, or there is nothing */
};
/* The metric's where an event has the name, too. */
int opk_legacy_find(struct opk_legacy_row *out, struct opk_ctx *ctx, const char *name);
void opk_legacy_row_clear(struct opk_legacy_row *row);
#define opk_autolegacyrow __attribute__((cleanup(opk_legacy_row_clear)))
/* The formula that counts, free(); NULL: the chip has no counterpart. */
int opk_legacy_choose(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formulas);
/* Why it has none; free(). */
int opk_legacy_lack(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                    const struct opk_legacy_row *row);
/*
 * The formula with a sum in the place of each "..._op_{op}.sum": over the words that have a metric
 * of the chip for all such terms of the formula. free().
 */
int opk_legacy_expand(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formula);

/* Metric names like a misspelt one: by the letters, by the words in them, by the unit. */

/* The best few among candidates that are tried one after the other. */
enum { OPK_MAX_SUGGESTIONS = 5 };
struct opk_suggestions {
	const char *name; /* the misspelt one */
	struct {
		const char *name; /* borrowed from the caller */
		unsigned cost;
	} best[OPK_MAX_SUGGESTIONS];
	size_t count;
};
void opk_suggestions_try(struct opk_suggestions *suggestions, const char *candidate);
/* Whether two names are of one hardware unit, or both of none: "lts" of "lts__t_sectors". */
bool opk_same_hardware_unit(const char *a, const char *b);

/*
 * The chip's metrics most like `name`, `max` at most, the likeliest first: base names for a base
 * name, full ones for a full one where they have its ending, and for a base name that there is its
 * plainest full name. Appended; false when out of memory.
 */
bool opk_catalog_suggest(struct opk_strlist *out, const struct opk_catalog *catalog,
                         const char *name, size_t max);

#endif
