/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the program, passes signals on to it, and ends as it did. */
#include "collect/launcher/launcher.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/signals.h"

static volatile sig_atomic_t child, stopped; /* stopped: the last signal, or 0 */
static bool signals_held;
static void (*file_limit)(int), (*children_end)(int); /* the signals' old handlers */
static int not_run; /* the error that prevented the program's start, or 0 */

/* Signals that the program shall handle. */
static struct {
	int number;
	struct sigaction before;
} signals[] = {
	{ .number = SIGINT }, { .number = SIGQUIT }, { .number = SIGTERM }, { .number = SIGHUP }
};

/* They mean something to the program alone: offpeak-collect goes on. Real-time signals, too. */
static const int messages[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT,
	                        SIGURG,  SIGIO,   SIGXCPU, SIGPWR };

int signal_came(void)
{
	return stopped;
}

void signal_forward(int number)
{
	if (child > 0)
		kill((pid_t)child, number);
}

/*
 * What the kernel sends, such as a terminal's Ctrl-C and new size, it sends to the program, too;
 * but not the end of a time limit, which exec() keeps and a child does not have.
 */
static void hand_on(int number, siginfo_t *info, void *unused)
{
	bool to_us = number == SIGTERM || number == SIGHUP || number == SIGALRM;

	(void)unused;
	if (child > 0 && info->si_code == SI_QUEUE)
		sigqueue((pid_t)child, number, info->si_value);
	else if (to_us || info->si_code <= 0)
		signal_forward(number);
}

static void hand_on_end(int number, siginfo_t *info, void *unused)
{
	stopped = number;
	hand_on(number, info, unused);
}

/* Ignored signals stay ignored. */
static void take(struct sigaction *before, int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };

	if (!sigaction(number, NULL, before) && before->sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void take_signals(void)
{
	struct sigaction before;

	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
		take(&before, messages[i], hand_on);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		take(&before, number, hand_on);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		take(&signals[i].before, signals[i].number, hand_on_end);
}

void signals_begin(void)
{
	file_limit = signal(SIGXFSZ, SIG_IGN);
	children_end = signal(SIGCHLD, SIG_DFL);
}

/* Not the messages: one that comes too late must not end us, and a new program forgets them. */
static void give_signals_back(void)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i].number, &signals[i].before, NULL);
}

void signals_hold(void)
{
	take_signals();
	signals_held = true;
}

bool program_missing(void)
{
	return not_run;
}

/* Adds to the end of a variable's list. */
static void append(const char *variable, const char *text)
{
	const char *others = getenv(variable);
	opk_autofree char *all = opk_printf("%s%s%s", others ? others : "",
	                                    others && *others ? ":" : "", text);

	if (all)
		setenv(variable, all, 1);
}

/*
 * In the child: the program's own calls of CUPTI come to a library first, through which the
 * recording makes way for them.
 */
static void preload(void)
{
	const char *library = getenv("CUDA_INJECTION64_PATH"), *problem = NULL;
	opk_autofree char *path = NULL;

	if (!library || getenv(settings_table[SETTING_OWN_CUPTI].variable))
		return;
	path = opk_printf("%.*s" PRELOADED_LIBRARY, (int)(strrchr(library, '/') - library),
	                  library);
	if (!path)
		return;
	if (access(path, R_OK))
		problem = "is missing";
	else if (strpbrk(path, " :"))
		problem = "can't be preloaded, because its path has a blank or a colon";
	if (problem) {
		say(0,
		    "note: %s %s: if the program uses CUPTI itself, its own profile may be empty; "
		    "--own-cupti says that this is wanted",
		    path, problem);
		return;
	}
	append("LD_PRELOAD", path);
	/* AddressSanitizer ends programs where another library comes before its own. */
	append("ASAN_OPTIONS", "verify_asan_link_order=0");
}

/* The child writes its error to the pipe; a started program closes the pipe. */
static void become(char **program, int report, const sigset_t *mask)
{
	int problem;

	give_signals_back();
	signal(SIGXFSZ, file_limit);
	/* Until it waits for this signal. */
	if (program == watch_program) {
		signal(SIGUSR1, SIG_IGN);
	} else {
		signal(SIGCHLD, children_end);
		preload();
	}
	opk_restore_signals(mask);
	execvp(program[0], program);
	problem = errno;
	say(0, "%s: %s", program[0], strerror(problem));
	if (write(report, &problem, sizeof problem) < 0)
		_exit(OPK_EFAILED);
	_exit(0);
}

static int wait_for(pid_t pid, int report)
{
	int status;

	while (read(report, &not_run, sizeof not_run) < 0 && errno == EINTR)
		;
	close(report);
	status = child_wait(pid);
	child = 0;
	if (!signals_held)
		give_signals_back();
	return status;
}

/*
 * Returns what fork() does. Signals wait until they can reach the child; one that came before
 * reaches it, too.
 */
static pid_t start(char **program, int report)
{
	opk_autosignals sigset_t before = opk_block_signals();
	pid_t pid = fork();

	if (!pid)
		become(program, report, &before);
	child = pid;
	if (stopped)
		signal_forward(stopped);
	return pid;
}

int program_run(char **program)
{
	int ends[2] = { -1, -1 };
	pid_t pid;

	if (!signals_held)
		take_signals();
	pid = pipe2(ends, O_CLOEXEC) ? -1 : start(program, ends[1]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (pid > 0)
		return wait_for(pid, ends[0]);
	not_run = errno;
	say(OPK_EFAILED, "no process: %s", strerror(not_run));
	if (ends[0] >= 0)
		close(ends[0]);
	if (!signals_held)
		give_signals_back();
	return OPK_EFAILED << 8;
}

int program_end(int status)
{
	/* As a shell would. */
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

	if (not_run)
		return not_run == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/* The launcher's core file must not replace the program's. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	/* The launcher blocks this signal. */
	return 128 + WTERMSIG(status);
}

bool program_stopped(int status)
{
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (WIFSIGNALED(status) && WTERMSIG(status) == signals[i].number)
			return true;
	return false;
}
