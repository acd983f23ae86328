/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that say what a GPU has: bare counter-availability images, and containers with one. */
#include <string.h>

#include "base/file.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "container/door.h"

OPK_DEFINE_AUTO(opk_chips)

/* docs/format.md */
static bool is_container(const void *data, size_t size)
{
	static const char magic[] = "\x89OPK\r\n\x1a\n";

	return size >= sizeof magic - 1 && !memcmp(data, magic, sizeof magic - 1);
}

/* A probe may have several chips; only then is the user's word for a chip looked up, if given. */
static int load_from(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                     const char *chip, enum opk_profiler profiler)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	const struct opk_meta *meta;
	const struct opk_chip *found = NULL;

	TRY(opk_file_open(&file, ctx, path));
	TRY(opk_file_meta(&meta, ctx, file));
	if (chip && meta->availability_count)
		TRY(opk_chips_new(&chips, ctx));
	if (chips)
		TRY(opk_chips_resolve(&found, ctx, chips, chip));
	return opk_file_availability(data, size, ctx, file, found ? found->name : NULL, profiler);
}

int opk_availability_allowed(struct opk_ctx *ctx, enum opk_profiler profiler)
{
	return opk_profiler_is_code(profiler)
	               ? opk_fail(ctx, OPK_EUSAGE,
	                          "profiler %s uses no counters: no availability applies to it",
	                          opk_profiler_name(profiler))
	               : OPK_OK;
}

int opk_availability_load(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                          const char *chip, enum opk_profiler profiler)
{
	opk_autofree void *read = NULL;
	size_t read_size;

	TRY(opk_availability_allowed(ctx, profiler));
	TRY(opk_read_file(&read, &read_size, ctx, path));
	if (is_container(read, read_size))
		return load_from(data, size, ctx, path, chip, profiler);
	*data = opk_take(read);
	*size = read_size;
	return OPK_OK;
}

int opk_availability_chip(char **out, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_autofree void *data = NULL;
	const struct opk_meta *meta = NULL;
	const char *chip;
	size_t size;

	TRY(opk_read_file(&data, &size, ctx, path));
	if (is_container(data, size))
		TRY(opk_file_open(&file, ctx, path));
	if (file)
		TRY(opk_file_meta(&meta, ctx, file));
	chip = meta ? meta->chip : "";
	for (size_t i = 0; meta && i < meta->availability_count; i++)
		if (strcmp(meta->availability[i].chip, meta->chip))
			chip = "";
	*out = opk_strdup(chip);
	return *out ? OPK_OK : opk_nomem(ctx, "a chip's name");
}
