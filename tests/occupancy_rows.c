/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: occupancy_rows FILE
 * Compares the occupancy that offpeak computes with CUDA's, in lines that tests/gpu/occupancy.cu
 * printed. Exit code 1: a launch has another number of blocks, or more clusters than is possible.
 */
#include <stdio.h>
#include <stdlib.h>

#include "occupancy/occupancy.h"

struct line {
	unsigned major, minor, sms;
	struct opk_launch_needs needs;
	int blocks, clusters; /* -1: CUDA does not say */
};

static struct {
	unsigned lines, unknown, compared, wrong;
	unsigned clusters, bounds, beyond; /* compared; as many as is possible; more */
} totals;

/* False: it is another line, such as the first one. */
static bool read_line(struct line *line, const char *text)
{
	unsigned statically, dynamically;
	int got = sscanf(text, "%u\t%u\t%u\t%u\t%u\t%u\t%u\t%d\t%u\t%u\t%d\t%d", &line->major,
	                 &line->minor, &line->sms, &line->needs.threads, &line->needs.registers,
	                 &statically, &dynamically, &line->needs.carveout, &line->needs.cluster,
	                 &line->needs.barriers, &line->blocks, &line->clusters);

	if (got != 12)
		return false;
	line->needs.shared_bytes = (uint64_t)statically + dynamically;
	return true;
}

static void compare_clusters(const struct line *line, const struct opk_occupancy *computed,
                             const char *text)
{
	uint64_t most = opk_occupancy_most_clusters(computed, &line->needs, line->sms);

	if (line->clusters < 0)
		return;
	totals.clusters++;
	totals.bounds += (uint64_t)line->clusters == most;
	if ((uint64_t)line->clusters <= most)
		return;
	totals.beyond++;
	printf("at most %ju clusters: %s", (uintmax_t)most, text);
}

static void compare(const struct line *line, const char *text)
{
	const struct opk_sm *sm = opk_sm_find(line->major, line->minor);
	struct opk_occupancy computed;

	totals.lines++;
	if (!sm || line->blocks < 0) {
		totals.unknown++;
		return;
	}
	computed = opk_occupancy_of(sm, &line->needs);
	totals.compared++;
	compare_clusters(line, &computed, text);
	if (computed.blocks == (unsigned)line->blocks)
		return;
	totals.wrong++;
	printf("%u blocks, limiters %x: %s", computed.blocks, computed.limiters, text);
}

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
	struct line line;
	char text[256];

	if (!in) {
		fprintf(stderr, "usage: occupancy_rows FILE\n");
		return 2;
	}
	while (fgets(text, sizeof text, in))
		if (read_line(&line, text))
			compare(&line, text);
	fclose(in);
	printf("%u launches, %u without an answer: %u compared, %u differ\n", totals.lines,
	       totals.unknown, totals.compared, totals.wrong);
	printf("%u numbers of clusters: %u are the most that is possible, %u are more\n",
	       totals.clusters, totals.bounds, totals.beyond);
	return totals.wrong || totals.beyond || !totals.compared;
}
