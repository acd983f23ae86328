/* SPDX-License-Identifier: BSD-2-Clause */
/* --capture-range: records between the program's cudaProfilerStart() and cudaProfilerStop(). */
#include "collect/collector.h"

static void want_samples(bool wanted)
{
	for (size_t i = 0; i < MAX_DEVICES; i++)
		if (collector.samplers[i])
			sampler_want(collector.samplers[i], wanted);
}

void collector_begin_scope(void)
{
	collector_auto bool locked = collector_lock();

	if (!locked || !collector_has_scope() || !collector.outside)
		return;
	collector.outside = false;
	collector.marked = true;
	want_samples(true);
	trace_pause(false);
}

void collector_end_scope(void)
{
	collector_auto bool locked = collector_lock();

	if (!locked || !collector_has_scope() || collector.outside)
		return;
	collector.outside = true;
	collector_cut_range(DROP_STOPPED);
	trace_pause(true);
	want_samples(false);
}
