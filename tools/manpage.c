/* SPDX-License-Identifier: BSD-2-Clause */
/* Man pages, from the same table as --help. */
#include "commands.h"

#include <ctype.h>
#include <string.h>

enum { LINE = 74 };

/* The bytes up to the next blank. */
static int word_length(const char *text)
{
	return (int)strcspn(text, " \n");
}

/*
 * Escapes troff's special characters; an empty line begins a paragraph. Lines
 * are short, so that the page can be read as it is, too; the first has `column` bytes already.
 */
static void put_text(const char *text, int column)
{
	for (; *text; text++) {
		bool begins = column == 0, ends;

		if (begins && *text == '\n') {
			fputs(".PP\n", stdout);
			continue;
		}
		if (begins && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '-' || *text == '\\')
			putchar('\\');
		ends = *text == '\n'
		       || (*text == ' ' && !begins && text[1] != ' '
		           && column + word_length(text + 1) >= LINE);
		putchar(ends ? '\n' : *text);
		column = ends ? 0 : column + 1;
	}
	putchar('\n');
}

static void put_option(const struct option_spec *spec)
{
	fputs(".TP\n", stdout);
	if (spec->letter)
		printf("\\fB\\-%c\\fR, ", spec->letter);
	fputs("\\fB\\-\\-", stdout);
	for (const char *c = spec->name; *c; c++)
		printf("%s%c", *c == '-' ? "\\" : "", *c);
	printf("\\fR%s%s\n", spec->argument ? " " : "", spec->argument ? spec->argument : "");
	put_text(spec->help, 0);
}

static void put_exit_codes(void)
{
	fputs(".SH EXIT STATUS\n", stdout);
	put_text("0 done, 1 failed, 2 usage, 3 NVIDIA library missing or unusable, 4 bad input "
	         "file.",
	         0);
}

static void put_examples(const struct command *command)
{
	fputs(".SH EXAMPLES\n", stdout);
	for (size_t i = 0; i < EXAMPLES && command->examples[i].line; i++) {
		fputs(".TP\noffpeak ", stdout);
		put_text(command->examples[i].line, 8);
		put_text(command->examples[i].what, 0);
	}
}

static void put_command(const struct command *command)
{
	fputs(".TH OFFPEAK-", stdout);
	for (const char *c = command->name; *c; c++)
		putchar(toupper((unsigned char)*c));
	printf(" 1 " OPK_SOURCE_DATE " \"offpeak %s\"\n.SH NAME\noffpeak\\-%s \\- ", opk_version(),
	       command->name);
	put_text(command->summary, LINE / 3);
	printf(".SH SYNOPSIS\n\\fBoffpeak %s\\fR [OPTIONS]%s", command->name,
	       *command->synopsis ? " " : "");
	put_text(command->synopsis, LINE / 2);
	fputs(".SH DESCRIPTION\n", stdout);
	put_text(command->details, 0);
	fputs(".SH OPTIONS\n", stdout);
	for (const struct option_spec *spec = NULL; (spec = app_next_option(command, spec));)
		put_option(spec);
	put_examples(command);
	put_exit_codes();
	fputs(".SH SEE ALSO\n\\fBoffpeak\\fR(1)\n", stdout);
}

static const struct {
	const char *name, *other, *what;
} variables[] = {
	{ "OFFPEAK_CUDA", NULL,
	  "folder of the CUDA toolkit or of its libraries; no other place is searched then" },
	{ "OFFPEAK_LIBCUDA", NULL, "the driver's libcuda.so.1, which CUPTI 13.2 and later want" },
	{ "CUDA_HOME", "CUDA_PATH", "searched before the configured default" },
	{ "VIRTUAL_ENV", "HOME",
	  "a Python environment, and the home folder, where pip may have put NVIDIA's libraries" },
	{ "OFFPEAK_WHEELS", NULL,
	  "folders, separated by colons, that may hold NVIDIA's wheels, as site-packages of a "
	  "Python environment; searched after CUDA_HOME and CUDA_PATH" },
	{ "PATH", NULL, "searched for nvdisasm, after all other places" },
	{ "OFFPEAK_SETS", NULL, "folder of metric sets, searched before the shipped ones" },
	{ "XDG_CACHE_HOME", NULL,
	  "holds the cache, in offpeak; else .cache in the home folder does" },
	{ "PAGER", NULL, "shows tables on a terminal instead of less; cat: none does" },
	{ "TMPDIR", NULL,
	  "the folder of temporary files, else /tmp: what is evaluated or copied is there, 8 bytes "
	  "a value, or images as large as they are when unpacked" },
	{ "COLUMNS", NULL,
	  "from 20 on: the width of tables on a terminal, instead of the terminal's, and of what "
	  "show prints, also in a pipe, where it is 80 otherwise" },
	{ "NO_COLOR", NULL, "where it is not empty, headers of tables are not bold" },
};

static void put_overview(void)
{
	printf(".TH OFFPEAK 1 " OPK_SOURCE_DATE " \"offpeak %s\"\n.SH NAME\n"
	       "offpeak \\- NVIDIA GPU hardware metrics without a GPU\n"
	       ".SH SYNOPSIS\n\\fBoffpeak\\fR COMMAND [ARGUMENTS]\n.SH COMMANDS\n",
	       opk_version());
	for (const struct command *const *c = commands; *c; c++) {
		printf(".TP\n\\fBoffpeak\\-%s\\fR(1)\n", (*c)->name);
		put_text((*c)->summary, 0);
	}
	put_exit_codes();
	fputs(".SH ENVIRONMENT\n", stdout);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		printf(".TP\n\\fB%s\\fR%s%s%s\n", variables[i].name,
		       variables[i].other ? ", \\fB" : "",
		       variables[i].other ? variables[i].other : "",
		       variables[i].other ? "\\fR" : "");
		put_text(variables[i].what, 0);
	}
	fputs(".SH SEE ALSO\n\\fBoffpeak\\-collect\\fR(1), which records on a GPU\n", stdout);
}

void print_manpage(const struct command *command)
{
	if (command)
		put_command(command);
	else
		put_overview();
}
