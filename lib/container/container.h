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
	/* Packed zeros take almost no bytes. A section with more zeros than this is not packed. */
	OPK_MAX_SPARSE_RATIO = 4 * OPK_MAX_RATIO,
	/* A section may name one that is at most so many sections before it. */
	OPK_LINK_DISTANCE = 1000,
};

/* A limit, because a whole section is held in memory. */
#define OPK_MAX_PLAIN ((uint64_t)4 << 30)

/*
 * The most plain bytes for each stored byte. A section that equals its base stores almost no bytes;
 * it is as large as its base, whose size was checked already.
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

/* The block size of packed data: each block is stored as the difference to the one before. */
static inline uint64_t opk_section_block(const struct opk_section *section)
{
	return section->flags & OPK_SECTION_XORED ? section->stride : section->plain_size;
}

/* Sections that a plan makes. */
static inline bool opk_is_of_plan(uint32_t type)
{
	return type == OPK_SECTION_CONFIG || type == OPK_SECTION_ROTATION
	       || type == OPK_SECTION_PREFIX;
}

/* A bit for each table type, RNGS and TIME, which always name their image; 0 for other types. */
enum { OPK_TABLE_RANGES = 1, OPK_TABLE_TIMES = 2 };
static inline unsigned opk_is_table(uint32_t type)
{
	return type == OPK_SECTION_RANGES  ? OPK_TABLE_RANGES
	       : type == OPK_SECTION_TIMES ? OPK_TABLE_TIMES
	                                   : 0;
}

/* Whether a section belongs to the image that it names: tables, and sections of later versions. */
static inline bool opk_is_attached(const struct opk_section *section)
{
	return !opk_is_image(section->type) && section->distance;
}

/* The next section after `i` that belongs to an image; SIZE_MAX: there is none. container.c */
size_t opk_file_next_attached(const struct opk_file *file, size_t image, size_t i);

/* What a section contains; NULL: the type is not known. container.c */
const char *opk_section_text(uint32_t type);

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
	struct opk_joint *joint; /* NULL: it is a single file */
};

/* Reads stored bytes, which begin at byte `at` of the section's file; false: errno. */
bool opk_section_pread(const struct opk_file *file, const struct opk_section *section, void *to,
                       size_t size, uint64_t at);
/* The path of the file that a section is in. */
const char *opk_section_path(const struct opk_file *file, const struct opk_section *section);
/* Its number there, from 1. */
size_t opk_section_number(const struct opk_file *file, size_t i);
struct opk_joint {
	struct opk_merger *merger; /* has the metadata */
	struct opk_strlist paths;  /* of the files, in the order of time */
};
void opk_joint_free(struct opk_joint *joint);

/* False if the checksums differ. */
bool opk_same_crc(uint32_t stored, uint32_t computed);

/* What is wrong with a header whose checksum is right; NULL: nothing. */
const char *opk_section_flaw(const struct opk_section *section);
/* Computes the checksum of its stored payload. */
int opk_section_crc(uint32_t *crc, struct opk_ctx *ctx, const struct opk_file *file,
                    const struct opk_section *section);

/* Reusable memory for decoding many sections. Begins zeroed. */
struct opk_decoder {
	struct opk_buf stored, packed, plain;
	struct opk_buf base;
	size_t base_section;
};

/* Like opk_file_read(), but *data is valid until the next call, or until the decoder is cleared. */
int opk_file_decode(const void **data, size_t *size, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t i, struct opk_decoder *decoder);
void opk_decoder_clear(struct opk_decoder *decoder);
#define opk_autodecoder __attribute__((cleanup(opk_decoder_clear)))

