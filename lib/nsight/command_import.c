/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets from Nsight Compute's command lines, and what else these lines say. */
#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/problems.h"
#include "nsight/command.h"
#include "set/set.h"

struct reader {
	struct opk_drafts *drafts;
	struct opk_source *source;
	struct opk_shell_words words;
	struct opk_ncu_command *command;
	bool asked; /* metrics, sections or a set are named */
};

static void fail_without_memory(struct reader *r)
{
	r->drafts->code = opk_nomem(r->drafts->ctx, "a command line");
}

static struct opk_place place_of(const struct reader *r, size_t word)
{
	return opk_place_of_byte(r->source, r->words.items[word].at);
}

/* ---- finding the command */

/* Reads commands up to one of the tool's; false: there is none, or a failure. */
static bool next_command(struct reader *r, struct opk_shell_words *words, size_t *tool, size_t *at)
{
	while (!r->drafts->code && *at < r->source->size) {
		opk_shell_words_clear(words);
		r->drafts->code = opk_shell_words_read(words, r->drafts->ctx, r->source, at);
		*tool = r->drafts->code ? words->count : opk_find_ncu(words);
		if (*tool < words->count)
			return true;
	}
	return false;
}

/* The words from `first` to `end` as they are written, with a blank between them; free(). */
static char *written(const struct reader *r, size_t first, size_t end)
{
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = first; i < end; i++) {
		const struct opk_shell_word *word = &r->words.items[i];

		if (i > first)
			opk_buf_add_text(&text, " ");
		opk_buf_add(&text, r->source->text + word->at, word->size);
	}
	return opk_buf_take_text(&text);
}

/* ---- metrics */

static bool separates(char c)
{
	return c == ',' || opk_is_blank(c);
}

static void include(struct reader *r, const struct opk_ncu_section *section, const char *asked)
{
	struct opk_draft *draft = &r->drafts->drafts[section->draft];
	opk_autobuf struct opk_buf text = { 0 };

	if (!section->sets[0]) {
		opk_drafts_leave_out(r->drafts, section->reason, asked, NULL);
		return;
	}
	opk_buf_add_printf(&text, "%s:", asked);
	for (size_t i = 0; i < 3 && section->sets[i]; i++) {
		opk_draft_include(draft, section->sets[i]);
		opk_buf_add_printf(&text, "%s %s", i ? "," : "", section->sets[i]);
	}
	opk_buf_add_text(&text, ", of the same subject");
	opk_draft_note(draft, opk_buf_take_text(&text));
	r->command->sections = true;
}

static void put_name(struct reader *r, const char *name, const struct opk_place *place)
{
	const struct opk_ncu_section *group = strncmp(name, "group:", 6)
	                                              ? NULL
	                                              : opk_ncu_group_find(name + 6);

	if (group)
		include(r, group, name);
	else
		opk_drafts_put_name(r->drafts, name, place, NULL, NULL);
}

/* The names in a text with commas between them, which begins at the word's place. */
static void put_names(struct reader *r, const char *text, const struct opk_place *place)
{
	for (size_t at = 0, size; text[at] && !r->drafts->code; at += size) {
		opk_autofree char *name = NULL;
		struct opk_place own;

		at += opk_span(text + at, separates);
		for (size = 0; text[at + size] && !separates(text[at + size]);)
			size++;
		if (!size)
			break;
		own = opk_place_within(place, text, at);
		name = opk_strndup(text + at, size);
		if (!name)
			fail_without_memory(r);
		else if (opk_drafts_count(r->drafts, 0))
			put_name(r, name, &own);
	}
}

static void include_section(struct reader *r, const struct opk_ncu_section *section)
{
	opk_autofree char *name = opk_printf("section %s", section->name);

	if (name)
		include(r, section, name);
	else
		fail_without_memory(r);
}

static const char *next_section(void *data)
{
	size_t *i = data;
	const struct opk_ncu_section *section = opk_ncu_section_known((*i)++);

	return section ? section->name : NULL;
}

/* "regex:EXPRESSION": all sections of which a part matches. */
static void put_sections(struct reader *r, const char *expression, const struct opk_place *place)
{
	opk_autofree char *whole = opk_printf(".*(%s).*", expression);
	opk_autofree size_t *found = NULL;
	size_t count = 0, at = 0;
	const struct opk_names names = { next_section, &at, &r->drafts->seconds };
	int code;

	if (!whole) {
		fail_without_memory(r);
		return;
	}
	code = opk_expression_match(&found, &count, r->drafts->ctx, whole, &names);
	if (code) {
		r->drafts->code = code == OPK_ENOMEM
		                          ? code
		                          : opk_fail_at(r->drafts->ctx, place,
		                                        "no sections for '%.200s'", expression);
		return;
	}
	for (size_t i = 0; i < count && !r->drafts->code; i++)
		include_section(r, opk_ncu_section_known(found[i]));
	if (!count)
		opk_drafts_leave_out(r->drafts, "sections that are not known here", expression,
		                     NULL);
}

