/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's own use of CUPTI comes first: a recording that would disturb it rests, or
 * ends. liboffpeak-preload.so sees the program's calls.
 */
#include "collect/collector.h"
#include "collect/shared/program_cupti.h"
#include "collect/subscriber.h"

unsigned collector_program_uses(void)
{
	return collector.program_uses && !collector.settings.own_cupti ? collector.program_uses()
	                                                               : 0;
}

/* Sampling and tracing need nothing else that the program may want. */
static bool is_of_launches(void)
{
	return collector.settings.mode != MODE_SAMPLING && collector.settings.mode != MODE_TRACE;
}

static const char *name_of(unsigned use)
{
	return use & USE_CALLBACKS  ? "CUPTI's callbacks"
	       : use & USE_COUNTERS ? "a profiler of CUPTI"
	                            : "CUPTI's activity records";
}

static void tell(unsigned use, const char *what)
{
	static unsigned told;

	if (!(told & use))
		say(0,
		    "the program uses %s itself, which comes first: %s; with --own-cupti "
		    "recording goes on, and the program's own profile may be empty",
		    name_of(use), what);
	told |= use;
}

/* Closes what records launches and ranges, until `resting` ends. The lock is held. */
static void begin_rest(unsigned use)
{
	if (collector.resting)
		return;
	collector.resting = true;
	collector.counts.drops[DROP_RESTED]++;
	collector_cut_range(DROP_RESTED);
	for (size_t i = 0; i < collector.context_count; i++) {
		collector_close(&collector.contexts[i]);
		collector.contexts[i].rests = true;
	}
	tell(use, "nothing is recorded meanwhile");
}

bool collector_begins_resting(unsigned uses)
{
	collector_auto bool locked = collector_lock();

	uses &= collector_program_uses();
	if (locked && uses && is_of_launches())
		begin_rest(uses);
	return collector.resting;
}

bool collector_may_trace(void)
{
	if (!(collector_program_uses() & (USE_ACTIVITIES | USE_BUFFERS)))
		return true;
	collector_note(DROP_TAKEN);
	tell(USE_ACTIVITIES, "nothing is traced");
	return false;
}

bool collector_may_sample(void)
{
	if (!(collector_program_uses() & USE_COUNTERS))
		return true;
	collector_note(DROP_RESTED);
	tell(USE_COUNTERS, "nothing is sampled");
	return false;
}

/* What the mode can't have beside that use. */
static void give(unsigned use)
{
	collector_auto bool locked = collector_lock();

	if (!locked)
		return;
	if (is_of_launches() && use != USE_BUFFERS)
		begin_rest(use);
	if (collector.settings.mode == MODE_SAMPLING && use == USE_COUNTERS) {
		static bool noted;

		if (!noted)
			collector_note(DROP_RESTED);
		noted = true;
		tell(use, "sampling ends");
		collector_close_samplers();
		/* Devices that the program uses later are not sampled, either. */
		memset(collector.sampled, true, sizeof collector.sampled);
	}
}

EXPORT bool offpeak_profiles(void)
{
	return collector.pid == getpid() && collector.settings.mode != MODE_TRACE;
}

EXPORT void offpeak_make_way(unsigned use)
{
	/* A fork has neither the GPU nor the threads that may hold locks. */
	if (collector.settings.own_cupti || collector.pid != getpid())
		return;
	if (!use) {
		inject_end_rest();
		return;
	}
	if (collector.settings.trace && use & (USE_ACTIVITIES | USE_BUFFERS) && trace_leave())
		tell(USE_ACTIVITIES, "the trace ends");
	give(use);
	/* Without the lock, for which a callback may wait. */
	if (collector.resting)
		subscriber_leave();
	else if (use == USE_CALLBACKS)
		inject_leave_callbacks();
}
