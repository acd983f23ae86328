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
		    && !strncmp(path + at, path + part, wanted))
			opk_buf_add_printf(&text, "%s%.*s", text.size ? "/" : "", (int)(end - at),
			                   path + at);
		if (!path[end])
			return opk_buf_take_text(&text);
	}
}

/* ---- ranges inside others */

char *opk_nesting_key(const char *scope, const char *path, bool is_kernel)
{
	return opk_printf("%s\n%s%s", scope, path, is_kernel ? "/\n" : "");
}

const char *opk_nesting_path(const char *key)
{
	return strchr(key, '\n') + 1;
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

bool opk_nesting_next(size_t *holder, size_t *end, const struct opk_nesting *nesting, char *key)
{
	size_t path = (size_t)(opk_nesting_path(key) - key);
	bool found = false;

	for (size_t at = *end ? *end + 1 : path; !found; at++) {
		*end = at = opk_path_end_part(key, at);
		if (!key[at])
			return false;
		key[at] = '\0';
		found = at > path && opk_index_find(holder, &nesting->numbers, key);
		key[at] = '/';
	}
	return true;
}

void opk_nesting_clear(struct opk_nesting *nesting)
{
	opk_index_clear(&nesting->numbers);
	opk_strlist_clear(&nesting->keys);
}
