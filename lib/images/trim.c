/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes free slots from a recording's images, and code from its modules. */
#include "base/option_struct.h"
#include "container/container.h"
#include "images/door.h"
#include "images/images.h"

struct trim {
	struct opk_ctx *ctx;
	struct opk_file *file;
	enum opk_code_kept code;
	struct opk_survey survey;
	struct opk_target *targets; /* one per trimmed image, in their order */
	size_t target_count;
	struct opk_move *moves; /* one per row, which keeps its place */
	bool *trimmed;          /* one per image */
};

static bool has_free_slots(const struct opk_surveyed *image)
{
	return image->facts.rows && image->facts.rows < image->facts.slots;
}

static int allocate(struct trim *t)
{
	t->targets = opk_alloc_array(t->survey.image_count + 1, sizeof *t->targets);
	t->moves = opk_alloc_array(t->survey.row_count + 1, sizeof *t->moves);
	t->trimmed = opk_alloc_array(t->survey.image_count + 1, sizeof *t->trimmed);
	return t->targets && t->moves && t->trimmed ? OPK_OK : opk_nomem(t->ctx, "images");
}

static int plan(struct trim *t)
{
	TRY(allocate(t));
	for (size_t i = 0; i < t->survey.image_count; i++) {
		const struct opk_surveyed *image = &t->survey.images[i];
		bool samples = image->facts.profiler == OPK_PROFILER_PM;

		for (size_t j = 0; j < image->facts.rows; j++)
			t->moves[image->first + j] = (struct opk_move){ image->first + j, j };
		t->trimmed[i] = has_free_slots(image);
		if (!t->trimmed[i])
			continue;
		t->targets[t->target_count++] = (struct opk_target){
			.moves = t->moves + image->first,
			.move_count = samples ? 1 : image->facts.rows,
			.slots = image->facts.rows,
			.names = opk_strlist_items(&t->survey.names) + image->first,
			.trim = samples,
		};
	}
	return OPK_OK;
}

/* Copies an image, or its trimmed form if that is smaller, with its tables. */
static int copy_segment(struct trim *t, struct opk_writer *writer, size_t section,
                        struct opk_result *result)
{
	opk_autofree void *data = NULL;
	size_t size = 0;

	if (result)
		TRY(opk_recombine_next(&data, &size, t->ctx, result));
	TRY(data && size < t->file->sections[section].plain_size
	            ? opk_writer_add(writer, OPK_SECTION_DATA, data, size)
	            : opk_writer_copy(writer, t->file, section));
	return opk_writer_copy_tables(writer, t->file, section);
}

static int copy_module(struct trim *t, struct opk_writer *writer, size_t section)
{
	opk_autofree void *data = NULL;
	struct opk_module module;
	int code;

	if (t->code != OPK_CODE_LINES)
		return t->code == OPK_CODE_NONE ? OPK_OK
		                                : opk_writer_copy(writer, t->file, section);
	TRY(opk_module_read(&module, &data, t->ctx, t->file, section));
	code = opk_cubin_remove_code(t->ctx, (void *)module.data, module.size);
	if (code)
		return opk_file_add_place(t->ctx, code, t->file, section);
	module.has_code = false;
	return opk_writer_add_module(writer, &module);
}

static int write_all(struct trim *t, struct opk_writer *writer, struct opk_result *result)
{
	size_t image = 0;

	for (size_t i = 0; i < t->file->section_count; i++) {
		if (t->file->sections[i].type == OPK_SECTION_DATA)
			TRY(copy_segment(t, writer, i, t->trimmed[image++] ? result : NULL));
		else if (t->file->sections[i].type == OPK_SECTION_LEFT_OUT)
			TRY(copy_segment(t, writer, i, NULL));
		else if (t->file->sections[i].type == OPK_SECTION_CODE)
			TRY(copy_module(t, writer, i));
		else if (!opk_is_attached(&t->file->sections[i]))
			TRY(opk_writer_copy(writer, t->file, i));
	}
	return opk_writer_finish(writer);
}

/* Without images there may be code to remove. */
static int survey(struct trim *t)
{
	if (!t->code || opk_file_find(t->file, OPK_SECTION_DATA) >= 0)
		return opk_survey_make(&t->survey, t->ctx, &t->file, 1);
	return opk_file_check_complete(t->ctx, t->file, OPK_REMEDY_RECOVER);
}

static int trim(struct trim *t, const char *path)
{
	opk_autosent struct opk_result result = { 0 };
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_check_output(t->ctx, path, OPK_OUTPUT_TRIMMED));
	TRY(survey(t));
	TRY(plan(t));
	if (t->target_count)
		TRY(opk_recombine(&result, t->ctx,
		                  &(struct opk_recombination){
					  .survey = &t->survey,
					  .targets = t->targets,
					  .target_count = t->target_count,
				  }));
	TRY(opk_writer_new_made(&writer, t->ctx, path, OPK_OUTPUT_TRIMMED));
	return write_all(t, writer, &result);
}

int opk_trim(struct opk_ctx *ctx, struct opk_file *file, const char *path)
{
	return opk_trim_code(ctx, file, OPK_CODE_ALL, path);
}

int opk_trim_code(struct opk_ctx *ctx, struct opk_file *file, enum opk_code_kept kept,
                  const char *path)
{
	struct trim t = { .ctx = ctx, .file = file, .code = kept };
	int code = trim(&t, path);

	free(t.targets);
	free(t.moves);
	free(t.trimmed);
	opk_survey_clear(&t.survey);
	return code ? opk_add(ctx, code, "can't trim %s", file->path) : OPK_OK;
}
