/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a context whose instructions are sampled. One thread notes samples; those that
 * launch note launches. A device's launches are written at the end, if all of them are known.
 */
#include "collect/profilers/pc_inside.h"

bool pc_functions_init(struct pc_functions *functions)
{
	pthread_mutex_init(&functions->lock, NULL);
	/* Never freed: rows that wait to be written have its names. */
	functions->sampled.kernels = kernels_new(NULL);
	functions->launched.kernels = kernels_new(NULL);
	return functions->sampled.kernels && functions->launched.kernels;
}

void pc_functions_clear(struct pc_functions *functions)
{
	launched_clear(&functions->sampled);
	kernels_free(functions->launched.kernels);
	launched_clear(&functions->launched);
	pthread_mutex_destroy(&functions->lock);
}

void pc_functions_begin(struct pc_functions *functions)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&functions->lock);

	functions->used = true;
}

bool pc_functions_are_idle(struct pc_functions *functions)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&functions->lock);

	return !functions->used;
}

void pc_functions_launched(struct pc_functions *functions, const struct launch *launch)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&functions->lock);
	struct launched_function *function = NULL;

	if (launch->function)
		function = launched_find(&functions->launched, launch->symbol);
	if (function) {
		launched_from(function, launch->function);
		function->launches++;
	}
	functions->incomplete |= !function;
}

double pc_functions_fewest(struct pc_functions *functions, double enough)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&functions->lock);
	double least = enough;

	for (size_t i = 0; i < functions->launched.functions.count; i++) {
		const struct launched_function *launched = &functions->launched.functions.items[i];
		/* This adds it, if it has no samples. */
		const struct launched_function *sampled = launched_find(&functions->sampled,
		                                                        launched->names->symbol);
		double samples = sampled && sampled->samples ? (double)sampled->samples : 0.5;

		if (launched->launches && samples < least)
			least = samples;
	}
	return least;
}

/* ---- launches, until the end --------------------------------------------------------------- */

static struct {
	OPK_LIST(struct code_rows) contexts; /* a row for each function */
	bool unknown;                        /* some launches, and so the sum of all */
} devices[MAX_DEVICES];

void pc_launches_unknown(int device)
{
	devices[device].unknown = true;
}

/*
 * It is not known which of several modules was launched, nor the module of a function without
 * samples. Launches are at one place, to add up.
 */
static void add_launches(struct code_rows *rows, struct pc_functions *functions,
                         const struct launched_function *launched, struct opk_instruction place)
{
	/* This adds it, if it has no samples. */
	const struct launched_function *sampled = launched_find(&functions->sampled,
	                                                        launched->names->symbol);

	if (!launched->launches || !sampled)
		return;
	if (sampled->samples && (launched->several || sampled->several))
		return;
	place.module = sampled->module;
	place.function = sampled->names->symbol;
	place.name = sampled->names->name;
	place.launches = launched->launches;
	code_rows_at(rows, &place);
}

void pc_launches_keep(struct pc_functions *functions, const struct code_rows *like,
                      const struct opk_instruction *place)
{
	struct code_rows rows = { .metrics = like->metrics, .metric_count = like->metric_count },
			 *added;

	if (functions->incomplete)
		pc_launches_unknown(place->device);
	for (size_t i = 0; i < functions->launched.functions.count; i++)
		add_launches(&rows, functions, &functions->launched.functions.items[i], *place);
	added = opk_list_add(&devices[place->device].contexts);
	if (added)
		*added = rows;
	else
		code_rows_clear(&rows);
}

/* What the process launched before it executed this program is not known any more. */
void pc_launches_write(struct segments *segments)
{
	bool known = segments && tally->image <= 1;

	for (size_t i = 0; i < MAX_DEVICES; i++) {
		for (size_t j = 0; j < devices[i].contexts.count; j++)
			if (known && !devices[i].unknown)
				code_rows_hand_on(&devices[i].contexts.items[j], segments);
			else
				code_rows_clear(&devices[i].contexts.items[j]);
		free(opk_take(devices[i].contexts.items));
		devices[i].contexts.count = 0;
	}
}
