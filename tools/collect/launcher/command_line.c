/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/launcher/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/shared/nvtx_filter.h"
#include "collect/shared/settings.h"

/* Options without a letter. */
enum {
	RANGE = 1000,
	REPLAY,
	LEVEL,
	SKIP,
	EVERY,
	COUNT,
	MAX_RANGES,
	DEVICE,
	NVTX_INCLUDE,
	INTERVAL,
	MAX_SAMPLES,
	BUFFER,
	BACKEND,
	CUPTI,
	MERGE,
	PUSH,
	BEST_EFFORT,
};

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "range", required_argument, NULL, RANGE },
	{ "replay", required_argument, NULL, REPLAY },
	{ "level", required_argument, NULL, LEVEL },
	{ "push", no_argument, NULL, PUSH },
	{ "kernel", required_argument, NULL, 'k' },
	{ "nvtx-include", required_argument, NULL, NVTX_INCLUDE },
	{ "skip", required_argument, NULL, SKIP },
	{ "every", required_argument, NULL, EVERY },
	{ "count", required_argument, NULL, COUNT },
	{ "max-ranges", required_argument, NULL, MAX_RANGES },
	{ "device", required_argument, NULL, DEVICE },
	{ "interval", required_argument, NULL, INTERVAL },
	{ "max-samples", required_argument, NULL, MAX_SAMPLES },
	{ "buffer", required_argument, NULL, BUFFER },
	{ "backend", required_argument, NULL, BACKEND },
	{ "cupti", required_argument, NULL, CUPTI },
	{ "merge", no_argument, NULL, MERGE },
	{ "best-effort", no_argument, NULL, BEST_EFFORT },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char help[] =
	"usage: offpeak-collect -c SET.opk -o RUN.opk [options] -- APP ARGS...\n\n"
	"Runs a program on a GPU and records the metrics of a set, for each kernel launch, for the\n"
	"program's own ranges, or, with a PM-sampling set, for each time interval.\n\n"
	"  -c, --config FILE      what 'offpeak build' made for this GPU's chip\n"
	"  -o, --output FILE      the recording, one a process; %h is the host, %p the process id,\n"
	"                         %q{NAME} an environment variable. Processes that would share a\n"
	"                         name get their ids behind it\n"
	"      --merge            one file for all processes\n"
	"\n"
	"What a range is, and how a set of several passes is collected:\n"
	"      --range auto       each kernel launch (default)\n"
	"      --range user       NVTX push/pop ranges, or those of offpeak_range.h\n"
	"      --replay auto      none where one pass is enough, else kernel (default)\n"
	"      --replay kernel    the GPU repeats each launch: any number of passes, slow\n"
	"      --replay none      one pass, fast. With a filter, idle time around a short kernel counts\n"
	"                         into elapsed cycles and times; the recording marks such metrics, and\n"
	"                         auto does without it, at 10 to 20 ms a launch\n"
	"      --replay rotate    launches take one-pass groups of the metrics in turn; 'offpeak eval'\n"
	"                         joins those of the same kernel and shape\n"
	"      --replay user      the same with the repetitions of an outermost user range\n"
	"      --replay application  the program runs once for each group, and level of user ranges\n"
	"      --push             push a range around each launch, which records graphs, too; idle time\n"
	"                         around a short kernel counts into elapsed cycles and times\n"
	"      --level N          of nested user ranges record those at level N (default 1)\n"
	"\n"
	"Which ranges:\n"
	"  -k, --kernel REGEX     kernels whose name or symbol matches\n"
	"      --nvtx-include R   launches and ranges in the NVTX ranges [DOMAIN@]A/B/: B right inside\n"
	"                         A; '*' any number of ranges, '[' outermost, ']' innermost; may repeat\n"
	"      --skip N           leave out the first N launches of those\n"
	"      --every N          then take one in N\n"
	"      --count N          look at N launches behind those left out, and at no later one\n"
	"      --max-ranges N     no more than N\n"
	"      --device N|all     on that device\n"
	"\n"
	"PM sampling:\n"
	"      --interval TIME    between samples: 10us (default), 500ns, 1ms\n"
	"      --max-samples N    stop after about N samples\n"
	"      --buffer SIZE      the hardware's buffer: 512M, 2G\n"
	"\n"
	"      --backend NAME     range (default) or legacy: CUPTI's older interface\n"
	"      --cupti FILE       this libcupti\n"
	"      --best-effort      run the program even where nothing can be recorded\n"
	"  -v, --verbose          tell on stderr what was done\n"
	"  -h, --help  --version\n"
	"\nThe program's output, exit code and signals are its own.\n";

