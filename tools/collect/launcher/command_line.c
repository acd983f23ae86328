/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, made from the table of settings. */
#include "collect/launcher/launcher.h"

#include <getopt.h>

/* getopt_long() returns for a long option this plus its index in the table. */
enum { FIRST = 1000, NVTX = FIRST + SETTINGS_TOTAL };

/* Fills the tables for getopt_long(); the letters begin as its manual says. */
static void list_options(struct option options[SETTINGS_TOTAL + 4], char *letters)
{
	letters += sprintf(letters, "+:h");
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const struct setting *row = &settings_table[i];

		if (!row->help)
			continue;
		*options++ = (struct option){ row->name,
			                      row->uses & OPTIONAL ? optional_argument
			                      : row->argument      ? required_argument
			                                           : no_argument,
			                      NULL, FIRST + (int)i };
		if (row->letter)
			letters += sprintf(letters, "%c%s", row->letter, row->argument ? ":" : "");
	}
	/* Without this, it would abbreviate --nvtx-include, and take the next word as its value. */
	*options++ = (struct option){ "nvtx", no_argument, NULL, NVTX };
	*options++ = (struct option){ "help", optional_argument, NULL, 'h' };
	*options++ = (struct option){ "version", no_argument, NULL, 'V' };
	*options = (struct option){ 0 };
}

/* Prints what is asked for. `next`: the word after the option, or NULL. */
static int answer(int option, const char *next)
{
	if (option == 'h')
		TRY(help_print(optarg ? optarg : next));
	else
		printf("offpeak-collect %s\n", opk_version());
	return fflush(stdout) ? OPK_EFAILED : OPK_OK;
}

static int take(struct settings *settings, struct opk_strlist *sets, int option)
{
	const char *problem;
	size_t id = 0;

	if (option == NVTX)
		return say(
			OPK_EUSAGE,
			"--nvtx is not needed: --nvtx-include RANGE/ alone chooses by NVTX ranges, "
			"and --range user records them");
	while (FIRST + (int)id != option && settings_table[id].letter != option)
		id++;
	problem = settings_take(settings, (enum setting_id)id,
	                        optarg                               ? optarg
	                        : settings_table[id].uses & OPTIONAL ? "whole"
	                                                             : "1");
	if (problem)
		return say(OPK_EUSAGE, "%s", problem);
	return id != SETTING_SET || opk_strlist_add(sets, optarg)
	               ? OPK_OK
	               : say(OPK_EFAILED, "out of memory");
}

/* Names in other profilers for options that are called otherwise here; NULL: no counterpart. */
static const struct {
	const char *theirs, *ours;
} others[] = {
	{ "set", "-c SET.opk" },
	{ "metrics", "-c SET.opk" },
	{ "section", "-c SET.opk" },
	{ "events", "-c SET.opk" },
	{ "export", "-o" },
	{ "kernel-name", "--kernel" },
	{ "kernel-id", "--kernel" },
	{ "launch-skip", "--skip" },
	{ "launch-count", "--count" },
	{ "replay-mode", "--replay" },
	{ "print-gpu-trace", "--trace kernels" },
	{ "page", NULL },
};

char *option_meant(const char *word)
{
	opk_autofree char *name = opk_strndup(word, strcspn(word, "="));
	struct opk_nearest nearest = { .name = name };

	for (size_t i = 0; name && i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i].theirs))
			return others[i].ours ? opk_strdup(others[i].ours) : NULL;
	for (size_t i = 0; name && i < SETTINGS_TOTAL; i++)
		if (settings_table[i].help)
			opk_nearest_try(&nearest, settings_table[i].name);
	return nearest.best ? opk_printf("--%s", nearest.best) : NULL;
}

/* Names an unknown letter by itself: the word may contain several. */
static int refuse_option(int found, const char *word)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	opk_autofree char *meant = NULL;

	if (found == ':')
		return say(OPK_EUSAGE, "%s needs a value; --help says which", word);
	if (optopt >= FIRST || optopt == 'h' || optopt == 'V')
		return say(OPK_EUSAGE, "%s: this option has no value", word);
	if (optopt)
		return say(OPK_EUSAGE, "unknown option %s; --help lists them", letter);
	meant = option_meant(word + 2);
	return say(OPK_EUSAGE, "unknown option %s" OPK_DID_YOU_MEAN "; --help lists them", word,
	           OPK_NEAR(meant));
}

