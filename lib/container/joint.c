/* SPDX-License-Identifier: BSD-2-Clause */
/* Several files of one watch as one long recording, in the order of time; nothing is copied. */
#include <fcntl.h>
#include <string.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "container/container.h"

bool opk_section_pread(const struct opk_file *file, const struct opk_section *section, void *to,
                       size_t size, uint64_t at)
{
	opk_autoclose int fd = -1;

	if (!file->joint)
		return opk_pread_all(file->fd, to, size, at);
	/* There may be more files than descriptors. */
	fd = open(opk_section_path(file, section), O_RDONLY | O_CLOEXEC);
	return fd >= 0 && opk_pread_all(fd, to, size, at);
}

const char *opk_section_path(const struct opk_file *file, const struct opk_section *section)
{
	return file->joint ? file->joint->paths.items[section->part] : file->path;
}

size_t opk_section_number(const struct opk_file *file, size_t i)
{
	return (file->joint ? file->sections[i].number : i) + 1;
}

void opk_joint_free(struct opk_joint *joint)
{
	if (!joint)
		return;
	opk_merger_free(joint->merger);
	opk_strlist_clear(&joint->paths);
	free(joint);
}

/* A file, and when its first sample ends. */
struct part {
	const char *path;
	uint64_t first_ns;
	size_t number; /* in the order of the caller */
};

static int read_first(uint64_t *out, struct opk_ctx *ctx, const struct opk_file *file)
{
	opk_autotimes struct opk_time_table times = { 0 };
	long section = opk_file_find(file, OPK_SECTION_TIMES);

	if (section >= 0)
		TRY(opk_time_table_read(&times, ctx, file, (size_t)section));
	*out = times.count ? times.rows->end : 0;
	return OPK_OK;
}

static int look_at(struct part *part, struct opk_ctx *ctx, const char *path, size_t number)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_meta *meta;

	*part = (struct part){ .path = path, .number = number };
	TRY(opk_file_open(&file, ctx, path));
	TRY(opk_file_meta(&meta, ctx, file));
	if (meta->profiler != OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: has no PM samples: only files of a watch are one recording",
		                path);
	return read_first(&part->first_ns, ctx, file);
}

static int by_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The paths in the order of time; free() the array. */
static int sort_paths(const char ***out, struct opk_ctx *ctx, const char *const *paths,
                      size_t count)
{
	opk_autofree struct part *parts = opk_alloc_array(count + 1, sizeof *parts);
	opk_autofree const char **sorted = opk_alloc_array(count + 1, sizeof *sorted);

	if (!parts || !sorted)
		return opk_nomem(ctx, "files");
	for (size_t i = 0; i < count; i++)
		TRY(look_at(&parts[i], ctx, paths[i], i));
	qsort(parts, count, sizeof *parts, by_time);
	for (size_t i = 0; i < count; i++)
		sorted[i] = parts[i].path;
	*out = opk_take(sorted);
	return OPK_OK;
}

/* What describes all of the recording is the first file's. */
static bool is_wanted(const struct opk_section *section, size_t part)
{
	return !part
	       || !(section->type == OPK_SECTION_META || opk_is_of_plan(section->type)
	            || section->type == OPK_SECTION_AVAILABILITY);
}

static int add_part(struct opk_file *file, struct opk_ctx *ctx, const char *path, size_t part)
{
	opk_auto(opk_file) struct opk_file *one = NULL;
	opk_autofree size_t *numbers = NULL;

	TRY(opk_file_open(&one, ctx, path));
	TRY(opk_file_check_complete(ctx, one, OPK_REMEDY_RECOVER));
	numbers = opk_alloc_array(one->section_count + 1, sizeof *numbers);
	if (!numbers || !opk_strlist_add(&file->joint->paths, path))
		return opk_nomem(ctx, "files");
	file->size += one->size;
	for (size_t i = 0; i < one->section_count; i++) {
		struct opk_section section = one->sections[i];

		numbers[i] = file->section_count;
		section.part = part;
		section.number = i;
		if (section.link != SIZE_MAX)
			section.link = numbers[section.link];
		if (!is_wanted(&section, part))
			continue;
		if (!opk_grow(&file->sections, &file->section_capacity, file->section_count,
		              sizeof *file->sections))
			return opk_nomem(ctx, "sections");
		file->sections[file->section_count++] = section;
	}
	return OPK_OK;
}