/* Whether the file was cut off, and has neither images nor values that can be read. */
bool opk_file_lacks_values(const struct opk_file *file);
/* OPK_EINPUT, with a remedy unless nothing helps, if the file was cut off. */
int opk_file_check_complete(struct opk_ctx *ctx, struct opk_file *file, enum opk_remedy remedy);
/* The `made_by` of this kind of .opk file; NULL: it is not made from other files. replaced.c */
const char *opk_output_maker(enum opk_output output);
/* The kind of an .opk file by its metadata. */
enum opk_output opk_output_of_meta(const struct opk_meta *meta);
/* Like opk_writer_new(), for a file that is made of others: its metadata say so. */
int opk_writer_new_made(struct opk_writer **out, struct opk_ctx *ctx, const char *path,
                        enum opk_output output);
/* Compresses what follows fast rather than well. */
void opk_writer_hurry(struct opk_writer *writer);
/* Adds "FILE: section N (TYPE)" to the cause chain. */
int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i);

/*
 * Decodes a section and adds it in this writer's encoding. An attached section then names the last
 * image.
 */
int opk_writer_copy(struct opk_writer *writer, const struct opk_file *file, size_t i);
/* Copies all sections that are attached to an image, which was added last. */
int opk_writer_copy_tables(struct opk_writer *writer, const struct opk_file *file, size_t image);

/* Scans a damaged container: finds sound sections, and the bytes between them. */

/* A finding about a section, bytes between sections, or (section 0, size 0) the whole file. */
struct opk_finding {
	size_t section;      /* number among the found sections, from 1; 0: not a section */
	uint32_t type;       /* of the section, or of a missing one; 0: not known */
	uint64_t byte, size; /* its place in the file, with header and padding */
	bool breaks;         /* something unknown is missing there, or after it */
	char *problem;       /* NULL: sound */
};
/* All findings of a file in order: sound sections, and problems. */
struct opk_findings {
	struct opk_finding *items;
	size_t count, capacity;
};

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem);
/* Sets the problem of a sound finding; an earlier problem stays. */
int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem);
void opk_findings_clear(struct opk_findings *findings);

struct opk_scan {
	/* Has only the sound sections; complete if the end section matches them. */
	struct opk_file *file;
	/* All sections in order, and all bytes between them. */
	struct opk_findings findings;
	size_t *places; /* the finding of each section of `file` */
	size_t places_capacity;
	bool moved; /* all sections are sound, but not the ones that the end section counted */
};

/*
 * Reads the whole file. OPK_EINPUT: it is not a container, or has a later version; damage is in the
 * findings.
 */
int opk_scan_file(struct opk_scan *scan, struct opk_ctx *ctx, const char *path);
void opk_scan_clear(struct opk_scan *scan);
/* The finding of a section of `scan->file`. */
struct opk_finding *opk_scan_finding(struct opk_scan *scan, size_t section);

/*
 * Decodes a section and reads it by its type. OPK_EINPUT: that fails, and the innermost cause says
 * why. verify.c
 */
int opk_section_check(struct opk_ctx *ctx, struct opk_file *file, size_t i);

/* Checks that recordings can be merged, and begins the merged one: merge.c. */

/* Whether two recordings' sets are the same apart from their metrics. meta.c */
int opk_meta_same_set(bool *same, struct opk_ctx *ctx, const struct opk_meta *one,
                      const struct opk_meta *other);

struct opk_merger;
/* Checks that the files can be merged. `join`, unless NULL, replaces theirs, which may differ. */
int opk_merger_new(struct opk_merger **out, struct opk_ctx *ctx, const char *const *paths,
                   size_t count, const char *join);
void opk_merger_free(struct opk_merger *merger);
OPK_DEFINE_AUTO(opk_merger)
/* The metadata of the first file, or of the first one with more than counts of instructions. */
const struct opk_meta *opk_merger_meta(const struct opk_merger *merger);
/* The metadata that all files share. */
const struct opk_meta *opk_merger_common(const struct opk_merger *merger);
/* Adds metadata, with `join` unless NULL, and config, prefix and availability images. */
int opk_merger_put_head(struct opk_merger *merger, struct opk_writer *writer, const char *join);
/* Copies all of file `number` but images, with their tables, and the head: records and modules. */
int opk_merger_copy_records(struct opk_merger *merger, struct opk_writer *writer,
                            struct opk_file *file, size_t number);
