/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a command line of Nsight Compute begins; command lines of other tools. */
#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/problems.h"
#include "nsight/command.h"

/* ---- the tool */

/* "ncu" as "ncu", "/usr/local/cuda/bin/ncu" or "ncu.exe". */
static bool is_named(const char *word, size_t size, const char *tool)
{
	size_t from = size;

	while (from && !strchr("/\\", word[from - 1]))
		from--;
	word += from;
	size -= from;
	if (size > 4 && !strncasecmp(word + size - 4, ".exe", 4))
		size -= 4;
	return strlen(tool) == size && !strncmp(word, tool, size);
}

/* Also by the name before 2020. */
static bool is_tool(const char *word, size_t size)
{
	/* "-v /opt/ncu:/ncu" and "PATH=/opt/ncu" are other things; "C:\\ncu.exe" is not. */
	if (memchr(word, '=', size) || (size > 2 && memchr(word + 2, ':', size - 2)))
		return false;
	return is_named(word, size, "ncu") || is_named(word, size, "nv-nsight-cu-cli");
}

bool opk_has_ncu_command(const char *text, size_t size)
{
	for (size_t at = 0, end; at < size; at = end + (end == at)) {
		for (end = at; end < size && text[end] && !strchr(" \t\r\n;&|'\"`(", text[end]);)
			end++;
		if (end > at && is_tool(text + at, end - at))
			return true;
		if (end > at && text[at] == '#')
			while (end < size && text[end] != '\n')
				end++;
	}
	return false;
}

/* Whether a command that begins with this word may be there for another one, which follows. */
static bool is_prefix(const char *word)
{
	static const char *const prefixes[] = {
		"sudo",    "env",     "time",    "nohup",  "exec",      "srun",        "mpirun",
		"mpiexec", "jsrun",   "docker",  "podman", "apptainer", "singularity", "numactl",
		"taskset", "timeout", "ssh",     "nice",   "ionice",    "stdbuf",      "setsid",
		"salloc",  "aprun",   "kubectl", "conda",  "xvfb-run",  "doas",        "flux",
	};

	return strchr(word, '=')
	       || opk_texts_contain(prefixes, sizeof prefixes / sizeof *prefixes, word);
}

size_t opk_first_word(const struct opk_shell_words *words)
{
	static const char *const others[] = { "$",     "do",    "then", "else", "elif",
		                              "while", "until", "if",   "{",    "!" };
	size_t i = 0;

	while (i < words->count
	       && opk_texts_contain(others, sizeof others / sizeof *others, words->items[i].text))
		i++;
	return i;
}

/* Whether the next word may be the value of this one: of "-w", but not of "-E" or "-n4". */
static bool takes_next(const char *word)
{
	static const char *const flags[] = { "E", "preserve-env", "" };
	size_t size = strlen(word);

	return *word == '-' && !strchr(word, '=')
	       && !opk_texts_contain(flags, sizeof flags / sizeof *flags, word + strspn(word, "-"))
	       && (word[1] == '-' || !opk_is_digit(word[size - 1]));
}

size_t opk_find_ncu(const struct opk_shell_words *words)
{
	static const char *const others[] = { "echo", "which", "type", "man", "alias", "module" };
	size_t count = words->count, first = opk_first_word(words);
	size_t tools = 0, last = count, sure = count;
	int skipped = 0; /* 1: a path, likely an option's value; 2: what may be the tool */

	if (first == count
	    || opk_texts_contain(others, sizeof others / sizeof *others, words->items[first].text))
		return count;
	for (size_t i = first; i < count; i++) {
		const char *next = i + 1 < count ? words->items[i + 1].text : "";
		const char *word = words->items[i].text;
		bool bare = !strpbrk(word, "/\\"), value;

		if (!is_tool(word, strlen(word))
		    || (i > first && *next != '-' && !is_prefix(words->items[first].text)))
			continue;
		if (i == first)
			return i;
		/* "-w /src/ncu IMAGE ncu": it is the second; "-x ncu ./ncu": either. */
		value = takes_next(words->items[i - 1].text);
		if (sure == count && !value && skipped <= bare)
			sure = i;
		else if (sure == count)
			skipped = value && !bare && skipped < 2 ? 1 : 2;
		last = i;
		tools++;
	}
	return tools == 1 ? last : sure;
}

