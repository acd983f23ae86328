/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion in the shell, from the table of settings: data/completion has what asks for it. */
#include "collect/launcher/launcher.h"

static void offer(const char *dashes, const char *text, const char *word)
{
	size_t length = strlen(dashes), given = strlen(word);

	if (!strncmp(word, dashes, given < length ? given : length)
	    && (given <= length || !strncmp(text, word + length, given - length)))
		printf("%s%s \n", dashes, text);
}

/* The setting of an option; NULL: there is no such option. */
static const struct setting *find(const char *word)
{
	bool whole = !strncmp(word, "--", 2);

	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const struct setting *row = &settings_table[i];

		if (row->help
		    && (whole ? !strcmp(word + 2, row->name)
		              : *word == '-' && word[1] == row->letter && word[1] && !word[2]))
			return row;
	}
	return NULL;
}

static void offer_options(const char *word)
{
	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings_table[i].help)
			offer("--", settings_table[i].name, word);
	offer("--", "help", word);
	offer("--", "version", word);
}

/* False: no files can be the value. */
static bool offer_values(const struct setting *row, const char *word)
{
	const char *what;
	const char *const *words = settings_words(&what, row);

	/* The first word may be only what holds without the option. */
	for (; words && *words; words++)
		if (strstr(what, *words))
			offer("", *words, word);
	return strstr(row->argument, "FILE") || strstr(row->argument, "DIR")
	       || strstr(row->argument, ".opk");
}

int shell_complete(size_t count, char **words)
{
	const struct setting *before = NULL;
	size_t index = count ? strtoul(*words++, NULL, 10) : 0;
	const char *word;

	if (!index || index >= count - 1)
		return OPK_EUSAGE;
	for (size_t i = 1; i < index; i++) {
		/* Bash makes three words of --range=user. */
		bool equals = !strcmp(words[i + 1], "=");

		if (!strcmp(words[i], "="))
			continue;
		if (before) {
			before = NULL;
			continue;
		}
		/* The program, and its arguments. */
		if (*words[i] != '-' || !strcmp(words[i], "--"))
			return OPK_OK;
		before = find(words[i]);
		if (before && (!before->argument || (before->uses & OPTIONAL && !equals)))
			before = NULL;
	}
	word = strcmp(words[index], "=") != 0 ? words[index] : "";
	if (before)
		return offer_values(before, word) ? OPK_OK : OPK_EFAILED;
	if (*word != '-')
		return OPK_OK;
	offer_options(word);
	return OPK_EFAILED;
}