/* OPK_EUSAGE: files can't be one run: some have the same data, or are of different GPUs. */
int opk_merger_check_run(const struct opk_merger *merger);
/* Logs files, or images in them, that occur several times. */
void opk_merger_note_twice(const struct opk_merger *merger);

/* Finds data that occurs several times in recordings, and would count as often: twice.c */

/* The recordings that were added so far. Begins zeroed. */
struct opk_twice {
	struct opk_index index; /* the first file with each image or section of records */
	struct opk_strlist keys, paths;
	size_t *parts, capacity;  /* for each file, its number of images and such sections */
	struct opk_strlist found; /* sentences, one for each file */
	size_t more;              /* number of further files without a sentence */
};
int opk_twice_add(struct opk_twice *twice, struct opk_ctx *ctx, struct opk_file *file);
/* Logs what was found. */
void opk_twice_note(const struct opk_twice *twice, struct opk_ctx *ctx);
void opk_twice_clear(struct opk_twice *twice);
#define opk_autotwice __attribute__((cleanup(opk_twice_clear)))
/* Logs data that occurs several times in these files; if `refuse` is an error, fails with it. */
int opk_twice_check(struct opk_ctx *ctx, struct opk_file *const *files, size_t count, int refuse);

/* Sections of JSON: metadata and counts. */

enum {
	OPK_MAX_METRICS = 100000,
	OPK_MAX_JSON = 32 << 20, /* bytes of a section; parsed JSON takes 20 times as much */
	OPK_MAX_DROPS = 1000,    /* a file with more reasons is damaged */
	OPK_MAX_REASON = 4096,   /* bytes */
};

/* Metadata and what it borrows from. Begins zeroed. */
struct opk_meta_storage {
	struct opk_meta meta;
	struct opk_json *root;
	struct opk_arrays arrays; /* its lists */
};
/* Reads all lists except the metrics, and the set's members. */
int opk_meta_read_lists(struct opk_meta_storage *storage, struct opk_ctx *ctx,
                        const struct opk_json *root);
void opk_meta_storage_clear(struct opk_meta_storage *storage);
void opk_meta_storage_free(struct opk_meta_storage *storage);
OPK_DEFINE_AUTO(opk_meta_storage)

/*
 * OPK_EINPUT: a value is out of range, or a name is unknown. Does not check formulas, because the
 * collector can't parse them. meta_check.c
 */
int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta);
/* Whether the file is a probe: it describes GPUs, and has neither metrics nor data. meta_check.c */
bool opk_meta_is_probe(const struct opk_meta *meta);
/* Adds the names of the shown columns, see struct opk_meta; false when out of memory. */
bool opk_meta_list_columns(struct opk_strlist *names, const struct opk_meta *meta);
/* Whether the metric was recorded, or is in the set. meta_check.c */
bool opk_meta_has_metric(const struct opk_meta *meta, const char *metric);
/* The value of the property of this name; NULL: there is none. */
const char *opk_property_find(const struct opk_property *items, size_t count, const char *name);
/* Whether the metric's values count idle time around short kernels. meta_check.c */
bool opk_meta_is_inflated(const struct opk_meta *meta, const char *metric);
/* Writes a file's metadata with a new `made_by`; keeps members that readers don't know. */
int opk_meta_set_maker(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_json *meta,
                       const char *maker);
/* "crc32:89abcdef"; `out` takes 15 bytes. */
void opk_config_hash(char out[15], const void *config, size_t size);

