/* SPDX-License-Identifier: BSD-2-Clause */
/* --dump-when: CUPTI evaluates a metric of each sample; for how long it has met a condition. */
#include "collect/profilers/profilers.h"

#include <math.h>
#include <signal.h>

struct threshold {
	const struct dump_when *when;
	int device;
	struct host_object *host;
	uint64_t wanted, held; /* samples, one after the other, that meet the condition */
	bool met;              /* so many did, and since then each one */
	bool due;              /* a dump is not asked for yet */
	bool looked, known;    /* there was a sample; there was a value */
	bool broken;           /* CUPTI refused a value: it is not asked again */
};

bool threshold_new(struct threshold **out, const struct profiling *profiling, int device)
{
	const struct dump_when *when = &profiling->settings->dump_when;
	uint64_t interval = profiling->settings->interval_ns;
	HOST_PARAMS(params, host_initialize, .profiler = HOST_PM_SAMPLING,
	            .chip = profiling->set->meta->chip);

	*out = NULL;
	if (!*when->metric)
		return true;
	if (!target.cuptiProfilerHostInitialize)
		return say(false, "--dump-when: %s evaluates no metrics", target.cupti_path);
	if (!TARGET_CALL(cuptiProfilerHostInitialize, &params))
		return false;
	*out = malloc(sizeof **out);
	if (!*out)
		return false;
	**out = (struct threshold){
		.when = when,
		.device = device,
		.host = params.host,
		.wanted = when->for_ns > interval ? (when->for_ns + interval - 1) / interval : 1,
	};
	return true;
}

/* nan is neither below nor above a value, and ends nothing. */
static void take(struct threshold *threshold, double value)
{
	const struct dump_when *when = threshold->when;
	bool holds = (when->below ? value < when->value : value > when->value)
	             || (when->equal && value == when->value);

	if (isnan(value))
		return;
	threshold->known = true;
	threshold->held = holds ? threshold->held + 1 : 0;
	threshold->met &= holds;
	if (threshold->met || threshold->held < threshold->wanted)
		return;
	threshold->met = threshold->due = true;
	say(0, "GPU %d: %s is %g (%s): dumping", threshold->device, when->metric, value,
	    when->text);
}

void threshold_look(struct threshold *threshold, const uint8_t *image, size_t size, size_t sample)
{
	const char *metric;
	double value = NAN;
	HOST_PARAMS(params, host_evaluate, .image = image, .image_size = size, .range = sample,
	            .metrics = &metric, .metric_count = 1, .values = &value);

	if (!threshold || threshold->broken)
		return;
	threshold->looked = true;
	metric = threshold->when->metric;
	params.host = threshold->host;
	if (TARGET_CALL(cuptiProfilerHostEvaluateToGpuValues, &params))
		take(threshold, value);
	else
		threshold->broken = true;
}

/* As if from outside: the thread that waits for the signal makes the dump. */
void threshold_act(struct threshold *threshold)
{
	if (!threshold || !threshold->due)
		return;
	threshold->due = false;
	kill(getpid(), SIGUSR1);
}

void threshold_free(struct threshold *threshold)
{
	HOST_PARAMS(params, host_deinitialize);

	if (!threshold)
		return;
	if (threshold->looked && !threshold->known)
		say(0, "GPU %d: --dump-when: %s had no value in any sample", threshold->device,
		    threshold->when->metric);
	params.host = threshold->host;
	TARGET_CALL(cuptiProfilerHostDeinitialize, &params);
	free(threshold);
}
