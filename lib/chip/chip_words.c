/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the chips that a word means: by a chip's name, compute capability, architecture, or a
 * product that has it. Words are written as people and nvidia-smi write them: "sm_90", "90",
 * "NVIDIA H100 80GB HBM3".
 */
#include "chip/chip.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/nearest.h"

enum { MAX_WORD = 80 };

/* ---- compute capabilities */

unsigned opk_capability_number(const char *text)
{
	unsigned value = 0;

	for (size_t digits = 0; opk_is_digit(*text) || (*text == '.' && digits); text++) {
		if (*text == '.')
			continue;
		value = value * 10 + (unsigned)(*text - '0');
		if (++digits > 4)
			return 0;
	}
	return *text ? 0 : value;
}

/* "sm_90a" means the same chips as "sm_90". */
static unsigned capability_of(const char *word)
{
	static const char *const prefixes[] = { "sm_", "sm", "compute_", "cc_", "cc" };
	char text[MAX_WORD];
	size_t length;
	unsigned found;

	snprintf(text, sizeof text, "%s", word);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		size_t prefix = strlen(prefixes[i]);

		if (strncasecmp(word, prefixes[i], prefix))
			continue;
		snprintf(text, sizeof text, "%s", word + prefix);
		length = strlen(text);
		if (length && strchr("afAF", text[length - 1]))
			text[length - 1] = '\0';
		break;
	}
	found = opk_capability_number(text);
	/* CUDA 12.8 and 12.9 called it so. */
	return found == 101 ? 110 : found;
}

/* ---- products */

static bool begins_a_number(const char *piece, const char *ending)
{
	size_t digits = opk_span(piece, opk_is_digit);

	return digits && !strcmp(piece + digits, ending);
}

/* Words that nvidia-smi and shops add, and that don't tell chips apart. */
static bool is_noise(const char *piece)
{
	static const char *const noise[] = { "nvidia",      "geforce", "grid",       "gpu",
		                             "pcie",        "nvl",     "server",     "max",
		                             "workstation", "edition", "generation", "q" };
	/* Sizes of memory, as those of virtual GPUs: "A40-8Q". */
	static const char *const sizes[] = { "gb", "g", "q", "c", "a", "b" };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (begins_a_number(piece, sizes[i]))
			return true;
	return opk_texts_contain(noise, sizeof noise / sizeof *noise, piece)
	       || !strncmp(piece, "sxm", 3) || !strncmp(piece, "hbm", 3);
}

/* The letters and digits of a product's name that count: "rtx4090" of "GeForce RTX 4090". */
static void squeeze(char out[MAX_WORD], const char *name)
{
	char copy[MAX_WORD], *rest = copy;

	*out = '\0';
	if (strlen(name) >= MAX_WORD)
		return;
	for (size_t i = 0; i <= strlen(name); i++)
		copy[i] = (char)tolower((unsigned char)name[i]);
	for (char *piece; (piece = strsep(&rest, " -_"));)
		if (!is_noise(piece))
			strcat(out, piece);
}

/* Leaves "laptop" out after cards whose laptop GPU of the same name has the same chip. */
static void cut_laptop(char *squeezed)
{
	static const char *const same[] = { "rtx3060", "rtx3070",    "rtx3070ti",  "rtxa4000",
		                            "rtx4060", "rtx2000ada", "rtx4000ada", "rtx5080",
		                            "rtx5060", "rtx5050" };
	size_t size = strlen(squeezed), ending = strlen("laptop");

	if (!opk_ends(squeezed, "laptop"))
		return;
	squeezed[size - ending] = '\0';
	if (!opk_texts_contain(same, sizeof same / sizeof *same, squeezed))
		strcat(squeezed, "laptop");
}

/* Whether the end of a product's name means it: "SUPER" does not, and "Orin" does for drivers. */
static bool is_name(const char *ending)
{
	static const char *const systems[] = { "orin", "xavier", "spark" };

	return opk_texts_contain(systems, sizeof systems / sizeof *systems, ending)
	       || (strlen(ending) > 1 && strpbrk(ending, "0123456789"));
}

