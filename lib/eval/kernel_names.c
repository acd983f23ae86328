/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names of kernels for people, each of them unique. */
#include <string.h>

#include "base/ascii.h"
#include "base/index.h"
#include "base/utf8.h"
#include "container/container.h"
#include "eval/eval.h"

/*
 * Kernels of one base name are told apart by the arguments that differ, if these are short; else by
 * a few words of the arguments that together are unique; else by a number.
 */
enum {
	MOST_BASE = 200,
	MOST_DETAIL = 24,
	MOST_WORDED = 200,
	MOST_ARGUMENTS = 64,
	MOST_WORDS = 3,
	MOST_PEERS = 200
};
/* With more text than this, words are not tried: there would be millions. */
enum { MOST_TEXT = 4 << 20 };

struct kernel {
	char *full, *shown;
	struct opk_kernel_parts parts; /* of the full name */
	size_t base;                   /* number of its base name */
	struct kernel *next;           /* of the same base name */
	size_t number;                 /* among those of its base name, from 1 */
};

/* Kernels of one base name, and the places in which their arguments and templates differ. */
struct peers {
	char *key, *base; /* the base name; the same as it is shown: shortened if very long */
	struct kernel *first, *last;
	size_t count, text; /* text: bytes of all their names */
	bool different[2][MOST_ARGUMENTS];
	struct vocabulary *vocabulary; /* NULL: no kernel has needed it yet */
};

