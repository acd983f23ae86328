/* SPDX-License-Identifier: BSD-2-Clause */
/* Expands %-items in names of recordings. */
#include "collect/shared/shared.h"

#include <limits.h>

#include "base/buf.h"

/* The length of what a part's name adds to the recording's: ".TOKEN-PROCESS-N.part". */
enum { PART_ROOM = 40 };

/* Reads "q{NAME}"; false for anything else. */
static bool variable_name(char name[256], const char **format)
{
	const char *end = strchr(*format, '}');

	if ((*format)[1] != '{' || !end || end - *format > 250)
		return false;
	snprintf(name, 256, "%.*s", (int)(end - *format) - 2, *format + 2);
	*format = end;
	return true;
}

/* Adds an item's value; moves *format from the item's letter to its last character. */
static bool add_value(struct opk_buf *out, const char **format)
{
	char value[256] = "";
	const char *content = value;

	switch (**format) {
	case 'h':
		gethostname(value, sizeof value - 1);
		break;
	case 'p':
		snprintf(value, sizeof value, "%d", (int)getpid());
		break;
	case 'q':
		if (!variable_name(value, format))
			return false;
		content = getenv(value);
		break;
	default:
		return false;
	}
	opk_buf_add_text(out, content ? content : "");
	return true;
}

static bool add_star(struct opk_buf *out, const char **format)
{
	char name[256];

	opk_buf_add_text(out, "*");
	return **format == 'q' ? variable_name(name, format) : **format == 'h' || **format == 'p';
}

/* `special`: characters that need a '\\' before them. */
static bool expand(char *out, size_t size, const char *format, const char *special,
                   bool (*item)(struct opk_buf *out, const char **format))
{
	opk_autobuf struct opk_buf text = { 0 };

	for (; *format; format++) {
		if (*format == '%' && *++format != '%') {
			if (!*format || !item(&text, &format))
				return false;
			continue;
		}
		if (*format != '%' && strchr(special, *format))
			opk_buf_add(&text, "\\", 1);
		opk_buf_add(&text, format, 1);
	}
	if (text.failed || text.size >= size)
		return false;
	if (text.size)
		memcpy(out, text.data, text.size);
	out[text.size] = '\0';
	return true;
}

bool name_expand(char *out, size_t size, const char *format)
{
	return expand(out, size, format, "", add_value);
}

bool name_pattern(char *out, size_t size, const char *format)
{
	return expand(out, size, format, "*?[\\", add_star);
}

const char *name_of_file(const char *format)
{
	const char *file = format;

	for (; *format; format++) {
		const char *end = format[0] == '%' && format[1] == 'q' ? strchr(format, '}') : NULL;

		if (end)
			format = end;
		else if (format[0] == '%' && format[1] == '%')
			format++;
		else if (*format == '/')
			file = format + 1;
	}
	return file;
}

const char *name_problem(const char *format)
{
	char name[PATH_MAX];

	if (!name_expand(name, sizeof name, name_of_file(format)))
		return "the name is too long";
	if (strchr(name, '/'))
		return "the value of an item of the name has a '/'";
	if (strlen(name) > NAME_MAX - PART_ROOM)
		return "the name is too long";
	return *name ? NULL : "the name is empty";
}

bool name_has(const char *format, const char *items)
{
	for (const char *at = strchr(format, '%'); at && at[1]; at = strchr(at + 2, '%'))
		if (strchr(items, at[1]))
			return true;
	return false;
}

bool name_varies(const char *format)
{
	return name_has(format, "pq");
}
