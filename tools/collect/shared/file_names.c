/* SPDX-License-Identifier: BSD-2-Clause */
/* The %-items in names of recordings. */
#include "collect/shared/file_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
	char *at;
	size_t left;
	bool good;
};

static void put(struct text *text, const char *bytes, size_t size)
{
	if (size >= text->left) {
		text->good = false;
		return;
	}
	memcpy(text->at, bytes, size);
	text->at += size;
	text->left -= size;
	*text->at = '\0';
}

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

/* Puts one item's value; *format is at its letter, and then at its last character. */
static void put_item(struct text *text, const char **format)
{
	char value[256] = "";
	const char *content;

	switch (**format) {
	case 'h':
		gethostname(value, sizeof value - 1);
		put(text, value, strlen(value));
		break;
	case 'p':
		snprintf(value, sizeof value, "%d", (int)getpid());
		put(text, value, strlen(value));
		break;
	case 'q':
		text->good &= variable_name(value, format);
		content = getenv(value);
		put(text, content ? content : "", content ? strlen(content) : 0);
		break;
	default:
		text->good = false;
	}
}

static void put_star(struct text *text, const char **format)
{
	char name[256];

	if (**format == 'q')
		text->good &= variable_name(name, format);
	else if (!strchr("hp", **format))
		text->good = false;
	put(text, "*", 1);
}

/* `special`: characters that get a '\\' before them. */
static bool expand(char *out, size_t size, const char *format, const char *special,
                   void (*item)(struct text *text, const char **format))
{
	struct text text = { .at = out, .left = size, .good = size > 0 };

	for (; text.good && *format; format++) {
		if (*format != '%') {
			if (strchr(special, *format))
				put(&text, "\\", 1);
			put(&text, format, 1);
		} else if (*++format == '%') {
			put(&text, "%", 1);
		} else {
			text.good = *format != '\0';
			if (text.good)
				item(&text, &format);
		}
	}
	return text.good;
}

bool name_expand(char *out, size_t size, const char *format)
{
	return expand(out, size, format, "", put_item);
}

bool name_pattern(char *out, size_t size, const char *format)
{
	return expand(out, size, format, "*?[\\", put_star);
}

bool name_varies(const char *format)
{
	for (const char *at = strchr(format, '%'); at; at = strchr(at + 2, '%')) {
		if (at[1] == 'p' || at[1] == 'q')
			return true;
		if (!at[1])
			break;
	}
	return false;
}
