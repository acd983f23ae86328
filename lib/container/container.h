/* SPDX-License-Identifier: BSD-2-Clause */
/* .opk containers: sections, metadata, tables, segments; docs/format.md specifies them. */
#ifndef OPK_CONTAINER_H
#define OPK_CONTAINER_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "container/door.h"
#include "container/members.h"

/* The layout of .opk files, docs/format.md, shared by reader and writer, and an open file. */

#define OPK_MAGIC "\x89OPK\r\n\x1a\n"

enum {
	OPK_MAGIC_SIZE = 8,
	OPK_FORMAT_VERSION = 2,
	OPK_FILE_HEADER_SIZE = 16,
	OPK_SECTION_HEADER_SIZE = 48,
	/* Bytes under the header's own CRC; with it, the CRC of any header is the same. */
	OPK_SECTION_SUMMED = 44,
	OPK_END_SIZE = 8,
	/* deflate can't pack tighter than 1032:1, so a section that claims more is lying. */
	OPK_MAX_RATIO = 1032,
	/* Packed zeros take next to nothing. A section that is emptier is not packed. */
	OPK_MAX_SPARSE_RATIO = 4 * OPK_MAX_RATIO,
	/* A section names another one that is at most so many sections before it. */
	OPK_LINK_DISTANCE = 1000,
};

/* All of a section is held in memory. */
#define OPK_MAX_PLAIN ((uint64_t)4 << 30)

/*
 * How many plain bytes a stored one can be. What equals its base leaves next to nothing: it is as
 * long as the base, which was believed already.
 */
static inline uint64_t opk_section_max_ratio(uint32_t flags)
{
	if (flags & OPK_SECTION_BASED)
		return OPK_MAX_PLAIN;
	return flags & OPK_SECTION_SPARSE ? OPK_MAX_SPARSE_RATIO : OPK_MAX_RATIO;
}

#define OPK_SECTION_KNOWN                                                                          \
	(OPK_SECTION_DEFLATED | OPK_SECTION_XORED | OPK_SECTION_SPARSE | OPK_SECTION_BASED)

/* Payloads are padded with zeros to a multiple of 8. */
static inline uint64_t opk_padding(uint64_t size)
{
	return -size & 7;
}

/* Packed data is made of blocks, each the difference to the one before. */
static inline uint64_t opk_section_block(const struct opk_section *section)
{
	return section->flags & OPK_SECTION_XORED ? section->stride : section->plain_size;
}

/* RNGS and TIME, which always name the image that they describe: a bit for each, or else 0. */
enum { OPK_TABLE_RANGES = 1, OPK_TABLE_TIMES = 2 };
static inline unsigned opk_is_table(uint32_t type)
{
	return type == OPK_SECTION_RANGES  ? OPK_TABLE_RANGES
	       : type == OPK_SECTION_TIMES ? OPK_TABLE_TIMES
	                                   : 0;
}

/* Whether a section belongs to the image that it names: tables, and what later programs add. */
static inline bool opk_is_attached(const struct opk_section *section)
{
	return section->type != OPK_SECTION_DATA && section->distance;
}

struct opk_file {
	char *path;
	int fd;
	uint64_t size;
	bool complete;
	struct opk_section *sections;
	size_t section_count;
	size_t section_capacity;
	/* Decoded on demand: meta.c, stats.c, recording.c, activity.c. */
	struct opk_meta_storage *meta;
	struct opk_stats_storage *stats;
	struct opk_recording *recording;
	struct opk_activity_table *activities;
};

/* False where a checksum differs. */
bool opk_same_crc(uint32_t stored, uint32_t computed);

/* What is wrong with a header whose checksum is right; NULL: nothing. */
const char *opk_section_flaw(const struct opk_section *section);
/* The checksum that its payload in the file has. */
int opk_section_crc(uint32_t *crc, struct opk_ctx *ctx, const struct opk_file *file,
                    const struct opk_section *section);

