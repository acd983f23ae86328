/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the fake libraries: the log, failures on demand, numbers from the environment. */
#include "fake_gpu/fake_common.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A status below STATUS_SLEEP is a sleep in milliseconds. */
enum { MAX_FAILURES = 16, STATUS_CRASH = -1, STATUS_HANG = -2, STATUS_SLEEP = -3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct failure {
	char function[64];
	int status;
	unsigned from, to; /* counted from 1 */
	unsigned seen;
} failures[MAX_FAILURES];
static size_t failure_count;

static int read_status(const char *text)
{
	if (!strncmp(text, "crash", 5))
		return STATUS_CRASH;
	if (!strncmp(text, "sleep", 5))
		return STATUS_SLEEP - atoi(text + 5);
	return strncmp(text, "hang", 4) ? atoi(text) : STATUS_HANG;
}

/* function:status, function:status:nth, function:status:nth+ or function:status:first-last */
static void read_failure(struct failure *failure, const char *text)
{
	const char *status = strchr(text, ':');
	const char *nth = status ? strchr(status + 1, ':') : NULL;

	if (!status) {
		fprintf(stderr, "fake GPU: FAKE_GPU_FAIL has no status: %s\n", text);
		abort();
	}
	snprintf(failure->function, sizeof failure->function, "%.*s", (int)(status - text), text);
	failure->status = read_status(status + 1);
	failure->from = nth ? (unsigned)atoi(nth + 1) : 1;
	failure->to = nth && !strchr(nth, '+') ? failure->from : UINT32_MAX;
	if (nth && strchr(nth, '-'))
		failure->to = (unsigned)atoi(strchr(nth, '-') + 1);
}

static void read_failures(void)
{
	const char *setting = getenv("FAKE_GPU_FAIL");
	char *text = strdup(setting ? setting : ""), *rest = text, *part;

	while ((part = strsep(&rest, ",")) && failure_count < MAX_FAILURES)
		if (*part)
			read_failure(&failures[failure_count++], part);
	free(text);
}

static bool find_failure(const char *function, int *status)
{
	bool found = false;

	for (size_t i = 0; i < failure_count; i++) {
		struct failure *failure = &failures[i];

		if (strcmp(failure->function, function))
			continue;
		failure->seen++;
		if (failure->seen < failure->from || failure->seen > failure->to)
			continue;
		*status = failure->status;
		found = true;
	}
	return found;
}

static bool cleaned_up;
static int asleep, asleep_in_cupti; /* calls that are sleeping */

bool fake_in_cupti(void)
{
	return __atomic_load_n(&asleep_in_cupti, __ATOMIC_ACQUIRE);
}

static void clean_up(void)
{
	if (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE)) {
		fprintf(stderr, "fake GPU: its library cleans up while it is in a call\n");
		abort();
	}
	__atomic_store_n(&cleaned_up, true, __ATOMIC_RELEASE);
}

void fake_clean_up_at_exit(void)
{
	static bool registered;

	if (!__atomic_exchange_n(&registered, true, __ATOMIC_RELAXED))
		atexit(clean_up);
}

bool fake_fails(const char *function, int *status)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int is_cupti = !strncmp(function, "cupti", 5);
	bool fails;

	pthread_once(&once, read_failures);
	if (__atomic_load_n(&cleaned_up, __ATOMIC_ACQUIRE)) {
		fprintf(stderr, "fake GPU: %s after its library cleaned up\n", function);
		abort();
	}
	pthread_mutex_lock(&lock);
	fails = find_failure(function, status);
	pthread_mutex_unlock(&lock);
	if (!fails || *status >= 0)
		return fails;
	if (*status <= STATUS_SLEEP) {
		/* NVIDIA's libraries register more as calls first need it. */
		atexit(clean_up);
		__atomic_add_fetch(&asleep, 1, __ATOMIC_ACQ_REL);
		__atomic_add_fetch(&asleep_in_cupti, is_cupti, __ATOMIC_ACQ_REL);
		usleep((useconds_t)(STATUS_SLEEP - *status) * 1000);
		__atomic_sub_fetch(&asleep_in_cupti, is_cupti, __ATOMIC_ACQ_REL);
		__atomic_sub_fetch(&asleep, 1, __ATOMIC_ACQ_REL);
		return false;
	}
	fake_log(function, 0, "%s", *status == STATUS_CRASH ? "crash" : "hang");
	if (*status == STATUS_CRASH)
		abort();
	for (;;)
		pause();
}

/* "%p" in the name becomes the process id, so that each process has a log of its own. */
static int open_log(const char *name)
{
	const char *place = strstr(name, "%p");
	char path[4096];

	if (place)
		snprintf(path, sizeof path, "%.*s%d%s", (int)(place - name), name, (int)getpid(),
		         place + 2);
	return open(place ? path : name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

/* Opened again in a forked child; -1 without a log. */
static int log_file(void)
{
	static int file = -1;
	static pid_t opened_by;
	const char *name;

	pthread_mutex_lock(&lock);
	if (opened_by != getpid()) {
		opened_by = getpid();
		name = getenv("FAKE_GPU_LOG");
		file = name ? open_log(name) : -1;
	}
	pthread_mutex_unlock(&lock);
	return file;
}

void fake_log(const char *function, int status, const char *format, ...)
{
	int file = log_file();
	char detail[512], line[640];
	va_list arguments;
	int length;

	if (file < 0)
		return;
	va_start(arguments, format);
	vsnprintf(detail, sizeof detail, format, arguments);
	va_end(arguments);
	length = snprintf(line, sizeof line, "%s%s%s", function, *detail ? " " : "", detail);
	if (status)
		length += snprintf(line + length, sizeof line - (size_t)length, " -> %d", status);
	line[length++] = '\n';
	if (write(file, line, (size_t)length) != length)
		abort();
}

uint64_t fake_number(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

const char *fake_chip(unsigned device)
{
	static __thread char name[32];
	const char *list = getenv("FAKE_GPU_CHIP");
	const char *next;

	if (!list || !*list)
		return "GH100";
	while (device-- && (next = strchr(list, ',')))
		list = next + 1;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(list, ","), list);
	return name;
}

uint64_t fake_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
