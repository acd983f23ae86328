/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chips, their catalogs of metrics, the cache of both, and names: suggestions, nvprof's names,
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

/* Names of chips, and facts about them that don't need NVIDIA's libraries. */

/*
 * The chip that a word means: a chip's name in upper or lower case, a product ("H100"), or a
 * compute capability ("sm_90", "90"). Returns the chip's name in upper case; any other word comes
 * back in upper case. free().
 */
char *opk_chip_spelling(const char *word);
/* The one of these chips, or the product, that a misspelt word probably means; NULL: none. */
const char *opk_chip_nearest(const struct opk_strlist *names, const char *word);
/* Whether the word means the chip, perhaps among others: it may be an architecture. */
bool opk_chip_is_meant(const char *chip, const char *word);
/*
 * The library's spelling of the chip that a word means; free(). OPK_EUSAGE has a suggestion, or
 * lists the chips if the word means several.
 */
int opk_chip_resolve(char **out, struct opk_ctx *ctx, const char *name);
/*
 * The same for a profiler. For those of instructions it asks no library: OPK_EFAILED if the chip
 * has no such metrics.
 */
int opk_chip_resolve_for(char **out, struct opk_ctx *ctx, const char *name,
                         enum opk_profiler profiler);
/* GH100's is "Hopper"; "" if not known. */
const char *opk_chip_architecture(const char *chip);
/* The i-th chip in our table; NULL past the end. */
const char *opk_chip_known(size_t i);
/* Facts about that chip; empty past the end. */
struct opk_chip_facts {
	const char *architecture;       /* "Hopper" */
	const char *compute_capability; /* "9.0" */
	const char *const *products;    /* examples, spelt without blanks: "H100" */
	size_t product_count;
};
struct opk_chip_facts opk_chip_known_facts(size_t i);
/* Facts about a chip of NVIDIA's library; "" and no products if none are known. */
struct opk_chip_facts opk_chip_get_facts(const char *chip);
/* The releases of CUPTI that list a chip, "12.8". NULL: 12.6 already lists it; 13.5 still does. */
struct opk_chip_releases {
	const char *first, *last;
};
struct opk_chip_releases opk_chip_get_releases(const char *chip);

/*
 * Answers of NVIDIA's libraries in the user's cache folder: one file for each thing and pair of
 * libraries. The cache only saves time: failures to read or write it are ignored.
 */

/* The cache's key: names the thing and the libraries; free(). NULL: nothing is cached. */
char *opk_cache_whom(struct opk_ctx *ctx, const char *format, ...) OPK_PRINTF(2, 3);
/*
 * The data that was stored for `whom`, with a NUL after it; free(). NULL if there is none. `whom`
 * may be NULL. `kind` is the end of the file's name.
 */
void *opk_cache_load(size_t *size, struct opk_ctx *ctx, const char *kind, const char *whom);
/* Whether opk_cache_store() has a folder to write to, which may be made for it. */
bool opk_cache_takes(struct opk_ctx *ctx, const char *whom);
void opk_cache_store(struct opk_ctx *ctx, const char *kind, const char *whom, const void *data,
                     size_t size);

/*
 * A catalog as flat records over one pool of text, with the same layout in memory and in the
 * cache. A text is an offset in the pool; offset 0 is "".
 */

struct opk_base_record {
	uint32_t name, hw_unit, dim_unit, description;
	uint32_t type;         /* enum opk_metric_type */
	uint32_t scope;        /* enum opk_scope */
	uint32_t first, count; /* its submetrics */
};

/* A submetric: a base name with its suffix is a full name. */
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
	uint32_t *slots; /* a hash table of the texts; only while the table is filled */
	size_t slot_count, used;
};

/* Makes room for the base metrics, zeroed; false when out of memory. */
bool opk_catalog_table_init(struct opk_catalog_table *table, size_t base_count);
/* The offset of the text, which is added if it is new; false when out of memory. */
bool opk_catalog_table_text(uint32_t *out, struct opk_catalog_table *table, const char *text);
/* Adds a submetric to the base metric, which must be the last one that has any. */
bool opk_catalog_table_add(struct opk_catalog_table *table, struct opk_base_record *base,
                           const struct opk_sub_record *sub);
static inline const char *opk_catalog_table_get(const struct opk_catalog_table *table,
                                                uint32_t text)
{
	return (const char *)table->text.data + text;
}
void opk_catalog_table_clear(struct opk_catalog_table *table);

