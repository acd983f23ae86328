/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of kernels, demangled once, and the filter for them. */
#include "collect/ranges/ranges.h"

#include <dlfcn.h>

/* abi::__cxa_demangle */
typedef char *demangle_fn(const char *symbol, char *buffer, size_t *length, int *status);

struct kernels {
	const struct kernel_filter *filter; /* NULL: all are wanted */
	struct opk_index index;             /* symbol -> number in `list` */
	struct kernel **list;
	size_t count, capacity;
};

static demangle_fn *demangle; /* NULL: symbols are not demangled */

/* libstdc++ has the demangler; most programs that launch kernels use libstdc++. */
static void find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	*(void **)&demangle = library ? dlsym(library, "__cxa_demangle") : NULL;
}

/* First called by the program's thread that begins to use CUDA: no other one loads a library. */
struct kernels *kernels_new(const struct kernel_filter *filter)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct kernels *kernels = calloc(1, sizeof *kernels);

	pthread_once(&once, find_demangler);
	if (kernels)
		kernels->filter = filter;
	return kernels;
}

static void kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->symbol);
	free(kernel->name);
	free(kernel);
}
OPK_DEFINE_AUTO(kernel)

static bool matches(const struct kernel_filter *filter, const struct kernel *kernel)
{
	return !filter
	       || (filter->in_symbol && !regexec(&filter->regex, kernel->symbol, 0, NULL, 0))
	       || (filter->in_name && !regexec(&filter->regex, kernel->name, 0, NULL, 0));
}

static struct kernel *kernel_new(const struct kernel_filter *filter, const char *symbol)
{
	opk_auto(kernel) struct kernel *kernel = calloc(1, sizeof *kernel);
	int status = 0;

	if (!kernel)
		return NULL;
	kernel->symbol = strdup(symbol);
	/* The demangler would also turn "f" into "float". */
	if (demangle && !strncmp(symbol, "_Z", 2))
		kernel->name = demangle(symbol, NULL, NULL, &status);
	if (!kernel->name)
		kernel->name = strdup(symbol);
	if (!kernel->symbol || !kernel->name)
		return NULL;
	kernel->wanted = matches(filter, kernel);
	return opk_take(kernel);
}

struct kernel *kernels_find(struct kernels *kernels, const char *symbol)
{
	opk_auto(kernel) struct kernel *kernel = NULL;
	size_t found;

	if (opk_index_find(&found, &kernels->index, symbol))
		return kernels->list[found];
	kernel = kernel_new(kernels->filter, symbol);
	if (!kernel
	    || !opk_grow(&kernels->list, &kernels->capacity, kernels->count, sizeof *kernels->list)
	    || !opk_index_add(&kernels->index, kernel->symbol, kernels->count, NULL))
		return NULL;
	kernels->list[kernels->count++] = opk_take(kernel);
	return kernels->list[kernels->count - 1];
}

bool kernels_launch(const struct kernels *kernels, struct kernel *kernel)
{
	const struct kernel_filter *filter = kernels->filter;

	kernel->launches++;
	return kernel->wanted
	       && (!filter || !filter->last
	           || (kernel->launches >= filter->first && kernel->launches <= filter->last));
}

void kernels_free(struct kernels *kernels)
{
	if (!kernels)
		return;
	for (size_t i = 0; i < kernels->count; i++)
		kernel_free(kernels->list[i]);
	opk_index_clear(&kernels->index);
	free(kernels->list);
	free(kernels);
}
