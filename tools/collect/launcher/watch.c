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

static char self[] = "/proc/self/exe", word[] = WATCH_WORD, launcher[16];
char *watch_program[] = { self, word, launcher, NULL };

/* What the library does for a watch. */
struct sampling {
	/* GPUs that are sampled, or will be, and those that failed meanwhile. */
	size_t (*count)(size_t *lost);
	unsigned (*file)(void); /* the number of the present file; 0: none */
	void (*cut)(void);      /* the present file ends soon, and another begins */
	bool (*full)(void);     /* there is no room for files */
	void (*pause)(void);    /* no more samples */
};

/* As with --probe. */
static int check_device(void *driver, const struct settings *settings)
{
	int (*cuDeviceGetCount)(int *count);
	int count = 0;

	*(void **)&cuDeviceGetCount = dlsym(driver, "cuDeviceGetCount");
	if (!cuDeviceGetCount || cuDeviceGetCount(&count) || settings->device < count)
		return OPK_OK;
	return say(OPK_EUSAGE, "there is no device %d of %d, from 0 on", settings->device, count);
}

/* Loads the driver, which loads the library. */
static int begin(const struct settings *settings)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*cuInit)(unsigned flags);
	int status;

	*(void **)&cuInit = driver ? dlsym(driver, "cuInit") : NULL;
	if (!cuInit)
		return say(OPK_ENVIDIA, "there is no NVIDIA driver here: %s", dlerror());
	status = cuInit(0);
	return !status ? check_device(driver, settings)
	               : say(OPK_EFAILED, "cuInit fails with error %d: is there a GPU?", status);
}

static int find_library(struct sampling *sampling)
{
	opk_autofree char *path = launcher_library();
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;

	*(void **)&sampling->count = library ? dlsym(library, "offpeak_watched") : NULL;
	*(void **)&sampling->file = library ? dlsym(library, "offpeak_file") : NULL;
	*(void **)&sampling->cut = library ? dlsym(library, "offpeak_cut") : NULL;
	*(void **)&sampling->full = library ? dlsym(library, "offpeak_full") : NULL;
	*(void **)&sampling->pause = library ? dlsym(library, "offpeak_pause") : NULL;
	return sampling->count && sampling->file && sampling->cut && sampling->full
	                       && sampling->pause
	               ? OPK_OK
	               : say(OPK_EFAILED, "the driver did not load %s",
	                     path ? path : "the library");
}

/* Blocked signals would wait although they are ignored, as by nohup. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* Signals come only where they are waited for. */
static void hold(sigset_t *signals)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM };

	sigemptyset(signals);
	sigaddset(signals, SIGUSR1);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!is_ignored(ends[i]))
			sigaddset(signals, ends[i]);
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

	if (sampling->file() > dump->last)
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
	char *const arguments[] = { self, word, launcher, last, NULL };
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

/* Only when a file or a dump has ended, or where there is no room, is there something to do. */
static void tidy(const struct dump *dump, const struct settings *settings,
                 const struct sampling *sampling)
{
	static unsigned file, held;
	unsigned now = sampling->file();

	if (settings->rotate_ns && (now != file || dump->last != held || sampling->full()))
		archive_tidy(settings, false, dump->last);
	file = now;
	held = dump->last;
}

/* What is to be done again and again while sampling goes on. */
static void go_on(struct dump *dump, const struct settings *settings,
                  const struct sampling *sampling, bool *asked)
{
	/* A dump can be made when the next file begins. */
	if (*asked && !dump->last && (dump->last = sampling->file())) {
		dump->asked = clock_now();
		sampling->cut();
		*asked = false;
	}
	make_dump(dump, settings, sampling);
	end_dump(dump);
	tidy(dump, settings, sampling);
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

/* Until the next look, at most to the end of the watch; false: it is there. */
static bool time_left(struct timespec *look, const struct settings *settings,
                      const struct timespec *begun)
{
	double left = (double)settings->duration_ns - clock_seconds_since(begun) * 1e9;

	look->tv_nsec = settings->duration_ns && left < LOOK_NS ? (long)left : LOOK_NS;
	return look->tv_nsec > 0;
}

/* Whether all went well: a GPU that fails ends its own samples alone. */
static bool watch(const struct settings *settings, const struct sampling *sampling,
                  const sigset_t *signals)
{
	struct timespec look = { .tv_nsec = LOOK_NS };
	/* This begins to sample; the time counts from then on. */
	size_t lost = 0, any = sampling->count(&lost);
	struct timespec begun = clock_now();
	struct dump dump = { 0 };
	bool asked = false;
	sigset_t pending;
	int signal = -1;

	while (sampling->count(&lost) && time_left(&look, settings, &begun)
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

void watch_prepare(void)
{
	snprintf(launcher, sizeof launcher, "%d", (int)getpid());
	/* It asks a watch for a dump, and stops nothing. */
	signal(SIGUSR1, signal_forward);
}

/* Without its launcher, which names the files, a watch ends. */
static bool has_launcher(const char *number)
{
	return !prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == atoi(number);
}

int watch_gpus(const char *number)
{
	struct sampling sampling;
	struct settings settings = { 0 };
	sigset_t signals;

	snprintf(launcher, sizeof launcher, "%s", number);
	hold(&signals);
	if (!has_launcher(number))
		return OPK_EFAILED;
	/* A limit on the size of files is an error of writing. */
	signal(SIGXFSZ, SIG_IGN);
	/* By this name others learn who has the counters: the file is called "exe" here. */
	prctl(PR_SET_NAME, "offpeak-collect");
	if (settings_read(&settings))
		return OPK_EUSAGE;
	TRY(begin(&settings));
	TRY(find_library(&sampling));
	return watch(&settings, &sampling, &signals) ? OPK_OK : OPK_EFAILED;
}
