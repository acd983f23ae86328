/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --capture-range: records between the program's cudaProfilerStart() and cudaProfilerStop(), or
 * its offpeak_start() and offpeak_stop().
 */
#include "collect/collector.h"

void offpeak_collect_start(void);
void offpeak_collect_stop(void);

static void want_samples(bool wanted)
{
	for (size_t i = 0; i < MAX_DEVICES; i++)
		if (collector.samplers[i])
			sampler_want(collector.samplers[i], wanted);
}

void collector_begin_scope(enum collect_capture of)
{
	collector_auto bool locked = collector_lock();

	/* The program's first use of CUDA, which reads the settings, may follow. */
	collector.early = of;
	if (!locked || collector.settings.capture_range != of || !collector.outside)
		return;
	collector.outside = false;
	collector.marked = true;
	want_samples(true);
	trace_pause(false);
}

void collector_end_scope(enum collect_capture of)
{
	collector_auto bool locked = collector_lock();

	collector.early = CAPTURE_NONE;
	if (!locked || collector.settings.capture_range != of || collector.outside)
		return;
	collector.outside = true;
	collector_cut_range(DROP_STOPPED);
	trace_pause(true);
	want_samples(false);
}

EXPORT void offpeak_pause(void)
{
	collector_auto bool locked = collector_lock();

	if (locked)
		want_samples(false);
}

EXPORT void offpeak_collect_start(void)
{
	collector_begin_scope(CAPTURE_OFFPEAK);
}

EXPORT void offpeak_collect_stop(void)
{
	collector_end_scope(CAPTURE_OFFPEAK);
}
