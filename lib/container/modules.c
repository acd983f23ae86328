/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules of one file or several, each once. */
#include <inttypes.h>

#include "container/container.h"

struct opk_seen_module {
	size_t file, section, name;
	bool has_code;
};

int opk_modules_name(size_t *name, struct opk_modules *modules, struct opk_ctx *ctx, uint64_t crc)
{
	struct opk_strlist *names = &modules->names;
	char text[OPK_MODULE_NAME];

	opk_module_name(text, crc);
	if (opk_index_find(name, &modules->numbers, text))
		return OPK_OK;
	*name = names->count;
	if (!opk_grow(&modules->best, &modules->capacity, *name, sizeof *modules->best)
	    || !opk_strlist_add(names, text)
	    || !opk_index_add(&modules->numbers, names->items[*name], *name, NULL))
		return opk_nomem(ctx, "modules");
	modules->best[*name] = SIZE_MAX;
	return OPK_OK;
}

static int add(struct opk_modules *modules, struct opk_ctx *ctx, const struct opk_file *file,
               struct opk_seen_module seen)
{
	opk_autofree void *data = NULL;
	struct opk_seen_module *added;
	struct opk_module module;
	size_t *best;

	TRY(opk_module_read(&module, &data, ctx, file, seen.section));
	TRY(opk_modules_name(&seen.name, modules, ctx, module.crc));
	added = opk_append(&modules->seen, &modules->seen_capacity, &modules->seen_count,
	                   sizeof *added);
	if (!added)
		return opk_nomem(ctx, "modules");
	seen.has_code = module.has_code;
	*added = seen;
	best = &modules->best[seen.name];
	if (*best == SIZE_MAX || (seen.has_code && !modules->seen[*best].has_code))
		*best = modules->seen_count - 1;
	return OPK_OK;
}

int opk_modules_add(struct opk_modules *modules, struct opk_ctx *ctx, const struct opk_file *file,
                    size_t number)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_CODE)
			TRY(add(modules, ctx, file,
			        (struct opk_seen_module){ .file = number, .section = i }));
	return OPK_OK;
}

static bool is_before(const struct opk_seen_module *seen, size_t number, size_t section)
{
	return seen->file < number || (seen->file == number && seen->section < section);
}

bool opk_modules_keep(const struct opk_modules *modules, size_t number, size_t section)
{
	size_t low = 0, high = modules->seen_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(&modules->seen[middle], number, section))
			low = middle + 1;
		else
			high = middle;
	}
	return low < modules->seen_count && modules->best[modules->seen[low].name] == low;
}

size_t opk_modules_section(const struct opk_modules *modules, size_t name)
{
	size_t best = modules->best[name];

	return best == SIZE_MAX ? SIZE_MAX : modules->seen[best].section;
}

void opk_modules_clear(struct opk_modules *modules)
{
	opk_strlist_clear(&modules->names);
	opk_index_clear(&modules->numbers);
	free(modules->best);
	free(modules->seen);
	*modules = (struct opk_modules){ 0 };
}
