/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"

static int run(struct app *app, void *args)
{
	static const struct opk_column columns[] = {
		{ "chip", OPK_CELL_STRING },
		{ "range", OPK_CELL_BOOL },
		{ "pm_sampling", OPK_CELL_BOOL },
	};
	struct opk_chips *chips;
	int code = opk_chips_new(&chips, app->ctx);

	(void)args;
	if (code)
		return app_fail(app, code);
	code = app_begin_output(app, app_default_format(app));
	if (!code) {
		code = opk_out_table(app->out, "chips", columns, 3);
		for (size_t i = 0; !code && i < opk_chips_count(chips); i++) {
			const struct opk_chip *chip = opk_chips_get(chips, i);

			code = opk_out_row(app->out, (union opk_cell[]){
				{ .string = chip->name },
				{ .boolean = chip->range },
				{ .boolean = chip->pm_sampling },
			});
		}
		code = app_end_output(app, code);
	}
	opk_chips_free(chips);
	return code;
}

const struct command chips_command = {
	.name = "chips",
	.synopsis = "[--format FORMAT]",
	.summary = "list the chips that the NVIDIA library knows",
	.details = "For each chip: whether the range profiler and whether PM sampling knows it.",
	.run = run,
};
