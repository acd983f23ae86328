/* SPDX-License-Identifier: BSD-2-Clause */
/* The help, made from the table of settings: one page, all about an option, or everything. */
#include "collect/launcher/launcher.h"

static const char usage[] =
	"usage: offpeak-collect -c SET.opk -o RUN.opk [options] -- APP ARGS...  each kernel launch\n"
	"       offpeak-collect -c PM.opk --trace kernels -o RUN.opk -- APP     samples, what ran\n"
	"       offpeak-collect -c SET.opk --range user -o RUN.opk -- APP       its own ranges\n"
	"       offpeak-collect --watch -c PM.opk --duration 60s -o RUN.opk     GPUs that run\n"
	"       offpeak-collect --watch -c PM.opk --keep 30s -o RUN.opk         a flight recorder\n";

static const char further[] =
	"       offpeak-collect --source pc -o RUN.opk [options] -- APP ARGS...\n"
	"       offpeak-collect --trace kernels|all|api -o RUN.opk [options] -- APP ARGS...\n"
	"       offpeak-collect --dump RUN.opk\n"
	"       offpeak-collect --probe -o GPU.opk [--device N] [--wait SECONDS]\n\n"
	"Runs a program on a GPU, or watches GPUs, and records the metrics of a set: for each kernel\n"
	"launch, for the program's own ranges, for each time interval, or for each instruction, as\n"
	"the set's profiler says; or which kernels ran, and when.\n";

static const char end_of_page[] =
	"\n--help OPTION says all about an option, --help all, or man offpeak-collect, everything.\n";

static const char end_of_all[] =
	"  -h, --help [OPTION|all]  --version\n"
	"\nThe program's output, exit code and signals are its own. Where nothing was recorded,\n"
	"the exit code says so: 3 without a driver or a usable libcupti, else 1, such as after\n"
	"a program that launched nothing. With --best-effort it is the program's all the same.\n";

/* Headings above options. */
static const char *const headings[SETTINGS_TOTAL] = {
	[SETTING_SET] = "What is recorded:",
	[SETTING_KERNEL] = "Which launches and ranges:",
	[SETTING_WATCH] = "A GPU that already runs:",
	[SETTING_OUTPUT] = "Output:",
	[SETTING_WAIT] = "GPU and CUPTI:",
};

/* Prints an option with the first line of its help, or with all of it, words at its left. */
static void print_option(const struct setting *row, bool whole)
{
	const char letter[] = { '-', row->letter, ',', '\0' };
	const char *line = row->help;
	char left[64];

	snprintf(left, sizeof left, "  %s --%s%s%s", row->letter ? letter : "   ", row->name,
	         row->uses & OPTIONAL ? "=" : " ", row->argument ? row->argument : "");
	do {
		size_t length = strcspn(line, "\n"), word = strcspn(line, "\t\n");

		if (word < length) {
			snprintf(left, sizeof left, "          %.*s", (int)word, line);
			line += word + 1;
			length -= word + 1;
		}
		printf("%-25s  %.*s\n", left, (int)length, line);
		*left = '\0';
		line += length;
	} while (*line++ && whole);
}

/* The page names some options at the end of their subject, which the setting before `end` has. */
static void print_rare(size_t end)
{
	size_t first = end, count = 0;

	while (first && !headings[--first])
		;
	for (; first < end; first++)
		if (settings_table[first].uses & RARE)
			printf("%s --%s", count++ ? "" : "      and", settings_table[first].name);
	if (count)
		putchar('\n');
}

/* The page, or the whole help. */
static int print(bool whole)
{
	fputs(usage, stdout);
	fputs(whole ? further : "", stdout);
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const struct setting *row = &settings_table[i];

		if (headings[i] && !whole)
			print_rare(i);
		if (headings[i])
			printf("\n%s\n", headings[i]);
		if (row->help && (whole || !(row->uses & RARE)))
			print_option(row, whole);
	}
	if (!whole)
		print_rare(SETTINGS_TOTAL);
	fputs(whole ? end_of_all : end_of_page, stdout);
	return OPK_OK;
}

int help_print(const char *topic)
{
	const char *name = topic ? topic + strspn(topic, "-") : "";
	opk_autofree char *meant = NULL;

	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings_table[i].help && !strcmp(settings_table[i].name, name)) {
			print_option(&settings_table[i], true);
			return OPK_OK;
		}
	/* Other options may follow. */
	if (!topic || *topic == '-' || !strcmp(name, "all"))
		return print(!strcmp(name, "all"));
	meant = option_meant(name);
	return say(OPK_EUSAGE, "--help %s: no such option" OPK_DID_YOU_MEAN "; --help lists them",
	           topic, OPK_NEAR(meant));
}