int launcher_fail(int code, const char *format, ...)
{
	va_list args;

	fputs("offpeak-collect: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

/* A number and one of the suffixes, which multiply it; false for anything else. */
static bool parse(uint64_t *out, const char *text, const char *const *suffixes,
                  const uint64_t *factors)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	for (size_t i = 0; suffixes[i]; i++)
		if (!strcmp(end, suffixes[i]) && number <= UINT64_MAX / factors[i]) {
			*out = number * factors[i];
			return true;
		}
	return false;
}

static bool parse_count(uint64_t *out, const char *text)
{
	return parse(out, text, (const char *const[]){ "", NULL }, (const uint64_t[]){ 1 });
}

static bool parse_positive(uint64_t *out, const char *text)
{
	return parse_count(out, text) && *out;
}

static bool parse_time(uint64_t *out, const char *text)
{
	return parse(out, text, (const char *const[]){ "ns", "us", "ms", "s", NULL },
	             (const uint64_t[]){ 1, 1000, 1000000, 1000000000 })
	       && *out;
}

static bool parse_size(uint64_t *out, const char *text)
{
	return parse(out, text, (const char *const[]){ "", "K", "M", "G", NULL },
	             (const uint64_t[]){ 1, 1 << 10, 1 << 20, 1 << 30 })
	       && *out;
}

static bool parse_device(uint64_t *out, const char *text)
{
	*out = UINT64_MAX;
	return !strcmp(text, "all") || (parse_count(out, text) && *out <= INT32_MAX);
}

/* Options that the library gets as numbers. */
static const struct {
	int option;
	bool (*parse)(uint64_t *out, const char *text);
	const char *variable, *form;
} numbers[] = {
	{ SKIP, parse_count, SETTING_SKIP, "a number" },
	{ EVERY, parse_positive, SETTING_EVERY, "a number from 1" },
	{ COUNT, parse_count, SETTING_COUNT, "a number" },
	{ MAX_RANGES, parse_count, SETTING_MAX_RANGES, "a number" },
	{ LEVEL, parse_positive, SETTING_LEVEL, "a number from 1" },
	{ MAX_SAMPLES, parse_count, SETTING_MAX_SAMPLES, "a number" },
	{ DEVICE, parse_device, SETTING_DEVICE, "a device's number, or all" },
	{ INTERVAL, parse_time, SETTING_INTERVAL, "a time such as 10us, 500ns, 1ms" },
	{ BUFFER, parse_size, SETTING_BUFFER, "a size such as 512M or 2G" },
};

static const char *name_of(int option)
{
	const struct option *found = options;

	while (found->val != option)
		found++;
	return found->name;
}

static int hand_over_number(int option, const char *text)
{
	char number[32];
	uint64_t value;
	size_t i = 0;

	while (numbers[i].option != option)
		i++;
	if (!numbers[i].parse(&value, text))
		return launcher_fail(OPK_EUSAGE, "%s: '%s' is not %s", name_of(option), text,
		                     numbers[i].form);
	snprintf(number, sizeof number, "%" PRIu64, value);
	/* All devices is what the library does without the variable. */
	if (value == UINT64_MAX)
		unsetenv(numbers[i].variable);
	else
		setenv(numbers[i].variable, number, 1);
	return OPK_OK;
}

static int hand_over_kernel(const char *text)
{
	regex_t regex;

	if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB))
		return launcher_fail(OPK_EUSAGE, "--kernel '%s' is no regular expression", text);
	regfree(&regex);
	setenv(SETTING_KERNEL, text, 1);
	return OPK_OK;
}