/* Names in metadata: metrics, by name or label, and derived metrics. */
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
 * Borrows from `meta`. OPK_EINPUT: a label or derived metric has a name that is used twice, or a
 * label is of a metric that `meta` lacks.
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
/* Checks that a STAT section can be read. */
int opk_stats_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section);
void opk_stats_storage_free(struct opk_stats_storage *storage);
OPK_DEFINE_AUTO(opk_stats_storage)

/* Decodes and parses a section of JSON; free with opk_json_free(). */
int opk_file_read_json(struct opk_json **out, struct opk_ctx *ctx, const struct opk_file *file,
                       size_t section);

/* Names of kernels, as demanglers write them: kernel_name.c. */

/*
 * Normalizes a name: "const float *" for "float const*", "list<int>>" for "list<int> >", 4u for
 * (unsigned int)4. Other texts do not change. free(); NULL when out of memory.
 */
char *opk_kernel_spell(const char *name);

struct opk_span_of_text {
	const char *text; /* NULL: the name lacks this part */
	size_t length;
};
/* Parts of "void ns::scale<float, 4>(float *)": scale, "float, 4", "float *". Borrowed. */
struct opk_kernel_parts {
	struct opk_span_of_text base, templates, arguments;
};
/* Divides a normalized name; any other text becomes the base. False when out of memory. */
bool opk_kernel_find_parts(struct opk_kernel_parts *parts, const char *name);

/* The tables of images: ranges.c and times.c read one section each, recording.c all of a file. */

/*
 * All rows of a file are held in memory, and a few bytes of a file may claim millions. These limits
 * count so many bytes for a row; a text counts once, with its length and its index entry.
 */
enum { OPK_RANGE_WEIGHT = 256, OPK_TIME_WEIGHT = 32, OPK_TEXT_WEIGHT = 64 };
/* A range or sample takes at least MIN_RANGE bytes of its image; few rows are not checked. */
enum { OPK_MIN_RANGE = 8, OPK_FEW_ROWS = 4096 };
/* The most that all tables of a kind may weigh. A range takes at least ten bytes of a file. */
static inline uint64_t opk_table_limit(const struct opk_file *file)
{
	return ((uint64_t)128 << 20) + 64 * file->size;
}
/*
 * OPK_EINPUT: a table has more rows than its image can have, or makes all tables weigh too much.
 * container.c
 */
int opk_table_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section, uint64_t rows,
                    uint64_t weight);

/* Initializes the members of a range to unknown. */
#define OPK_UNKNOWN_RANGE                                                                          \
	.name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1, .host = "",  \
	.gpu = ""

/* Texts of a table, each kept once: many launches have few kernels. Begins zeroed. texts.c */
struct opk_texts {
	struct opk_strlist list;
	struct opk_index numbers; /* of the list */
	struct opk_index kernels; /* from texts of the list to the number of the normalized text */
	uint64_t weight;
	bool failed; /* out of memory */
};
const char *opk_texts_keep(struct opk_texts *texts, const char *text);
/* Keeps the normalized name, so that a kernel has one name in all files. */
const char *opk_texts_keep_kernel(struct opk_texts *texts, const char *text);
void opk_texts_clear(struct opk_texts *texts);

/* Texts of a section that is being made, each once. Begins zeroed. texts.c */
struct opk_section_texts {
	struct opk_buf bytes; /* as they are stored, each ended by a zero byte */
	struct opk_strlist list;
	struct opk_index numbers; /* of the list */
	bool failed;              /* out of memory */
};
/* The text's number, from 1; 0: it is NULL or empty. Bytes that are not UTF-8 are replaced. */
uint32_t opk_section_texts_put(struct opk_section_texts *texts, const char *text);
void opk_section_texts_clear(struct opk_section_texts *texts);

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
/* The host and the GPU in the run's facts; "" if not known. origin.c */
const char *opk_meta_host(const struct opk_meta *meta);
const char *opk_meta_gpu(const struct opk_meta *meta, int32_t device);
/* The rank of the process by the recorded variables; -1 if not known. */
int32_t opk_meta_rank(const struct opk_meta *meta);
/* Whether the fact names a host, a GPU or a rank. */
bool opk_fact_is_origin(const char *name);
/* Gives host, GPU and rank to rows without their own. Borrows from the metadata. */
void opk_ranges_place(struct opk_range *ranges, size_t count, const struct opk_meta *meta);
/* Removes them from rows that will be written after such metadata. */
void opk_ranges_unplace(struct opk_range *ranges, size_t count, const struct opk_meta *meta);
/* OPK_EINPUT: an image's ranges are of several passes, or of a pass that does not exist. */
int opk_ranges_check_pass(struct opk_ctx *ctx, const struct opk_range *ranges, size_t count,
                          size_t passes);