/* A probe takes fewer options. */
static int check_probe(const struct settings *settings, const char *program)
{
	static const bool used[SETTINGS_TOTAL] = {
		[SETTING_PROBE] = true, [SETTING_OUTPUT] = true,  [SETTING_DEVICE] = true,
		[SETTING_CUPTI] = true, [SETTING_VERBOSE] = true, [SETTING_WAIT] = true,
		[SETTING_FORCE] = true,
	};

	for (size_t i = 0; i < SETTINGS_TOTAL; i++)
		if (settings->given[i] && !used[i])
			return say(OPK_EUSAGE, "--%s does nothing with --probe",
			           settings_table[i].name);
	if (program)
		return say(OPK_EUSAGE, "--probe runs no program: %s", program);
	if (!settings->output)
		return say(OPK_EUSAGE, "--probe needs -o GPU.opk");
	return OPK_OK;
}

/* The files of a flight recorder have an eighth of its time each, so that old ones can go. */
static void divide_kept(struct settings *settings)
{
	enum { FILES = 8, LEAST_MS = 1000, MS_NS = 1000000 };
	uint64_t ms = settings->keep_ns / FILES / MS_NS;
	char text[32];

	ms = ms < LEAST_MS ? LEAST_MS : ms;
	settings->rotate_ns = ms * MS_NS;
	snprintf(text, sizeof text, "%" PRIu64 "ms", ms);
	settings_export(SETTING_ROTATE_FILES, text);
}

static int check_watch(struct settings *settings, const char *program)
{
	if (settings->keep_ns && settings->rotate_ns)
		return say(OPK_EUSAGE,
		           "--keep or --rotate-files, not both: a recorder or an archive");
	if (program)
		return say(OPK_EUSAGE, "--watch runs no program: %s", program);
	if (settings->cache || settings->best_effort)
		return say(OPK_EUSAGE, "--%s is for programs, and --watch runs none",
		           settings->cache ? "cache" : "best-effort");
	if (settings->trace || settings->capture_range || settings->source)
		return say(OPK_EUSAGE, "--watch samples by a PM-sampling set alone");
	if (!settings->set_path || !settings->output)
		return say(OPK_EUSAGE,
		           "--watch needs a PM-sampling set, -c SET.opk, and -o RUN.opk; "
		           "--help says more");
	if (settings->keep_ns)
		divide_kept(settings);
	return OPK_OK;
}

static int check_uncached(const struct settings *settings)
{
	static const enum setting_id needing[] = { SETTING_CACHE_ENV, SETTING_CACHE_INPUT,
		                                   SETTING_CACHE_LIMIT, SETTING_CACHE_VERIFY };

	for (size_t i = 0; i < sizeof needing / sizeof *needing; i++)
		if (settings->given[needing[i]])
			return say(OPK_EUSAGE, "--%s does nothing without --cache DIR",
			           settings_table[needing[i]].name);
	return OPK_OK;
}

static int check_complete(const struct settings *settings, const char *program)
{
	bool records = settings->set_path || settings->trace || settings->source == SOURCE_PC;
	const char *missing[] = {
		records ? NULL : "what to record (-c SET.opk, --trace or --source pc)",
		settings->output ? NULL : "the recording's file (-o RUN.opk)",
		program ? NULL : "the program (-- APP ARGS)",
	};
	char text[160] = "";

	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (missing[i])
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
			         *text ? ", and " : "", missing[i]);
	return *text ? say(OPK_EUSAGE, "missing: %s; --help says more", text) : OPK_OK;
}

int command_line_read(struct settings *settings, struct opk_strlist *sets, char ***program,
                      int argc, char **argv)
{
	struct option options[SETTINGS_TOTAL + 4];
	char letters[2 * SETTINGS_TOTAL + 4];
	int found;

	*program = NULL;
	list_options(options, letters);
	settings_begin(settings);
	while ((found = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (found == '?' || found == ':')
			return refuse_option(found, argv[optind - 1]);
		if (found == 'h' || found == 'V')
			return answer(found, argv[optind]);
		TRY(take(settings, sets, found));
	}
	*program = argv + optind;
	if (settings->probe)
		return check_probe(settings, **program);
	if (settings->dump)
		return **program ? say(OPK_EUSAGE, "--dump runs no program: %s", **program)
		                 : OPK_OK;
	if (settings->watch) {
		TRY(check_watch(settings, **program));
		*program = watch_program;
	}
	if (!settings->cache)
		TRY(check_uncached(settings));
	return check_complete(settings, **program);
}