/*
 * With an option for folders of sections, the user's own files have other sections and sets.
 * Without it, the user's documents folder and later releases have other sections, too: only a name
 * that is close to a known one is a misspelling.
 */
static bool has_own_files(const struct reader *r)
{
	static const char option[] = "section-folder";

	for (size_t i = 0; i < r->words.count; i++) {
		const char *word = r->words.items[i].text;

		if (strspn(word, "-") == 2 && !strncmp(word + 2, option, strlen(option)))
			return true;
	}
	return false;
}

static void put_section(struct reader *r, const char *name, const struct opk_place *place)
{
	const struct opk_ncu_section *section = opk_ncu_section_find(name);
	const char *near = has_own_files(r) ? NULL : opk_ncu_section_like(name);

	if (!strncmp(name, "regex:", 6)) {
		put_sections(r, name + 6, place);
	} else if (section) {
		include_section(r, section);
	} else if (near) {
		r->drafts->code = opk_fail_at(
			r->drafts->ctx, place,
			"Nsight Compute's files have no section '%.200s'" OPK_DID_YOU_MEAN
			"; a .section file of your own can be imported itself",
			name, OPK_NEAR(near));
	} else {
		opk_autofree char *text = opk_printf("section %s", name);

		opk_drafts_leave_out(
			r->drafts,
			"sections that are not known here; their .section files can be imported",
			text ? text : name, NULL);
	}
}

static void refuse_set(struct reader *r, const char *name, const struct opk_place *place)
{
	const char *near = opk_ncu_set_like(name);
	opk_autofree char *names = opk_ncu_set_names();

	if (!names)
		fail_without_memory(r);
	else
		r->drafts->code = opk_fail_at(r->drafts->ctx, place,
		                              "Nsight Compute has no set '%.200s'" OPK_DID_YOU_MEAN
		                              "; it has %s",
		                              name, OPK_NEAR(near), names);
}

static void put_set(struct reader *r, const char *name, const struct opk_place *place)
{
	const char *whole, *const *sections = opk_ncu_set_sections(&whole, name);
	opk_autofree char *text = opk_printf("set %s", name);

	if (!text) {
		fail_without_memory(r);
		return;
	}
	if (!sections && !has_own_files(r))
		refuse_set(r, name, place);
	else if (!sections)
		opk_drafts_leave_out(r->drafts, "sets that are not known here", text, NULL);
	if (whole)
		include(r, &(struct opk_ncu_section){ .draft = OPK_DRAFT_RANGE, .sets = { whole } },
		        text);
	for (; sections && *sections && !r->drafts->code; sections++) {
		const struct opk_ncu_section *section = opk_ncu_section_find(*sections);

		if (!whole || !section->sets[0] || section->draft != OPK_DRAFT_RANGE)
			include_section(r, section);
	}
}

/* ---- options */

static void put_option(struct reader *r, const struct opk_ncu_option *option,
                       const struct opk_place *place)
{
	bool names = option->meaning == OPK_NCU_METRICS || option->meaning == OPK_NCU_SECTION
	             || option->meaning == OPK_NCU_SET;

	if (option->meaning == OPK_NCU_NOTHING)
		r->drafts->code = opk_fail_at(r->drafts->ctx, place,
		                              "with %s, Nsight Compute collects nothing",
		                              option->name);
	if (!names || r->drafts->code)
		return;
	r->asked = true;
	if (option->replaced)
		r->drafts->code = opk_fail_at(
			r->drafts->ctx, place,
			"'%.200s' has a variable, which only the shell knows: write what it is",
			option->value);
	else if (option->meaning == OPK_NCU_METRICS)
		put_names(r, option->value, place);
	else if (option->meaning == OPK_NCU_SECTION)
		put_section(r, option->value, place);
	else
		put_set(r, option->value, place);
}

/* The end of a word from byte `from` of its text on, with its quotes if these begin after it. */
static char *written_value(const struct reader *r, const struct opk_shell_word *word, size_t from)
{
	const char *text = r->source->text + word->at;

	return from <= word->size && !strncmp(text, word->text, from)
	               ? opk_strndup(text + from, word->size - from)
	               : opk_strdup(word->text + from);
}

/* An option with its value, which is the end of `word` from byte `from` on, or all of a word. */
static void add_option(struct reader *r, const struct opk_ncu_known *known, size_t word,
                       size_t from)
{
	const struct opk_shell_word *value = known->flag ? NULL : &r->words.items[word];
	struct opk_place place = place_of(r, word);
	struct opk_ncu_option *option = opk_append(&r->command->options,
	                                           &r->command->option_capacity,
	                                           &r->command->option_count, sizeof *option);

	if (!option) {
		fail_without_memory(r);
		return;
	}
	option->meaning = known->meaning;
	option->name = opk_printf("--%s", known->name);
	option->value = value ? opk_strdup(value->text + from) : NULL;
	option->written = value ? written_value(r, value, from) : NULL;
	option->replaced = value && value->replaced;
	if (!option->name || (value && (!option->value || !option->written)))
		fail_without_memory(r);
	else
		put_option(r, option, &place);
}

