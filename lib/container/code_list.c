/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of modules and their functions, with how many of their instructions have counts. */
#include <inttypes.h>
#include <string.h>

#include "base/listing.h"
#include "base/utf8.h"
#include "container/container.h"

/* A function with counts. */
struct counted {
	char *key;  /* its module's CRC in 16 digits, a blank, its symbol */
	char *name; /* demangled, in one spelling; "" where the counts do not say */
	uint64_t module;
	uint64_t instructions;
	bool listed;
};
enum { KEY_SYMBOL = 17 };

struct code_list {
	struct opk_ctx *ctx;
	struct opk_file *file;
	struct opk_listing *rows;
	struct opk_modules modules;
	OPK_LIST(struct counted) counted;
	struct opk_index numbers;  /* of the counted functions, by key */
	OPK_LIST(uint64_t) places; /* the function's number, and below it the offset; sorted */
	struct opk_index kernels;  /* from symbols to names of recorded kernels */
	const char **kernel_names;
	uint64_t weight; /* of the functions' names */
};

static const char *symbol_of(const struct counted *counted)
{
	return counted->key + KEY_SYMBOL;
}

static char *key_of(uint64_t module, const char *symbol)
{
	return opk_printf("%016" PRIx64 " %s", module, symbol);
}

/* Many functions may have the same long name. */
static int weigh(struct code_list *list, const char *name)
{
	list->weight += strlen(name) + OPK_TEXT_WEIGHT;
	if (list->weight <= opk_table_limit(list->file))
		return OPK_OK;
	return opk_fail(list->ctx, OPK_EINPUT,
	                "%s: its functions have longer names than a file of this size can hold",
	                list->file->path);
}

/* ---- which instructions have counts -------------------------------------------------------- */

static int find_counted(size_t *number, struct code_list *list, const struct opk_instruction *row)
{
	opk_autofree char *key = key_of(row->module, row->function);
	opk_autofree char *name = NULL;
	struct counted *added;

	if (!key)
		return opk_nomem(list->ctx, "functions");
	if (opk_index_find(number, &list->numbers, key))
		return OPK_OK;
	TRY(weigh(list, row->name));
	*number = list->counted.count;
	name = opk_kernel_spell(row->name);
	added = name ? opk_list_add(&list->counted) : NULL;
	if (!added)
		return opk_nomem(list->ctx, "functions");
	*added = (struct counted){ opk_take(key), opk_take(name), .module = row->module };
	return opk_index_add(&list->numbers, added->key, *number, NULL)
	               ? OPK_OK
	               : opk_nomem(list->ctx, "functions");
}

static int add_places(struct code_list *list, const struct opk_instruction_table *table)
{
	const struct opk_instruction *before = NULL, *row = table->rows;
	size_t number = 0;

	for (size_t i = 0; i < table->count; i++, row++) {
		uint64_t *place;

		if (!row->module && !opk_instruction_has_counts(table, i))
			continue;
		/* Equal texts of a section are the same pointer. */
		if (!before || row->module != before->module || row->function != before->function)
			TRY(find_counted(&number, list, row));
		before = row;
		place = opk_list_add(&list->places);
		if (!place)
			return opk_nomem(list->ctx, "instructions");
		*place = (uint64_t)number << 32 | row->offset;
	}
	return OPK_OK;
}

