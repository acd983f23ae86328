/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell completion from the tables of --help: commands, options and their values. */
#include <ctype.h>
#include <dirent.h>
#include <string.h>
#include <strings.h>

#include "chip/door.h"
#include "commands.h"
#include "common/files.h"

enum { FIRST_ARGUMENT = 2, MAX_PLACEHOLDER = 32 };

struct completion {
	struct app app;
	const struct command *command;
	char **words;        /* of the command line, from the program's name on */
	size_t count, index; /* `index`: of the word to complete */
	const char *word;    /* the part that is written */
};

static void offer(const struct completion *c, const char *text, const char *after)
{
	if (!strncmp(text, c->word, strlen(c->word)))
		printf("%s%s\n", text, after);
}

/* ---- the words before */

/* The value of an option anywhere on the line; NULL if it is not given, or takes none. */
static const char *value_of(const struct completion *c, const char *name)
{
	for (size_t i = FIRST_ARGUMENT; i + 1 < c->count; i++) {
		const struct option_spec *spec = app_option(c->command, c->words[i]);

		if (spec && spec->argument && !strcmp(spec->name, name) && i + 1 != c->index)
			return c->words[i + 1];
	}
	return NULL;
}

/* The number of arguments before the word, and the first of them. */
static size_t arguments_before(const struct completion *c, const char **first)
{
	size_t count = 0;

	*first = NULL;
	for (size_t i = FIRST_ARGUMENT; i < c->index; i++) {
		const struct option_spec *spec = app_option(c->command, c->words[i]);

		if (spec)
			i += spec->argument != NULL;
		else if (*c->words[i] != '-' && !count++)
			*first = c->words[i];
	}
	return count;
}

/*
 * The placeholder of the n-th argument in "--chip CHIP SET... -o OUT.opk": what follows an option
 * is the option's, dots repeat, and '|' begins another way to call the command. "" where there is
 * none.
 */
static void find_placeholder(char out[MAX_PLACEHOLDER], const char *synopsis, size_t n)
{
	bool of_option = false;

	*out = '\0';
	while (*synopsis && *synopsis != '|') {
		const char *token = synopsis + strspn(synopsis, "[");
		size_t length = strcspn(token, " ]"), name = length;

		synopsis = token + length + strspn(token + length, " ]");
		if (length > 3 && !strncmp(token + length - 3, "...", 3))
			name -= 3;
		if (*token == '-' || of_option) {
			of_option = *token == '-';
			continue;
		}
		if (!n || name < length) {
			snprintf(out, MAX_PLACEHOLDER, "%.*s", (int)name, token);
			return;
		}
		n--;
	}
}

/* The chip of --chip, or the first argument if it is a chip. */
static const char *chip_of(const struct completion *c)
{
	const char *chip = value_of(c, "chip");
	char placeholder[MAX_PLACEHOLDER];

	find_placeholder(placeholder, c->command->synopsis, 0);
	if (!chip && !strcmp(placeholder, "CHIP"))
		arguments_before(c, &chip);
	return chip;
}

/* ---- candidates */

/* Accepts any case, as commands do. */
static void offer_word(const struct completion *c, const char *name)
{
	if (!strncasecmp(name, c->word, strlen(c->word)))
		printf("%s \n", name);
}

/* Products only after their first letter: all of them would hide the chips. */
static void offer_chips(const struct completion *c)
{
	enum { CHIP, PRODUCTS = 5 };
	opk_auto(opk_listing) struct opk_listing *chips = NULL;

	if (opk_chip_list(&chips, c->app.ctx, NULL, OPK_CHIP_FACTS))
		return;
	for (size_t i = 0; i < opk_listing_count(chips); i++) {
		const union opk_cell *chip = opk_listing_get(chips, i);

		offer_word(c, chip[CHIP].string);
		for (size_t j = 0; *c->word && j < chip[PRODUCTS].list.count; j++)
			offer_word(c, chip[PRODUCTS].list.items[j]);
	}
}

/* A full name has a dot after its unit, which may have dots itself. */
static bool is_full(const char *name)
{
	const char *unit_end = strstr(name, "__");

	return unit_end && strchr(unit_end, '.');
}

/* Names of the chip; keeps the first `kept` bytes of the word. A base name may be continued. */
static void offer_names(const struct completion *c, size_t kept, const char *after)
{
	const char *chip = chip_of(c), *profiler_name = value_of(c, "profiler");
	enum opk_profiler profiler = OPK_PROFILER_RANGE;
	opk_autostrlist struct opk_strlist names = { 0 };

	if (profiler_name)
		opk_profiler_parse(&profiler, profiler_name);
	if (!chip || opk_complete_name(&names, c->app.ctx, chip, profiler, c->word + kept))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];

		printf("%.*s%s%s\n", (int)kept, c->word, name,
		       opk_profiler_is_code(profiler) || is_full(name) ? after : "");
	}
}

static void offer_metric(const struct completion *c)
{
	offer_names(c, 0, " ");
}

/* Completes the last item of a list with commas. */
static void offer_list(const struct completion *c)
{
	const char *comma = strrchr(c->word, ',');

	offer_names(c, comma ? (size_t)(comma - c->word) + 1 : 0, "");
}

