/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of ranges that each thread has, and its path. */
#include "collect/ranges/ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH_SIZE = 4096 };

struct stack {
	struct user_range ranges[USER_RANGE_DEPTH];
	size_t count;
	size_t beyond;            /* pushed on a full stack */
	char path[MAX_PATH_SIZE]; /* as user_range_path() gave it last */
};

/* Allocated when a thread pushes its first range. */
static __thread struct stack *stack;
static pthread_key_t stack_key; /* for its end with the thread */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static const struct user_range_listener *listener;

void user_ranges_listen(const struct user_range_listener *wanted)
{
	__atomic_store_n(&listener, wanted, __ATOMIC_RELEASE);
}

/* A thread that ends takes its open ranges with it. */
static void end_stack(void *ended)
{
	stack = ended;
	stack->beyond = 0;
	while (stack->count)
		user_range_pop(stack->ranges[stack->count - 1].domain);
	free(stack);
	stack = NULL;
}

static void make_key(void)
{
	pthread_key_create(&stack_key, end_stack);
}

static void new_stack(void)
{
	pthread_once(&stack_once, make_key);
	stack = calloc(1, sizeof *stack);
	if (stack)
		pthread_setspecific(stack_key, stack);
}

static struct user_range *add(const char *domain, const char *name)
{
	struct user_range *range;

	if (!stack)
		new_stack();
	if (!stack)
		return NULL;
	if (stack->count == USER_RANGE_DEPTH) {
		stack->beyond++;
		return NULL;
	}
	range = &stack->ranges[stack->count];
	range->domain = strdup(domain);
	range->name = strdup(name);
	range->begun_ns = clock_host_ns();
	if (!range->domain || !range->name) {
		free(range->domain);
		free(range->name);
		return NULL;
	}
	stack->count++;
	return range;
}

int user_range_push(const char *domain, const char *name)
{
	const struct user_range_listener *to = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);

	if (!add(domain, name))
		return -1;
	if (to)
		to->pushed(stack->count);
	return (int)stack->count - 1;
}

/* Domains overlap freely: the range that ends need not be the innermost of all. */
static void drop(size_t index)
{
	free(stack->ranges[index].domain);
	free(stack->ranges[index].name);
	stack->count--;
	memmove(&stack->ranges[index], &stack->ranges[index + 1],
	        (stack->count - index) * sizeof *stack->ranges);
}

int user_range_pop(const char *domain)
{
	const struct user_range_listener *to = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	size_t index;

	if (stack && stack->beyond) {
		stack->beyond--;
		return USER_RANGE_DEPTH;
	}
	for (index = stack ? stack->count : 0; index; index--)
		if (!strcmp(stack->ranges[index - 1].domain, domain))
			break;
	if (!index)
		return -1;
	if (to)
		to->popping(index);
	drop(index - 1);
	return (int)index - 1;
}

const struct user_range *user_ranges(size_t *count)
{
	*count = stack ? stack->count : 0;
	return stack ? stack->ranges : NULL;
}

/* A path that is too long is cut. */
static char *put(char *at, const char *end, const char *text, const char *escaped)
{
	for (; *text && at + 2 < end; text++) {
		if (strchr(escaped, *text))
			*at++ = '\\';
		*at++ = *text;
	}
	return at;
}

static char *put_range(char *at, const char *end, const struct user_range *range)
{
	at = put(at, end, range->domain, "/\\@");
	at = put(at, end, *range->domain ? "@" : "", "");
	return put(at, end, range->name, "/\\");
}

char *user_range_text(const struct user_range *range)
{
	size_t size = 2 * (strlen(range->domain) + strlen(range->name)) + 4;
	char *text = malloc(size);

	if (text)
		*put_range(text, text + size, range) = '\0';
	return text;
}

const char *user_range_path(void)
{
	char *at = stack ? stack->path : NULL;
	const char *end = stack ? stack->path + MAX_PATH_SIZE : NULL;

	if (!stack)
		return "";
	for (size_t i = 0; i < stack->count; i++) {
		at = put(at, end, i ? "/" : "", "");
		at = put_range(at, end, &stack->ranges[i]);
	}
	*at = '\0';
	return stack->path;
}

__attribute__((visibility("default"))) void offpeak_collect_push(const char *name)
{
	user_range_push("", name);
}

__attribute__((visibility("default"))) void offpeak_collect_pop(void)
{
	user_range_pop("");
}
