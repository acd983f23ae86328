/* SPDX-License-Identifier: BSD-2-Clause */
/* Man pages, from the same table as --help. */
#include "commands.h"

/* Escapes troff's special characters; an empty line begins a paragraph. */
static void put_text(const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && *text == '\n') {
			fputs(".PP\n", stdout);
			continue;
		}
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '-' || *text == '\\')
			putchar('\\');
		putchar(*text);
		line_start = *text == '\n';
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
	put_text(spec->help);
}

static void put_exit_codes(void)
{
	fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 usage, 3 NVIDIA library missing or unusable, "
	      "4 bad input file.\n",
	      stdout);
}

static void put_examples(const struct command *command)
{
	fputs(".SH EXAMPLES\n", stdout);
	for (size_t i = 0; i < EXAMPLES && command->examples[i].line; i++) {
		fputs(".TP\noffpeak ", stdout);
		put_text(command->examples[i].line);
		put_text(command->examples[i].what);
	}
}

static void put_command(const struct command *command)
{
	printf(".TH OFFPEAK-%s 1 \"\" \"offpeak %s\"\n.SH NAME\noffpeak\\-%s \\- ", command->name,
	       opk_version(), command->name);
	put_text(command->summary);
	printf(".SH SYNOPSIS\n\\fBoffpeak %s\\fR [OPTIONS] ", command->name);
	put_text(command->synopsis);
	fputs(".SH DESCRIPTION\n", stdout);
	put_text(command->details);
	fputs(".SH OPTIONS\n", stdout);
	for (const struct option_spec *spec = NULL; (spec = app_next_option(command, spec));)
		put_option(spec);
	put_examples(command);
	put_exit_codes();
	fputs(".SH SEE ALSO\n\\fBoffpeak\\fR(1)\n", stdout);
}

static void put_overview(void)
{
	printf(".TH OFFPEAK 1 \"\" \"offpeak %s\"\n.SH NAME\n"
	       "offpeak \\- NVIDIA GPU hardware metrics without a GPU\n"
	       ".SH SYNOPSIS\n\\fBoffpeak\\fR COMMAND [ARGUMENTS]\n.SH COMMANDS\n",
	       opk_version());
	for (const struct command *const *c = commands; *c; c++) {
		printf(".TP\n\\fBoffpeak\\-%s\\fR(1)\n", (*c)->name);
		put_text((*c)->summary);
	}
	put_exit_codes();
	fputs(".SH ENVIRONMENT\n"
	      ".TP\n\\fBOFFPEAK_CUDA\\fR\nfolder of the CUDA toolkit or of its libraries; no other "
	      "place is searched then\n"
	      ".TP\n\\fBOFFPEAK_LIBCUDA\\fR\nthe driver's libcuda.so.1, which CUPTI 13.2 and later want\n"
	      ".TP\n\\fBCUDA_HOME\\fR, \\fBCUDA_PATH\\fR\nsearched before the configured default\n"
	      ".TP\n\\fBVIRTUAL_ENV\\fR, \\fBHOME\\fR\na Python environment, and the home folder, "
	      "where pip may have put NVIDIA's libraries\n"
	      ".TP\n\\fBOFFPEAK_WHEELS\\fR\nfolders, separated by colons, that may hold NVIDIA's wheels, "
	      "as site-packages of a\nPython environment; searched after CUDA_HOME and CUDA_PATH\n"
	      ".TP\n\\fBPATH\\fR\nsearched for nvdisasm, after all other places\n"
	      ".TP\n\\fBOFFPEAK_SETS\\fR\nfolder of metric sets, searched before the shipped ones\n"
	      ".TP\n\\fBXDG_CACHE_HOME\\fR\nholds the cache, in offpeak; else .cache in the home "
	      "folder does\n"
	      ".TP\n\\fBPAGER\\fR\nshows tables on a terminal instead of less; cat: none does\n"
	      ".TP\n\\fBTMPDIR\\fR\nthe folder of temporary files, else /tmp: what is evaluated or copied is there,\n"
	      "8 bytes a value, or images as large as they are when unpacked\n"
	      ".TP\n\\fBCOLUMNS\\fR\nfrom 20 on: the width of tables on a terminal, instead of "
	      "the terminal's, and of what\nshow prints, also in a pipe, where it is 80 otherwise\n"
	      ".TP\n\\fBNO_COLOR\\fR\nwhere it is not empty, headers of tables are not bold\n"
	      ".SH SEE ALSO\n\\fBoffpeak\\-collect\\fR(1), which records on a GPU\n",
	      stdout);
}

void print_manpage(const struct command *command)
{
	if (command)
		put_command(command);
	else
		put_overview();
}