/* The shell does not quote candidates, but itself finds names that need quotes. */
static void offer_file(const struct completion *c, const char *name)
{
	bool plain = *name != '-';

	for (const char *at = name; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr("._-+,@%", *at));
	if (plain)
		offer(c, name, " ");
}

/* YAML files in this folder; the shell completes paths. */
static void offer_yaml(const struct completion *c)
{
	DIR *folder = opendir(".");

	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && dot != entry->d_name && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
			offer_file(c, entry->d_name);
	}
	if (folder)
		closedir(folder);
}

static void offer_sets(const struct completion *c)
{
	opk_autostrlist struct opk_strlist paths = { 0 };

	if (opk_set_paths(&paths, c->app.ctx))
		return;
	for (size_t i = 0; i < paths.count; i++) {
		char name[SET_NAME_SIZE];

		offer_file(c, files_set_name(name, paths.items[i]));
	}
	offer_yaml(c);
	offer_list(c);
}

static void offer_single_pass_sets(const struct completion *c, const char *chip)
{
	struct opk_single_pass_sets *sets;

	if (opk_single_pass_sets_new(&sets, c->app.ctx, chip))
		return;
	for (size_t i = 0; i < opk_single_pass_sets_count(sets); i++)
		offer(c, opk_single_pass_sets_get(sets, i)->name, " ");
	opk_single_pass_sets_free(sets);
}

static void offer_commands(const struct completion *c)
{
	for (const struct command *const *command = commands; *command; command++)
		offer(c, (*command)->name, " ");
}

static void offer_options(const struct completion *c)
{
	for (const struct option_spec *spec = NULL; (spec = app_next_option(c->command, spec));) {
		char name[64];

		snprintf(name, sizeof name, "--%s", spec->name);
		offer(c, name, " ");
	}
}

/* "range|pm" */
static void offer_words(const struct completion *c, const char *words)
{
	char one[64];

	for (size_t length; *words; words += length + (words[length] == '|')) {
		length = strcspn(words, "|");
		snprintf(one, sizeof one, "%.*s", (int)length, words);
		offer(c, one, " ");
	}
}

/* ---- the word to complete */

/* The placeholders of option tables and synopses. */
static const struct {
	const char *placeholder;
	void (*offer)(const struct completion *c);
} kinds[] = {
	{ "CHIP", offer_chips }, { "METRIC", offer_metric }, { "GLOB", offer_metric },
	{ "A,B", offer_list },   { "SET", offer_sets },
};

/* Whether files are candidates, too. */
static bool offer_kind(const struct completion *c, const char *placeholder)
{
	if (strchr(placeholder, '|'))
		offer_words(c, placeholder);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(placeholder, kinds[i].placeholder))
			kinds[i].offer(c);
	return strstr(placeholder, "FILE") || strstr(placeholder, "DIR")
	       || strstr(placeholder, ".opk") || !strcmp(placeholder, "IMAGE")
	       || !strcmp(placeholder, "SET");
}

static bool offer_argument(const struct completion *c)
{
	const struct option_spec *before = NULL;
	const char *first, *single_pass = value_of(c, "single-pass");
	char placeholder[MAX_PLACEHOLDER];

	if (c->index > FIRST_ARGUMENT)
		before = app_option(c->command, c->words[c->index - 1]);
	if (before && before->argument)
		return offer_kind(c, before->argument) || before->kind == OPTION_INPUT;
	if (*c->word == '-') {
		offer_options(c);
		return false;
	}
	find_placeholder(placeholder, c->command->synopsis, arguments_before(c, &first));
	if (!single_pass || strcmp(placeholder, "SET"))
		return offer_kind(c, placeholder);
	/* Not a set's name or file: one of the chip's. */
	offer_single_pass_sets(c, single_pass);
	return false;
}

static bool offer_all(struct completion *c)
{
	if (c->index < FIRST_ARGUMENT) {
		offer_commands(c);
		offer(c, "help", " ");
		if (*c->word == '-') {
			offer(c, "--help", " ");
			offer(c, "--version", " ");
		}
		return false;
	}
	if (!strcmp(c->words[1], "help")) {
		if (c->index == FIRST_ARGUMENT)
			offer_commands(c);
		return false;
	}
	c->command = find_command(c->words[1]);
	if (!c->command)
		return false;
	c->app.cuda = value_of(c, "cuda");
	c->app.libcuda = value_of(c, "libcuda");
	return !app_open(&c->app) && offer_argument(c);
}

/* Bash makes three words of --chip=GH100. */
static void drop_equals(struct completion *c)
{
	size_t index = c->index, kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		bool equals = i && !strcmp(c->words[i], "=");

		if (i == index)
			c->index = kept;
		if (!equals || i == index)
			c->words[kept++] = equals ? (char *)"" : c->words[i];
	}
	c->count = kept;
}

int complete(int argc, char **argv)
{
	struct completion c = { .words = argv + 1 };
	bool files;

	c.index = argc > 1 ? strtoul(argv[0], NULL, 10) : 0;
	if (!c.index || c.index >= (size_t)argc - 1)
		return OPK_EUSAGE;
	c.count = (size_t)argc - 1;
	drop_equals(&c);
	c.word = c.words[c.index];
	files = offer_all(&c);
	app_close(&c.app);
	return files ? OPK_OK : OPK_EFAILED;
}