static int begin(struct opk_file *file, struct opk_ctx *ctx, const char *const *paths, size_t count)
{
	file->fd = -1;
	file->complete = true;
	file->path = opk_printf("%s and %zu more", paths[0], count - 1);
	file->joint = opk_alloc(sizeof *file->joint);
	file->meta = opk_alloc(sizeof *file->meta);
	if (!file->path || !file->joint || !file->meta)
		return opk_nomem(ctx, "a file");
	TRY(opk_merger_new(&file->joint->merger, ctx, paths, count, NULL));
	TRY(opk_merger_check_run(file->joint->merger));
	file->meta->meta = *opk_merger_common(file->joint->merger);
	return OPK_OK;
}

int opk_file_join(struct opk_file **out, struct opk_ctx *ctx, const char *const *paths,
                  size_t count)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_autofree const char **sorted = NULL;

	if (count == 1)
		return opk_file_open(out, ctx, *paths);
	TRY(sort_paths(&sorted, ctx, paths, count));
	file = opk_alloc(sizeof *file);
	TRY(file ? begin(file, ctx, sorted, count) : opk_nomem(ctx, "a file"));
	for (size_t i = 0; i < count; i++)
		TRY(add_part(file, ctx, sorted[i], i));
	*out = opk_take(file);
	return OPK_OK;
}

/* ---- which files are of one watch -------------------------------------------------------- */

/* What only whole files of one process have in common; NULL: out of memory. */
static char *key_of(const struct opk_file *file, const struct opk_meta *meta, size_t number)
{
	const char *process = opk_meta_fact(meta, "process"),
		   *started = opk_meta_fact(meta, "started");

	if (!file->complete || meta->profiler != OPK_PROFILER_PM || !*process || !*started)
		return opk_printf("%zu", number);
	return opk_printf("%s %s %s", opk_meta_host(meta), process, started);
}

/* Files that can't be joined, such as a file and its copy, stay as they are. */
static int add_run(struct opk_runs *runs, struct opk_ctx *ctx, struct opk_file *const *files,
                   const size_t *members, size_t count)
{
	opk_autofree const char **paths = opk_alloc_array(count, sizeof *paths);
	struct opk_file *joint = NULL;

	if (!paths)
		return opk_nomem(ctx, "files");
	for (size_t i = 0; i < count; i++)
		paths[i] = files[members[i]]->path;
	if (count > 1)
		TRY(opk_allow(ctx, opk_file_join(&joint, ctx, paths, count), OPK_EUSAGE));
	for (size_t i = 0; i < (joint ? 1 : count); i++) {
		runs->joined[runs->count] = joint != NULL;
		runs->files[runs->count++] = joint ? joint : files[members[i]];
	}
	return OPK_OK;
}

int opk_runs_find(struct opk_runs *runs, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t count)
{
	opk_autofree size_t *members = opk_alloc_array(count + 1, sizeof *members);
	opk_autostrlist struct opk_strlist keys = { 0 };
	const struct opk_meta *meta;

	runs->files = opk_alloc_array(count + 1, sizeof *runs->files);
	runs->joined = opk_alloc_array(count + 1, sizeof *runs->joined);
	if (!members || !runs->files || !runs->joined)
		return opk_nomem(ctx, "files");
	for (size_t i = 0; i < count; i++) {
		TRY(opk_file_meta(&meta, ctx, files[i]));
		if (!opk_strlist_take(&keys, key_of(files[i], meta, i)))
			return opk_nomem(ctx, "files");
	}
	for (size_t i = 0; i < count; i++) {
		size_t found = 0;

		for (size_t j = 0; j < count; j++)
			if (!strcmp(keys.items[i], keys.items[j]))
				members[found++] = j;
		if (*members == i)
			TRY(add_run(runs, ctx, files, members, found));
	}
	return OPK_OK;
}

void opk_runs_clear(struct opk_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->joined[i])
			opk_file_free(runs->files[i]);
	free(runs->files);
	free(runs->joined);
	*runs = (struct opk_runs){ 0 };
}