/* Several add up, one a line. */
static int hand_over_include(const char *text)
{
	const char *before = getenv(SETTING_NVTX_INCLUDE);
	struct nvtx_filter *filter = nvtx_filter_new(text);
	bool good = filter && !strchr(text, '\n');
	char *all;

	nvtx_filter_free(filter);
	if (!good)
		return launcher_fail(OPK_EUSAGE,
		                     "--nvtx-include '%s' is not of the form [DOMAIN@]RANGE/RANGE/",
		                     text);
	if (asprintf(&all, "%s%s%s", before ? before : "", before ? "\n" : "", text) < 0)
		return launcher_fail(OPK_EFAILED, "out of memory");
	setenv(SETTING_NVTX_INCLUDE, all, 1);
	free(all);
	return OPK_OK;
}

static int hand_over_backend(const char *text)
{
	if (strcmp(text, "range") && strcmp(text, "legacy"))
		return launcher_fail(OPK_EUSAGE, "--backend is range or legacy");
	if (!strcmp(text, "legacy"))
		setenv(SETTING_LEGACY, "1", 1);
	return OPK_OK;
}

static void print_and_exit(bool version)
{
	if (version)
		printf("offpeak-collect %s\n", opk_version());
	else
		fputs(help, stdout);
	exit(fflush(stdout) ? OPK_EFAILED : OPK_OK);
}

static int take(struct request *request, int option)
{
	switch (option) {
	case 'h':
	case 'V':
		print_and_exit(option == 'V');
		return OPK_OK;
	case 'c':
		request->set = optarg;
		return OPK_OK;
	case 'o':
		request->output = optarg;
		return OPK_OK;
	case RANGE:
		request->range = optarg;
		return OPK_OK;
	case REPLAY:
		request->replay = optarg;
		return OPK_OK;
	case PUSH:
		request->push = true;
		setenv(SETTING_PUSH, "1", 1);
		return OPK_OK;
	case MERGE:
		request->merge = true;
		return OPK_OK;
	case BEST_EFFORT:
		request->best_effort = true;
		return OPK_OK;
	case 'v':
		request->verbose = true;
		setenv(SETTING_VERBOSE, "1", 1);
		return OPK_OK;
	case 'k':
		return hand_over_kernel(optarg);
	case NVTX_INCLUDE:
		return hand_over_include(optarg);
	case CUPTI:
		setenv(SETTING_CUPTI, optarg, 1);
		return OPK_OK;
	case BACKEND:
		return hand_over_backend(optarg);
	default:
		request->has_level |= option == LEVEL;
		return hand_over_number(option, optarg);
	}
}

/* What an outer offpeak-collect, or a careless shell, left in the environment. */
static void clear_settings(void)
{
	static const char *const variables[] = {
		SETTING_KERNEL, SETTING_NVTX_INCLUDE, SETTING_SKIP,   SETTING_EVERY,
		SETTING_COUNT,  SETTING_MAX_RANGES,   SETTING_LEVEL,  SETTING_MAX_SAMPLES,
		SETTING_DEVICE, SETTING_INTERVAL,     SETTING_BUFFER, SETTING_CUPTI,
		SETTING_LEGACY, SETTING_VERBOSE,      SETTING_GROUP,  SETTING_TIGHT,
		SETTING_PUSH,   SETTING_APPLICATION,
	};

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
}

int options_read(struct request *request, int argc, char **argv)
{
	int found, code = OPK_OK;

	*request = (struct request){ .range = "auto", .replay = "auto" };
	clear_settings();
	while (!code && (found = getopt_long(argc, argv, "+:c:o:k:vh", options, NULL)) != -1) {
		if (found == '?' || found == ':')
			return launcher_fail(
				OPK_EUSAGE,
				"unknown option or missing value: %s; --help lists them",
				argv[optind - 1]);
		code = take(request, found);
	}
	if (!code && (!request->set || !request->output || optind >= argc))
		return launcher_fail(OPK_EUSAGE, "-c SET.opk, -o RUN.opk and a program are needed; "
		                                 "--help tells more");
	request->program = argv + optind;
	return code;
}
