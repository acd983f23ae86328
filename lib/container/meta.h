/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of JSON: metadata and counts. */
#ifndef OPK_META_H
#define OPK_META_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json_read.h"

enum {
	OPK_MAX_METRICS = 100000,
	OPK_MAX_JSON = 32 << 20, /* bytes of a section; parsed JSON takes twenty times its text */
	OPK_MAX_DROPS = 1000,    /* reasons are few; more of them are damage */
};

/* Metadata and what it borrows from. Begins zeroed. */
struct opk_meta_storage {
	struct opk_meta meta;
	struct opk_json *root;
	void *arrays[12]; /* of its lists */
	size_t array_count;
};
/* The members that are lists, but for the metrics, as far as they have the right form. */
int opk_meta_read_lists(struct opk_meta_storage *storage, struct opk_ctx *ctx,
                        const struct opk_json *root);
void opk_meta_storage_clear(struct opk_meta_storage *storage);
void opk_meta_storage_free(struct opk_meta_storage *storage);

/*
 * OPK_EINPUT where a value is out of range, or a name is no member's. Formulas are text here: the
 * collector knows nothing of them. meta_check.c
 */
int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta);
/* meta_write.c */
void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* How many columns are shown where the set names none. */
size_t opk_meta_default_columns(const struct opk_meta *meta);
/* "crc32:89abcdef"; `out` takes 15 bytes. */
void opk_config_hash(char out[15], const void *config, size_t size);

/* The names in metadata and what they mean: metrics, by name or label, and derived metrics. */
struct opk_meta_name {
	const char *name;
	bool derived;
	bool label;   /* of a metric */
	size_t index; /* of the metric, or of the derived one */
};
struct opk_meta_names {
	struct opk_meta_name *items; /* sorted */
	size_t count;
};
/*
 * Borrows from `meta`, whose labels name metrics of its own. OPK_EINPUT where a label or derived
 * one has another's name, or there is no such metric as a label's.
 */
int opk_meta_names_init(struct opk_meta_names *names, struct opk_ctx *ctx,
                        const struct opk_meta *meta);
void opk_meta_names_clear(struct opk_meta_names *names);
const struct opk_meta_name *opk_meta_names_find(const struct opk_meta_names *names,
                                                const char *name);

/* The STAT section: stats.c. */
struct opk_stats_storage;
void opk_stats_to_json(struct opk_buf *out, const struct opk_stats *stats);
/* Whether a section of it can be read. */
int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section);
void opk_stats_storage_free(struct opk_stats_storage *storage);

/* Decodes and parses a section of JSON; free with opk_json_free(). */
int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section);

#endif