/* Memory for decoding many sections one after the other. Begins zeroed. */
struct opk_decoder {
	struct opk_buf stored, packed, plain;
	struct opk_buf base;
	size_t base_section;
};

/* This is opk_file_read(), but *data goes with the decoder, or with the next call. */
int opk_file_decode(const void **data, size_t *size, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t i, struct opk_decoder *decoder);
void opk_decoder_clear(struct opk_decoder *decoder);
#define opk_autodecoder __attribute__((cleanup(opk_decoder_clear)))

/* The first section of a type, or -1. */
long opk_file_find(const struct opk_file *file, uint32_t type);
/* OPK_EINPUT where the file was cut off, with what would help. */
int opk_file_check_complete(struct opk_ctx *ctx, const struct opk_file *file,
                            enum opk_remedy remedy);
/* Who makes such an .opk file of others, as metadata say it; NULL: it is not made so. replaced.c */
const char *opk_output_maker(enum opk_output output);
/* What an .opk file is by its metadata. */
enum opk_output opk_output_of_meta(const struct opk_meta *meta);
/* This is opk_writer_new(), of a file that is made of others: its metadata say so. */
int opk_writer_new_made(struct opk_writer **out, struct opk_ctx *ctx, const char *path,
                        enum opk_output output);
/* Adds "FILE: section N (TYPE)" to the cause chain. */
int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i);

/*
 * Decodes a section and adds it, stored as this writer stores it. What is attached names the last
 * image.
 */
int opk_writer_copy(struct opk_writer *writer, const struct opk_file *file, size_t i);
/* Copies all that is attached to an image, which was added last. */
int opk_writer_copy_tables(struct opk_writer *writer, const struct opk_file *file, size_t image);

/* A container however damaged: every section that is whole, and what lies between them. */

/* A section of a file, or bytes between sections, or (section 0, size 0) the file as a whole. */
struct opk_finding {
	size_t section;      /* from 1, as far as sections were found; 0: none */
	uint32_t type;       /* of the section, or of one that is missing; 0: not known */
	uint64_t byte, size; /* where it is in the file, its header and padding included */
	bool breaks;         /* something unknown is missing there, or after it */
	char *problem;       /* NULL: it is sound */
};
/* What was found in a file, one after the other: sound sections, and what is wrong. */
struct opk_findings {
	struct opk_finding *items;
	size_t count, capacity;
};

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem);
/* The problem of one that was sound so far; an earlier one stays. */
int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem);
void opk_findings_clear(struct opk_findings *findings);

struct opk_scan {
	/* With the sound sections alone; complete: the end section fits what is there. */
	struct opk_file *file;
	/* All sections in order, and all bytes between them. */
	struct opk_findings findings;
	size_t *places; /* the finding of each section of `file` */
	size_t places_capacity;
	bool moved; /* all are sound, but not those that the end section counted */
};

/*
 * Reads the whole file. OPK_EINPUT where it is not a container, or has a later version; damage is
 * in the findings.
 */
int opk_scan_file(struct opk_scan *scan, struct opk_ctx *ctx, const char *path);
void opk_scan_clear(struct opk_scan *scan);
#define opk_autoscan __attribute__((cleanup(opk_scan_clear)))
/* The finding of a section of `scan->file`. */
struct opk_finding *opk_scan_finding(struct opk_scan *scan, size_t section);

/*
 * Decodes a section and reads it as what it is. OPK_EINPUT where that fails, and the innermost
 * cause says why. verify.c
 */
int opk_section_check(struct opk_ctx *ctx, struct opk_file *file, size_t i);

/* Checks that recordings can become one, and begins the one: merge.c. */

/* Whether two recordings' sets say the same beyond their metrics. meta.c */
int opk_meta_same_set(bool *same, struct opk_ctx *ctx, const struct opk_meta *one,
                      const struct opk_meta *other);

