/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation through the hook, and growing arrays. */
#include "base/mem.h"

#include <stdarg.h>
#include <string.h>

static opk_realloc_fn *hook = realloc;

void opk_set_realloc(opk_realloc_fn *new_hook)
{
	hook = new_hook ? new_hook : realloc;
}

void *opk_realloc(void *old, size_t size)
{
	return hook(old, size ? size : 1);
}

void *opk_alloc(size_t size)
{
	void *memory = opk_realloc(NULL, size);

	if (memory)
		memset(memory, 0, size);
	return memory;
}

void *opk_alloc_array(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return opk_alloc(bytes);
}

void *opk_realloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : opk_realloc(old, bytes);
}

char *opk_strndup(const char *text, size_t length)
{
	char *copy = opk_realloc(NULL, length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *opk_strdup(const char *text)
{
	return opk_strndup(text, strlen(text));
}

char *opk_vprintf(const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	text = length < 0 ? NULL : opk_realloc(NULL, (size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

char *opk_printf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	return text;
}

bool opk_grow(void *array, size_t *capacity, size_t count, size_t element_size)
{
	void **slot = array;
	size_t wanted = 8;
	void *grown;

	if (count < *capacity)
		return true;
	if (*capacity && __builtin_mul_overflow(*capacity, (size_t)2, &wanted))
		return false;
	grown = opk_realloc_array(*slot, wanted, element_size);
	if (!grown)
		return false;
	*slot = grown;
	*capacity = wanted;
	return true;
}

void *opk_append(void *array, size_t *capacity, size_t *count, size_t element_size)
{
	char *element;

	if (!opk_grow(array, capacity, *count, element_size))
		return NULL;
	element = *(char **)array + (*count)++ * element_size;
	return memset(element, 0, element_size);
}
