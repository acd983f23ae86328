/* SPDX-License-Identifier: BSD-2-Clause */
/* The reasons of stalls that CUPTI names, by which samples are counted. */
#include "collect/profilers/pc_inside.h"

static bool make_room(struct pc_reasons *reasons)
{
	reasons->numbers = opk_alloc_array(reasons->count, sizeof *reasons->numbers);
	reasons->names = opk_alloc_array(reasons->count, sizeof *reasons->names);
	reasons->counted = opk_alloc_array(reasons->count, sizeof *reasons->counted);
	for (size_t i = 0; reasons->names && i < reasons->count; i++)
		if (!(reasons->names[i] = calloc(1, CUPTI_STALL_REASON_STRING_SIZE)))
			return false;
	return reasons->numbers && reasons->names && reasons->counted;
}

bool pc_reasons_ask(struct pc_reasons *reasons, CUcontext context)
{
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = context,
		.numStallReasons = &reasons->count,
	};
	CUpti_PCSamplingGetStallReasonsParams params = {
		.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = context,
	};

	if (!TARGET_CALL(cuptiPCSamplingGetNumStallReasons, &number) || !make_room(reasons))
		return false;
	params.numStallReasons = reasons->count;
	params.stallReasonIndex = reasons->numbers;
	params.stallReasons = reasons->names;
	if (!TARGET_CALL(cuptiPCSamplingGetStallReasons, &params))
		return false;
	for (size_t i = 0; i < reasons->count; i++)
		reasons->counted[i] = opk_is_stall(reasons->names[i]);
	while (reasons->all < reasons->count
	       && strcmp(reasons->names[reasons->all], "smsp__pcsamp_sample_count") != 0)
		reasons->all++;
	return true;
}

/* The number of a reason among ours, or the count of reasons. */
static size_t find_reason(const struct pc_reasons *reasons, uint32_t number)
{
	size_t i = 0;

	while (i < reasons->count && reasons->numbers[i] != number)
		i++;
	return i;
}

uint64_t pc_reasons_add(uint64_t *values, const struct pc_reasons *reasons,
                        const CUpti_PCSamplingPCData *record)
{
	uint64_t count = 0;

	for (size_t i = 0; i < record->stallReasonCount; i++) {
		const CUpti_PCSamplingStallReason *stall = &record->stallReason[i];
		size_t at = find_reason(reasons, stall->pcSamplingStallReasonIndex);

		if (at == reasons->count || at == reasons->all)
			continue;
		values[at] += stall->samples;
		if (reasons->counted[at])
			count += stall->samples;
	}
	if (reasons->all < reasons->count)
		values[reasons->all] += count;
	return count;
}

/* Rows that wait to be written have the names as metrics. */
void pc_reasons_clear(struct pc_reasons *reasons)
{
	free(reasons->numbers);
	free(reasons->counted);
}
