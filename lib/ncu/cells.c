/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of reports, and their cells. */
#include <string.h>

#include "base/ascii.h"
#include "ncu/report.h"

static const struct {
	const char *title;
	enum opk_ncu_column column;
} titles[] = {
	{ "ID", OPK_NCU_ID },
	{ "Process ID", OPK_NCU_PROCESS },
	{ "Process Name", OPK_NCU_PROCESS_NAME },
	{ "Host Name", OPK_NCU_HOST },
	{ "Kernel Name", OPK_NCU_KERNEL_NAME },
	{ "Context", OPK_NCU_CONTEXT },
	{ "Stream", OPK_NCU_STREAM },
	{ "Block Size", OPK_NCU_BLOCK },
	{ "Grid Size", OPK_NCU_GRID },
	{ "Device", OPK_NCU_DEVICE },
	{ "CC", OPK_NCU_CC },
	{ "Metric Name", OPK_NCU_METRIC_NAME },
	{ "Metric Unit", OPK_NCU_METRIC_UNIT },
	{ "Metric Value", OPK_NCU_METRIC_VALUE },
	{ "Kernel Time", OPK_NCU_IGNORED },
	{ "Section Name", OPK_NCU_IGNORED },
	{ "Body Item Label", OPK_NCU_IGNORED },
	{ "Rule Name", OPK_NCU_IGNORED },
	{ "Rule Type", OPK_NCU_IGNORED },
	{ "Rule Description", OPK_NCU_IGNORED },
	{ "Estimated Speedup Type", OPK_NCU_IGNORED },
	{ "Estimated Speedup", OPK_NCU_IGNORED },
};

enum opk_ncu_column opk_ncu_column_of(const char *title)
{
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (!strcmp(titles[i].title, title))
			return titles[i].column;
	if (strstr(title, "Push/Pop_Range:"))
		return OPK_NCU_PUSHED;
	return strstr(title, "Start/Stop_Range:") ? OPK_NCU_STARTED : OPK_NCU_METRIC;
}

static bool take_number(uint64_t *out, const char **at, uint64_t most)
{
	size_t digits = opk_span(*at, opk_is_digit);

	*out = 0;
	if (!digits || digits > 19)
		return false;
	for (; digits; digits--)
		*out = *out * 10 + (uint64_t)(*(*at)++ - '0');
	return *out <= most;
}

bool opk_ncu_read_whole(uint64_t *out, const char *text, uint64_t most)
{
	return take_number(out, &text, most) && !*text;
}

bool opk_ncu_read_shape(uint32_t out[3], const char *text)
{
	bool bracket = *text == '(';

	text += bracket;
	for (int i = 0; i < 3; i++) {
		uint64_t number;

		text += strspn(text, i ? ", " : " ");
		if (!take_number(&number, &text, UINT32_MAX))
			return false;
		out[i] = (uint32_t)number;
	}
	text += strspn(text, " ");
	return bracket ? !strcmp(text, ")") : !*text;
}

/* "Duration" is a label: names of metrics have several words. */
static bool is_metric(const char *name)
{
	return strchr(name, '_') && opk_is_letter(*name) && !name[opk_span(name, opk_in_full_name)];
}

const char *opk_ncu_metric_in(char *title)
{
	char *open = strrchr(title, '('), *close = strrchr(title, ')');

	if (is_metric(title))
		return title;
	if (!open || !close || close < open || close[1])
		return NULL;
	*close = '\0';
	if (is_metric(open + 1))
		return open + 1;
	*close = ')';
	return NULL;
}

bool opk_ncu_is_sampled(const char *title)
{
	return strstr(title, "pmsampling:") || strstr(title, "warpsampling:");
}
