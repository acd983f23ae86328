/* SPDX-License-Identifier: BSD-2-Clause */
/* Source files, each read once, and divided into lines. */
#include "code/door.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/index.h"
#include "base/mem.h"
#include "base/strlist.h"

enum { MOST_BYTES = 16 << 20 };

struct source {
	char *text;
	size_t *begins; /* of lines; one more: past the last newline */
	size_t lines;   /* 0: there is no such file here */
};

struct opk_sources {
	struct opk_ctx *ctx;
	const char *const *maps;
	size_t map_count;
	struct opk_strlist paths;
	struct opk_index numbers;
	OPK_LIST(struct source) files;
};

int opk_sources_new(struct opk_sources **out, struct opk_ctx *ctx, const char *const *maps,
                    size_t count)
{
	opk_auto(opk_sources) struct opk_sources *sources = NULL;

	for (size_t i = 0; i < count; i++)
		if (*maps[i] == '=' || !strchr(maps[i], '='))
			return opk_fail(ctx, OPK_EUSAGE,
			                "'%s' is not OLD=NEW: the beginning of recorded paths, and "
			                "what it is on this machine",
			                maps[i]);
	sources = opk_alloc(sizeof *sources);
	if (!sources)
		return opk_nomem(ctx, "source files");
	sources->ctx = ctx;
	sources->maps = maps;
	sources->map_count = count;
	*out = opk_take(sources);
	return OPK_OK;
}

void opk_sources_free(struct opk_sources *sources)
{
	if (!sources)
		return;
	for (size_t i = 0; i < sources->files.count; i++) {
		free(sources->files.items[i].text);
		free(sources->files.items[i].begins);
	}
	free(sources->files.items);
	opk_strlist_clear(&sources->paths);
	opk_index_clear(&sources->numbers);
	free(sources);
}

/* Where the file is on this machine. */
static char *map_path(const struct opk_sources *sources, const char *path)
{
	for (size_t i = 0; i < sources->map_count; i++) {
		const char *map = sources->maps[i], *mid = strchr(map, '=');
		size_t length = (size_t)(mid - map);

		if (!strncmp(path, map, length))
			return opk_printf("%s%s", mid + 1, path + length);
	}
	return opk_strdup(path);
}

static bool divide(struct source *source, size_t size)
{
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += source->text[i] == '\n';
	source->begins = opk_alloc_array(lines + 1, sizeof *source->begins);
	if (!source->begins)
		return false;
	for (size_t i = 0; i < size; i++)
		if (source->text[i] == '\n')
			source->begins[++source->lines] = i + 1;
	/* The last line may have no newline. */
	if (source->begins[source->lines] < size)
		source->begins[++source->lines] = size + 1;
	return true;
}

/* A recording may name any file: devices and pipes are not opened. */
static int read_source(struct source *source, struct opk_sources *sources, const char *path)
{
	opk_autofree char *here = map_path(sources, path);
	void *text = NULL;
	struct stat status;
	size_t size;
	int code;

	if (!here)
		return opk_nomem(sources->ctx, "source files");
	if (stat(here, &status) || !S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
		return OPK_OK;
	code = opk_read_small_file(&text, &size, sources->ctx, here, MOST_BYTES);
	if (code == OPK_ENOMEM)
		return code;
	if (code) {
		opk_clear_errors(sources->ctx);
		return OPK_OK;
	}
	source->text = text;
	return divide(source, size) ? OPK_OK : opk_nomem(sources->ctx, "source files");
}

static int find_source(struct source **out, struct opk_sources *sources, const char *path)
{
	size_t number = sources->files.count;

	if (!opk_index_find(&number, &sources->numbers, path)) {
		if (!opk_list_add(&sources->files) || !opk_strlist_add(&sources->paths, path)
		    || !opk_index_add(&sources->numbers, sources->paths.items[number], number,
		                      NULL))
			return opk_nomem(sources->ctx, "source files");
		TRY(read_source(&sources->files.items[number], sources, path));
	}
	*out = &sources->files.items[number];
	return OPK_OK;
}

int opk_sources_line(const char **out, size_t *length, struct opk_sources *sources,
                     const char *path, uint32_t line)
{
	struct source *source = NULL;

	*out = NULL;
	*length = 0;
	if (!*path || !line)
		return OPK_OK;
	TRY(find_source(&source, sources, path));
	if (line > source->lines)
		return OPK_OK;
	*out = source->text + source->begins[line - 1];
	*length = source->begins[line] - source->begins[line - 1] - 1;
	if (*length && (*out)[*length - 1] == '\r')
		--*length;
	return OPK_OK;
}
