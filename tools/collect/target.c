/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/target.h"

#include <dlfcn.h>
#include <stdio.h>

/* cuda.h renames some entry points to their newer versions: the symbol is what the macro gives. */
#define SYMBOL_TEXT(symbol) SYMBOL_TEXT_(symbol)
#define SYMBOL_TEXT_(symbol) #symbol

static const char *bind(void *library, void **slot, const char *symbol)
{
	*slot = dlsym(library, symbol);
	return *slot ? NULL : symbol;
}

const char *target_open(struct target *target, const char *cupti)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *library = driver ? dlopen(cupti, RTLD_NOW | RTLD_LOCAL) : NULL;
	const char *missing = NULL;

	if (!driver || !library)
		return dlerror();
#define X(symbol)                                                                                  \
	if (!missing)                                                                              \
		missing = bind(library, (void **)&target->symbol, #symbol);
	TARGET_CUPTI(X)
#undef X
#define X(symbol)                                                                                  \
	if (!missing)                                                                              \
		missing = bind(driver, (void **)&target->symbol, SYMBOL_TEXT(symbol));
	TARGET_DRIVER(X)
#undef X
	return missing;
}

const char *target_status(const struct target *target, CUptiResult status)
{
	const char *text = NULL;

	if (target->cuptiGetResultString(status, &text) || !text)
		return "unknown status";
	return text;
}