/* Writes the table in native byte order; buf.failed when out of memory. */
void opk_catalog_table_write(struct opk_buf *buf, const struct opk_catalog_table *table);
/* Reads such bytes; false if they are not sound, or when out of memory. */
bool opk_catalog_table_read(struct opk_catalog_table *table, const void *data, size_t size);

#define opk_autotable __attribute__((cleanup(opk_catalog_table_clear)))

/* The catalog of a chip's metrics, and names among them. */

struct opk_catalog {
	char *chip;
	char *set; /* the single-pass set of CUPTI whose names are included; NULL: no set */
	enum opk_profiler profiler;
	struct opk_catalog_table table;
	struct opk_metric *metrics; /* the base records, in order, with their text */
	bool complete;              /* the table has the submetrics */
	struct opk_nv_host *host;   /* NULL if the table came from the cache */
	void *availability;         /* of the GPU for which passes are counted; NULL: any GPU */
	size_t availability_size;
};

/* Makes a catalog of a table that has all its submetrics, and takes it over. */
int opk_catalog_of_table(struct opk_catalog **out, struct opk_ctx *ctx,
                         struct opk_catalog_table *table, const char *chip,
                         enum opk_profiler profiler);

/* Excerpts of catalogs in recordings with values: catalog_excerpt.c */

struct opk_excerpt {
	struct opk_baked_metric *items;
	size_t count;
	struct opk_strlist names;      /* full ones, sorted */
	struct opk_property *suffixes; /* of all items */
};
/* What the complete catalog says of these full names, as far as it has them. Begins zeroed. */
int opk_excerpt_make(struct opk_excerpt *out, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_strlist *names);
void opk_excerpt_clear(struct opk_excerpt *excerpt);

/* Reads the table from the cache folder; false if it is missing. */
bool opk_catalog_cache_read(struct opk_catalog_table *table, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);
void opk_catalog_cache_write(struct opk_ctx *ctx, const struct opk_catalog_table *table,
                             const char *chip, enum opk_profiler profiler);

/*
 * opk_catalog_new() with the names of one of CUPTI's single-pass sets: CUPTI 13.2 and later know
 * them only in a host object for the set. It is not cached. `set` NULL: opk_catalog_new().
 */
int opk_catalog_of_set_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                           enum opk_profiler profiler, const char *set);
/* Makes the catalog's host object if it has none. */
int opk_catalog_need_host(struct opk_catalog *catalog, struct opk_ctx *ctx);

/* From NVIDIA's libraries: the base metrics, then their submetrics. */
int opk_catalog_fill_bases(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip);
int opk_catalog_fill_subs(struct opk_catalog *catalog, struct opk_ctx *ctx);

/* Metrics of instructions: data/sass_metrics.tsv, data/pc_metrics.tsv. */

/* Fills a catalog of profiler sass or pc: complete, with a submetric "" of each metric. */
int opk_catalog_fill_code(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip);
/* Appends the chips with such metrics. OPK_EFAILED: the file is not installed. */
int opk_code_chips(struct opk_strlist *out, struct opk_ctx *ctx);
/* Appends those that have this one. */
int opk_code_chips_with(struct opk_strlist *out, struct opk_ctx *ctx, enum opk_profiler profiler,
                        const char *metric);

/* The suffix of a metric's plainest full name: opk_catalog_plainest(). */
const char *opk_plainest_suffix(enum opk_metric_type type);
/* The length of the base name in a full name. */
size_t opk_base_length(const char *name);
/* Finds the submetric with this suffix; false if there is none. */
bool opk_catalog_find_submetric(size_t *out, const struct opk_catalog *catalog,
                                const struct opk_metric *metric, const char *suffix);
/*
 * Whether some metric is listed with the suffix of this full name. CUPTI also plans and evaluates
 * suffixes that it does not list, of regions and frames (".sum.per_cycle_in_region"); their values
 * are 0 or inf.
 */
bool opk_has_listed_suffix(const char *name);
/* Whether `name` is a full metric name of the chip: base metric, and a rollup or submetric. */
bool opk_catalog_has_full(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *name);
/* Says why `name` is not a full name of the catalog's chip, called `chip` in the text; free(). */
char *opk_catalog_explain(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip,
                          const char *name);
/* Adds the same as a problem. */
void opk_catalog_report(struct opk_problems *problems, struct opk_ctx *ctx,
                        const struct opk_place *place, const struct opk_catalog *catalog,
                        const char *name);

