/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of JSON: metadata, range tables, counts. */
#ifndef OPK_META_H
#define OPK_META_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json_read.h"
#include "base/json_write.h"

enum {
	OPK_MAX_METRICS = 100000,
	OPK_MAX_JSON = 32 << 20, /* bytes of a section; parsed JSON takes twenty times its text */
	OPK_MAX_DROPS = 1000,    /* reasons are few; more of them are damage */
};

struct opk_meta_storage;
struct opk_stats_storage;

/* What a reader would refuse is not written: OPK_EUSAGE. */
int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta);
void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* The members that are lists: meta_lists.c. */
struct opk_meta_lists {
	struct opk_group *groups;
	size_t *indices; /* of all groups, one behind the other */
	const char **inflated;
	struct opk_property *run;
	struct opk_meta_label *labels;
	const char **hidden;
	struct opk_meta_derived *derived;
	const char **columns;
	struct opk_meta_heading *headings;
};
int opk_meta_check_lists(struct opk_ctx *ctx, const struct opk_meta *meta);
void opk_meta_put_lists(struct opk_json_writer *json, const struct opk_meta *meta);
/* Fills the lists of *meta, whose metrics are read; what they are borrowed from is in *lists. */
int opk_meta_read_lists(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                        const struct opk_json *root);
void opk_meta_lists_clear(struct opk_meta_lists *lists);
/* An absent member is an empty list; one of another type is refused. */
int opk_meta_find_list(const struct opk_json **out, struct opk_ctx *ctx,
                       const struct opk_json *root, const char *key, enum opk_json_type type);

/* What the set says beyond its metrics: meta_set.c. Formulas are not looked at. */
int opk_meta_check_set(struct opk_ctx *ctx, const struct opk_meta *meta);
void opk_meta_put_set(struct opk_json_writer *json, const struct opk_meta *meta);
int opk_meta_read_set(struct opk_meta_lists *lists, struct opk_meta *meta, struct opk_ctx *ctx,
                      const struct opk_json *root);
bool opk_meta_same_set(const struct opk_meta *a, const struct opk_meta *b);
/* How many columns are shown where the set names none. */
size_t opk_meta_default_columns(const struct opk_meta *meta);

void opk_meta_storage_free(struct opk_meta_storage *storage);
/* The STAT section: stats.c. */
void opk_stats_to_json(struct opk_buf *out, const struct opk_stats *stats);
/* Whether a section of it can be read. */
int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section);
void opk_stats_storage_free(struct opk_stats_storage *storage);
/* "crc32:89abcdef"; `out` takes 15 bytes. */
void opk_config_hash(char out[15], const void *config, size_t size);

/* Decodes and parses a section of JSON; free with opk_json_free(). */
int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section);

#endif
