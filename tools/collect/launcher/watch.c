/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --watch: the program that is recorded is this one. It does nothing on the GPUs; the library in it
 * samples what all processes do there.
 */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { LOOK_NS = 250000000 };

static char self[] = "/proc/self/exe", word[] = WATCH_WORD;
char *watch_program[] = { self, word, NULL };

/* What the library does for a watch. */
struct sampling {
	/* GPUs that are sampled, or will be, and those that failed meanwhile. */
	size_t (*count)(size_t *lost);
	void (*cut)(void);   /* the present file ends soon, and another begins */
	bool (*full)(void);  /* there is no room for files */
	void (*pause)(void); /* no more samples */
};

/* Loads the driver, which loads the library. */
static int begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*cuInit)(unsigned flags);
	int status;

	*(void **)&cuInit = driver ? dlsym(driver, "cuInit") : NULL;
	if (!cuInit)
		return say(OPK_ENVIDIA, "there is no NVIDIA driver here: %s", dlerror());
	status = cuInit(0);
	return !status ? OPK_OK
	               : say(OPK_EFAILED, "cuInit fails with error %d: is there a GPU?", status);
}

static int find_library(struct sampling *sampling)
{
	opk_autofree char *path = launcher_library();
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;

	*(void **)&sampling->count = library ? dlsym(library, "offpeak_watched") : NULL;
	*(void **)&sampling->cut = library ? dlsym(library, "offpeak_cut") : NULL;
	*(void **)&sampling->full = library ? dlsym(library, "offpeak_full") : NULL;
	*(void **)&sampling->pause = library ? dlsym(library, "offpeak_pause") : NULL;
	return sampling->count && sampling->cut && sampling->full && sampling->pause
	               ? OPK_OK
	               : say(OPK_EFAILED, "the driver did not load %s",
	                     path ? path : "the library");
}

/* Signals come only where they are waited for. */
static void hold(sigset_t *signals)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 };

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		sigaddset(signals, all[i]);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

/* A dump that was asked for: it has files up to a number, and waits until that one has ended. */
struct dump {
	unsigned last; /* 0: there is none */
	pid_t maker;   /* 0: it waits */
	struct timespec asked;
};

/*
 * Where the disk is full no file follows, and those that the dump needs fill it: the dump must not
 * wait for long, nor longer than the process that asked for it.
 */
static bool is_ready(const struct dump *dump, const struct settings *settings,
                     const struct sampling *sampling)
{
	enum { ROTATIONS = 2, MOST_S = 20 };
	double wait_s = ROTATIONS * (double)settings->rotate_ns * 1e-9;

	if (archive_current(settings) > dump->last)
		return true;
	return sampling->full()
	       && clock_seconds_since(&dump->asked) > (wait_s < MOST_S ? wait_s : MOST_S)
	       && !say(0, "there is still no room: the dump begins with the files that are whole");
}

/*
 * A process of its own joins the files: that takes seconds of a processor, and memory that this
 * process would not get rid of.
 */
static void make_dump(struct dump *dump, const struct settings *settings,
                      const struct sampling *sampling)
{
	char last[16];
	char *const arguments[] = { self, word, last, NULL };
	int problem;

	snprintf(last, sizeof last, "%u", dump->last);
	if (!dump->last || dump->maker || !is_ready(dump, settings, sampling))
		return;
	problem = posix_spawn(&dump->maker, self, NULL, NULL, arguments, environ);
	if (!problem)
		return;
	say(0, "no dump: %s", strerror(problem));
	*dump = (struct dump){ 0 };
}

/* The process says itself why it failed, unless it could not even begin, or was killed. */
static void end_dump(struct dump *dump)
{
	int status = 0;

	if (!dump->maker || !waitpid(dump->maker, &status, WNOHANG))
		return;
	if (WIFSIGNALED(status))
		say(0, "no dump: its process was killed by signal %d (%s)", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && WEXITSTATUS(status) != OPK_EFAILED)
		say(0, "no dump: its process ended with exit code %d", WEXITSTATUS(status));
	*dump = (struct dump){ 0 };
}

/* What is to be done again and again while sampling goes on. */
static void go_on(struct dump *dump, const struct settings *settings,
                  const struct sampling *sampling, bool *asked)
{
	/* A dump can be made when the next file begins. */
	if (*asked && !dump->last && (dump->last = archive_current(settings))) {
		dump->asked = clock_now();
		sampling->cut();
		*asked = false;
	}
	make_dump(dump, settings, sampling);
	end_dump(dump);
	if (settings->rotate_ns)
		archive_tidy(settings, false, dump->last);
}

/*
 * A watch that ends first makes the dumps that were asked for. When the last one begins, its
 * samples are in files, and no more are wanted.
 */
static void make_last(struct dump *dump, const struct settings *settings,
                      const struct sampling *sampling, bool asked)
{
	enum { LOOKS = 20 };
	const struct timespec look = { .tv_nsec = LOOK_NS };

	for (int i = 0; (asked || dump->last) && (dump->maker || i < LOOKS); i += !dump->maker) {
		go_on(dump, settings, sampling, &asked);
		if (dump->maker && !asked)
			sampling->pause();
		if (dump->last)
			nanosleep(&look, NULL);
	}
	if (dump->last || asked)
		say(0, "no dump: the watch ends; %s has what it kept", settings->output);
}

/* Whether all went well: a GPU that fails ends its own samples alone. */
static bool watch(const struct settings *settings, const struct sampling *sampling,
                  const sigset_t *signals)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	/* This begins to sample; the time counts from then on. */
	size_t lost = 0, any = sampling->count(&lost);
	struct timespec begun = clock_now();
	struct dump dump = { 0 };
	bool asked = false;
	sigset_t pending;
	int signal = -1;

	while (sampling->count(&lost)
	       && (!settings->duration_ns
	           || clock_seconds_since(&begun) * 1e9 < (double)settings->duration_ns)
	       && (signal < 0 || signal == SIGUSR1)) {
		signal = sigtimedwait(signals, NULL, &look);
		asked |= signal == SIGUSR1 && settings->keep_ns;
		go_on(&dump, settings, sampling, &asked);
	}
	/* A signal to end may have come first because of its number. */
	sigpending(&pending);
	asked |= settings->keep_ns && sigismember(&pending, SIGUSR1) == 1;
	make_last(&dump, settings, sampling, asked);
	return any && !lost;
}

int watch_dump(const char *last)
{
	/* On busy processors it gets a third of what others get: nicer, it would take minutes. */
	enum { POLITE = 5 };
	struct settings settings = { 0 };

	setpriority(PRIO_PROCESS, 0, POLITE);
	signal(SIGXFSZ, SIG_IGN);
	return settings_read(&settings) ? OPK_EUSAGE
	                                : archive_dump(&settings, (unsigned)atoi(last));
}

int watch_gpus(void)
{
	struct sampling sampling;
	struct settings settings = { 0 };
	sigset_t signals;

	hold(&signals);
	/* A limit on the size of files is an error of writing. */
	signal(SIGXFSZ, SIG_IGN);
	/* By this name others learn who has the counters: the file is called "exe" here. */
	prctl(PR_SET_NAME, "offpeak-collect");
	if (settings_read(&settings))
		return OPK_EUSAGE;
	TRY(begin());
	TRY(find_library(&sampling));
	return watch(&settings, &sampling, &signals) ? OPK_OK : OPK_EFAILED;
}
