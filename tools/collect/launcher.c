/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak-collect: checks what can be checked, then runs a program with the library in it. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/parts.h"
#include "collect/precheck.h"
#include "collect/settings.h"

enum { BEST_EFFORT = 1000 };

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "output", required_argument, NULL, 'o' },
	{ "mode", required_argument, NULL, 'm' },
	{ "kernel", required_argument, NULL, 'k' },
	{ "skip", required_argument, NULL, 's' },
	{ "count", required_argument, NULL, 'n' },
	{ "every", required_argument, NULL, 'e' },
	{ "max-ranges", required_argument, NULL, 'r' },
	{ "cupti", required_argument, NULL, 'C' },
	{ "best-effort", no_argument, NULL, BEST_EFFORT },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* Options that are handed to the library as they are. */
static const struct {
	int option;
	const char *variable;
} variables[] = {
	{ 'k', SETTING_KERNEL },     { 's', SETTING_SKIP },  { 'n', SETTING_COUNT },
	{ 'e', SETTING_EVERY },      { 'C', SETTING_CUPTI }, { 'v', SETTING_VERBOSE },
	{ 'r', SETTING_MAX_RANGES },
};

static const char help[] =
	"usage: offpeak-collect -c SET.opk -o RUN.opk [options] -- APP ARGS...\n\n"
	"Runs a program on a GPU and records the metrics of a set for each kernel launch.\n\n"
	"  -c, --config FILE     what 'offpeak build' made for this GPU's chip\n"
	"  -o, --output FILE     the recording; one for each process if there are several\n"
	"  -m, --mode MODE       kernel: kernel replay, any number of passes;\n"
	"                        launch: a range around each launch, one pass, far faster, but idle\n"
	"                        time around short kernels counts into elapsed cycles and times;\n"
	"                        auto (default): launch where that is sound for the set\n"
	"  -k, --kernel REGEX    only kernels whose symbol matches\n"
	"      --skip N          leave out the first N of them\n"
	"      --every N         then take one in N\n"
	"      --count N         and at most those among the next N\n"
	"      --max-ranges N    record no more than N launches\n"
	"      --cupti FILE      this libcupti\n"
	"      --best-effort     run the program even where nothing can be recorded\n"
	"  -v, --verbose         tell on stderr what was done\n"
	"\nThe program's output, exit code and signals are its own.\n";

struct request {
	const char *set, *output, *mode;
	bool best_effort, verbose;
};

static int fail(const char *format, ...)
{
	va_list args;

	fputs("offpeak-collect: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return OPK_EUSAGE;
}

/* Beside this program: installed, in the build tree, or two files in one folder. */
static bool find_library(char path[PATH_MAX])
{
	static const char *const names[] = {
		"liboffpeak-inject.so",
		"../lib/offpeak/liboffpeak-inject.so",
		"../.libs/liboffpeak-inject.so",
	};
	char program[PATH_MAX / 2];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	program[length > 0 ? length : 0] = '\0';
	if (!strrchr(program, '/'))
		return false;
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, PATH_MAX, "%s/%s", program, names[i]);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

static void hand_over(int option, const char *value)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (variables[i].option == option)
			setenv(variables[i].variable, value ? value : "1", 1);
}

static int read_options(struct request *request, int argc, char **argv)
{
	int found;

	while ((found = getopt_long(argc, argv, "+:c:o:m:k:vh", options, NULL)) != -1) {
		if (found == '?' || found == ':')
			return fail("unknown option or missing value: %s; --help lists them",
			            argv[optind - 1]);
		if (found == 'h' || found == 'V') {
			if (found == 'h')
				fputs(help, stdout);
			else
				printf("offpeak-collect %s\n", opk_version());
			exit(0);
		}
		if (found == 'c')
			request->set = optarg;
		else if (found == 'o')
			request->output = optarg;
		else if (found == 'm')
			request->mode = optarg;
		else if (found == BEST_EFFORT)
			request->best_effort = true;
		else
			hand_over(found, optarg);
		request->verbose |= found == 'v';
	}
	if (!request->set || !request->output || optind >= argc)
		return fail("-c SET.opk, -o RUN.opk and a program are needed; --help tells more");
	return OPK_OK;
}

/* The program may change its folder: it gets whole paths. */
static int set_paths(const struct request *request)
{
	char set[PATH_MAX], folder[PATH_MAX], library[PATH_MAX], output[2 * PATH_MAX];
	const char *slash = strrchr(request->output, '/');

	if (!realpath(request->set, set))
		return fail("%s: %s", request->set, strerror(errno));
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - request->output) + 1 : 1,
	         slash ? request->output : ".");
	if (!realpath(folder, output) || access(output, W_OK))
		return fail("%s: can't write there: %s", request->output, strerror(errno));
	if (!find_library(library))
		return fail("liboffpeak-inject.so is not beside this program");
	strcat(strcat(output, "/"), slash ? slash + 1 : request->output);
	setenv(SETTING_SET, set, 1);
	setenv(SETTING_OUTPUT, output, 1);
	setenv("CUDA_INJECTION64_PATH", library, 1);
	return OPK_OK;
}

/* The program's way to end is ours. */
static int end_like(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}

static int run(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		fprintf(stderr, "offpeak-collect: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return fail("no process: %s", strerror(errno));
	/* Ctrl-C is meant for the program; it decides. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int main(int argc, char **argv)
{
	struct request request = { .mode = "auto" };
	enum collect_mode mode;
	int code = read_options(&request, argc, argv);
	int status;

	if (!code)
		code = precheck(&mode, request.set, request.mode, request.verbose);
	if (code && code != OPK_EUSAGE && request.best_effort) {
		fprintf(stderr, "offpeak-collect: the program runs all the same, unrecorded\n");
		return end_like(run(argv + optind));
	}
	if (!code)
		code = set_paths(&request);
	if (code)
		return code;
	setenv(SETTING_MODE, settings_mode_name(mode), 1);
	parts_clear(getenv(SETTING_OUTPUT));
	status = run(argv + optind);
	parts_collect(getenv(SETTING_OUTPUT), request.verbose);
	return end_like(status);
}
