/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/ranges/kernels.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

struct node {
	struct kernel kernel;
	struct node *next;
};

/* abi::__cxa_demangle */
typedef char *demangle_fn(const char *symbol, char *buffer, size_t *length, int *status);

struct kernels {
	const regex_t *filter;
	demangle_fn *demangle; /* NULL: symbols stay as they are */
	struct node *buckets[BUCKETS];
};

/* libstdc++ has it; most programs that launch kernels have libstdc++. */
static demangle_fn *find_demangle(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	return library ? (demangle_fn *)dlsym(library, "__cxa_demangle") : NULL;
}

struct kernels *kernels_new(const regex_t *filter)
{
	struct kernels *kernels = calloc(1, sizeof *kernels);

	if (kernels) {
		kernels->filter = filter;
		kernels->demangle = find_demangle();
	}
	return kernels;
}

/* FNV-1a. */
static uint32_t hash(const char *text)
{
	uint32_t value = 2166136261u;

	while (*text)
		value = (value ^ (unsigned char)*text++) * 16777619u;
	return value;
}

static bool matches(const regex_t *filter, const char *text)
{
	return !regexec(filter, text, 0, NULL, 0);
}

static struct node *node_new(const struct kernels *kernels, const char *symbol)
{
	struct node *node = calloc(1, sizeof *node);
	struct kernel *kernel = &node->kernel;
	int status = 0;

	if (!node)
		return NULL;
	kernel->symbol = strdup(symbol);
	/* It would make "float" of "f", too. */
	if (kernels->demangle && !strncmp(symbol, "_Z", 2))
		kernel->name = kernels->demangle(symbol, NULL, NULL, &status);
	if (!kernel->name)
		kernel->name = strdup(symbol);
	if (!kernel->symbol || !kernel->name) {
		free(kernel->symbol);
		free(kernel->name);
		free(node);
		return NULL;
	}
	kernel->wanted = !kernels->filter || matches(kernels->filter, kernel->symbol)
	                 || matches(kernels->filter, kernel->name);
	return node;
}

const struct kernel *kernels_find(struct kernels *kernels, const char *symbol)
{
	struct node **bucket = &kernels->buckets[hash(symbol) % BUCKETS];
	struct node *node = *bucket;

	while (node && strcmp(node->kernel.symbol, symbol))
		node = node->next;
	if (!node) {
		node = node_new(kernels, symbol);
		if (!node)
			return NULL;
		node->next = *bucket;
		*bucket = node;
	}
	return &node->kernel;
}

void kernels_free(struct kernels *kernels)
{
	if (!kernels)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct node *next;

		for (struct node *node = kernels->buckets[i]; node; node = next) {
			next = node->next;
			free(node->kernel.symbol);
			free(node->kernel.name);
			free(node);
		}
	}
	free(kernels);
}