/* OPK_EUSAGE: a counter-availability image is given for a profiler of instructions. */
int opk_availability_allowed(struct opk_ctx *ctx, enum opk_profiler profiler);

/* Sets of chips, by compute capability, without NVIDIA's libraries. */

/* A bit for each chip in the order of chip_facts.c, and one for all future chips. */
typedef uint64_t opk_chip_mask;
enum { OPK_CHIP_MASK_LATER = 63 };
#define OPK_CHIPS_LATER ((opk_chip_mask)1 << OPK_CHIP_MASK_LATER)

opk_chip_mask opk_chips_all(void);
/* The chips that a word means: a name, architecture, compute capability or product; 0: none. */
opk_chip_mask opk_chips_meant(const char *word);
/* The only chip that a word means, a constant. OPK_EUSAGE: it means none, or several. */
int opk_chip_named(const char **out, struct opk_ctx *ctx, const char *word);
/* Whether the word means a chip older than Volta, the first that CUPTI's profilers support. */
bool opk_chip_is_older(const char *word);
/* "9.0" is 90 and "10.3" is 103; 0: the text is not a compute capability. */
unsigned opk_capability_number(const char *text);
/*
 * The chips in a range of compute capabilities such as 90 of sm_90, both ends included. A range
 * without an upper end has future chips. A chip of unknown capability goes with the one before it.
 */
enum { OPK_CC_NONE = 0, OPK_CC_OPEN = 100000 };
opk_chip_mask opk_chips_between(unsigned least, unsigned most);
/* Appends names: architectures that are complete, and other chips. Future chips have no name. */
bool opk_chip_mask_names(struct opk_strlist *out, opk_chip_mask mask);

/* Text files of the data folder. */

/*
 * The folder of shipped data: the context's, or share/offpeak beside the library's own folder, even
 * if it was moved, or the one given to configure. Kept for the life of the process.
 */
const char *opk_data_dir(const struct opk_ctx *ctx);
/*
 * Reads a shipped text file, and returns its path for messages; free() both. NULL text if none is
 * installed.
 */
int opk_data_file(char **text, char **path, struct opk_ctx *ctx, const char *name);

/* nvprof's names: data/legacy_names.tsv has a row for each name, metrics before events. */

/* Puts the legacy names nearest to a misspelt one at the front of the list, nearest first. */
int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name);
/*
 * Suggests a name for one without "__" if no chip is known: "sm__throughput" for "sm_throughput",
 * or a legacy name. free(); NULL: no name is like it.
 */
int opk_name_meant(char **out, struct opk_ctx *ctx, const char *name);
/* A row of the table. */
struct opk_legacy_row {
	char *file; /* owns the text of the other fields; NULL: nvprof had no such name */
	const char *kind, *name;
	const char *nvidia; /* NVIDIA's own formula; "": NVIDIA names none */
	/*
	 * Formulas separated by '|': NVIDIA's, or a correction. The first one whose metrics the
	 * chip has counts. "": no chip has a counterpart.
	 */
	const char *today;
	const char *unit; /* "": the formula's unit */
	const char *note; /* such as why the formula is corrected, or why there is none */
};
/* Finds a name's row; if a metric and an event have the name, the metric's. */
int opk_legacy_find(struct opk_legacy_row *out, struct opk_ctx *ctx, const char *name);
void opk_legacy_row_clear(struct opk_legacy_row *row);
#define opk_autolegacyrow __attribute__((cleanup(opk_legacy_row_clear)))
/* Chooses the formula for the chip, free(); NULL: the chip has no counterpart. */
int opk_legacy_choose(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formulas);
/* Says why the chip has no counterpart; free(). */
int opk_legacy_lack(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                    const struct opk_legacy_row *row);
/*
 * Replaces each "..._op_{op}.sum" in the formula by a sum over the words for {op} with which the
 * chip has a metric for all such terms. free().
 */
int opk_legacy_expand(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formula);

/* Suggests metric names for a misspelt one, by letters, words and hardware unit. */

/* The best few of all candidates. */
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
/* Whether two names have the same hardware unit ("lts" of "lts__t_sectors"), or both have none. */
bool opk_same_hardware_unit(const char *a, const char *b);

/*
 * Appends at most `max` of the chip's metrics most like `name`, best first: base names for a base
 * name, full names with its ending for a full name, and the plainest full name for an existing base
 * name. False when out of memory.
 */
bool opk_catalog_suggest(struct opk_strlist *out, const struct opk_catalog *catalog,
                         const char *name, size_t max);

#endif
