/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds data that occurs several times in recordings: it would count as often. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "container/container.h"

enum { MOST_OTHERS = 3, MOST_FOUND = 8 };

/* ---- images and their keys */

static bool has_start(const struct opk_segment *segment)
{
	if (!segment->row_count)
		return false;
	if (segment->times)
		return segment->times->start > 0;
	return segment->ranges && segment->ranges->start_ns > 0;
}

/*
 * Two images are the same if their rows have the same times on the same GPU, even if one is in a
 * merged or trimmed copy.
 */
static char *key_of_times(const struct opk_segment *segment)
{
	const struct opk_range *first = segment->ranges, *last;
	const struct opk_time *times = segment->times;
	const char *host = first && first->host ? first->host : segment->host;
	const char *gpu = first && first->gpu ? first->gpu : segment->gpu;

	/* A file with damaged metadata has neither. */
	host = host ? host : "";
	gpu = gpu ? gpu : "";
	if (times)
		return opk_printf("%zu samples %s %s %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		                  segment->row_count, host, gpu, times->device, times->start,
		                  times->end, times[segment->row_count - 1].end);
	last = first + segment->row_count - 1;
	return opk_printf("%zu ranges %s %s %u %u %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
	                  segment->row_count, host, gpu, segment->pass, first->process,
	                  first->device, first->start_ns, first->launch, last->start_ns,
	                  last->launch);
}

/*
 * Two different images without times may have the same counts. So only whole files are recognised,
 * by the stored bytes of their images and rows.
 */
static char *key_of_bytes(const struct opk_file *file, const struct opk_meta *meta)
{
	struct opk_buf key = { 0 };

	opk_buf_add_printf(&key, "%s %s %s", opk_meta_host(meta), opk_meta_fact(meta, "started"),
	                   opk_meta_fact(meta, "process"));
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA
		    || file->sections[i].type == OPK_SECTION_RANGES)
			opk_buf_add_printf(&key, " %x %" PRIu64, file->sections[i].crc,
			                   file->sections[i].plain_size);
	return opk_buf_take_text(&key);
}

/* ---- files */

/* A file that is being looked at. */
struct look {
	struct opk_file *file;
	const struct opk_meta *meta;
	bool has_images; /* else records of what ran, at most */
	size_t number;
	size_t parts, elsewhere, again; /* all; also in earlier files; several times in this file */
	size_t others[MOST_OTHERS], other_count;
};

static void note_other(struct look *look, size_t other)
{
	for (size_t i = 0; i < look->other_count; i++)
		if (look->others[i] == other)
			return;
	if (look->other_count < MOST_OTHERS)
		look->others[look->other_count++] = other;
}

/* Takes the key; false: out of memory. */
static bool add_key(struct opk_twice *twice, struct look *look, char *key)
{
	size_t known, used = twice->index.used;

	if (!opk_strlist_take(&twice->keys, key)
	    || !opk_index_add(&twice->index, twice->keys.items[twice->keys.count - 1], look->number,
	                      &known))
		return false;
	look->parts++;
	if (twice->index.used > used)
		return true;
	free((char *)twice->keys.items[--twice->keys.count]);
	look->again += known == look->number;
	look->elsewhere += known != look->number;
	if (known != look->number)
		note_other(look, known);
	return true;
}

static bool add_images(struct opk_twice *twice, struct look *look,
                       const struct opk_segment *segments, size_t count)
{
	size_t timed = 0;

	for (size_t i = 0; i < count; i++) {
		if (!has_start(&segments[i]))
			continue;
		timed++;
		if (!add_key(twice, look, key_of_times(&segments[i])))
			return false;
	}
	return timed || !count || add_key(twice, look, key_of_bytes(look->file, look->meta));
}

/* Counts of instructions in one file, by their bytes. */
struct alike {
	struct opk_strlist bytes;
	struct opk_index index;
	size_t *counts; /* how many sections were seen */
};

static void alike_clear(struct alike *alike)
{
	opk_strlist_clear(&alike->bytes);
	opk_index_clear(&alike->index);
	free(alike->counts);
}

/* How many sections before this one have its bytes; false: out of memory. */
static bool find_before(size_t *before, struct alike *alike, const struct opk_section *section)
{
	size_t used = alike->index.used, at;

	if (!opk_strlist_take(&alike->bytes,
	                      opk_printf("%x %" PRIu64, section->crc, section->plain_size))
	    || !opk_index_add(&alike->index, alike->bytes.items[alike->bytes.count - 1], used, &at))
		return false;
	if (alike->index.used == used)
		free((char *)alike->bytes.items[--alike->bytes.count]);
	*before = alike->counts[at]++;
	return true;
}

/* Two runs of a program may count the same, and so may two launches of one run. */
static bool add_counts(struct opk_twice *twice, struct look *look, struct alike *alike,
                       const struct opk_section *section)
{
	const struct opk_meta *meta = look->meta;
	size_t before;

	return find_before(&before, alike, section)
	       && add_key(twice, look,
	                  opk_printf("counts %s %s %s %x %" PRIu64 " %zu", opk_meta_host(meta),
	                             opk_meta_fact(meta, "started"), opk_meta_fact(meta, "process"),
	                             section->crc, section->plain_size, before));
}

