/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes values: by PerfWorks; by CUPTI for PM samples, and once PerfWorks has failed. */
#include "eval/eval_inside.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static bool list_init(struct opk_value_list *list, size_t count)
{
	list->names = opk_alloc_array(count + 1, sizeof *list->names);
	list->values = opk_alloc_array(count + 1, sizeof *list->values);
	return list->names && list->values;
}

static void list_clear(struct opk_value_list *list)
{
	free(list->names);
	free(list->values);
	free(list->requests);
}

/* Makes an evaluator that only lists the parts of throughputs, as for samples. */
static struct opk_nv_evaluator *make_evaluator(const struct opk_values *values, struct opk_ctx *ctx)
{
	struct opk_nv_evaluator *own = NULL;

	if (opk_nv_evaluator_of_new(&own, ctx, values->chip, values->profiler))
		opk_clear_errors(ctx);
	return own;
}

static int find_throughputs(struct opk_values *values, struct opk_ctx *ctx)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *own = NULL;

	if (!values->evaluator && opk_any_throughput(values->metrics, values->metric_count))
		own = make_evaluator(values, ctx);
	return opk_throughputs_init(&values->throughputs, ctx,
	                            values->evaluator ? values->evaluator : own, values->metrics,
	                            values->metric_count);
}

int opk_values_trust(struct opk_values *values, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *own = NULL;
	struct opk_nv_evaluator *evaluator = values->evaluator;

	if (!opk_throughputs_in_doubt(&values->throughputs))
		return OPK_OK;
	if (!evaluator)
		evaluator = own = make_evaluator(values, ctx);
	return evaluator ? opk_throughputs_trust(&values->throughputs, ctx, evaluator,
	                                         values->metrics, meta)
	                 : OPK_OK;
}

static bool allocate(struct opk_values *values)
{
	size_t parts = values->throughputs.parts.count;

	values->failed = opk_alloc_array(parts + 1, sizeof *values->failed);
	values->idleness = opk_alloc_array(parts + 1, sizeof *values->idleness);
	return values->wanted && values->above && values->failed && values->idleness
	       && list_init(&values->asked, values->metric_count)
	       && list_init(&values->parts, parts);
}

int opk_values_begin(struct opk_values *values, struct opk_ctx *ctx)
{
	int code;

	/* PerfWorks' evaluator can't read PM samples: CUPTI evaluates them. */
	if (values->profiler != OPK_PROFILER_RANGE)
		values->evaluator = NULL;
	values->wanted = opk_alloc_array(values->metric_count, sizeof *values->wanted);
	values->above = opk_alloc_array(values->metric_count, sizeof *values->above);
	code = find_throughputs(values, ctx);
	if (!code && !allocate(values))
		code = opk_nomem(ctx, "values");
	if (code)
		opk_values_clear(values);
	return code;
}

static void clear_idleness(struct opk_idleness *idleness)
{
	free(idleness->names[0]);
	free(idleness->names[1]);
	free(idleness->requests);
	*idleness = (struct opk_idleness){ 0 };
}

void opk_values_clear(struct opk_values *values)
{
	for (size_t i = 0; values->idleness && i < values->throughputs.parts.count; i++)
		clear_idleness(&values->idleness[i]);
	free(values->idleness);
	free(values->failed);
	opk_nv_host_free(values->host);
	opk_throughputs_clear(&values->throughputs);
	list_clear(&values->asked);
	list_clear(&values->parts);
	free(values->head);
	free(values->wanted);
	free(values->above);
	*values = (struct opk_values){ 0 };
}

/* Leaves all to CUPTI, which knows the metrics or says what is wrong with them. */
static void give_up_perfworks(struct opk_values *values, struct opk_ctx *ctx)
{
	free(opk_take(values->asked.requests));
	free(opk_take(values->parts.requests));
	for (size_t i = 0; i < values->throughputs.parts.count; i++)
		clear_idleness(&values->idleness[i]);
	values->evaluator = NULL;
	opk_clear_errors(ctx);
}

static bool is_same_device(const struct opk_values *values, const void *head, size_t size)
{
	return values->head && head && size == values->head_size
	       && !memcmp(head, values->head, size);
}