struct opk_kernel_names {
	enum opk_kernel_style style;
	OPK_LIST(struct kernel) kernels;
	struct opk_index numbers; /* of the kernels, by their full names */
	bool shortened;           /* `shown` of all is set */
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

/* ---- arguments that differ ---------------------------------------------------------------- */

struct arguments {
	struct opk_span_of_text items[MOST_ARGUMENTS];
	size_t count;
};

/* Cuts the list at commas outside of brackets. */
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

/* Drops namespaces: "at::native::Fill<float>" becomes "Fill<float>". */
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

/* Marks where any two peers differ: it is enough to compare each one with the first. */
static void find_different(struct peers *peers, bool templates)
{
	bool *different = peers->different[templates];
	struct arguments first, other;

	cut(&first, list_of(peers->first, templates));
	for (const struct kernel *peer = peers->first->next; peer; peer = peer->next) {
		cut(&other, list_of(peer, templates));
		for (size_t i = 0; i < first.count || i < other.count; i++)
			different[i] |= i >= first.count || i >= other.count
			                || !same(first.items[i], other.items[i]);
	}
}

/* "scale<float>" if others of this base name have another type there; NULL if that is too long. */
static char *detailed(const struct peers *peers, const struct kernel *kernel)
{
	bool templates = kernel->parts.templates.text != NULL;
	const bool *different = peers->different[templates];
	opk_autobuf struct opk_buf out = { 0 };
	struct arguments own;
	size_t before;

	cut(&own, list_of(kernel, templates));
	opk_buf_add_text(&out, peers->base);
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

/* ---- words of arguments ----------------------------------------------------------- */

/* A set of peers, by their numbers. */
struct peer_set {
	uint64_t bits[(MOST_PEERS + 1) / 64 + 1];
};

/* The words of all peers' names, in the order of peers. */
struct vocabulary {
	OPK_LIST(struct word {
		struct opk_span_of_text text;
		size_t number; /* the same for equal words */
	})
	words;
	size_t begins[MOST_PEERS + 3]; /* of the words of each peer */
	struct peer_set *has;          /* peers with that word, by its number */
};

static void vocabulary_free(struct vocabulary *vocabulary)
{
	if (!vocabulary)
		return;
	free(vocabulary->words.items);
	free(vocabulary->has);
	free(vocabulary);
}

static void put_peer(struct peer_set *set, size_t peer)
{
	set->bits[peer / 64] |= (uint64_t)1 << peer % 64;
}

static bool read_words(struct vocabulary *vocabulary, const struct kernel *kernel)
{
	vocabulary->begins[kernel->number] = vocabulary->words.count;
	for (const char *text = kernel->full; *text;) {
		size_t length = opk_span(text, opk_in_name);
		struct word *word = length ? opk_list_add(&vocabulary->words) : NULL;

		if (length && !word)
			return false;
		if (length)
			word->text = (struct opk_span_of_text){ text, length };
		text += length ? length : 1;
	}
	vocabulary->begins[kernel->number + 1] = vocabulary->words.count;
	return true;
}

static int by_text(const void *one, const void *other)
{
	const struct word *a = *(struct word *const *)one, *b = *(struct word *const *)other;
	size_t length = a->text.length < b->text.length ? a->text.length : b->text.length;
	int order = memcmp(a->text.text, b->text.text, length);

	return order ? order
	             : (a->text.length > b->text.length) - (a->text.length < b->text.length);
}

/* False when out of memory. */
static bool number_words(struct vocabulary *vocabulary)
{
	size_t count = vocabulary->words.count, number = 0;
	opk_autofree struct word **sorted = opk_alloc_array(count + 1, sizeof *sorted);

	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &vocabulary->words.items[i];
	qsort(sorted, count, sizeof *sorted, by_text);
	for (size_t i = 0; i < count; i++) {
		number += i && by_text(&sorted[i - 1], &sorted[i]) != 0;
		sorted[i]->number = number;
	}
	vocabulary->has = opk_alloc_array(number + 1, sizeof *vocabulary->has);
	return vocabulary->has != NULL;
}

/* NULL when out of memory. */
static struct vocabulary *vocabulary_new(const struct peers *peers)
{
	struct vocabulary *vocabulary = opk_alloc(sizeof *vocabulary);
	bool good = vocabulary;

	for (const struct kernel *peer = peers->first; good && peer; peer = peer->next)
		good = read_words(vocabulary, peer);
	if (!good || !number_words(vocabulary)) {
		vocabulary_free(vocabulary);
		return NULL;
	}
	for (size_t peer = 1; peer <= peers->count; peer++)
		for (size_t i = vocabulary->begins[peer]; i < vocabulary->begins[peer + 1]; i++)
			put_peer(&vocabulary->has[vocabulary->words.items[i].number], peer);
	return vocabulary;
}

/* Built-in types, numbers and namespaces say little. */
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

static size_t count_peers(const struct peer_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
		count += (size_t)__builtin_popcountll(set->bits[i]);
	return count;
}

static struct peer_set without(const struct peer_set *set, const struct peer_set *others)
{
	struct peer_set left;

	for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
		left.bits[i] = set->bits[i] & ~others->bits[i];
	return left;
}

/*
 * The word that tells apart the most remaining peers; a dull word only if no other does. NULL: no
 * word does.
 */
static const struct word *find_word(const struct vocabulary *vocabulary,
                                    const struct kernel *kernel, const struct peer_set *left)
{
	const char *from = kernel->parts.base.text + kernel->parts.base.length;
	const struct word *best = NULL;
	size_t most = 0;
	bool dull = true;

	for (size_t i = vocabulary->begins[kernel->number];
	     i < vocabulary->begins[kernel->number + 1]; i++) {
		const struct word *word = &vocabulary->words.items[i];
		struct peer_set gone;
		size_t count;

		if (word->text.text < from || (!dull && is_dull(word->text)))
			continue;
		gone = without(left, &vocabulary->has[word->number]);
		count = count_peers(&gone);
		if (!count || (is_dull(word->text) == dull && count <= most))
			continue;
		best = word;
		dull = is_dull(word->text);
		most = count;
	}
	return best;
}

struct words {
	struct opk_span_of_text items[MOST_WORDS];
	size_t count;
};

/* False: words can't tell these kernels apart, or out of memory. */
static bool find_words(struct words *words, struct peers *peers, const struct kernel *kernel)
{
	struct peer_set left = { 0 };

	if (!peers->vocabulary && !(peers->vocabulary = vocabulary_new(peers)))
		return false;
	for (const struct kernel *peer = peers->first; peer; peer = peer->next)
		if (peer != kernel)
			put_peer(&left, peer->number);
	for (words->count = 0; count_peers(&left) && words->count < MOST_WORDS; words->count++) {
		const struct word *word = find_word(peers->vocabulary, kernel, &left);
		struct peer_set gone;

		if (!word)
			return false;
		words->items[words->count] = word->text;
		gone = without(&left, &peers->vocabulary->has[word->number]);
		left = without(&left, &gone);
	}
	return !count_peers(&left);
}

/* "reduce<MeanOps>"; NULL: no words tell it apart. */
static char *worded(struct peers *peers, const struct kernel *kernel)
{
	opk_autobuf struct opk_buf out = { 0 };
	struct words words;
	size_t before;

	if (peers->count > MOST_PEERS + 1 || peers->text > MOST_TEXT
	    || !find_words(&words, peers, kernel))
		return NULL;
	opk_buf_add_text(&out, peers->base);
	before = out.size;
	for (size_t i = 0; i < words.count; i++) {
		opk_buf_add_text(&out, i ? ", " : "<");
		opk_buf_add(&out, words.items[i].text, words.items[i].length);
	}
	if (out.size - before > MOST_WORDED)
		return NULL;
	opk_buf_add_text(&out, ">");
	return opk_buf_take_text(&out);
}

/* ---- short names -------------------------------------------------------------------------- */

/* Takes the text as the name unless an earlier kernel has it. False when out of memory. */
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

/* Tries until a name is free: base name, arguments that differ, words of them, a number. */
static bool shorten(struct peers *peers, struct kernel *kernel, struct opk_index *taken)
{
	bool good = true;

	if (peers->count == 1)
		good = try_name(kernel, taken, opk_strdup(peers->base));
	if (good && !kernel->shown) {
		char *text = detailed(peers, kernel);

		good = !text || try_name(kernel, taken, text);
	}
	if (good && !kernel->shown) {
		char *text = worded(peers, kernel);

		good = !text || try_name(kernel, taken, text);
	}
	for (size_t i = kernel->number; good && !kernel->shown; i++)
		good = try_name(kernel, taken, opk_printf("%s #%zu", peers->base, i));
	return good;
}

/* All kernels, by their base names. */
struct bases {
	OPK_LIST(struct peers) peers;
	struct opk_index numbers;
};

static void bases_clear(struct bases *bases)
{
	for (size_t i = 0; i < bases->peers.count; i++) {
		free(bases->peers.items[i].key);
		free(bases->peers.items[i].base);
		vocabulary_free(bases->peers.items[i].vocabulary);
	}
	free(bases->peers.items);
	opk_index_clear(&bases->numbers);
}

/* False when out of memory. */
static bool find_base(struct bases *bases, struct kernel *kernel)
{
	opk_autofree char *key = opk_strndup(kernel->parts.base.text, kernel->parts.base.length);
	struct peers *peers;

	if (key && opk_index_find(&kernel->base, &bases->numbers, key))
		return true;
	kernel->base = bases->peers.count;
	peers = key ? opk_list_add(&bases->peers) : NULL;
	if (!peers || !opk_index_add(&bases->numbers, key, kernel->base, NULL))
		return false;
	peers->key = opk_take(key);
	peers->base = opk_utf8_fit(peers->key, MOST_BASE);
	return peers->base != NULL;
}

static bool sort_by_base(struct bases *bases, struct opk_kernel_names *names)
{
	for (size_t i = 0; i < names->kernels.count; i++) {
		struct kernel *kernel = &names->kernels.items[i];
		struct peers *peers;

		if (!find_base(bases, kernel))
			return false;
		peers = &bases->peers.items[kernel->base];
		*(peers->first ? &peers->last->next : &peers->first) = kernel;
		peers->last = kernel;
		peers->text += strlen(kernel->full);
		kernel->number = ++peers->count;
	}
	for (size_t i = 0; i < bases->peers.count; i++) {
		find_different(&bases->peers.items[i], false);
		find_different(&bases->peers.items[i], true);
	}
	return true;
}

static void shorten_all(struct opk_kernel_names *names)
{
	__attribute__((cleanup(bases_clear))) struct bases bases = { 0 };
	opk_autoindex struct opk_index taken = { 0 };

	names->shortened = true;
	/* When out of memory, the full names are shown. */
	if (!sort_by_base(&bases, names))
		return;
	for (size_t i = 0; i < names->kernels.count; i++) {
		struct kernel *kernel = &names->kernels.items[i];

		if (!shorten(&bases.peers.items[kernel->base], kernel, &taken))
			return;
	}
}

int opk_kernel_names_add(struct opk_kernel_names *names, struct opk_ctx *ctx,
                         const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count && names->style == OPK_KERNEL_SHORT; i++)
		TRY(add(names, ctx, ranges[i].kernel));
	return OPK_OK;
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