void opk_ranges_to_json(struct opk_buf *out, const struct opk_range *ranges, size_t count);
/* Appends the rows of a range table. OPK_EINPUT: readers refuse such a table. */
int opk_ranges_from_json(struct opk_range_table *table, struct opk_ctx *ctx,
                         const struct opk_json *root);

/* Whether the segment's tables give its number of rows. */
static inline bool opk_segment_is_counted(const struct opk_segment *segment)
{
	return segment->has_ranges || segment->has_times;
}

struct opk_time_table {
	struct opk_time *rows;
	size_t count;
};
/* Appends the times of a TIME section. */
int opk_time_table_read(struct opk_time_table *table, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t section);
static inline void opk_time_table_clear(struct opk_time_table *table)
{
	free(table->rows);
}
#define opk_autotimes __attribute__((cleanup(opk_time_table_clear)))
/* Whether samples can be of this device; -1: it is not known. */
bool opk_times_have_device(int64_t device);
void opk_times_encode(struct opk_buf *out, const struct opk_time *times, size_t count);

/* Records as columns, for KERN and INSN sections: record_columns.c */

/* How a member of a record becomes a number of its column; 0 where nothing is known. */
enum opk_record_coding {
	OPK_CODED_NUMBER,
	OPK_CODED_INDEX, /* the column has the index from 0, plus 1: 0 is the unknown index -1 */
	OPK_CODED_TEXT,  /* the number of a text of the section, from 1 */
	OPK_CODED_DIFFERENCE, /* from the record before */
	OPK_CODED_LENGTH,     /* from the member of the column before to this one */
};
struct opk_record_column {
	uint32_t id, width; /* docs/format.md; 4 or 8 bytes */
	enum opk_record_coding coding;
	size_t offset; /* of the member */
};
struct opk_record_layout {
	const struct opk_record_column *columns; /* at most 64 */
	size_t count;
	uint32_t most;       /* columns in a section, with those of later versions */
	bool is_named;       /* there may be columns of struct opk_named_values */
	size_t size;         /* of a record in memory */
	const void *unknown; /* a record of which nothing is known */
	const char *what;    /* "what ran" */
};
/* Values with names, beside the members of the records. */
struct opk_named_values {
	const char *const *names;
	size_t count;
	const uint64_t *values; /* record by record */
};
/* The number of a named column is this, plus the number of the text with its name. */
enum { OPK_NAMED_COLUMN = 0x10000 };
/* Encodes the payload of a section. */
void opk_records_encode(struct opk_buf *out, const struct opk_record_layout *layout,
                        const void *records, size_t count, const struct opk_named_values *named);

struct opk_read_column {
	const struct opk_record_column *column; /* NULL: of a later version, or named */
	uint32_t width;
	uint32_t name; /* the text with its name, from 1; 0: it is not named */
};
/* A section, its sizes checked against each other. */
struct opk_record_reader {
	struct opk_ctx *ctx;
	const struct opk_record_layout *layout;
	void *data;
	struct opk_reader left;
	uint32_t count, column_count, text_count, text_bytes;
	struct opk_read_column *columns;
	size_t name_count;  /* named columns */
	const char **texts; /* as opk_texts_keep() gave them; [0]: "" */
};
/* Reads the section's sizes. After a failure, too, opk_records_close() frees what it took. */
int opk_records_open(struct opk_record_reader *reader, struct opk_ctx *ctx,
                     const struct opk_record_layout *layout, const struct opk_file *file,
                     size_t section);
