/* SPDX-License-Identifier: BSD-2-Clause */
/* What bounds each kernel, and what to try. */
#include <math.h>

#include "answers/door.h"
#include "base/buf.h"
#include "show/show.h"


/* ---- rows ----------------------------------------------------------------------------------- */

static void fill_kernel(struct app_fields *fields, const struct opk_answer *answer)
{
	fields->count = 0;
	field_text(fields, "kernel", answer->name);
	field_number(fields, "launches", answer->launches);
	field_add(fields, "time_ns", OPK_CELL_DOUBLE, cell_value(answer->time_ns));
	field_add(fields, "share", OPK_CELL_DOUBLE, cell_value(answer->share));
	field_text(fields, "limiter", answer->limiter.name ? answer->limiter.name : "");
	field_add(fields, "percent", OPK_CELL_DOUBLE, cell_value(answer->limiter.percent));
	field_flag(fields, "sure", answer->sure);
	field_text(fields, "next", answer->next.name ? answer->next.name : "");
	for (size_t i = 0; i < OPK_BARS; i++)
		field_add(fields, opk_answers_bar(i), OPK_CELL_DOUBLE, cell_value(answer->bars[i]));
	field_add(fields, "occupancy", OPK_CELL_DOUBLE, cell_value(answer->occupancy));
}

static int put_rows(struct show *show, const struct opk_answers *answers, size_t most)
{
	struct app_fields fields = { 0 };
	bool begun = false;

	field_text(&fields, "chip", show->meta->chip);
	field_number(&fields, "kernels", opk_answers_count(answers));
	field_number(&fields, "launches", opk_answers_launches(answers));
	field_add(&fields, "time_ns", OPK_CELL_DOUBLE, cell_value(opk_answers_time(answers)));
	TRY(app_record(show->app, &fields));
	for (size_t i = 0; i < most; i++) {
		fill_kernel(&fields, opk_answers_get(answers, i));
		if (!i)
			TRY(app_fields_table(show->app, "kernels", &fields));
		TRY(opk_out_row(show->app->out, fields.cells));
	}
	for (size_t i = 0; i < most; i++) {
		const struct opk_answer *answer = opk_answers_get(answers, i);

		for (size_t j = 0; j < answer->finding_count; j++) {
			const struct opk_finding *finding = &answer->findings[j];

			fields.count = 0;
			field_text(&fields, "kernel", answer->name);
			field_text(&fields, "finding", finding->name);
			field_add(&fields, "gain", OPK_CELL_DOUBLE,
			          cell_value(100 * finding->gain));
			field_text(&fields, "text", finding->text);
			field_text(&fields, "try", finding->advice);
			if (!begun)
				TRY(app_fields_table(show->app, "findings", &fields));
			begun = true;
			TRY(opk_out_row(show->app->out, fields.cells));
		}
	}
	return OPK_OK;
}

int show_answers(struct show *show, enum opk_kernel_style style)
{
	opk_auto(opk_answers) struct opk_answers *answers = NULL;
	size_t most;

	TRY(opk_answers_new(&answers, show->app->ctx, show->file, show->kernel, style));
	most = opk_answers_count(answers);
	most = show->top < most ? (size_t)show->top : most;
	TRY(app_begin_output(show->app));
	TRY(put_rows(show, answers, most));
	return app_end_output(show->app);
}
