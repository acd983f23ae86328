/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses --nvtx-include and --nvtx-exclude, and matches ranges with them. */
#include "collect/shared/shared.h"

enum { MAX_PARTS = 32 };

struct part {
	char *name;
	bool any; /* "*": zero or more ranges */
};

struct nvtx_filter {
	struct nvtx_filter *next;
	char *domain;
	bool outermost, innermost; /* the first, or last, part has to be it */
	bool nested;               /* has a '/' */
	struct part parts[MAX_PARTS];
	size_t count;
};

/* Copies up to one of `ends` or the end of the line, without escapes; moves *at after it. */
static char *take_word(const char **at, const char *ends)
{
	char *word = malloc(strlen(*at) + 1);
	size_t size = 0;

	if (!word)
		return NULL;
	while (**at && **at != '\n' && !strchr(ends, **at)) {
		if (**at == '\\' && (*at)[1])
			++*at;
		word[size++] = *(*at)++;
	}
	word[size] = '\0';
	return word;
}

static bool has_domain(const char *line)
{
	for (; *line && *line != '\n' && *line != '/'; line++) {
		if (*line == '@')
			return true;
		if (*line == '\\' && line[1])
			line++;
	}
	return false;
}

static bool skip(const char **at, char c)
{
	bool found = **at == c;

	*at += found;
	return found;
}

/* "a/b/" has no part after its last '/'. */
static bool add_part(struct nvtx_filter *filter, const char **at)
{
	bool escaped = **at == '\\';
	opk_autofree char *name = take_word(at, "/]");

	filter->nested |= skip(at, '/');
	if (name && !*name)
		return filter->count > 0;
	if (!name || filter->count == MAX_PARTS)
		return false;
	filter->parts[filter->count].any = !strcmp(name, "*") && !escaped;
	filter->parts[filter->count++].name = opk_take(name);
	return true;
}

static bool parse_line(struct nvtx_filter *filter, const char **at)
{
	filter->domain = has_domain(*at) ? take_word(at, "@") : strdup("");
	/* "DOMAIN@": any range of it. */
	if (skip(at, '@') && (!**at || **at == '\n')) {
		filter->parts[filter->count++] = (struct part){ strdup("*"), true };
		return filter->domain && *filter->domain && filter->parts[0].name;
	}
	filter->outermost = skip(at, '[');
	while (**at && **at != '\n' && **at != ']')
		if (!add_part(filter, at))
			return false;
	filter->innermost = skip(at, ']');
	return filter->domain && filter->count && (!**at || **at == '\n');
}

struct nvtx_filter *nvtx_filter_new(const char *lines)
{
	struct nvtx_filter *filter = calloc(1, sizeof *filter);
	bool good;

	if (!filter)
		return NULL;
	good = parse_line(filter, &lines);
	if (good && *lines == '\n' && lines[1]) {
		filter->next = nvtx_filter_new(lines + 1);
		good = filter->next != NULL;
	}
	if (good)
		return filter;
	nvtx_filter_free(filter);
	return NULL;
}

void nvtx_filter_free(struct nvtx_filter *filter)
{
	struct nvtx_filter *next;

	for (; filter; filter = next) {
		next = filter->next;
		for (size_t i = 0; i < filter->count; i++)
			free(filter->parts[i].name);
		free(filter->domain);
		free(filter);
	}
}

/* Whether the parts from `part` on match the names from `name` on. */
static bool match_from(const struct nvtx_filter *filter, size_t part, const char *const *names,
                       size_t name, size_t count)
{
	if (part == filter->count)
		return !filter->innermost || name == count;
	if (filter->parts[part].any) {
		for (size_t skip = name; skip <= count; skip++)
			if (match_from(filter, part + 1, names, skip, count))
				return true;
		return false;
	}
	return name < count && !strcmp(filter->parts[part].name, names[name])
	       && match_from(filter, part + 1, names, name + 1, count);
}

static bool match_one(const struct nvtx_filter *filter, const struct user_range *ranges,
                      size_t range_count)
{
	const char *names[USER_RANGE_DEPTH];
	size_t count = 0;

	for (size_t i = 0; i < range_count && count < USER_RANGE_DEPTH; i++)
		if (!strcmp(ranges[i].domain, filter->domain))
			names[count++] = ranges[i].name;
	/* Even "DOMAIN@*" asks for a range of the domain. */
	if (!count && *filter->domain)
		return false;
	for (size_t first = 0; first <= (filter->outermost ? 0 : count); first++)
		if (match_from(filter, 0, names, first, count))
			return true;
	return false;
}

bool nvtx_filter_match_started(const struct nvtx_filter *filter, const struct user_range *range)
{
	for (; filter; filter = filter->next)
		if (filter->count == 1 && !filter->nested && !filter->outermost
		    && !filter->innermost && !strcmp(filter->domain, range->domain)
		    && (filter->parts[0].any || !strcmp(filter->parts[0].name, range->name)))
			return true;
	return false;
}

bool nvtx_filter_match(const struct nvtx_filter *filter, const struct user_range *ranges,
                       size_t count)
{
	for (; filter; filter = filter->next)
		if (match_one(filter, ranges, count))
			return true;
	return false;
}