struct opk_merger;
/* Checks that the files go together. `join`, unless NULL, replaces theirs, which may differ. */
int opk_merger_new(struct opk_merger **out, struct opk_ctx *ctx, const char *const *paths,
                   size_t count, const char *join);
void opk_merger_free(struct opk_merger *merger);
OPK_DEFINE_AUTO(opk_merger)
/* The first file's. */
const struct opk_meta *opk_merger_meta(const struct opk_merger *merger);
/* What is true of all files. */
const struct opk_meta *opk_merger_common(const struct opk_merger *merger);
/* Adds metadata, with another `join` unless NULL; config, prefix and availability images. */
int opk_merger_put_head(struct opk_merger *merger, struct opk_writer *writer, const char *join);
/* Logs which files, or images in them, are there several times. */
void opk_merger_note_twice(const struct opk_merger *merger);

/* What is in several recordings, or several times in one, and would count as often: twice.c */

/* The recordings that were added so far. Begins zeroed. */
struct opk_twice {
	struct opk_index index; /* which file had an image, or a section of records, first */
	struct opk_strlist keys, paths;
	size_t *parts, capacity;  /* of each file: how many it has */
	struct opk_strlist found; /* sentences, one a file */
	size_t more;              /* files of which there is no sentence */
};
int opk_twice_add(struct opk_twice *twice, struct opk_ctx *ctx, struct opk_file *file);
/* Logs what was found. */
void opk_twice_note(const struct opk_twice *twice, struct opk_ctx *ctx);
void opk_twice_clear(struct opk_twice *twice);
#define opk_autotwice __attribute__((cleanup(opk_twice_clear)))
/* Logs what is several times in these files; where `refuse` is an error, fails with it instead. */
int opk_twice_check(struct opk_ctx *ctx, struct opk_file *const *files, size_t count, int refuse);

/* Sections of JSON: metadata and counts. */

enum {
	OPK_MAX_METRICS = 100000,
	OPK_MAX_JSON = 32 << 20, /* bytes of a section; parsed JSON takes twenty times its text */
	OPK_MAX_DROPS = 1000,    /* reasons are few; more of them are damage */
	OPK_MAX_REASON = 4096,   /* bytes */
};

/* Metadata and what it borrows from. Begins zeroed. */
struct opk_meta_storage {
	struct opk_meta meta;
	struct opk_json *root;
	struct opk_arrays arrays; /* its lists */
};
/* The members that are lists, except the metrics, and those of the set. */
int opk_meta_read_lists(struct opk_meta_storage *storage, struct opk_ctx *ctx,
                        const struct opk_json *root);
void opk_meta_storage_clear(struct opk_meta_storage *storage);
void opk_meta_storage_free(struct opk_meta_storage *storage);
OPK_DEFINE_AUTO(opk_meta_storage)

/*
 * OPK_EINPUT where a value is out of range, or a name is unknown. Formulas are text here: the
 * collector knows nothing of them. meta_check.c
 */
int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta);
/* Whether it says what GPUs are like, and has neither metrics nor data. meta_check.c */
bool opk_meta_is_probe(const struct opk_meta *meta);
/* Adds the names of the columns that it shows, as struct opk_meta says; false: out of memory. */
struct opk_strlist;
bool opk_meta_list_columns(struct opk_strlist *names, const struct opk_meta *meta);
/* Whether the metric is there for formulas alone. meta.c */
bool opk_meta_hides(const struct opk_meta *meta, const char *metric);
/* Whether it was collected in a way that counts idle time around short kernels. meta_check.c */
bool opk_meta_is_inflated(const struct opk_meta *meta, const char *metric);
void opk_meta_to_json(struct opk_buf *out, const struct opk_meta *meta);
/* Metadata of a file, with members that no reader knows, as made by another. */
int opk_meta_set_maker(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_json *meta,
                       const char *maker);
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
#define opk_autonames __attribute__((cleanup(opk_meta_names_clear)))
const struct opk_meta_name *opk_meta_names_find(const struct opk_meta_names *names,
                                                const char *name);