/* Whether a word is a product's whole name, or the end of it: "T4" of Tesla-T4. */
enum fit { FITS_NOT, FITS_END, FITS_WHOLE };

static enum fit fit_of_product(const char *product, const char *squeezed)
{
	char text[MAX_WORD];

	squeeze(text, product);
	if (!*squeezed || !strcmp(text, squeezed))
		return *squeezed ? FITS_WHOLE : FITS_NOT;
	while ((product = strchr(product, '-'))) {
		squeeze(text, ++product);
		if (!strcmp(text, squeezed) && is_name(text))
			return FITS_END;
	}
	return FITS_NOT;
}

static enum fit fit_of_chip(size_t chip, const char *squeezed)
{
	struct opk_chip_facts facts = opk_chip_known_facts(chip);
	enum fit best = FITS_NOT;

	for (size_t i = 0; i < facts.product_count; i++) {
		enum fit fit = fit_of_product(facts.products[i], squeezed);

		best = fit > best ? fit : best;
	}
	return best;
}

static opk_chip_mask of_product(const char *word)
{
	opk_chip_mask whole = 0, end = 0;
	char squeezed[MAX_WORD];

	squeeze(squeezed, word);
	cut_laptop(squeezed);
	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++) {
		enum fit fit = fit_of_chip(i, squeezed);
		opk_chip_mask bit = (opk_chip_mask)1 << i;

		whole |= fit == FITS_WHOLE ? bit : 0;
		end |= fit == FITS_END ? bit : 0;
	}
	return whole ? whole : end;
}

/* ---- words of all kinds */

opk_chip_mask opk_chips_meant(const char *word)
{
	opk_chip_mask family = 0, capable = 0;
	unsigned capability = capability_of(word);

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++) {
		struct opk_chip_facts facts = opk_chip_known_facts(i);
		opk_chip_mask bit = (opk_chip_mask)1 << i;

		if (!strcasecmp(opk_chip_known(i), word))
			return bit;
		family |= !strcasecmp(facts.architecture, word) ? bit : 0;
		capable |= capability
		                           && opk_capability_number(facts.compute_capability)
		                                      == capability
		                   ? bit
		                   : 0;
	}
	if (family || capable)
		return family ? family : capable;
	return of_product(word);
}

bool opk_chip_is_meant(const char *chip, const char *word)
{
	opk_chip_mask meant;

	if (!strcasecmp(chip, word))
		return true;
	meant = opk_chips_meant(word);
	for (size_t i = 0; meant && i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++)
		if (!strcasecmp(chip, opk_chip_known(i)))
			return meant >> i & 1;
	return false;
}

bool opk_chip_is_older(const char *word)
{
	static const char *const architectures[] = { "Pascal", "Maxwell", "Kepler", "Fermi" };
	static const char *const products[] = {
		"Tesla-P100", "Tesla-P40", "Tesla-P4", "Tesla-M60",  "Tesla-M40",
		"Tesla-K80",  "Tesla-K40", "TITAN-Xp", "TITAN-X",    "GTX-1080-Ti",
		"GTX-1080",   "GTX-1070",  "GTX-1060", "GTX-1050",   "GTX-980-Ti",
		"GTX-980",    "GTX-970",   "GTX-960",  "Jetson-TX2",
	};
	unsigned capability = capability_of(word);
	char squeezed[MAX_WORD];

	/* From Fermi's 2.0 to Pascal's 6.2. */
	if (capability >= 20 && capability <= 62)
		return true;
	for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
		if (!strcasecmp(architectures[i], word))
			return true;
	squeeze(squeezed, word);
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		if (fit_of_product(products[i], squeezed))
			return true;
	/* A chip of Pascal, Maxwell, Kepler or Fermi, such as GP100. */
	return strlen(word) == 5
	       && (!strncasecmp(word, "GP1", 3) || !strncasecmp(word, "GM1", 3)
	           || !strncasecmp(word, "GM2", 3) || !strncasecmp(word, "GK1", 3)
	           || !strncasecmp(word, "GK2", 3) || !strncasecmp(word, "GF1", 3));
}

