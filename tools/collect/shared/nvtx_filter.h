/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --nvtx-include, in Nsight Compute's grammar for push/pop ranges:
 *
 *     [DOMAIN@]RANGE/RANGE/...   these ranges, each right inside the one before, anywhere
 *     [RANGE/...                 the first one is the outermost of its domain
 *     RANGE/...RANGE]            the last one is the innermost of its domain
 *     RANGE/ * /RANGE            (without the blanks) any number of ranges between
 *
 * Without DOMAIN@ ranges of the default domain are meant. A '\' makes the next character a plain
 * one.
 */
#ifndef OPK_NVTX_FILTER_H
#define OPK_NVTX_FILTER_H

#include <stdbool.h>
#include <stddef.h>

enum { USER_RANGE_DEPTH = 64 };

/* A range that the program pushed and did not pop yet. */
struct user_range {
	char *domain; /* "": the default one */
	char *name;
};

struct nvtx_filter;

/* From filters, one a line; NULL where one is malformed, or memory is out. */
struct nvtx_filter *nvtx_filter_new(const char *lines);
void nvtx_filter_free(struct nvtx_filter *filter);
/* Whether any of the filters holds for these ranges, outermost first. */
bool nvtx_filter_match(const struct nvtx_filter *filter, const struct user_range *ranges,
                       size_t count);

#endif
