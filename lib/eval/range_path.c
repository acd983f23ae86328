/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of ranges, such as "step/forward/NCCL@reduce": parts, NVTX domains, what is inside what. */
#include <string.h>

#include "base/buf.h"
#include "eval/eval.h"

size_t opk_path_end_part(const char *path, size_t at)
{
	for (; path[at] && path[at] != '/'; at++)
		if (path[at] == '\\' && path[at + 1])
			at++;
	return at;
}

bool opk_path_is_too_deep(const char *path)
{
	enum { MOST_LEVELS = 100 };
	size_t end = opk_path_end_part(path, 0), levels = 1;

	for (; path[end] && levels <= MOST_LEVELS; levels++)
		end = opk_path_end_part(path, end + 1);
	return levels > MOST_LEVELS;
}

int opk_path_is_inside(bool *out, struct opk_ctx *ctx, const struct opk_index *names,
                       const char *path)
{
	opk_autofree char *outer = NULL;

	*out = false;
	if (!names->used || opk_path_is_too_deep(path))
		return OPK_OK;
	outer = opk_strdup(path);
	if (!outer)
		return opk_nomem(ctx, "ranges");
	for (size_t end = opk_path_end_part(path, 0); !*out && path[end];
	     end = opk_path_end_part(path, end + 1)) {
		outer[end] = '\0';
		*out = opk_index_find(NULL, names, outer);
		outer[end] = '/';
	}
	return OPK_OK;
}

/* The length of a part's domain with its '@'; 0: the default domain. */
static size_t domain_length(const char *path, size_t at, size_t end)
{
	for (size_t i = at; i < end; i++) {
		if (path[i] == '@')
			return i + 1 - at;
		i += path[i] == '\\';
	}
	return 0;
}

char *opk_path_of_domain(const char *path, size_t part)
{
	size_t wanted = domain_length(path, part, opk_path_end_part(path, part));
	struct opk_buf text = { 0 };
	size_t at = 0, end;

	for (;; at = end + 1) {
		end = opk_path_end_part(path, at);
		if (domain_length(path, at, end) == wanted
		    && !strncmp(path + at, path + part, wanted)) {
			opk_buf_add(&text, "/", text.size > 0);
			opk_buf_add(&text, path + at, end - at);
		}
		if (!path[end])
			return opk_buf_take_text(&text);
	}
}

/* ---- ranges inside others */

/* A key begins with its kind and the length of its scope, because both texts may have any bytes. */
enum { RANGE = 'r', KERNEL = 'k' };

char *opk_nesting_key(const char *scope, const char *path, bool is_kernel)
{
	return opk_printf("%c%zu:%s%s%s", is_kernel ? KERNEL : RANGE, strlen(scope), scope, path,
	                  is_kernel ? "/" : "");
}

const char *opk_nesting_path(const char *key)
{
	char *scope;
	size_t length = strtoul(key + 1, &scope, 10);

	return scope + 1 + length;
}

bool opk_nesting_add(size_t *number, struct opk_nesting *nesting, char *key)
{
	size_t count = nesting->keys.count;

	if (!opk_strlist_take(&nesting->keys, key)
	    || !opk_index_add(&nesting->numbers, key, count, number))
		return false;
	if (*number < count)
		free(nesting->keys.items[--nesting->keys.count]);
	return true;
}

/* Finds the range whose path is the key's up to `end`. */
static bool find_range(size_t *number, const struct opk_nesting *nesting, char *key, size_t end)
{
	char kind = key[0];
	bool found;

	key[0] = RANGE;
	key[end] = '\0';
	found = opk_index_find(number, &nesting->numbers, key);
	key[end] = '/';
	key[0] = kind;
	return found;
}

bool opk_nesting_next(size_t *holder, size_t *end, const struct opk_nesting *nesting, char *key)
{
	size_t path = (size_t)(opk_nesting_path(key) - key);
	bool found = false;

	if (!*end && opk_path_is_too_deep(key + path))
		return false;
	for (size_t at = *end ? *end + 1 : path; !found; at++) {
		*end = at = opk_path_end_part(key, at);
		if (!key[at])
			return false;
		found = at > path && find_range(holder, nesting, key, at);
	}
	return true;
}

void opk_nesting_clear(struct opk_nesting *nesting)
{
	opk_index_clear(&nesting->numbers);
	opk_strlist_clear(&nesting->keys);
}
