/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides a text into commands and words, as a shell does, without replacing anything in them. */
#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/problems.h"
#include "nsight/command.h"

enum { MAX_WORDS = 10000, MAX_NESTED = 32 };

struct shell {
	struct opk_ctx *ctx;
	struct opk_source *source;
	const char *text; /* the source's, which ends with a NUL */
	size_t at, size;
};

static char next(const struct shell *shell, size_t ahead)
{
	return shell->at + ahead < shell->size ? shell->text[shell->at + ahead] : '\0';
}

static int fail_at(const struct shell *shell, size_t byte, const char *what)
{
	struct opk_place place = opk_place_of_byte(shell->source, byte);

	return opk_fail_at(shell->ctx, &place, "%s", what);
}

/* The length of a backslash and the end of line after it, which a shell leaves out; or 0. */
static size_t folded_line(const struct shell *shell)
{
	if (next(shell, 0) != '\\')
		return 0;
	if (next(shell, 1) == '\n')
		return 2;
	return next(shell, 1) == '\r' && next(shell, 2) == '\n' ? 3 : 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct shell *shell)
{
	while (shell->at < shell->size) {
		size_t folded = folded_line(shell);

		if (!folded && !is_blank(next(shell, 0)))
			break;
		shell->at += folded ? folded : 1;
	}
	if (next(shell, 0) == '#')
		while (shell->at < shell->size && next(shell, 0) != '\n')
			shell->at++;
}

/* Whether a command ends here: not at the '&' of "2>&1" or "&>file". */
static bool ends_command(const struct shell *shell)
{
	char c = next(shell, 0);

	if (c == '&')
		return next(shell, 1) != '>' && (!shell->at || shell->text[shell->at - 1] != '>');
	return c == '\n' || c == ';' || c == '|';
}

/* ---- parts of words: each moves after itself */

static int take_single_quotes(struct shell *shell, struct opk_buf *text)
{
	size_t from = shell->at++;

	while (shell->at < shell->size && next(shell, 0) != '\'')
		opk_buf_add(text, shell->text + shell->at++, 1);
	if (shell->at++ >= shell->size)
		return fail_at(shell, from, "this quote is not closed");
	return OPK_OK;
}

/* Moves after "$(...)", "${...}" or "`...`", which a shell would replace. */
static int skip_replaced(struct shell *shell)
{
	size_t from = shell->at;
	char ends[MAX_NESTED];
	size_t depth = 0;

	if (next(shell, 0) == '$')
		shell->at++;
	do {
		char c = next(shell, 0);

		if (shell->at >= shell->size || depth == MAX_NESTED)
			return fail_at(shell, from, "what begins here does not end");
		if (depth && c == ends[depth - 1])
			depth--;
		else if (c == '(' || c == '{' || c == '`')
			ends[depth++] = c == '(' ? ')' : c == '{' ? '}' : '`';
		shell->at++;
	} while (depth);
	return OPK_OK;
}

static int take_replaced(struct shell *shell, struct opk_shell_word *word, struct opk_buf *text)
{
	size_t from = shell->at;
	bool nested = next(shell, 0) == '`' || next(shell, 1) == '(' || next(shell, 1) == '{';

	word->replaced = true;
	if (nested)
		TRY(skip_replaced(shell));
	else
		shell->at++;
	opk_buf_add(text, shell->text + from, shell->at - from);
	return OPK_OK;
}

/* Whether a shell replaces what begins here: "$NAME", "${NAME}", "$(...)", "`...`". */
static bool is_replaced(const struct shell *shell)
{
	char c = next(shell, 0), after = next(shell, 1);

	return c == '`' || (c == '$' && after && (opk_in_name(after) || strchr("({@*#?'", after)));
}

static int take_double_quotes(struct shell *shell, struct opk_shell_word *word,
                              struct opk_buf *text)
{
	size_t from = shell->at++;

	while (shell->at < shell->size && next(shell, 0) != '"') {
		size_t folded = folded_line(shell);

		if (folded) {
			shell->at += folded;
		} else if (is_replaced(shell)) {
			TRY(take_replaced(shell, word, text));
		} else {
			char after = next(shell, 1);

			shell->at += next(shell, 0) == '\\' && after && strchr("\"\\$`", after);
			opk_buf_add(text, shell->text + shell->at++, 1);
		}
	}
	if (shell->at++ >= shell->size)
		return fail_at(shell, from, "this quote is not closed");
	return OPK_OK;
}

static int take_part(struct shell *shell, struct opk_shell_word *word, struct opk_buf *text)
{
	size_t folded = folded_line(shell);
	char c = next(shell, 0);

	if (folded) {
		shell->at += folded;
		return OPK_OK;
	}
	if (c == '\'')
		return take_single_quotes(shell, text);
	if (c == '"')
		return take_double_quotes(shell, word, text);
	if (is_replaced(shell))
		return take_replaced(shell, word, text);
	if ((unsigned char)c < ' ' || c == 127)
		return fail_at(shell, shell->at, "this character is not part of a command line");
	shell->at += c == '\\' && shell->at + 1 < shell->size;
	opk_buf_add(text, shell->text + shell->at++, 1);
	return OPK_OK;
}

static int take_word(struct opk_shell_words *words, struct shell *shell)
{
	struct opk_shell_word *word = words->count < MAX_WORDS ? opk_list_add(words) : NULL;
	opk_autobuf struct opk_buf text = { 0 };

	if (words->count >= MAX_WORDS)
		return fail_at(shell, shell->at, "a command line has fewer words");
	if (!word)
		return opk_nomem(shell->ctx, "a command line");
	word->at = shell->at;
	while (shell->at < shell->size && !is_blank(next(shell, 0)) && !ends_command(shell))
		TRY(take_part(shell, word, &text));
	word->size = shell->at - word->at;
	word->text = opk_buf_take_text(&text);
	return word->text ? OPK_OK : opk_nomem(shell->ctx, "a command line");
}

int opk_shell_words_read(struct opk_shell_words *out, struct opk_ctx *ctx,
                         struct opk_source *source, size_t *at)
{
	struct shell shell = { ctx, source, source->text, *at, source->size };

	for (skip_blanks(&shell); shell.at < shell.size && !ends_command(&shell);
	     skip_blanks(&shell))
		TRY(take_word(out, &shell));
	*at = shell.at + (shell.at < shell.size);
	return OPK_OK;
}

void opk_shell_words_clear(struct opk_shell_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i].text);
	free(words->items);
	*words = (struct opk_shell_words){ 0 };
}