/* The STAT section: stats.c. */
struct opk_stats_storage;
void opk_stats_to_json(struct opk_buf *out, const struct opk_stats *stats);
/* Whether a section of it can be read. */
int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section);
void opk_stats_storage_free(struct opk_stats_storage *storage);
OPK_DEFINE_AUTO(opk_stats_storage)

/* Decodes and parses a section of JSON; free with opk_json_free(). */
int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section);

/* Names of kernels, as demanglers write them: kernel_name.c. */

/*
 * The one spelling of a name: "const float *" for "float const*", "list<int>>" for "list<int> >",
 * 4u for (unsigned int)4. Other texts stay as they are. free(); NULL when out of memory.
 */
char *opk_kernel_spell(const char *name);

struct opk_span_of_text {
	const char *text; /* NULL: there is none */
	size_t length;
};
/* "void ns::scale<float, 4>(float *)" is scale, "float, 4" and "float *". Borrows from the name. */
struct opk_kernel_parts {
	struct opk_span_of_text base, templates, arguments;
};
/* Divides a name in the one spelling; any other text is all base. False when out of memory. */
bool opk_kernel_find_parts(struct opk_kernel_parts *parts, const char *name);

/* The tables of images: ranges.c and times.c read one section each, recording.c all of a file. */

/*
 * Rows are held in memory, all of a file's, and a few bytes of a file may say that there are
 * millions. A row counts as so many bytes; texts, each once, as their own and what finds them.
 */
enum { OPK_RANGE_WEIGHT = 256, OPK_TIME_WEIGHT = 32, OPK_TEXT_WEIGHT = 64 };
/* A range or sample takes more than a word of its image; of few rows it is not asked. */
enum { OPK_MIN_RANGE = 8, OPK_FEW_ROWS = 4096 };
/* What all tables of a kind may weigh together. A range takes ten bytes of a file and more. */
static inline uint64_t opk_table_limit(const struct opk_file *file)
{
	return ((uint64_t)128 << 20) + 64 * file->size;
}
/*
 * OPK_EINPUT where a table has more rows than its image can have, or all tables weigh too much with
 * it. container.c
 */
int opk_table_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section, uint64_t rows,
                    uint64_t weight);

/* Members of a range of which nothing is known. */
#define OPK_UNKNOWN_RANGE                                                                          \
	.name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1, .host = "",  \
	.gpu = ""

/* Texts of a table, each kept once: many launches are of few kernels. Begins zeroed. texts.c */
struct opk_texts {
	struct opk_strlist list;
	struct opk_index numbers; /* of the list */
	struct opk_index kernels; /* texts of the list, to the number of the one spelling */
	uint64_t weight;
	bool failed; /* out of memory */
};
const char *opk_texts_keep(struct opk_texts *texts, const char *text);
/* In the one spelling, so that kernels of all files go together. */
const char *opk_texts_keep_kernel(struct opk_texts *texts, const char *text);
void opk_texts_clear(struct opk_texts *texts);

/* Rows of range tables. Begins zeroed. */
struct opk_range_table {
	OPK_LIST(struct opk_range) rows;
	struct opk_texts texts;
};
/* Appends the rows of a RNGS section. */
int opk_range_table_read(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_file *file, size_t section);
void opk_range_table_clear(struct opk_range_table *table);
#define opk_autoranges __attribute__((cleanup(opk_range_table_clear)))
/* What the run's facts say of a host and a GPU; "" where they say nothing. origin.c */
const char *opk_meta_host(const struct opk_meta *meta);
const char *opk_meta_gpu(const struct opk_meta *meta, int32_t device);
/* The rank of its process by the variables that were recorded; -1: they say none. */
int32_t opk_meta_rank(const struct opk_meta *meta);
/* Whether it is one of those facts. */
bool opk_fact_is_origin(const char *name);
/* Gives it to rows that don't say it themselves. Borrows from the metadata. */
void opk_ranges_place(struct opk_range *ranges, size_t count, const struct opk_meta *meta);
/* Takes it from rows that are to be written after such metadata. */
void opk_ranges_unplace(struct opk_range *ranges, size_t count, const struct opk_meta *meta);
/* OPK_EINPUT where the ranges of an image are of several passes, or of one that there is not. */
int opk_ranges_check_pass(struct opk_ctx *ctx, const struct opk_range *ranges, size_t count,
                          size_t passes);
