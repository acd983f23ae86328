/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One operation for each function of the nv adapter, over the fake; each frees what it was given,
 * whether or not it fails.
 */
#ifndef OPK_OPERATIONS_H
#define OPK_OPERATIONS_H

#include "offpeak.h"

typedef int operation(struct opk_ctx *ctx);

operation do_chips, do_supported, do_host, do_base, do_submetrics, do_properties, do_scope, do_add,
	do_config, do_evaluate, do_passes, do_range_name, do_info, do_raw_counters, do_unit,
	do_pm_unit, do_constituents, do_prefix, do_old_prefix, do_config_counters, do_image_chip,
	do_sample_time, do_image_profiler, do_sample_size, do_values, do_image_like, do_combine,
	do_trim_samples;

#endif
