/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose arguments say what it does, in order: fake_app init ctx:0 launch*3:vadd. It is
 * not linked with a CUDA library; README.md lists the words.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_gpu/app.h"

enum { EXIT_CUDA = 70, MAX_THREADS = 256 };

static int word_sleep(const char *const *fields)
{
	double ms = strtod(fields[0], NULL);
	struct timespec time = { (time_t)(ms / 1000), 0 };

	time.tv_nsec = (long)((ms - 1000.0 * (double)time.tv_sec) * 1e6);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
	return 0;
}

static int word_exit(const char *const *fields)
{
	exit(atoi(fields[0]));
}

static int word_quick_exit(const char *const *fields)
{
	fflush(NULL);
	_exit(atoi(fields[0]));
}

static int word_abort(const char *const *fields)
{
	(void)fields;
	abort();
}

static int word_kill9(const char *const *fields)
{
	(void)fields;
	return raise(SIGKILL);
}

static int word_signal(const char *const *fields)
{
	return raise(atoi(fields[0]));
}

static void leave(int signal)
{
	exit(signal);
}

/* After so many milliseconds a signal ends the program by exit(), in the midst of anything. */
static int word_alarm(const char *const *fields)
{
	struct itimerval after = { .it_value.tv_usec = atoi(fields[0]) * 1000 };

	signal(SIGALRM, leave);
	return setitimer(ITIMER_REAL, &after, NULL);
}

static void run_word(const char *argument);
static char *last_word;

static void run_last(void)
{
	run_word(last_word);
}

/* A word that runs when the program exits. */
static int word_at_exit(const char *const *fields)
{
	last_word = strdup(fields[0]);
	return atexit(run_last);
}

static int word_crash(const char *const *fields)
{
	(void)fields;
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
}

static int word_out(const char *const *fields)
{
	puts(fields[0]);
	return fflush(stdout);
}

static int word_err(const char *const *fields)
{
	fprintf(stderr, "%s\n", fields[0]);
	return 0;
}

static int word_env(const char *const *fields)
{
	const char *value = getenv(fields[0]);

	printf("%s=%s\n", fields[0], value ? value : "");
	return fflush(stdout);
}

/* Overwrites the arguments, as setproctitle() does. */
static int word_overwrite(const char *const *fields)
{
	extern char **environ;

	(void)fields;
	for (size_t i = 0; environ[i]; i++)
		if (!strncmp(environ[i], "OFFPEAK_COLLECT_", 16))
			memset(strchr(environ[i], '=') + 1, 'x',
			       strlen(strchr(environ[i], '=') + 1));
	return 0;
}

/* Whether the fake CUPTI's log has a call that succeeded. */
static bool is_logged(const char *call)
{
	const char *path = getenv("FAKE_GPU_LOG");
	FILE *log = path ? fopen(path, "re") : NULL;
	char line[512];
	bool found = false;

	while (log && !found && fgets(line, sizeof line, log))
		found = !strncmp(line, call, strlen(call)) && !strstr(line, "-> ");
	if (log)
		fclose(log);
	return found;
}

/* Waits until the collector samples: at most half a minute. */
static int word_sampled(const char *const *fields)
{
	static const char *const tick[] = { "10", NULL };

	(void)fields;
	for (int i = 0; i < 3000 && !is_logged("cuptiPmSamplingStart"); i++)
		word_sleep(tick);
	return 0;
}

static int word_cat(const char *const *fields)
{
	int c;

	(void)fields;
	while ((c = getchar()) != EOF)
		putchar(c);
	return fflush(stdout);
}

static int word_umask(const char *const *fields)
{
	umask((mode_t)strtoul(fields[0], NULL, 8));
	return 0;
}

/* One more than the highest possible descriptor, limited for tests. */
static int descriptors_end(void)
{
	enum { MOST = 1 << 16 };
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > MOST ? MOST
	                                                                 : (int)limit.rlim_cur;
}

/* Closes all descriptors, as a daemon does. */
static int word_close_all(const char *const *fields)
{
	(void)fields;
	for (int fd = STDERR_FILENO + 1; fd < descriptors_end(); fd++)
		close(fd);
	return 0;
}

/* Opens a file at each descriptor except the standard ones and every 64th. */
static int word_grab(const char *const *fields)
{
	int file = open(fields[0], O_WRONLY | O_CREAT | O_TRUNC, 0666);

	for (int fd = STDERR_FILENO + 1; fd < descriptors_end(); fd++)
		if (fd % 64 != 63 && (file < 0 || dup2(file, fd) < 0))
			return errno;
	return 0;
}

static pthread_t threads[MAX_THREADS];
static size_t thread_count;

static int word_join(const char *const *fields)
{
	(void)fields;
	while (thread_count)
		pthread_join(threads[--thread_count], NULL);
	return 0;
}

static const struct word process_words[] = {
	{ "sleep", word_sleep },
	{ "sampled", word_sampled },
	{ "exit", word_exit },
	{ "alarm", word_alarm },
	{ "atexit", word_at_exit },
	{ "_exit", word_quick_exit },
	{ "abort", word_abort },
	{ "kill9", word_kill9 },
	{ "signal", word_signal },
	{ "crash", word_crash },
	{ "out", word_out },
	{ "err", word_err },
	{ "env", word_env },
	{ "cat", word_cat },
	{ "overwrite", word_overwrite },
	{ "umask", word_umask },
	{ "closeall", word_close_all },
	{ "grab", word_grab },
	{ "join", word_join },
	{ 0 },
};

