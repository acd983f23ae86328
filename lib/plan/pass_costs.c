/* SPDX-License-Identifier: BSD-2-Clause */
/* What a launch of a pass costs, by the domains of its counters: data/pass_costs.tsv. */
#include "plan/pass_costs.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"

enum { COLUMNS = 8, MAX_COST = 1000000000 };

/* Domains that make a launch so many times dearer than the cheapest one are not in cheap passes. */
enum { DEAR = 10 };

struct row {
	char *cells[COLUMNS];
};

static bool cut_line(struct row *row, char *line)
{
	size_t count = 0;

	for (char *cell; count < COLUMNS && (cell = strsep(&line, "\t"));)
		row->cells[count++] = cell;
	return count == COLUMNS && !line;
}

static bool read_cost(uint32_t *out, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*out = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && value <= MAX_COST;
}

static int add_row(struct opk_pass_costs *costs, struct opk_ctx *ctx, const struct row *row)
{
	struct opk_domain_cost cost = { .domain = row->cells[3], .unit = row->cells[4] };

	if (!read_cost(&cost.launch_us, row->cells[5]) || !read_cost(&cost.setup_us, row->cells[6])
	    || !read_cost(&cost.stop_us, row->cells[7]))
		return OPK_EINPUT;
	if (!opk_grow(&costs->rows, &costs->capacity, costs->count, sizeof *costs->rows))
		return opk_nomem(ctx, "costs of passes");
	costs->gpu = row->cells[1];
	costs->date = row->cells[2];
	costs->rows[costs->count++] = cost;
	return OPK_OK;
}

int opk_pass_costs_read(struct opk_pass_costs *out, struct opk_ctx *ctx, const char *chip)
{
	opk_autofree char *path = NULL;
	char *rest;
	size_t line_number = 0;
	int code;

	*out = (struct opk_pass_costs){ 0 };
	code = opk_data_file(&out->text, &path, ctx, "pass_costs.tsv");
	rest = out->text;
	for (char *line; !code && (line = strsep(&rest, "\n"));) {
		struct row row;

		line_number++;
		if (!*line || *line == '#')
			continue;
		code = cut_line(&row, line) ? OPK_OK : OPK_EINPUT;
		if (!code && !strcmp(row.cells[0], chip))
			code = add_row(out, ctx, &row);
		if (code == OPK_EINPUT)
			opk_fail(ctx, code,
			         "%s:%zu: not %d cells with tabs between, the last three numbers",
			         path, line_number, COLUMNS);
	}
	return code;
}

void opk_pass_costs_clear(struct opk_pass_costs *costs)
{
	free(costs->rows);
	free(costs->text);
	*costs = (struct opk_pass_costs){ 0 };
}

static const struct opk_domain_cost *find(const struct opk_pass_costs *costs, const char *domain)
{
	for (size_t i = 0; i < costs->count; i++)
		if (!strcmp(costs->rows[i].domain, domain))
			return &costs->rows[i];
	return NULL;
}

bool opk_domain_is_dear(const struct opk_pass_costs *costs, const char *domain)
{
	const struct opk_domain_cost *row = find(costs, domain);
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < costs->count; i++)
		if (strcmp(costs->rows[i].domain, "trace")
		    && strcmp(costs->rows[i].domain, "gpu_sass")
		    && costs->rows[i].launch_us < least)
			least = costs->rows[i].launch_us;
	return row && row->launch_us > DEAR * (uint64_t)least;
}

/* The domain where PerfWorks counts it: the dearest one, or in a cheap pass the cheapest. */
static int find_place(const struct opk_domain_cost **out, struct opk_ctx *ctx,
                      const struct opk_pass_costs *costs, struct opk_nv_scheduler *scheduler,
                      const char *counter, bool cheap)
{
	opk_autostrlist struct opk_strlist domains = { 0 };

	TRY(opk_nv_counter_domains(&domains, ctx, scheduler, counter));
	*out = NULL;
	for (size_t i = 0; i < domains.count; i++) {
		const struct opk_domain_cost *row = find(costs, domains.items[i]);

		if (row && (!*out || (row->launch_us > (*out)->launch_us) != cheap))
			*out = row;
	}
	return OPK_OK;
}

static bool has_unit(const struct opk_domain_cost *const *places, size_t count, const char *unit)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(places[i]->unit, unit))
			return true;
	return false;
}

static void add(struct opk_pass_cost *cost, const struct opk_domain_cost *place, bool new_unit)
{
	cost->launch_us = place->launch_us > cost->launch_us ? place->launch_us : cost->launch_us;
	if (new_unit)
		cost->replay_us += place->setup_us;
	cost->stop_us = place->stop_us > cost->stop_us ? place->stop_us : cost->stop_us;
}

int opk_pass_cost_of(struct opk_pass_cost *out, struct opk_ctx *ctx,
                     const struct opk_pass_costs *costs, struct opk_nv_scheduler *scheduler,
                     const struct opk_strlist *counters, bool cheap)
{
	opk_autofree const struct opk_domain_cost **places = opk_alloc_array(counters->count + 1,
	                                                                     sizeof *places);
	struct opk_pass_cost cost = { 0 };
	size_t used = 0;

	*out = cost;
	if (!places)
		return opk_nomem(ctx, "costs of passes");
	for (size_t i = 0; i < counters->count; i++) {
		const struct opk_domain_cost *place;

		TRY(find_place(&place, ctx, costs, scheduler, counters->items[i], cheap));
		/* One domain without a measurement makes the cost of the pass unknown. */
		if (!place)
			return OPK_OK;
		add(&cost, place, !has_unit(places, used, place->unit));
		places[used++] = place;
	}
	cost.replay_us += cost.stop_us;
	*out = cost;
	return OPK_OK;
}
