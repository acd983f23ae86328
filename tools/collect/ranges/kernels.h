/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels that were launched so far, each once: its names, and whether a filter wants it. */
#ifndef OPK_KERNELS_H
#define OPK_KERNELS_H

#include <regex.h>
#include <stdbool.h>

struct kernel {
	char *symbol; /* mangled */
	char *name;   /* demangled; the symbol itself where that can't be done */
	bool wanted;  /* symbol or name match the filter, or there is none */
};

struct kernels;

/* `filter` is borrowed; NULL wants all. NULL where memory is out. */
struct kernels *kernels_new(const regex_t *filter);
/* Stays valid until kernels_free(); NULL where memory is out. */
const struct kernel *kernels_find(struct kernels *kernels, const char *symbol);
void kernels_free(struct kernels *kernels);

#endif
