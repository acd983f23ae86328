/* SPDX-License-Identifier: BSD-2-Clause */
/* The catalog of a chip's metrics, and names among them. */
#ifndef OPK_CATALOG_H
#define OPK_CATALOG_H

#include "adapters/nv/nv.h"
#include "base/problems.h"
#include "chip/catalog_table.h"

struct opk_catalog {
	char *chip;
	enum opk_profiler profiler;
	struct opk_table table;
	struct opk_metric *metrics; /* the base records, in order, with their text */
	bool complete;              /* the submetrics are there */
	struct opk_nv_host *host;   /* NULL where the table came from the cache */
};

/* The table in the cache folder; false where it is not there. */
bool opk_catalog_cache_read(struct opk_table *table, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler);
void opk_catalog_cache_write(struct opk_ctx *ctx, const struct opk_table *table, const char *chip,
                             enum opk_profiler profiler);

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
/* Whether `name` is a full metric name of the chip: base metric, and a rollup or submetric. */
bool opk_catalog_has_full(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *name);
/* Why `name` is not a full name of the catalog's chip, which the text calls `chip`; free(). */
char *opk_catalog_explain(const struct opk_catalog *catalog, const char *chip, const char *name);
/* Adds that as a problem. */
void opk_catalog_report(struct opk_problems *problems, const struct opk_place *place,
                        const struct opk_catalog *catalog, const char *name);
/* The type of that name; false where there is no such type. */
bool opk_metric_type_parse(enum opk_metric_type *out, const char *name);

#endif