void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count);

/* Whether its tables say how many rows it has. */
static inline bool opk_segment_is_counted(const struct opk_segment *segment)
{
	return segment->has_ranges || segment->has_times;
}

struct opk_time_table {
	struct opk_time *rows;
	size_t count;
};
/* Appends those of a TIME section. */
int opk_time_table_read(struct opk_time_table *table, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t section);
static inline void opk_time_table_clear(struct opk_time_table *table)
{
	free(table->rows);
}
#define opk_autotimes __attribute__((cleanup(opk_time_table_clear)))
void opk_times_encode(struct opk_buf *out, const struct opk_time *times, size_t count);

/* A record counts as so many bytes, as a row of a range table does. */
enum { OPK_ACTIVITY_WEIGHT = 256 };
/* What ran: activity.c. Begins zeroed. */
struct opk_activity_table {
	struct opk_activity *rows;
	size_t count;
	struct opk_texts texts;
};
/* Appends the records of a KERN section. */
int opk_activity_table_read(struct opk_activity_table *table, struct opk_ctx *ctx,
                            const struct opk_file *file, size_t section);
void opk_activity_table_clear(struct opk_activity_table *table);
#define opk_autoactivities __attribute__((cleanup(opk_activity_table_clear)))
void opk_activity_table_free(struct opk_activity_table *table);
OPK_DEFINE_AUTO(opk_activity_table)
/* A record as a range, and its kind in a word: "kernel", "copy", "set", "nvtx". */
struct opk_range opk_activity_range(const struct opk_activity *activity);
const char *opk_activity_word(const struct opk_activity *activity);
/* The payload of a section. */
void opk_activities_encode(struct opk_buf *out, const struct opk_activity *activities,
                           size_t count);
/* Gives them the host and GPU of the facts, as opk_ranges_place() does. */
void opk_activities_place(struct opk_activity *activities, size_t count,
                          const struct opk_meta *meta);

/*
 * Links the tables of a file to its images, as opk_file_segments() does; where that fails with
 * OPK_EINPUT, *bad is the table at fault. `meta` is that of the file.
 */
int opk_file_link(size_t *bad, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_meta *meta);

/*
 * Attributes: numbers that a recording says of a launch or a device, under Nsight Compute's names.
 * They are among the metrics that are evaluated, but nothing counts them.
 */

/* "launch__..." or "device__attribute_...": no metric is called so. */
bool opk_attribute_is_name(const char *name);
/* "device__attribute_..." */
bool opk_attribute_is_of_device(const char *name);
/* Whether recordings may have it: any of a device, and those of launches that are known. */
bool opk_attribute_exists(const char *name);
/* OPK_EUSAGE where recordings have no such attribute, or this one says none of its devices. */
int opk_attribute_check(struct opk_ctx *ctx, const char *name, const struct opk_meta *meta);
/* NaN where it is not known. `meta` and `range` may be NULL. */
double opk_attribute_value(const char *name, const struct opk_meta *meta,
                           const struct opk_range *range);
/* "": it has none, or it is not known. */
const char *opk_attribute_unit(const char *name);
/* Whether it adds up over launches. */
bool opk_attribute_adds(const char *name);
/* Attributes of launches; NULL past the end. */
const char *opk_attribute_known(size_t i);

#endif
