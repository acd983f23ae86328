/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of settings, and how the launcher and the library read values. */
#include "collect/shared/shared.h"

#include <math.h>

struct setting_form {
	const char *what; /* "is not WHAT"; for words, a list of them */
	bool (*read)(void *out, const char *text);
	const char *const *words; /* ends with NULL: the value is the index of one of them */
};

static bool read_text(void *out, const char *text)
{
	*(const char **)out = text;
	return true;
}

static bool read_flag(void *out, const char *text)
{
	*(bool *)out = text != NULL;
	return true;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* Reads a number and a unit from a list that ends with factor 0; false for anything else. */
static bool read_number(uint64_t *out, const char *text, const struct unit *units)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	for (; units->factor; units++)
		if (!strcmp(end, units->suffix) && number <= UINT64_MAX / units->factor) {
			*out = number * units->factor;
			return true;
		}
	return false;
}

static bool read_count(void *out, const char *text)
{
	return read_number(out, text, (const struct unit[]){ { "", 1 }, { 0 } });
}

static bool read_positive(void *out, const char *text)
{
	return read_count(out, text) && *(uint64_t *)out;
}

/* In nanoseconds. */
static bool read_time(void *out, const char *text)
{
	static const struct unit units[] = { { "ns", 1 },
		                             { "us", 1000 },
		                             { "ms", 1000000 },
		                             { "s", 1000000000 },
		                             { "min", 60000000000 },
		                             { "h", 3600000000000 },
		                             { 0 } };

	return read_number(out, text, units) && *(uint64_t *)out;
}

/* A time, or a power of 2 in cycles. */
static bool read_interval(void *out, const char *text)
{
	enum { SHORTEST = 5, LONGEST = 31 };
	uint64_t power;

	if (strncmp(text, "2^", 2) != 0)
		return read_time(out, text);
	if (!read_count(&power, text + 2) || power < SHORTEST || power > LONGEST)
		return false;
	*(uint64_t *)out = INTERVAL_CYCLES | power;
	return true;
}

/* Without blanks at both ends. */
static bool copy_trimmed(char *out, size_t size, const char *text, size_t length)
{
	while (length && *text == ' ') {
		text++;
		length--;
	}
	while (length && text[length - 1] == ' ')
		length--;
	snprintf(out, size, "%.*s", (int)length, text);
	return length && length < size;
}

/* "METRIC<5", "METRIC >= 90 for 500us" */
static bool read_when(void *out, const char *text)
{
	static const char word[] = "for ";
	struct dump_when *when = out;
	size_t name = strcspn(text, "<>");
	char *end;

	*when = (struct dump_when){ .below = text[name] == '<' };
	if (!text[name] || !copy_trimmed(when->metric, sizeof when->metric, text, name))
		return false;
	snprintf(when->text, sizeof when->text, "%s", text + name);
	text += name + 1;
	when->equal = *text == '=';
	when->value = strtod(text + when->equal, &end);
	if (end == text + when->equal || !isfinite(when->value))
		return false;
	end += strspn(end, " ");
	return !*end
	       || (!strncmp(end, word, sizeof word - 1)
	           && read_time(&when->for_ns, end + sizeof word - 1));
}

static bool read_size(void *out, const char *text)
{
	static const struct unit units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { 0 }
	};

	return read_number(out, text, units) && *(uint64_t *)out;
}

static bool read_device(void *out, const char *text)
{
	bool all = !strcmp(text, "all");
	uint64_t number = 0;

	if (!all && (!read_count(&number, text) || number > INT32_MAX))
		return false;
	*(int *)out = all ? -1 : (int)number;
	return true;
}

/* Skips a prefix; "regex::match" is a C++ name. */
static bool skip_prefix(const char **text, const char *prefix)
{
	size_t length = strlen(prefix);
	bool found = !strncmp(*text, prefix, length) && (*text)[length] != ':';

	*text += found ? length : 0;
	return found;
}

/*
 * Reads which launches a text ends with, "#3" or "#3-7", and sets its length without them. False:
 * there are no such launches. Other texts may have a '#', as names of lambdas have.
 */