/* ---- misspelt words */

static void take_digits(char out[MAX_WORD], const char *word)
{
	size_t count = 0;

	for (; *word && count < MAX_WORD - 1; word++)
		if (opk_is_digit(*word))
			out[count++] = *word;
	out[count] = '\0';
}

/* GH100 may have been meant by "GH10", but not by "GH200", nor GB10B by "GB400". */
static bool may_be_chip(const char *word, const char *chip)
{
	char digits[MAX_WORD], others[MAX_WORD];
	size_t count, other_count;

	take_digits(digits, word);
	take_digits(others, chip);
	count = strlen(digits);
	other_count = strlen(others);
	return count && !strncasecmp(word, chip, 1)
	       && !strncmp(digits, others, count < other_count ? count : other_count);
}

/* H100 is what "H10O" means. */
static void make_zeros(char *word)
{
	for (size_t i = 1; *word && word[i]; i++)
		if (opk_is_digit(word[i - 1]) && word[i] == 'o')
			word[i] = '0';
}

/*
 * Products with other numbers are other cards: A15 is not A10. So are those with another letter in
 * a short name: L2 is not A2.
 */
static bool may_be_product(const char *word, const char *product)
{
	enum { SHORT = 5 };
	char digits[MAX_WORD], others[MAX_WORD], squeezed[MAX_WORD], other[MAX_WORD];

	squeeze(squeezed, word);
	squeeze(other, product);
	make_zeros(squeezed);
	take_digits(digits, squeezed);
	take_digits(others, other);
	return *digits && !strcmp(digits, others)
	       && opk_edit_distance(squeezed, other, 1) <= (strlen(squeezed) > SHORT ? 1 : 0);
}

const char *opk_chip_nearest(const struct opk_strlist *names, const char *word)
{
	struct opk_nearest nearest = { .name = word };

	if (opk_chip_is_older(word))
		return NULL;
	for (size_t i = 0; i < names->count; i++)
		if (may_be_chip(word, names->items[i]))
			opk_nearest_try(&nearest, names->items[i]);
	for (size_t i = 0; opk_chip_known(i); i++) {
		struct opk_chip_facts facts = opk_chip_known_facts(i);

		for (size_t j = 0; j < facts.product_count; j++)
			if (may_be_product(word, facts.products[j]))
				opk_nearest_try(&nearest, facts.products[j]);
	}
	return nearest.best;
}

char *opk_chip_spelling(const char *word)
{
	opk_chip_mask meant = opk_chips_meant(word);
	char *copy;

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++)
		if (meant == (opk_chip_mask)1 << i)
			return opk_strdup(opk_chip_known(i));
	copy = opk_strdup(word);
	for (char *c = copy; c && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

static int fail_several(struct opk_ctx *ctx, const char *word, opk_chip_mask meant)
{
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++)
		if (meant >> i & 1)
			opk_buf_add_printf(&text, "%s%s", text.size ? ", " : "", opk_chip_known(i));
	opk_buf_add(&text, "", 1);
	if (text.failed)
		return opk_nomem(ctx, "a message");
	return opk_fail(ctx, OPK_EUSAGE, "'%s' means several chips, %s: name one", word,
	                (const char *)text.data);
}

int opk_chip_named(const char **out, struct opk_ctx *ctx, const char *word)
{
	opk_chip_mask meant = opk_chips_meant(word);

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++)
		if (meant == (opk_chip_mask)1 << i) {
			*out = opk_chip_known(i);
			return OPK_OK;
		}
	if (meant)
		return fail_several(ctx, word, meant);
	return opk_advise(ctx, opk_fail(ctx, OPK_EUSAGE, "'%s' is not a chip", word),
	                  OPK_REMEDY_LIST_CHIPS);
}
