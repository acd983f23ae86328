/* SPDX-License-Identifier: BSD-2-Clause */
/* Child processes look into modules, whose bytes may be hostile, for lines and SASS of places. */
#include <inttypes.h>

#include "adapters/nv/nv.h"
#include "code/code_inside.h"

struct question {
	const char *what;
	opk_contained_fn *find;
	int (*take)(const struct opk_code_search *search, struct opk_ctx *ctx,
	            struct opk_result *result);
};

static const struct question lines = { "lines", opk_code_find_lines, opk_code_take_lines };
static const struct question sass = { "SASS texts", opk_code_find_sass, opk_code_take_sass };

struct look_up {
	struct opk_code_counts *counts;
	struct opk_ctx *ctx;
	bool with_cupti, sass;
	const char *disassembler; /* NULL: there is none */
	bool lacks_disassembler;
};

static int note(struct opk_ctx *ctx, const char *what, uint64_t crc)
{
	opk_log(ctx, "%s of module %08" PRIx64 " are unknown: %s", what, crc, opk_innermost(ctx));
	opk_clear_errors(ctx);
	return OPK_OK;
}

/*
 * Bytes of data that the child may use. Rows of a line table take at most 10 times the size of
 * their module; for one of 7 MB, CUPTI's child used less than 60 MB in all. The disassembler would
 * inherit such a limit, so SASS has none.
 */
static uint64_t most_data(const struct question *question, const struct opk_code_search *search)
{
	return question == &lines ? ((uint64_t)256 << 20) + 24 * (uint64_t)search->cubin->size : 0;
}

/* A damaged module, or one that takes too much memory, leaves answers unknown, with a note. */
static int ask(const struct question *question, const struct opk_code_search *search,
               struct opk_ctx *ctx, uint64_t crc)
{
	const struct opk_contain_options options = {
		.limits = { .memory = (uint64_t)2 << 30,
		            .data = most_data(question, search),
		            .seconds = 60,
		            .program = search->disassembler },
	};
	opk_autosent struct opk_result result = { 0 };
	int code = opk_contain(&result, ctx, question->find, (void *)search, &options);

	if (code == OPK_ENOMEM)
		return note(ctx, question->what, crc);
	if (!code)
		code = question->take(search, ctx, &result);
	if (code != OPK_EINPUT && code != OPK_EFAILED && code != OPK_ENVIDIA)
		return code;
	return note(ctx, question->what, crc);
}

static uint64_t module_at(const struct opk_code_counts *counts, size_t i)
{
	return counts->places.items[counts->order[i]].at.module;
}

static void find_places(struct opk_code_search *search, uint64_t crc)
{
	const struct opk_code_counts *counts = search->counts;

	while (search->first < counts->places.count && module_at(counts, search->first) != crc)
		search->first++;
	while (search->first + search->count < counts->places.count
	       && module_at(counts, search->first + search->count) == crc)
		search->count++;
}

static int look_into(struct look_up *l, struct opk_file *file, size_t section)
{
	struct opk_code_search search = { .counts = l->counts, .with_cupti = l->with_cupti };
	opk_autofree void *data = NULL;
	struct opk_module module;
	struct opk_cubin cubin;

	TRY(opk_module_read(&module, &data, l->ctx, file, section));
	find_places(&search, module.crc);
	if (!search.count)
		return OPK_OK;
	if (opk_cubin_init(&cubin, l->ctx, module.data, module.size))
		return note(l->ctx, lines.what, module.crc);
	search.cubin = &cubin;
	TRY(ask(&lines, &search, l->ctx, module.crc));
	search.disassembler = l->disassembler;
	if (!l->sass || !module.has_code)
		return OPK_OK;
	l->lacks_disassembler |= !l->disassembler;
	return l->disassembler ? ask(&sass, &search, l->ctx, module.crc) : OPK_OK;
}

/*
 * CUPTI knows what a later compiler may write. Without it the tables say the same lines, from
 * compute capability 7.5 to 12.0.
 */
static int choose_lines(struct look_up *l)
{
	int code = opk_nv_has_source_lines(l->ctx);

	l->with_cupti = !code;
	opk_clear_errors(l->ctx);
	return code == OPK_ENOMEM ? code : OPK_OK;
}

int opk_code_look_up(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file,
                     bool with_sass)
{
	struct look_up l = { .counts = counts, .ctx = ctx, .sass = with_sass };
	opk_autofree char *disassembler = NULL;

	TRY(choose_lines(&l));
	if (with_sass)
		TRY(opk_nv_disassembler(&disassembler, ctx));
	l.disassembler = disassembler;
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_CODE)
			TRY(look_into(&l, file, i));
	if (l.lacks_disassembler)
		opk_log(ctx,
		        "SASS texts are unknown: there is no nvdisasm in a CUDA toolkit, a "
		        "Python environment or PATH; it is in the CUDA toolkit and in the Python "
		        "package nvidia-cuda-nvdisasm");
	return OPK_OK;
}