static bool read_launches(struct kernel_filter *filter, size_t *length, const char *text)
{
	const char *at = strrchr(text, '#'), *to = at ? strchr(at, '-') : NULL;
	opk_autofree char *first = at ? strdup(at + 1) : NULL;

	*length = strlen(text);
	if (!first || !at[1] || at[1 + strspn(at + 1, "0123456789-")])
		return true;
	*length = (size_t)(at - text);
	if (to)
		first[to - at - 1] = '\0';
	return read_positive(&filter->first, first)
	       && read_positive(&filter->last, to ? to + 1 : first)
	       && filter->first <= filter->last;
}

/* Nsight Compute's prefix is accepted, too; there a name without it has to match as a whole. */
static bool read_kernel(struct kernel_filter *filter, const char *text)
{
	opk_autofree char *expression = NULL;
	size_t length;

	filter->in_symbol = !skip_prefix(&text, "name:");
	filter->in_name = !filter->in_symbol || !skip_prefix(&text, "symbol:");
	skip_prefix(&text, "regex:");
	if (!read_launches(filter, &length, text))
		return false;
	expression = strndup(text, length);
	return expression && !regcomp(&filter->regex, expression, REG_EXTENDED | REG_NOSUB);
}

/* An empty expression filters nothing. */
static bool read_kernels(void *out, const char *text)
{
	struct kernel_filter **filter = out;

	kernel_filter_free(*filter);
	*filter = NULL;
	if (!*text)
		return true;
	*filter = calloc(1, sizeof **filter);
	if (*filter && read_kernel(*filter, text))
		return true;
	free(*filter);
	*filter = NULL;
	return false;
}

void kernel_filter_free(struct kernel_filter *filter)
{
	if (filter)
		regfree(&filter->regex);
	free(filter);
}

static bool read_filter(void *out, const char *text)
{
	struct nvtx_filter **filter = out;

	nvtx_filter_free(*filter);
	*filter = nvtx_filter_new(text);
	return *filter != NULL;
}

#define FORM(name, what, read) static const struct setting_form form_##name = { what, read, NULL };
FORM(text, "a text", read_text)
FORM(lines, "a text", read_text)
FORM(flag, "a flag", read_flag)
FORM(count, "a number", read_count)
FORM(positive, "a number from 1", read_positive)
FORM(interval, "a time such as 10us, 500ns, 1ms, or 2^5 to 2^31 cycles", read_interval)
FORM(time, "a time such as 60s, 10min or 2h", read_time)
FORM(when, "a condition such as 'METRIC<5 for 1s'", read_when)
FORM(size, "a size such as 512M or 2G", read_size)
FORM(device, "a device's number, or all", read_device)
FORM(kernels,
     "an extended regular expression, which may have name: or symbol: before it and #N or #N-M after it",
     read_kernels)
FORM(filter, "of the form [DOMAIN@]RANGE/RANGE/ or DOMAIN@", read_filter)

#define WORDS(name, what, ...)                                                                     \
	static const struct setting_form form_##name = {                                           \
		what, NULL, (const char *const[]){ __VA_ARGS__, NULL }                             \
	};
WORDS(range, "auto or user", "auto", "user")
WORDS(replay, "auto, kernel, none, rotate, user or application", "auto", "kernel", "none", "rotate",
      "user", "application")
WORDS(caches, "none or flush", "none", "flush")
WORDS(clocks, "none, base or boost", "none", "base", "boost")
WORDS(prefer, "cheap or fewest", "cheap", "fewest")
WORDS(backend, "range or legacy", "range", "legacy")
WORDS(capture, "none, cudaProfilerApi or offpeak", "none", "cudaProfilerApi", "offpeak")
WORDS(mode, "a mode", "kernel", "launch", "user", "sampling", "trace", "sass", "pc")
WORDS(trace, "kernels, all or api", "none", "kernels", "all", "api")
WORDS(code, "lines, none or whole", "lines", "none", "whole")
WORDS(per, "function or launch", "function", "launch")
WORDS(source, "pc or sass", "none", "pc", "sass")
WORDS(turns, "turns", "none", "rotate", "repeat")