/* ---- other tools */

static bool is_nsys(const char *word)
{
	return is_named(word, strlen(word), "nsys") || is_named(word, strlen(word), "nsight-sys");
}

/* Whether it asks for samples of GPU metrics of a device. */
static bool has_samples(const struct opk_shell_words *words)
{
	static const char option[] = "gpu-metrics-device";

	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i].text, *value = strchr(word, '=');
		const char *next = i + 1 < words->count ? words->items[i + 1].text : "";

		if (strspn(word, "-") == 2 && !strncmp(word + 2, option, strlen(option)))
			return strcmp(value ? value + 1 : next, "none") != 0;
	}
	return false;
}

/* The metrics or events that a command line of nvprof names; NULL: none. */
static const char *names_for_nvprof(const struct opk_shell_words *words)
{
	static const char *const options[] = { "metrics", "events", "m", "e" };

	for (size_t i = 0; i + 1 < words->count; i++) {
		const char *word = words->items[i].text;

		if (*word == '-'
		    && opk_texts_contain(options, sizeof options / sizeof *options,
		                         word + strspn(word, "-")))
			return words->items[i + 1].text;
	}
	return NULL;
}

static int fail_nvprof(struct opk_ctx *ctx, const struct opk_place *place, const char *names)
{
	if (names)
		return opk_fail_at(ctx, place,
		                   "this is a command line of nvprof, not of Nsight Compute: build "
		                   "takes nvprof's names, '%.200s', in the place of a set",
		                   names);
	return opk_advise(ctx,
	                  opk_fail_at(ctx, place,
	                              "this is a command line of nvprof, not of Nsight Compute: it "
	                              "asks what runs when, and needs no metric set"),
	                  OPK_REMEDY_TRACE);
}

static int fail_nsys(struct opk_ctx *ctx, const struct opk_place *place, bool samples)
{
	return opk_advise(
		ctx,
		opk_fail_at(
			ctx, place,
			"this is a command line of Nsight Systems, not of Nsight Compute: it "
			"asks %swhat runs when, %s needs no metric set",
			samples ? "for samples of GPU metrics, for which a set such as pm-overview "
				  "is built and given to offpeak-collect, and "
				: "",
			samples ? "which" : "and"),
		OPK_REMEDY_TRACE);
}

/* The tool that a command starts; NULL: neither of these. */
static const struct opk_shell_word *find_other(const struct opk_shell_words *words, bool *nsys)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i].text;

		*nsys = is_nsys(word);
		if (*nsys || is_named(word, strlen(word), "nvprof"))
			return &words->items[i];
		/* Words before the tool: "sudo -E", "VARIABLE=1". */
		if (i == opk_first_word(words) && !is_prefix(word))
			return NULL;
	}
	return NULL;
}

int opk_check_other_tools(struct opk_ctx *ctx, struct opk_source *source)
{
	opk_autowords struct opk_shell_words words = { 0 };
	const struct opk_shell_word *tool;
	struct opk_errors_mark mark;
	struct opk_place place;
	size_t at = 0;
	bool nsys;
	int code;

	/* What a shell could not read may still be a list of names. */
	opk_errors_mark(&mark, ctx);
	code = opk_shell_words_read(&words, ctx, source, &at);
	opk_errors_rewind(ctx, &mark);
	tool = code ? NULL : find_other(&words, &nsys);
	if (code == OPK_ENOMEM)
		return opk_nomem(ctx, "a command line");
	if (!tool)
		return OPK_OK;
	place = opk_place_of_byte(source, tool->at);
	return nsys ? fail_nsys(ctx, &place, has_samples(&words))
	            : fail_nvprof(ctx, &place, names_for_nvprof(&words));
}
