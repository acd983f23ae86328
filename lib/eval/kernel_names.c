/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of kernels for people: short ones that are still those of one kernel each. */
#include <string.h>

#include "base/ascii.h"
#include "base/index.h"
#include "container/container.h"
#include "eval/eval.h"

/*
 * Kernels of one base name are told apart by the arguments that differ, if these are short; else by
 * a few words of the arguments, which no other has together; else by a number.
 */
enum { MOST_DETAIL = 24, MOST_ARGUMENTS = 64, MOST_WORDS = 3, MOST_PEERS = 200 };

struct kernel {
	char *full, *shown;
	struct opk_kernel_parts parts; /* of the full name */
	size_t number;                 /* among those of its base name, from 1 */
};

struct opk_kernel_names {
	enum opk_kernel_style style;
	OPK_LIST(struct kernel) kernels;
	struct opk_index numbers; /* of the kernels, by their full names */
	bool shortened;           /* all have what is shown */
};

int opk_kernel_names_new(struct opk_kernel_names **out, struct opk_ctx *ctx,
                         enum opk_kernel_style style)
{
	struct opk_kernel_names *names = opk_alloc(sizeof *names);

	if (!names)
		return opk_nomem(ctx, "names of kernels");
	names->style = style;
	*out = names;
	return OPK_OK;
}

void opk_kernel_names_free(struct opk_kernel_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->kernels.count; i++) {
		free(names->kernels.items[i].full);
		free(names->kernels.items[i].shown);
	}
	free(names->kernels.items);
	opk_index_clear(&names->numbers);
	free(names);
}

static int add(struct opk_kernel_names *names, struct opk_ctx *ctx, const char *full)
{
	struct kernel *kernel;

	if (!*full || opk_index_find(NULL, &names->numbers, full))
		return OPK_OK;
	kernel = opk_list_add(&names->kernels);
	if (!kernel || !(kernel->full = opk_strdup(full))
	    || !opk_kernel_find_parts(&kernel->parts, kernel->full)
	    || !opk_index_add(&names->numbers, kernel->full, names->kernels.count - 1, NULL))
		return opk_nomem(ctx, "names of kernels");
	return OPK_OK;
}

/* ---- what tells them apart ---------------------------------------------------------------- */

struct arguments {
	struct opk_span_of_text items[MOST_ARGUMENTS];
	size_t count;
};

/* Those between the commas that are in no brackets. */
static void cut(struct arguments *out, struct opk_span_of_text list)
{
	size_t depth = 0, begin = 0;

	out->count = 0;
	for (size_t i = 0; i <= list.length && list.length; i++) {
		char c = i < list.length ? list.text[i] : ',';

		depth += strchr("(<[{", c) && c;
		depth -= depth && strchr(")>]}", c);
		if (c != ',' || (depth && i < list.length) || out->count == MOST_ARGUMENTS)
			continue;
		while (list.text[begin] == ' ' && begin < i)
			begin++;
		out->items[out->count++] = (struct opk_span_of_text){ list.text + begin,
			                                              i - begin };
		begin = i + 1;
	}
}