static __attribute__((noreturn)) void refuse(const char *word, const char *why)
{
	fprintf(stderr, "fake_app: %s: %s\n", word, why);
	exit(64);
}

static const struct word *find_in(const struct word *words, const char *name)
{
	while (words->name && strcmp(words->name, name))
		words++;
	return words->name ? words : NULL;
}

static const struct word *find_word(const char *name)
{
	const struct word *word = find_in(cuda_words, name);

	if (word)
		app_load_cuda();
	else
		word = find_in(range_words, name);
	if (!word)
		word = find_in(cupti_words, name);
	if (!word)
		word = find_in(process_words, name);
	if (!word)
		refuse(name, "no such word");
	return word;
}

/* What out: and err: print, and the word of atexit:, may contain colons. */
static void split(const char *fields[MAX_FIELDS], char *text, bool whole)
{
	for (size_t i = 0; i < MAX_FIELDS; i++) {
		fields[i] = text ? text : "";
		text = text && !whole ? strchr(text, ':') : NULL;
		if (text)
			*text++ = '\0';
	}
}

/* [?]NAME[*TIMES][:FIELDS] */
static void run_word(const char *argument)
{
	bool may_fail = *argument == '?';
	char *text = strdup(argument + may_fail), *rest = text;
	char *name = strsep(&rest, ":"), *times = strchr(name, '*');
	unsigned long count = times ? strtoul(times + 1, NULL, 10) : 1;
	const char *fields[MAX_FIELDS];
	const struct word *word;
	int status = 0;

	if (times)
		*times = '\0';
	word = find_word(name);
	split(fields, rest,
	      !strcmp(name, "out") || !strcmp(name, "err") || !strcmp(name, "atexit"));
	while (!status && count--)
		status = word->run(fields);
	free(text);
	if (status && !may_fail) {
		fprintf(stderr, "fake_app: %s: CUDA error %d\n", argument, status);
		exit(EXIT_CUDA);
	}
	if (status)
		printf("%s: %d\n", argument + 1, status);
	fflush(stdout);
}

static void run_words(char **words, size_t count);

struct block {
	char **words;
	size_t count;
	void *context; /* of the thread that started it */
};

static void *run_thread(void *data)
{
	struct block *block = data;

	app_use_context(block->context);
	run_words(block->words, block->count);
	free(block);
	return NULL;
}

/* A thread starts with its parent's context, like one that uses the runtime. */
static void begin_thread(char **words, size_t count)
{
	struct block *block = malloc(sizeof *block);

	if (!block || thread_count == MAX_THREADS)
		refuse("thread:begin", "too many");
	*block = (struct block){ words, count, app_context() };
	pthread_create(&threads[thread_count++], NULL, run_thread, block);
}

static void await(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("child: signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf("child: exit %d\n", WEXITSTATUS(status));
	fflush(stdout);
}

/* Forks a child that runs the following words, and waits for it. */
static void run_fork(char **words, size_t count)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		thread_count = 0;
		run_words(words, count);
		exit(0);
	}
	await(child);
}

/* Executes this program again in the same process. */
static void run_exec(char **words, size_t count)
{
	char **arguments = calloc(count + 2, sizeof *arguments);

	fflush(NULL);
	if (arguments) {
		arguments[0] = (char *)"fake_app";
		memcpy(arguments + 1, words, count * sizeof *words);
		execv("/proc/self/exe", arguments);
	}
	_exit(127);
}

/* Starts this program again in a child. */
static void run_spawn(char **words, size_t count)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		run_exec(words, count);
	await(child);
}

static const struct {
	const char *begin, *end;
	void (*run)(char **words, size_t count);
} blocks[] = {
	{ "thread:begin", "thread:end", begin_thread },
	{ "fork:begin", "fork:end", run_fork },
	{ "spawn:begin", "spawn:end", run_spawn },
	{ "exec:begin", "exec:end", run_exec },
};

/* The index of the block's last word. */
static size_t find_end(char **words, size_t count, const char *begin, const char *end)
{
	size_t depth = 0;

	for (size_t i = 0; i < count; i++) {
		depth += !strcmp(words[i], begin);
		depth -= !strcmp(words[i], end);
		if (!depth)
			return i;
	}
	refuse(begin, "has no end");
}

static void run_words(char **words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t block = 0, blocks_count = sizeof blocks / sizeof *blocks, end;

		while (block < blocks_count && strcmp(words[i], blocks[block].begin))
			block++;
		if (block == blocks_count) {
			run_word(words[i]);
			continue;
		}
		end = i + find_end(words + i, count - i, blocks[block].begin, blocks[block].end);
		blocks[block].run(words + i + 1, end - i - 1);
		i = end;
	}
}

int main(int argc, char **argv)
{
	run_words(argv + 1, (size_t)argc - 1);
	word_join(NULL);
	return 0;
}
