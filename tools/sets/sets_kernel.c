/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates what ncu says about kernels to an expression of offpeak-collect. */
#include <regex.h>
#include <string.h>

#include "base/ascii.h"
#include "sets/sets_translate.h"

/* Nsight Compute's expressions have more; a group before this one would change backreferences. */
static bool is_posix(const char *regex)
{
	regex_t compiled;

	for (const char *at = strchr(regex, '\\'); at; at = strchr(at + 2, '\\'))
		if (!at[1] || at[1] == 'd' || at[1] == 'D' || opk_is_digit(at[1]))
			return false;
	if (strstr(regex, "(?") || strstr(regex, "*?") || strstr(regex, "+?"))
		return false;
	/* To compile repetitions of repetitions may take all memory. */
	if (strchr(regex, '{'))
		return true;
	if (regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB))
		return false;
	regfree(&compiled);
	return true;
}

static void put_escaped(struct opk_buf *out, const char *name)
{
	for (; *name; name++) {
		if (strchr("\\^$.[]|()*+?{}", *name))
			opk_buf_add_text(out, "\\");
		opk_buf_add(out, name, 1);
	}
}

/* "#3" at its end would select the third launch. */
static void put_expression(struct opk_buf *out, const char *regex)
{
	const char *mark = strrchr(regex, '#');

	if (mark && mark[1] && !mark[1 + strspn(mark + 1, "0123456789-")])
		opk_buf_add_printf(out, "%.*s[#]%s", (int)(mark - regex), regex, mark + 1);
	else
		opk_buf_add_text(out, regex);
}

/* The length of the bracket expression that begins here; 0: it does not end. */
static size_t bracket_length(const char *regex)
{
	size_t at = 1 + (regex[1] == '^');

	for (at += regex[at] == ']'; regex[at]; at++)
		if (regex[at] == ']')
			return at + 1;
	return 0;
}

/*
 * Nsight Compute means the name of the function alone, without its namespaces, template arguments
 * and parameters: anchors in the expression are those of this part.
 */
static void put_function(struct opk_buf *out, const char *regex)
{
	size_t size;

	for (; *regex; regex += size) {
		size_t bracket = *regex == '[' ? bracket_length(regex) : 0;

		size = bracket ? bracket : *regex == '\\' && regex[1] ? 2 : 1;
		if (*regex == '^')
			opk_buf_add_text(out, "(^|[ :])");
		else if (*regex == '$')
			opk_buf_add_text(out, "([<(]|$)");
		else
			opk_buf_add(out, regex, size);
	}
}

/* The collector's expression for a name, or for "regex:EXPRESSION"; free(). */
static char *kernel_expression(const struct translation *t, const char *name, bool is_regex)
{
	const struct opk_ncu_option *base = translation_find(t, OPK_NCU_KERNEL_BASE);
	bool mangled = option_says(base, "mangled"),
	     whole = mangled || option_says(base, "demangled");
	opk_autobuf struct opk_buf regex = { 0 }, text = { 0 };
	opk_autofree char *inner = NULL;
	bool in_function = false;

	if (is_regex && !whole && !strpbrk(name, "^$")) {
		/* It may match anywhere in the function's name, which is before any argument. */
		opk_buf_add_text(&regex, "^(([^<(]|<unnamed>|[(]anonymous namespace[)])*[ :])?"
		                         "[A-Za-z0-9_]*(");
		put_expression(&regex, name);
		opk_buf_add_text(&regex, ")[A-Za-z0-9_]*([<(]|$)");
		in_function = true;
	} else if (is_regex) {
		put_expression(&regex, name);
	} else {
		opk_buf_add_text(&regex, "^");
		put_escaped(&regex, name);
		opk_buf_add_text(&regex, "$");
	}
	inner = opk_buf_take_text(&regex);
	opk_buf_add_text(&text, mangled ? "symbol:" : "name:");
	if (inner && (whole || in_function))
		opk_buf_add_text(&text, inner);
	else if (inner)
		put_function(&text, inner);
	return inner ? opk_buf_take_text(&text) : NULL;
}

/* True: the collector chooses these kernels. */
static bool put_kernel(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	bool is_regex = option->meaning == OPK_NCU_KERNEL_REGEX || !strncmp(name, "regex:", 6);
	opk_autofree char *text = NULL;

	name += strncmp(name, "regex:", 6) ? 0 : 6;
	if (option->replaced) {
		translation_lose(t, option, "it has a variable, which only the shell knows");
		return false;
	}
	if (is_regex && !is_posix(name)) {
		translation_lose(t, option,
		                 "expressions of offpeak-collect are POSIX extended ones");
		return false;
	}
	text = kernel_expression(t, name, is_regex);
	if (text)
		translation_put(&t->launches, "--kernel", text);
	t->failed |= !text;
	return true;
}

void translate_kernel(struct translation *t, const struct opk_ncu_option *option)
{
	put_kernel(t, option, option->value);
}

/* "CONTEXT:STREAM:[regex:]NAME:INVOCATION", where each may be empty. */
void translate_kernel_id(struct translation *t, const struct opk_ncu_option *option)
{
	const char *stream = strchr(option->value, ':'),
		   *name = stream ? strchr(stream + 1, ':') : NULL,
		   *last = name ? strrchr(name + 1, ':') : NULL;
	opk_autofree char *kernel = last ? opk_strndup(name + 1, (size_t)(last - name - 1)) : NULL;
	unsigned long invocation = last && option_is_number(last + 1) ? strtoul(last + 1, NULL, 10)
	                                                              : 0;

	if (!kernel || option->replaced || (last[1] && !invocation)) {
		translation_lose(t, option, "only CONTEXT:STREAM:NAME:NUMBER is translated");
		return;
	}
	if (*option->value != ':' || stream[1] != ':')
		translation_lose(t, option,
		                 "offpeak-collect does not choose by context and stream");
	if (*kernel && strcmp(kernel, "regex:") && !put_kernel(t, option, kernel))
		return;
	if (invocation && (translation_find(t, OPK_NCU_SKIP) || translation_find(t, OPK_NCU_COUNT)))
		translation_lose(t, option, "its number beside others");
	else if (invocation)
		opk_buf_add_printf(&t->launches, " --skip %lu --count 1", invocation - 1);
}