static bool same(struct opk_span_of_text a, struct opk_span_of_text b)
{
	return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* Without namespaces: "at::native::Fill<float>" is "Fill<float>". */
static void put_plain(struct opk_buf *out, struct opk_span_of_text text)
{
	static const char unnamed[] = "(anonymous namespace)";

	for (size_t i = 0; i < text.length;) {
		size_t word = 0;

		while (i + word < text.length && opk_in_name(text.text[i + word]))
			word++;
		if (!word && text.length - i > sizeof unnamed
		    && !memcmp(text.text + i, unnamed, sizeof unnamed - 1))
			word = sizeof unnamed - 1;
		if (word && i + word + 2 < text.length && !memcmp(text.text + i + word, "::", 2)) {
			i += word + 2;
			continue;
		}
		word = word ? word : 1;
		opk_buf_add(out, text.text + i, word);
		i += word;
	}
}

static struct opk_span_of_text list_of(const struct kernel *kernel, bool templates)
{
	return templates ? kernel->parts.templates : kernel->parts.arguments;
}

/* Marks the places in which kernels of one base name have different arguments. */
static void find_different(bool different[MOST_ARGUMENTS], const struct opk_kernel_names *names,
                           const struct kernel *kernel, bool templates)
{
	struct arguments own, other;

	cut(&own, list_of(kernel, templates));
	for (size_t i = 0; i < names->kernels.count; i++) {
		const struct kernel *peer = &names->kernels.items[i];

		if (!same(peer->parts.base, kernel->parts.base))
			continue;
		cut(&other, list_of(peer, templates));
		for (size_t j = 0; j < own.count; j++)
			different[j] |= j >= other.count || !same(own.items[j], other.items[j]);
	}
}

/* "scale<float>" where others of this base name have another type there; NULL: that is too long. */
static char *detailed(const struct opk_kernel_names *names, const struct kernel *kernel,
                      bool templates)
{
	opk_autobuf struct opk_buf out = { 0 };
	bool different[MOST_ARGUMENTS] = { false };
	struct arguments own;
	size_t before;

	cut(&own, list_of(kernel, templates));
	find_different(different, names, kernel, templates);
	opk_buf_add(&out, kernel->parts.base.text, kernel->parts.base.length);
	opk_buf_add_text(&out, templates ? "<" : "(");
	before = out.size;
	for (size_t i = 0; i < own.count; i++) {
		if (!different[i])
			continue;
		opk_buf_add_text(&out, out.size > before ? ", " : "");
		put_plain(&out, own.items[i]);
	}
	if (out.size == before || out.size - before > MOST_DETAIL)
		return NULL;
	opk_buf_add_text(&out, templates ? ">" : ")");
	return opk_buf_take_text(&out);
}

/* ---- words that tell them apart ----------------------------------------------------------- */

struct words {
	struct opk_span_of_text items[MOST_WORDS];
	size_t count;
};

static bool has_word(const char *text, struct opk_span_of_text word)
{
	const char *end = text + strlen(text);
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), word.text, word.length))) {
		if ((at == text || !opk_in_name(at[-1])) && !opk_in_name(at[word.length]))
			return true;
		at++;
	}
	return false;
}

/* Types of the language, numbers and namespaces say little. */
static bool is_dull(struct opk_span_of_text word)
{
	static const char *const dull[] = { "char",     "short",     "int",       "long",
		                            "unsigned", "float",     "bool",      "void",
		                            "const",    "lambda",    "double",    "true",
		                            "false",    "anonymous", "namespace", "operator" };

	if (opk_is_digit(*word.text) || !strncmp(word.text + word.length, "::", 2))
		return true;
	for (size_t i = 0; i < sizeof dull / sizeof *dull; i++)
		if (strlen(dull[i]) == word.length && !memcmp(dull[i], word.text, word.length))
			return true;
	return false;
}

/* How many of the peers that have all words so far would go with this one. */
static size_t count_without(const struct opk_kernel_names *names, const bool *left,
                            struct opk_span_of_text word)
{
	size_t count = 0;

	for (size_t i = 0; i < names->kernels.count; i++)
		count += left[i] && !has_word(names->kernels.items[i].full, word);
	return count;
}

/* The word that tells most of the remaining peers apart, a dull one only if there is no other. */
static bool find_word(struct opk_span_of_text *out, const struct opk_kernel_names *names,
                      const struct kernel *kernel, const bool *left)
{
	const char *text = kernel->parts.base.text + kernel->parts.base.length;
	size_t best = 0;
	bool dull = true;

	while (*text) {
		struct opk_span_of_text word = { text, opk_span(text, opk_in_name) };
		size_t count;

		text += word.length ? word.length : 1;
		if (!word.length || (is_dull(word) && !dull))
			continue;
		count = count_without(names, left, word);
		if (!count || (is_dull(word) == dull && count <= best))
			continue;
		*out = word;
		dull = is_dull(word);
		best = count;
	}
	return best > 0;
}