/* The evaluator computes peaks for its device, and CUPTI keeps the device of its first image. */
static int set_device(struct opk_values *values, struct opk_ctx *ctx)
{
	opk_autofree void *head = NULL;
	size_t size = 0;
	int code = opk_nv_image_like(&head, &size, ctx, values->image, values->image_size,
	                             &(struct opk_nv_room){ 0, 1 });

	if (code == OPK_ENOMEM)
		return code;
	if (is_same_device(values, head, size))
		return OPK_OK;
	opk_clear_errors(ctx);
	free(values->head);
	values->head = opk_take(head);
	values->head_size = size;
	opk_nv_host_free(values->host);
	values->host = NULL;
	if (values->evaluator
	    && opk_nv_set_device(ctx, values->evaluator, values->image, values->image_size))
		give_up_perfworks(values, ctx);
	return OPK_OK;
}

/* Converts the names if PerfWorks evaluates. */
static int request(struct opk_values *values, struct opk_ctx *ctx, struct opk_value_list *list)
{
	int code;

	free(opk_take(list->requests));
	if (!values->evaluator || !list->count)
		return OPK_OK;
	code = opk_nv_requests_new(&list->requests, ctx, values->evaluator, list->names,
	                           list->count);
	if (code == OPK_ENOMEM)
		return code;
	if (code)
		give_up_perfworks(values, ctx);
	return OPK_OK;
}

/* Selects the parts of the wanted throughputs. */
static void choose_parts(struct opk_values *values)
{
	const struct opk_throughputs *all = &values->throughputs;

	values->parts.count = 0;
	for (size_t i = 0; i < all->count; i++)
		for (size_t j = all->items[i].first;
		     values->wanted[all->items[i].metric] && j < all->items[i].end; j++)
			values->parts.names[values->parts.count++] = all->parts.items[j];
}

static int choose(struct opk_values *values, struct opk_ctx *ctx, const bool *wanted)
{
	struct opk_value_list *asked = &values->asked;
	size_t size = values->metric_count * sizeof *wanted;

	if ((asked->requests || !values->evaluator) && !memcmp(wanted, values->wanted, size)
	    && asked->count)
		return OPK_OK;
	memcpy(values->wanted, wanted, size);
	asked->count = 0;
	for (size_t i = 0; i < values->metric_count; i++)
		if (wanted[i])
			asked->names[asked->count++] = values->metrics[i];
	choose_parts(values);
	TRY(request(values, ctx, asked));
	return request(values, ctx, &values->parts);
}

int opk_values_choose(struct opk_values *values, struct opk_ctx *ctx, const bool *wanted)
{
	TRY(choose(values, ctx, wanted));
	if (!values->asked.requests && !values->host)
		TRY(opk_nv_host_new_for_set(&values->host, ctx, values->chip, values->profiler,
		                            NULL, values->single_pass));
	return OPK_OK;
}

int opk_values_of_image(struct opk_values *values, struct opk_ctx *ctx, const void *image,
                        size_t size, const bool *wanted)
{
	values->image = image;
	values->image_size = size;
	TRY(set_device(values, ctx));
	return opk_values_choose(values, ctx, wanted);
}

static int evaluate(struct opk_values *values, struct opk_ctx *ctx, struct opk_value_list *list,
                    size_t index)
{
	if (!list->count)
		return OPK_OK;
	if (list->requests)
		return opk_nv_request_values(list->values, ctx, values->evaluator, list->requests,
		                             &(struct opk_nv_range){ values->image,
		                                                     values->image_size, index });
	return opk_nv_evaluate(list->values, ctx, values->host,
	                       &(struct opk_nv_range){ values->image, values->image_size, index },
	                       list->names, list->count);
}

/* Makes names and requests of the metrics that tell whether a part's unit was idle. */
static int make_idleness(struct opk_idleness *out, struct opk_values *values, struct opk_ctx *ctx,
                         const char *part)
{
	int code = OPK_OK;

	out->names[0] = opk_throughput_part_sum(part);
	out->names[1] = opk_throughput_part_peak(part);
	if (!out->names[0] || !out->names[1])
		return opk_nomem(ctx, "a part of a throughput");
	if (values->evaluator)
		code = opk_nv_requests_new(&out->requests, ctx, values->evaluator,
		                           (const char *const *)out->names, 2);
	out->made = true;
	/* A throughput that PerfWorks can't divide has neither metric. */
	out->refused = code != OPK_OK;
	return code;
}

/* Whether a unit was idle: its part was counted, and the peak of which it is a share is 0. */
static int is_idle(bool *out, struct opk_values *values, struct opk_ctx *ctx, size_t part,
                   size_t index)
{
	struct opk_idleness *idleness = &values->idleness[part];
	double found[] = { NAN, NAN };
	struct opk_value_list list = { .names = (const char **)idleness->names,
		                       .count = 2,
		                       .values = found };
	int code = OPK_OK;

	if (!idleness->made)
		code = make_idleness(idleness, values, ctx, values->throughputs.parts.items[part]);
	list.requests = idleness->requests;
	if (!code && !idleness->refused)
		code = evaluate(values, ctx, &list, index);
	if (code == OPK_ENOMEM)
		return code;
	idleness->refused |= code == OPK_EUSAGE;
	opk_clear_errors(ctx);
	*out = !isnan(found[0]) && found[1] == 0;
	return OPK_OK;
}

