/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses between CUPTI and PerfWorks, image by image. */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

int opk_values_init(struct opk_values *values, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const char *const *metrics, size_t count,
                    struct opk_nv_evaluator *evaluator)
{
	*values = (struct opk_values){
		.chip = chip,
		.profiler = profiler,
		.metrics = metrics,
		.metric_count = count,
		/* It knows nothing of PM samples. */
		.evaluator = profiler == OPK_PROFILER_RANGE ? evaluator : NULL,
		.wanted = opk_alloc_array(count, sizeof *values->wanted),
		.names = opk_alloc_array(count, sizeof *values->names),
		.values = opk_alloc_array(count, sizeof *values->values),
	};
	if (values->wanted && values->names && values->values)
		return OPK_OK;
	opk_values_clear(values);
	return opk_nomem(ctx, "values");
}

void opk_values_clear(struct opk_values *values)
{
	opk_nv_host_free(values->host);
	free(values->head);
	free(values->wanted);
	free(values->names);
	free(values->values);
	free(values->requests);
	*values = (struct opk_values){ 0 };
}

/* CUPTI where PerfWorks won't: it knows the metrics, or says what is wrong with them. */
static void give_up_perfworks(struct opk_values *values, struct opk_ctx *ctx)
{
	free(values->requests);
	values->requests = NULL;
	values->evaluator = NULL;
	opk_clear_errors(ctx);
}

static bool is_same_device(const struct opk_values *values, const void *head, size_t size)
{
	return values->head && head && size == values->head_size
	       && !memcmp(head, values->head, size);
}

/* Peaks are of the device that the evaluator was set to, and that is CUPTI's first image's. */
static int set_device(struct opk_values *values, struct opk_ctx *ctx)
{
	opk_autofree void *head = NULL;
	size_t size = 0;
	int code = opk_nv_image_like(&head, &size, ctx, values->image, values->image_size, 0, 1);

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

static int choose_metrics(struct opk_values *values, struct opk_ctx *ctx, const bool *wanted)
{
	size_t size = values->metric_count * sizeof *wanted;
	int code;

	if ((values->requests || !values->evaluator) && !memcmp(wanted, values->wanted, size)
	    && values->name_count)
		return OPK_OK;
	memcpy(values->wanted, wanted, size);
	values->name_count = 0;
	for (size_t i = 0; i < values->metric_count; i++)
		if (wanted[i])
			values->names[values->name_count++] = values->metrics[i];
	free(values->requests);
	values->requests = NULL;
	if (!values->evaluator)
		return OPK_OK;
	code = opk_nv_requests_new(&values->requests, ctx, values->evaluator, values->names,
	                           values->name_count);
	if (code == OPK_ENOMEM)
		return code;
	if (code)
		give_up_perfworks(values, ctx);
	return OPK_OK;
}

int opk_values_of_image(struct opk_values *values, struct opk_ctx *ctx, const void *image,
                        size_t size, const bool *wanted)
{
	int code;

	values->image = image;
	values->image_size = size;
	code = set_device(values, ctx);
	if (!code)
		code = choose_metrics(values, ctx, wanted);
	if (!code && !values->requests && !values->host)
		code = opk_nv_host_new_for_set(&values->host, ctx, values->chip, values->profiler,
		                               NULL, values->single_pass);
	return code;
}

static int evaluate(struct opk_values *values, struct opk_ctx *ctx, size_t index)
{
	if (!values->name_count)
		return OPK_OK;
	if (values->requests)
		return opk_nv_request_values(values->values, ctx, values->evaluator,
		                             values->requests, values->image, values->image_size,
		                             index);
	return opk_nv_evaluate(values->values, ctx, values->host, values->image, values->image_size,
	                       index, values->names, values->name_count);
}

int opk_values_of_range(double *out, struct opk_values *values, struct opk_ctx *ctx, size_t index)
{
	size_t count = 0;
	int code = evaluate(values, ctx, index);

	for (size_t i = 0; !code && i < values->metric_count; i++)
		out[i] = values->wanted[i] ? values->values[count++] : (double)NAN;
	return code;
}
