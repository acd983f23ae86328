/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation through the hook, and automatic cleanup. */
#ifndef OPK_MEM_H
#define OPK_MEM_H

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "offpeak.h"

#if defined(__GNUC__)
#define OPK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define OPK_PRINTF(fmt, args)
#endif

/* Zeroed memory; NULL when out of memory. Callers release all results with free(). */
void *opk_alloc(size_t size);
void *opk_alloc_array(size_t count, size_t size);
/* Does not zero the added bytes. */
void *opk_realloc(void *old, size_t size);
void *opk_realloc_array(void *old, size_t count, size_t size);
char *opk_strdup(const char *text);
char *opk_strndup(const char *text, size_t length);
char *opk_printf(const char *format, ...) OPK_PRINTF(1, 2);
char *opk_vprintf(const char *format, va_list args) OPK_PRINTF(1, 0);

/* Makes room for one more element by doubling the array; false when out of memory. */
bool opk_grow(void *array, size_t *capacity, size_t count, size_t element_size);
/* Adds a zeroed element to such an array and counts it; NULL when out of memory. */
void *opk_append(void *array, size_t *capacity, size_t *count, size_t element_size);
/* An array with its count and capacity; opk_list_add() adds an element. */
#define OPK_LIST(type)                                                                             \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count, capacity;                                                            \
	}
#define opk_list_add(list)                                                                         \
	opk_append(&(list)->items, &(list)->capacity, &(list)->count, sizeof *(list)->items)

/*
 * Replaces the library's allocator in the whole process, to inject failures: `hook` behaves like
 * realloc(), and its result is released with free(). NULL restores the default.
 */
typedef void *opk_realloc_fn(void *old, size_t size);
void opk_set_realloc(opk_realloc_fn *hook);

static inline void opk_cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}
static inline void opk_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void opk_cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}
static inline void opk_cleanup_closedir(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}
#define opk_autofree __attribute__((cleanup(opk_cleanup_free)))
#define opk_autoclose __attribute__((cleanup(opk_cleanup_close)))
#define opk_autofclose __attribute__((cleanup(opk_cleanup_fclose)))
#define opk_autoclosedir __attribute__((cleanup(opk_cleanup_closedir)))
/* For any type with its own free function: opk_auto(opk_set) struct opk_set *set = NULL; */
#define OPK_DEFINE_AUTO(type)                                                                      \
	static inline void type##_cleanup(struct type **object)                                    \
	{                                                                                          \
		type##_free(*object);                                                              \
	}
#define opk_auto(type) __attribute__((cleanup(type##_cleanup)))

/* Hands the value of an automatically freed variable over to a new owner. */
#define opk_take(variable)                                                                         \
	({                                                                                         \
		__typeof__(variable) taken_ = (variable);                                          \
		(variable) = NULL;                                                                 \
		taken_;                                                                            \
	})

#endif