static int compare_places(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Many launches have the same instructions. */
static void unite_places(struct code_list *list)
{
	uint64_t *places = list->places.items;
	size_t kept = 0;

	if (list->places.count)
		qsort(places, list->places.count, sizeof *places, compare_places);
	for (size_t i = 0; i < list->places.count; i++)
		if (!kept || places[i] != places[kept - 1])
			places[kept++] = places[i];
	list->places.count = kept;
}

static int read_counted(struct code_list *list)
{
	for (size_t i = 0; i < list->file->section_count; i++) {
		opk_autoinstructions struct opk_instruction_block block = { 0 };

		if (list->file->sections[i].type != OPK_SECTION_INSTRUCTIONS)
			continue;
		TRY(opk_instruction_block_read(&block, list->ctx, list->file, i));
		TRY(add_places(list, &block.table));
		unite_places(list);
	}
	for (size_t i = 0; i < list->places.count; i++)
		list->counted.items[list->places.items[i] >> 32].instructions++;
	return OPK_OK;
}

/* ---- names of kernels ---------------------------------------------------------------------- */

static bool add_kernel(struct code_list *list, const char *symbol, const char *name)
{
	size_t count = list->kernels.used;

	if (!*symbol || !*name)
		return true;
	list->kernel_names[count] = name;
	return opk_index_add(&list->kernels, symbol, count, NULL);
}

/* Demangled names are recorded with what ran, too. */
static int read_kernels(struct code_list *list)
{
	const struct opk_activity *activities;
	const struct opk_range *ranges;
	size_t activity_count, range_count;
	bool added = true;

	TRY(opk_file_activities(&activities, &activity_count, list->ctx, list->file));
	TRY(opk_file_ranges(&ranges, &range_count, list->ctx, list->file));
	list->kernel_names = opk_alloc_array(activity_count + range_count + 1,
	                                     sizeof *list->kernel_names);
	for (size_t i = 0; list->kernel_names && added && i < activity_count; i++)
		added = add_kernel(list, activities[i].symbol, activities[i].name);
	for (size_t i = 0; list->kernel_names && added && i < range_count; i++)
		added = add_kernel(list, ranges[i].symbol, ranges[i].kernel);
	return list->kernel_names && added ? OPK_OK : opk_nomem(list->ctx, "kernels");
}

static const char *name_of(const struct code_list *list, const char *symbol,
                           const struct counted *counted)
{
	size_t number;

	if (counted && *counted->name)
		return counted->name;
	return opk_index_find(&number, &list->kernels, symbol) ? list->kernel_names[number]
	                                                       : symbol;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The module without its functions if its bytes are not a cubin. */
static struct opk_cubin read_cubin(struct opk_ctx *ctx, const struct opk_module *module)
{
	struct opk_errors_mark mark;
	struct opk_cubin cubin;

	opk_errors_mark(&mark, ctx);
	if (opk_cubin_init(&cubin, ctx, module->data, module->size))
		cubin = (struct opk_cubin){ 0 };
	opk_errors_rewind(ctx, &mark);
	return cubin;
}

/* How many functions have counts, of each module: those without a section come last. */
static int count_ran(struct code_list *list, uint64_t **ran)
{
	size_t module;

	for (size_t i = 0; i < list->counted.count; i++)
		TRY(opk_modules_name(&module, &list->modules, list->ctx,
		                     list->counted.items[i].module));
	*ran = opk_alloc_array(list->modules.names.count + 1, sizeof **ran);
	if (!*ran)
		return opk_nomem(list->ctx, "modules");
	for (size_t i = 0; i < list->counted.count; i++) {
		TRY(opk_modules_name(&module, &list->modules, list->ctx,
		                     list->counted.items[i].module));
		(*ran)[module]++;
	}
	return OPK_OK;
}

static int add_module(struct code_list *list, size_t i, uint64_t ran)
{
	opk_autofree void *data = NULL;
	size_t section = opk_modules_section(&list->modules, i);
	struct opk_cubin_function function;
	struct opk_cubin_section lines = { 0 };
	struct opk_module module = { 0 };
	struct opk_cubin cubin = { 0 };
	size_t functions = 0, at = 0;

	if (section != SIZE_MAX) {
		TRY(opk_module_read(&module, &data, list->ctx, list->file, section));
		cubin = read_cubin(list->ctx, &module);
	}
	while (opk_cubin_next_function(&function, &cubin, &at))
		functions++;
	opk_listing_row(list->rows, cell_text(list->modules.names.items[i]),
	                cell_known(module.size, data),
	                cell_number(data ? list->file->sections[section].stored_size : 0),
	                cell_flag(module.has_code),
	                cell_flag(opk_cubin_find(&lines, &cubin, ".debug_line") && lines.size),
	                cell_known(functions, cubin.count), cell_number(ran));
	return OPK_OK;
}

static int add_modules(struct code_list *list)
{
	opk_autofree uint64_t *ran = NULL;

	TRY(count_ran(list, &ran));
	for (size_t i = 0; i < list->modules.names.count; i++)
		TRY(add_module(list, i, ran[i]));
	return OPK_OK;
}

/* `counted`: NULL if it has no counts. */
static int add_function(struct code_list *list, const char *module, const char *symbol,
                        union opk_cell size, const struct counted *counted)
{
	opk_autofree char *repaired = opk_utf8_valid(symbol) ? NULL : opk_utf8_repair(symbol);

	TRY(weigh(list, symbol));
	opk_listing_row(list->rows, cell_text(module), cell_text(name_of(list, symbol, counted)),
	                cell_text(repaired ? repaired : symbol), size,
	                cell_number(counted ? counted->instructions : 0));
	return OPK_OK;
}

static int add_functions_of(struct code_list *list, size_t i)
{
	opk_autofree void *data = NULL;
	struct opk_cubin_function function;
	struct opk_module module;
	struct opk_cubin cubin;
	size_t at = 0;

	TRY(opk_module_read(&module, &data, list->ctx, list->file,
	                    opk_modules_section(&list->modules, i)));
	cubin = read_cubin(list->ctx, &module);
	while (opk_cubin_next_function(&function, &cubin, &at)) {
		opk_autofree char *key = key_of(module.crc, function.name);
		struct counted *counted = NULL;
		size_t number;

		if (!key)
			return opk_nomem(list->ctx, "functions");
		if (opk_index_find(&number, &list->numbers, key)) {
			counted = &list->counted.items[number];
			counted->listed = true;
		}
		TRY(add_function(list, list->modules.names.items[i], function.name,
		                 cell_known(function.size, true), counted));
	}
	return OPK_OK;
}

/* Functions whose modules are not in the file come last. */
static int add_functions(struct code_list *list)
{
	char module[OPK_MODULE_NAME];

	TRY(read_kernels(list));
	for (size_t i = 0; i < list->modules.names.count; i++)
		TRY(add_functions_of(list, i));
	for (size_t i = 0; i < list->counted.count; i++) {
		const struct counted *counted = &list->counted.items[i];

		if (counted->listed)
			continue;
		opk_module_name(module, counted->module);
		TRY(add_function(list, module, symbol_of(counted), cell_known(0, false), counted));
	}
	return OPK_OK;
}

static void clear(struct code_list *list)
{
	for (size_t i = 0; i < list->counted.count; i++) {
		free(list->counted.items[i].key);
		free(list->counted.items[i].name);
	}
	free(list->counted.items);
	free(list->places.items);
	free(list->kernel_names);
	opk_index_clear(&list->numbers);
	opk_index_clear(&list->kernels);
	opk_modules_clear(&list->modules);
}

int opk_code_list_add(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file,
                      bool functions)
{
	__attribute__((
		cleanup(clear))) struct code_list list = { .ctx = ctx, .file = file, .rows = rows };

	TRY(opk_modules_add(&list.modules, ctx, file, 0));
	TRY(read_counted(&list));
	return functions ? add_functions(&list) : add_modules(&list);
}