/* The highest of a throughput's value and its known parts: CUPTI leaves out more parts. */
static double highest(double value, const double *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		value = fmax(value, parts[i]);
	return value;
}

/* Records that a throughput may be higher than its value. */
static void remark_doubts(struct opk_throughput *t, const char *failed, double value)
{
	if (failed || *t->remarks[OPK_PART_FAILS].part)
		opk_throughput_remark(t, OPK_PART_FAILS, failed ? failed : "", value);
	for (int i = OPK_PARTS_UNKNOWN; i <= OPK_UNDIVIDED; i++)
		if (*t->remarks[i].part)
			opk_throughput_remark(t, (enum opk_remark_kind)i, "", value);
}

/* `at`: the throughput's first part among those that were evaluated. */
static int check_throughput(double *value, struct opk_values *values, struct opk_ctx *ctx,
                            struct opk_throughput *t, size_t at, size_t index)
{
	const double *parts = values->parts.values + at;
	const bool *failed = values->failed + at;
	const char *failing = NULL;

	for (size_t i = t->first; i < t->end; i++) {
		const char *part = values->throughputs.parts.items[i];
		bool idle = false;

		if (failed[i - t->first])
			failing = failing ? failing : part;
		if (failed[i - t->first] || !isnan(parts[i - t->first]))
			continue;
		TRY(is_idle(&idle, values, ctx, i, index));
		if (idle)
			continue;
		opk_throughput_remark(t, OPK_PART_LACKS, part,
		                      highest(*value, parts, t->end - t->first));
		*value = NAN;
		return OPK_OK;
	}
	remark_doubts(t, failing, *value);
	return OPK_OK;
}

static int evaluate_alone(double *out, bool *failed, struct opk_values *values, struct opk_ctx *ctx,
                          const char *name, size_t index)
{
	opk_autofree struct opk_nv_requests *requests = NULL;
	struct opk_value_list one = { .names = &name, .count = 1, .values = out };
	int code = OPK_OK;

	if (values->evaluator)
		code = opk_nv_requests_new(&requests, ctx, values->evaluator, &name, 1);
	one.requests = requests;
	if (!code)
		code = evaluate(values, ctx, &one, index);
	if (code == OPK_ENOMEM)
		return code;
	*failed = code != OPK_OK;
	if (code)
		*out = NAN;
	opk_clear_errors(ctx);
	return OPK_OK;
}

/* If the library can't compute all parts together, computes those that it can. */
static int evaluate_parts(struct opk_values *values, struct opk_ctx *ctx, size_t index)
{
	struct opk_value_list *parts = &values->parts;
	int code = evaluate(values, ctx, parts, index);

	memset(values->failed, 0, parts->count * sizeof *values->failed);
	if (!code || code == OPK_ENOMEM)
		return code;
	opk_clear_errors(ctx);
	for (size_t i = 0; i < parts->count; i++)
		TRY(evaluate_alone(&parts->values[i], &values->failed[i], values, ctx,
		                   parts->names[i], index));
	return OPK_OK;
}

/* A throughput that lacks a part becomes NaN. */
static int check_throughputs(double *out, struct opk_values *values, struct opk_ctx *ctx,
                             size_t index)
{
	size_t at = 0;

	TRY(evaluate_parts(values, ctx, index));
	for (size_t i = 0; i < values->throughputs.count; i++) {
		struct opk_throughput *t = &values->throughputs.items[i];

		if (!values->wanted[t->metric])
			continue;
		if (!isnan(out[t->metric]))
			TRY(check_throughput(&out[t->metric], values, ctx, t, at, index));
		at += t->end - t->first;
	}
	return OPK_OK;
}

int opk_values_of_range(double *out, struct opk_values *values, struct opk_ctx *ctx, size_t index)
{
	size_t count = 0;

	TRY(evaluate(values, ctx, &values->asked, index));
	for (size_t i = 0; i < values->metric_count; i++)
		out[i] = values->wanted[i] ? values->asked.values[count++] : (double)NAN;
	TRY(check_throughputs(out, values, ctx, index));
	opk_remark_above(values->above, values->metrics, out, values->metric_count);
	return OPK_OK;
}
