/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/nsys alone: an exported database, and what all its tables refer to. */
#ifndef OPK_NSYS_H
#define OPK_NSYS_H

#include "adapters/sqlite/sqlite_file.h"
#include "baked/baked.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "container/door.h"
#include "nsys/door.h"

/* A process numbers the GPUs that it sees. */
struct opk_nsys_device {
	uint32_t process; /* 0: of all processes */
	uint32_t number;
	int32_t gpu;
};

struct opk_nsys_domain {
	uint32_t process;
	int64_t number;
	char *name;
};

struct opk_nsys_gpu {
	int64_t id;
	char *chip;        /* "": it does not say */
	int64_t perfworks; /* by which samples name it */
};

struct opk_nsys_source {
	struct opk_ctx *ctx;
	const char *path;
	struct opk_sqlite *sqlite;
	struct opk_strlist tables;
	bool has_base;
	int64_t base; /* ns since 1970 of the times' 0 */
	OPK_LIST(struct opk_nsys_device) devices;
	OPK_LIST(struct opk_nsys_domain) domains;
	OPK_LIST(struct opk_property) facts; /* about the machine; owned */
	OPK_LIST(struct opk_nsys_gpu) gpus;  /* whose chips or numbers it says */
	bool needs_chip;                     /* opk_nsys_chip() failed, since it does not say it */
};

/* Tables of what ran on GPUs. */
#define OPK_NSYS_KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define OPK_NSYS_COPIES "CUPTI_ACTIVITY_KIND_MEMCPY"
#define OPK_NSYS_SETS "CUPTI_ACTIVITY_KIND_MEMSET"
#define OPK_NSYS_GRAPHS "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
#define OPK_NSYS_SAMPLES "GPU_METRICS"

/* OPK_EINPUT: it is not a database of Nsight Systems. Closed in any case by opk_nsys_close(). */
int opk_nsys_open(struct opk_nsys_source *source, struct opk_ctx *ctx, const char *path);
void opk_nsys_close(struct opk_nsys_source *source);
bool opk_nsys_has(const struct opk_nsys_source *source, const char *table);
/*
 * The chip of all GPUs on which something ran, or of all where nothing did. OPK_EUSAGE: the
 * database does not say it, or there are several; OPK_EINPUT: it names one that is not known.
 */
int opk_nsys_chip(const char **out, struct opk_nsys_source *source);
int32_t opk_nsys_device(const struct opk_nsys_source *source, uint32_t process, uint32_t number);
/* The GPU whose samples have this type. */
int32_t opk_nsys_sampled_gpu(const struct opk_nsys_source *source, int64_t type);
/* The name of an NVTX domain; "": the default one. */
const char *opk_nsys_domain(const struct opk_nsys_source *source, uint32_t process, int64_t domain);

/* Process and thread are parts of a number: docs of Nsight Systems call it a serialized ID. */
enum { OPK_NSYS_ID_BITS = 24, OPK_NSYS_ID_MASK = (1 << OPK_NSYS_ID_BITS) - 1 };
static inline uint32_t opk_nsys_process(int64_t id)
{
	return (uint32_t)(id >> OPK_NSYS_ID_BITS) & OPK_NSYS_ID_MASK;
}
static inline uint32_t opk_nsys_thread(int64_t id)
{
	return (uint32_t)id & OPK_NSYS_ID_MASK;
}

/* A column that is selected; NULL if the table lacks the one that it needs. */
struct opk_nsys_column {
	const char *needs, *sql;
	bool required;
};
#define SELECTED(name, text, must)                                                                 \
	{                                                                                          \
		.needs = name, .sql = text, .required = must                                       \
	}
#define COLUMN(name) SELECTED(name, "t.\"" name "\"", false)
/* Without this column the table can't be read. */
#define REQUIRED(name) SELECTED(name, "t.\"" name "\"", true)
/* The text of a column with its number. */
#define TEXT(name) SELECTED(name, "(SELECT value FROM StringIds WHERE id = t.\"" name "\")", false)
#define NOTHING SELECTED("", "NULL", false)
/* Selects columns of a table, and takes its rows one after the other. */
struct opk_nsys_query {
	const char *table;
	const struct opk_nsys_column *columns;
	size_t count;
	int (*take)(void *data, const struct opk_statement *row);
	const char *where; /* and in which order; NULL: all rows */
};
#define QUERY(name, columns, take, where)                                                          \
	{                                                                                          \
		name, columns, sizeof columns / sizeof *columns, take, where                       \
	}
/* Nothing is read where the database does not have the table. */
int opk_nsys_read(struct opk_nsys_source *source, const struct opk_nsys_query *query, void *data);

/* ---- samples of GPU metrics: samples.c */

enum { OPK_NSYS_METRICS = 40 };

/* The label of a metric, which counts for events of a type. */
struct opk_nsys_label {
	int64_t type, id;
	size_t metric;
	bool is_clock;
};

/* Samples of a type, which are of one GPU. */
struct opk_nsys_group {
	int64_t type;
	uint64_t begin; /* of its first sample */
	size_t first;   /* its row */
};

struct opk_nsys_samples {
	const char *names[OPK_NSYS_METRICS], *units[OPK_NSYS_METRICS];
	size_t metric_count;
	OPK_LIST(struct opk_nsys_label) labels;
	OPK_LIST(struct opk_nsys_group) groups;
	OPK_LIST(uint64_t) ends; /* of each row */
	OPK_LIST(double) values; /* row by row */
	OPK_LIST(struct opk_baked_image) images;
};
/* Begins zeroed; `chip` decides between metrics. `counts` gets what was left out, and why. */
int opk_nsys_samples_read(struct opk_nsys_samples *out, struct opk_nsys_imported *counts,
                          struct opk_nsys_source *source, const char *chip);
void opk_nsys_samples_clear(struct opk_nsys_samples *samples);
/* Adds the rows' places and times; the values come after all tables. */
int opk_nsys_samples_place(struct opk_nsys_samples *samples, struct opk_writer *writer,
                           struct opk_nsys_source *source);
int opk_nsys_samples_write(const struct opk_nsys_samples *samples, struct opk_writer *writer,
                           struct opk_ctx *ctx);

#endif