static bool find_words(struct words *words, const struct opk_kernel_names *names,
                       const struct kernel *kernel, bool *left)
{
	size_t peers = 0;

	words->count = 0;
	for (size_t i = 0; i < names->kernels.count; i++) {
		const struct kernel *peer = &names->kernels.items[i];

		left[i] = peer != kernel && same(peer->parts.base, kernel->parts.base);
		peers += left[i];
	}
	if (peers > MOST_PEERS)
		return false;
	while (peers && words->count < MOST_WORDS) {
		struct opk_span_of_text *word = &words->items[words->count];

		if (!find_word(word, names, kernel, left))
			return false;
		words->count++;
		for (size_t i = 0; i < names->kernels.count; i++)
			if (left[i] && !has_word(names->kernels.items[i].full, *word)) {
				left[i] = false;
				peers--;
			}
	}
	return !peers;
}

/* "reduce<MeanOps>"; NULL: there are no such words. */
static char *worded(const struct opk_kernel_names *names, const struct kernel *kernel)
{
	opk_autofree bool *left = opk_alloc_array(names->kernels.count, sizeof *left);
	struct opk_buf out = { 0 };
	struct words words;

	if (!left || !find_words(&words, names, kernel, left))
		return NULL;
	opk_buf_add(&out, kernel->parts.base.text, kernel->parts.base.length);
	for (size_t i = 0; i < words.count; i++) {
		opk_buf_add_text(&out, i ? ", " : "<");
		opk_buf_add(&out, words.items[i].text, words.items[i].length);
	}
	opk_buf_add_text(&out, ">");
	return opk_buf_take_text(&out);
}

/* ---- short names -------------------------------------------------------------------------- */

/* Kernels of one base name, by number; `count` of them. */
static void number(struct opk_kernel_names *names, struct kernel *kernel, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < names->kernels.count; i++) {
		const struct kernel *peer = &names->kernels.items[i];

		if (!same(peer->parts.base, kernel->parts.base))
			continue;
		++*count;
		if (peer == kernel)
			kernel->number = *count;
	}
}

/* Takes the text if no kernel before has it. False when out of memory. */
static bool try_name(struct kernel *kernel, struct opk_index *taken, char *text)
{
	size_t known = 0;

	if (!text)
		return false;
	if (opk_index_find(&known, taken, text)) {
		free(text);
		return true;
	}
	kernel->shown = text;
	return opk_index_add(taken, text, 1, NULL);
}

/* Each is tried until one is free: the base name, what differs, words of it, a number. */
static bool shorten(struct opk_kernel_names *names, struct kernel *kernel, struct opk_index *taken)
{
	struct opk_span_of_text base = kernel->parts.base;
	bool good = true;
	size_t count;

	number(names, kernel, &count);
	if (count == 1)
		good = try_name(kernel, taken, opk_strndup(base.text, base.length));
	if (good && !kernel->shown) {
		char *text = detailed(names, kernel, kernel->parts.templates.text != NULL);

		good = !text || try_name(kernel, taken, text);
	}
	if (good && !kernel->shown) {
		char *text = worded(names, kernel);

		good = !text || try_name(kernel, taken, text);
	}
	for (size_t i = kernel->number; good && !kernel->shown; i++)
		good = try_name(kernel, taken,
		                opk_printf("%.*s #%zu", (int)base.length, base.text, i));
	return good;
}

static void shorten_all(struct opk_kernel_names *names)
{
	opk_autoindex struct opk_index taken = { 0 };

	names->shortened = true;
	/* Without memory the full name is shown. */
	for (size_t i = 0; i < names->kernels.count; i++)
		if (!shorten(names, &names->kernels.items[i], &taken))
			return;
}

int opk_kernel_names_add(struct opk_kernel_names *names, struct opk_ctx *ctx,
                         const struct opk_range *ranges, size_t count)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count && names->style == OPK_KERNEL_SHORT; i++)
		code = add(names, ctx, ranges[i].kernel);
	return code;
}

const char *opk_kernel_names_get(struct opk_kernel_names *names, const struct opk_range *range)
{
	size_t i;

	if (names->style == OPK_KERNEL_SYMBOL)
		return *range->symbol ? range->symbol : range->kernel;
	if (names->style == OPK_KERNEL_FULL)
		return range->kernel;
	if (!names->shortened)
		shorten_all(names);
	if (!opk_index_find(&i, &names->numbers, range->kernel) || !names->kernels.items[i].shown)
		return range->kernel;
	return names->kernels.items[i].shown;
}
