/* SPDX-License-Identifier: BSD-2-Clause */
/* What text and pages say alike of answers. */
#include <inttypes.h>
#include <stdio.h>

#include "answers/door.h"
#include "base/number_text.h"

const char *opk_answer_time(char out[OPK_ANSWER_TEXT], double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; ns >= 999.5 && unit < 3; unit++)
		ns /= 1000;
	snprintf(out, OPK_ANSWER_TEXT, "%.3g %s", ns, units[unit]);
	return out;
}

/* Kernels are launched, ranges happen. */
static const char *times_word(const struct opk_answers *answers, uint64_t count)
{
	if (opk_answers_are_kernels(answers))
		return count == 1 ? "launch" : "launches";
	return count == 1 ? "time" : "times";
}

const char *opk_answer_launches(char out[OPK_ANSWER_TEXT], const struct opk_answers *answers,
                                const struct opk_answer *answer)
{
	char timed[OPK_ANSWER_TEXT] = "", within[OPK_ANSWER_TEXT] = "";

	if (answer->timed != answer->launches)
		snprintf(timed, sizeof timed, ", %" PRIu64 " timed", answer->timed);
	if (answer->within >= 1)
		snprintf(within, sizeof within, answer->within < 10 ? ", +-%.1f%%" : ", +-%.0f%%",
		         answer->within);
	snprintf(out, OPK_ANSWER_TEXT, "%" PRIu64 " %s%.40s%.40s", answer->launches,
	         times_word(answers, answer->launches), timed, within);
	return out;
}

const char *opk_answer_without_finding(const struct opk_answer *answer)
{
	if (!answer->limiter.name || answer->finding_count)
		return NULL;
	return "no rule here has advice for that";
}

const char *opk_answers_head(char out[OPK_ANSWER_TEXT], const struct opk_answers *answers)
{
	bool kernels = opk_answers_are_kernels(answers);
	uint64_t launches = opk_answers_launches(answers);
	size_t count = opk_answers_count(answers);
	char time[OPK_ANSWER_TEXT] = "";

	if (opk_answers_time(answers) > 0)
		opk_answer_time(time, opk_answers_time(answers));
	snprintf(out, OPK_ANSWER_TEXT, "%zu %s%s, %" PRIu64 " %s%s%.20s%s", count,
	         kernels ? "kernel" : "range", opk_plural(count), launches,
	         times_word(answers, launches), *time ? ", " : "", time,
	         *time && kernels ? " of GPU time" : "");
	return out;
}

const char *opk_answers_whole(const struct opk_answers *answers)
{
	return opk_answers_are_kernels(answers) ? "GPU time" : "all ranges";
}
