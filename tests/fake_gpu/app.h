/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that fake_app understands; README.md lists them. */
#ifndef FAKE_APP_H
#define FAKE_APP_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_FIELDS = 5 };

/* NAME or NAME:FIELD:FIELD...; absent fields are "". Returns a CUDA status, 0 on success. */
struct word {
	const char *name;
	int (*run)(const char *const *fields);
};

/* The last word has no name. */
extern const struct word cuda_words[], range_words[], cupti_words[];

/* Exits if there is no driver. */
void app_load_cuda(void);
/* Get and set the context that a new thread starts with. */
void *app_context(void);
void app_use_context(void *context);

#endif