/* Records of what ran have times: their bytes are of one run alone. */
static bool add_records(struct opk_twice *twice, struct look *look)
{
	__attribute__((cleanup(alike_clear))) struct alike alike = {
		.counts = opk_alloc_array(look->file->section_count + 1, sizeof *alike.counts),
	};

	if (!alike.counts)
		return false;
	for (size_t i = 0; i < look->file->section_count; i++) {
		const struct opk_section *section = &look->file->sections[i];

		if ((section->type == OPK_SECTION_ACTIVITIES
		     && !add_key(twice, look,
		                 opk_printf("records %s %x %" PRIu64, opk_meta_host(look->meta),
		                            section->crc, section->plain_size)))
		    || (section->type == OPK_SECTION_INSTRUCTIONS
		        && !add_counts(twice, look, &alike, section)))
			return false;
	}
	return true;
}

static int look_at(struct opk_twice *twice, struct opk_ctx *ctx, struct look *look)
{
	const struct opk_segment *segments;
	size_t count;

	TRY(opk_file_meta(&look->meta, ctx, look->file));
	TRY(opk_file_segments(&segments, &count, ctx, look->file));
	look->has_images = count > 0;
	if (!(count ? add_images(twice, look, segments, count) : add_records(twice, look)))
		return opk_nomem(ctx, "a list of images");
	return OPK_OK;
}

/* ---- messages */

static bool is_whole(const struct opk_twice *twice, const struct look *look)
{
	return look->other_count == 1 && look->elsewhere == look->parts
	       && twice->parts[look->others[0]] == look->parts;
}

static char *say_whole(const char *path, const char *other)
{
	if (!strcmp(path, other))
		return opk_printf("%s is named twice: it counts twice", path);
	return opk_printf("%s is the same %s as %s: it counts twice", path,
	                  opk_is_same_file(path, other) ? "file" : "recording", other);
}

static char *say_some(const struct opk_twice *twice, const struct look *look)
{
	struct opk_buf text = { 0 };

	opk_buf_add_printf(&text, "%s: %zu of its %zu %s are ", look->file->path,
	                   look->elsewhere + look->again, look->parts,
	                   look->has_images ? "images" : "sections of records");
	if (look->again)
		opk_buf_add_text(&text, "in it twice");
	for (size_t i = 0; !look->again && i < look->other_count; i++)
		opk_buf_add_printf(&text, "%s%s", i ? ", " : "also in ",
		                   twice->paths.items[look->others[i]]);
	opk_buf_add_text(&text, ": they count twice");
	return opk_buf_take_text(&text);
}

/* Takes the text. */
static int say(struct opk_twice *twice, struct opk_ctx *ctx, char *text)
{
	bool known = text && opk_strlist_contains(&twice->found, text);

	/* A file that is named a hundred times has one note. */
	if (text && (known || twice->found.count == MOST_FOUND)) {
		twice->more += !known;
		free(text);
		return OPK_OK;
	}
	return opk_strlist_take(&twice->found, text) ? OPK_OK : opk_nomem(ctx, "a note");
}

static int say_look(struct opk_twice *twice, struct opk_ctx *ctx, const struct look *look)
{
	if (!look->elsewhere && !look->again)
		return OPK_OK;
	return say(twice, ctx,
	           is_whole(twice, look)
	                   ? say_whole(look->file->path, twice->paths.items[look->others[0]])
	                   : say_some(twice, look));
}

int opk_twice_add(struct opk_twice *twice, struct opk_ctx *ctx, struct opk_file *file)
{
	struct look look = { .file = file, .number = twice->paths.count };
	int code;

	if (!opk_grow(&twice->parts, &twice->capacity, look.number, sizeof *twice->parts)
	    || !opk_strlist_add(&twice->paths, file->path))
		return opk_nomem(ctx, "a list of files");
	code = look_at(twice, ctx, &look);
	twice->parts[look.number] = look.parts;
	return code ? code : say_look(twice, ctx, &look);
}

void opk_twice_note(const struct opk_twice *twice, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < twice->found.count; i++)
		opk_log(ctx, "%s", twice->found.items[i]);
	if (twice->more)
		opk_log(ctx, "and %zu more files have what others have", twice->more);
}

void opk_twice_clear(struct opk_twice *twice)
{
	opk_index_clear(&twice->index);
	opk_strlist_clear(&twice->keys);
	opk_strlist_clear(&twice->paths);
	opk_strlist_clear(&twice->found);
	free(twice->parts);
	*twice = (struct opk_twice){ 0 };
}

int opk_twice_check(struct opk_ctx *ctx, struct opk_file *const *files, size_t count, int refuse)
{
	opk_autotwice struct opk_twice twice = { 0 };

	for (size_t i = 0; i < count; i++)
		TRY(opk_twice_add(&twice, ctx, files[i]));
	if (refuse && twice.found.count)
		return opk_fail(ctx, refuse, "%s", twice.found.items[0]);
	opk_twice_note(&twice, ctx);
	return OPK_OK;
}

/* ---- paths alone */

static int add_path(struct opk_twice *twice, struct opk_ctx *ctx, const char *const *paths,
                    size_t number)
{
	struct stat info;
	size_t first = number;

	if (stat(paths[number], &info))
		return OPK_OK;
	if (!opk_strlist_take(&twice->keys,
	                      opk_printf("%ju %ju", (uintmax_t)info.st_dev, (uintmax_t)info.st_ino))
	    || !opk_index_add(&twice->index, twice->keys.items[twice->keys.count - 1], number,
	                      &first))
		return opk_nomem(ctx, "a list of files");
	return first == number ? OPK_OK : say(twice, ctx, say_whole(paths[number], paths[first]));
}

int opk_note_same_files(struct opk_ctx *ctx, const char *const *paths, size_t count)
{
	opk_autotwice struct opk_twice twice = { 0 };

	for (size_t i = 0; i < count; i++)
		TRY(add_path(&twice, ctx, paths, i));
	opk_twice_note(&twice, ctx);
	return OPK_OK;
}