const struct setting settings_table[] = {
#define X(id, field, form, ...)                                                                    \
	[SETTING_##id] = { "OFFPEAK_COLLECT_" #id, &form_##form, offsetof(struct settings, field), \
		           sizeof(setting_##form), __VA_ARGS__ },
	SETTINGS(X)
#undef X
};

static bool read_word(unsigned *out, const char *const *words, const char *text)
{
	for (unsigned i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*out = i;
			return true;
		}
	return false;
}

static bool set(struct settings *settings, enum setting_id id, const char *text)
{
	const struct setting *row = &settings_table[id];
	void *out = (char *)settings + row->offset;

	return row->form->words ? read_word(out, row->form->words, text)
	                        : row->form->read(out, text);
}

static const char *problem_with(const struct setting *row, const char *text)
{
	static char problem[512];

	if (row->form->words)
		snprintf(problem, sizeof problem, "--%s is %s", row->name, row->form->what);
	else
		snprintf(problem, sizeof problem, "--%s '%s' is not %s%s", row->name, text,
		         row->form->what,
		         row->form == &form_kernels && *text == '*'
		                 ? ": a part of the name is enough, without *"
		                 : "");
	return problem;
}

static void set_defaults(struct settings *settings)
{
	*settings = (struct settings){ 0 };
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings_table[i].fallback)
			set(settings, (enum setting_id)i, settings_table[i].fallback);
}

void settings_begin(struct settings *settings)
{
	set_defaults(settings);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		unsetenv(settings_table[i].variable);
}

const char *settings_take(struct settings *settings, enum setting_id id, const char *text)
{
	const struct setting *row = &settings_table[id];
	bool adds = row->form == &form_filter || row->form == &form_lines;
	const char *before = adds ? getenv(row->variable) : NULL;
	char *lines;

	if ((adds && strchr(text, '\n')) || !set(settings, id, text))
		return problem_with(row, text);
	settings->given[id] = true;
	if (!before) {
		settings_export(id, text);
		return NULL;
	}
	if (asprintf(&lines, "%s\n%s", before, text) < 0)
		return "out of memory";
	settings_export(id, lines);
	free(lines);
	if (row->form == &form_lines)
		set(settings, id, getenv(row->variable));
	return NULL;
}

void settings_export(enum setting_id id, const char *text)
{
	setenv(settings_table[id].variable, text, 1);
}

void settings_export_number(enum setting_id id, size_t number)
{
	char text[32];

	snprintf(text, sizeof text, "%zu", number);
	settings_export(id, text);
}

/* Programs overwrite their environment, as setproctitle() does. */
static const char *keep_value(enum setting_id id)
{
	static char *kept[SETTINGS_TOTAL];
	const char *text = getenv(settings_table[id].variable);

	if (text && settings_table[id].form->read == read_text) {
		free(kept[id]);
		text = kept[id] = strdup(text);
	}
	return text;
}

const char *settings_read(struct settings *settings)
{
	set_defaults(settings);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const char *text = keep_value((enum setting_id)i);

		if (text && !set(settings, (enum setting_id)i, text))
			return problem_with(&settings_table[i], text);
		settings->given[i] = text != NULL;
	}
	if (!settings->probe
	    && ((!settings->set_path && settings->mode != MODE_TRACE && settings->mode != MODE_PC)
	        || !settings->output || !settings->token))
		return "not started by offpeak-collect";
	return NULL;
}

const char *const *settings_words(const char **what, const struct setting *row)
{
	*what = row->form->what;
	return row->form->words;
}

const char *settings_word(enum setting_id id, unsigned value)
{
	return settings_table[id].form->words[value];
}

bool settings_filter(const struct settings *settings)
{
	return settings->kernel || settings->skip || settings->count || settings->every
	       || settings->max_ranges || settings->nvtx_include || settings->nvtx_exclude;
}

bool settings_push(const struct settings *settings)
{
	return settings->mode == MODE_USER_RANGE
	       || (settings->mode == MODE_LAUNCH_RANGE
	           && (settings->push || (settings_filter(settings) && !settings->tight)));
}
