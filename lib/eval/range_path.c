/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of ranges, such as "step/forward/NCCL@reduce": their parts and NVTX domains. */
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