void opk_records_close(struct opk_record_reader *reader);
/* Keeps the section's texts. */
int opk_records_read_texts(struct opk_record_reader *reader, struct opk_texts *texts);
/* Then fills `count` records, and as many rows of `name_count` values. */
int opk_records_decode(struct opk_record_reader *reader, void *rows, uint64_t *values);

/* The bytes that a record counts as, like a row of a range table. */
enum { OPK_ACTIVITY_WEIGHT = 256 };
/* Records of what ran: activity.c. Begins zeroed. */
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
/* A record's kind in a word: "kernel", "copy", "set", "nvtx". */
const char *opk_activity_word(const struct opk_activity *activity);
/* Encodes the payload of a section. */
void opk_activities_encode(struct opk_buf *out, const struct opk_activity *activities,
                           size_t count);
/* Gives records the host and GPU of the facts, like opk_ranges_place(). */
void opk_activities_place(struct opk_activity *activities, size_t count,
                          const struct opk_meta *meta);

/* Modules and what was counted at their instructions: code.c, cubin.c */

/* Encodes the payload of a section. */
void opk_module_encode(struct opk_buf *out, const struct opk_module *module);

/* The bytes that a row counts as, without its values. */
enum { OPK_INSTRUCTION_WEIGHT = 64, OPK_MOST_INTERVAL = 31 };
/* An INSN section in memory. Begins zeroed. */
struct opk_instruction_block {
	struct opk_instruction_table table; /* borrows from the others */
	const char **names;
	struct opk_instruction *rows;
	uint64_t *values;
	struct opk_texts texts;
};
int opk_instruction_block_read(struct opk_instruction_block *block, struct opk_ctx *ctx,
                               const struct opk_file *file, size_t section);
void opk_instruction_block_clear(struct opk_instruction_block *block);
#define opk_autoinstructions __attribute__((cleanup(opk_instruction_block_clear)))
/* Encodes the payload of a section. */
void opk_instructions_encode(struct opk_buf *out, const struct opk_instruction_table *table);
/* Gives rows the host, GPU, process and rank of the facts, like opk_ranges_place(). */
void opk_instructions_place(struct opk_instruction *rows, size_t count,
                            const struct opk_meta *meta);

/* Adds the rows of OPK_FILE_CODE, or of OPK_FILE_FUNCTIONS: code_list.c */
int opk_code_list_add(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file,
                      bool functions);
/* Adds the rows of OPK_FILE_NVTX: nvtx_list.c */
int opk_nvtx_list_add(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file);

/*
 * Links a file's tables to its images, like opk_file_segments(). If it fails with OPK_EINPUT, *bad
 * is the table at fault. `meta` is the file's metadata.
 */
int opk_file_link(size_t *bad, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_meta *meta);

/*
 * Attributes: a recording's numbers about a launch or a device, with Nsight Compute's names. They
 * are evaluated like metrics, but need no counters.
 */

/* Any "launch__...", too, which is a metric where another tool recorded it. */
bool opk_attribute_is_like(const char *name);
/* "device__attribute_..." */
bool opk_attribute_is_of_device(const char *name);
/* "multiprocessors" for "device__attribute_multiprocessor_count", a fact; NULL for other names. */
const char *opk_attribute_device_fact(const char *name);
/*
 * OPK_EUSAGE: recordings have no such attribute, or this one lacks attributes of its devices. Other
 * names are fine, and so are a recording's metrics.
 */
int opk_attribute_check(struct opk_ctx *ctx, const char *name, const struct opk_meta *meta);

#endif