static void refuse_option(struct reader *r, size_t word)
{
	const char *text = r->words.items[word].text, *name = text + strspn(text, "-");
	opk_autofree char *bare = opk_strndup(name, strcspn(name, "="));
	const char *near = bare ? opk_ncu_option_like(bare) : NULL;
	struct opk_place place = place_of(r, word);

	r->drafts->code = opk_fail_at(r->drafts->ctx, &place,
	                              "Nsight Compute has no option '%.200s'" OPK_DID_YOU_MEAN,
	                              text, OPK_NEAR(near));
}

/* Reads the option at this word; returns the number of words that it has. */
static size_t read_option(struct reader *r, size_t word)
{
	const char *text = r->words.items[word].text;
	bool is_long = text[1] == '-';
	size_t size = is_long ? strcspn(text + 2, "=") : 1, from = is_long ? size + 2 : 2;
	const struct opk_ncu_known *known = is_long ? opk_ncu_option_named(text + 2, size)
	                                            : opk_ncu_option_lettered(text[1]);

	if (!known || (known->flag && text[from])) {
		refuse_option(r, word);
		return 1;
	}
	if (known->flag || text[from]) {
		add_option(r, known, word, from + (text[from] == '='));
		return 1;
	}
	if (word + 1 < r->words.count) {
		add_option(r, known, word + 1, 0);
	} else {
		struct opk_place place = place_of(r, word);

		r->drafts->code = opk_fail_at(r->drafts->ctx, &place, "%s needs a value", text);
	}
	return 2;
}

/* Pages and mail make dashes of the '-' that options begin with. */
static void refuse_dash(struct reader *r, size_t word)
{
	static const char en_dash[] = "\xe2\x80\x93", em_dash[] = "\xe2\x80\x94";
	const char *text = word < r->words.count ? r->words.items[word].text : "";
	struct opk_place place;

	if (strncmp(text, en_dash, 3) != 0 && strncmp(text, em_dash, 3) != 0)
		return;
	place = place_of(r, word);
	r->drafts->code = opk_fail_at(r->drafts->ctx, &place,
	                              "'%.200s' begins with a printed dash: options begin with '-'",
	                              text);
}

static void read_options(struct reader *r, size_t tool)
{
	size_t word = tool + 1, first;

	while (!r->drafts->code && word < r->words.count && *r->words.items[word].text == '-'
	       && r->words.items[word].text[1] && strcmp(r->words.items[word].text, "--") != 0)
		word += read_option(r, word);
	if (!r->drafts->code)
		refuse_dash(r, word);
	if (r->drafts->code)
		return;
	word += word < r->words.count && !strcmp(r->words.items[word].text, "--");
	first = opk_first_word(&r->words);
	r->command->before = written(r, first, tool);
	r->command->around = first && strcmp(r->words.items[first - 1].text, "$") != 0
	                             ? opk_strdup(r->words.items[first - 1].text)
	                             : opk_strdup("");
	r->command->program = written(r, word, r->words.count);
	if (!r->command->before || !r->command->around || !r->command->program)
		fail_without_memory(r);
}

/* Without any of these options, Nsight Compute collects its set "basic". */
static void finish(struct reader *r, size_t at)
{
	opk_autowords struct opk_shell_words words = { 0 };
	size_t tool;

	if (!r->drafts->code && !r->asked)
		put_set(r, "basic", NULL);
	while (next_command(r, &words, &tool, &at))
		r->command->further++;
}

void opk_command_import(struct opk_ncu_command *out, struct opk_drafts *drafts,
                        struct opk_source *source)
{
	struct reader r = { .drafts = drafts, .source = source, .command = out };
	size_t tool, at = 0;

	if (next_command(&r, &r.words, &tool, &at)) {
		read_options(&r, tool);
		finish(&r, at);
	} else if (!drafts->code) {
		drafts->code = opk_fail(drafts->ctx, OPK_EINPUT,
		                        "%s: there is no command line of Nsight Compute in it that "
		                        "can be told from the rest: give the part that begins with "
		                        "ncu",
		                        drafts->path);
	}
	opk_shell_words_clear(&r.words);
}

void opk_ncu_command_clear(struct opk_ncu_command *command)
{
	for (size_t i = 0; i < command->option_count; i++) {
		free(command->options[i].name);
		free(command->options[i].value);
		free(command->options[i].written);
	}
	free(command->options);
	free(command->before);
	free(command->around);
	free(command->program);
	*command = (struct opk_ncu_command){ 0 };
}
