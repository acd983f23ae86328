/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --clock-control: a child process locks the clocks, and frees them when this process closes its
 * end of a socket or is gone, however it ended. The program does not have that end. The child is
 * in a session of its own, which signals to the group of this one do not reach.
 */
#include "collect/launcher/launcher.h"

#include <sys/prctl.h>
#include <sys/socket.h>

static pid_t guard;
static FILE *guard_end; /* ours */

static void become_guard(const char *library, int fd)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };

	setsid();
	prctl(PR_SET_NAME, "offpeak-clocks");
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	_exit(library_answer(&(struct question){ library, "offpeak_hold_clocks" }, fd));
}

static int wait_for_guard(void)
{
	int status;

	fclose(guard_end);
	status = child_wait(guard);
	guard = 0;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	return say(OPK_ENVIDIA,
	           "the process that held the clocks ended with signal %d (%s): 'nvidia-smi -rgc' "
	           "frees them",
	           WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* Fills in what was locked. */
static int start(char text[1024])
{
	opk_autofree char *library = launcher_library();
	int ends[2];

	if (!library)
		return OPK_EFAILED;
	guard = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -1 : fork();
	if (guard < 0)
		return say(OPK_EFAILED, "no process: %s", strerror(errno));
	if (!guard) {
		close(ends[0]);
		become_guard(library, ends[1]);
	}
	close(ends[1]);
	guard_end = fdopen(ends[0], "r");
	/* A guard that locked nothing ends. */
	if (!fgets(text, 1024, guard_end))
		return wait_for_guard() ?: OPK_EFAILED;
	text[strcspn(text, "\n")] = '\0';
	return OPK_OK;
}

int clock_guard_begin(struct collections *all)
{
	const struct settings *settings = &all->items[0].settings;
	char text[1024] = "not locked";
	int code;

	if (settings->clock_control == CLOCKS_NONE)
		return OPK_OK;
	code = start(text);
	if (code && !settings->best_effort)
		return code;
	if (!code && settings->verbose)
		say(0, "clocks are locked: %s", text);
	settings_export(SETTING_CLOCKS, text);
	for (size_t i = 0; all->count > 1 && i < all->count; i++) {
		several_enter(&all->items[i]);
		settings_export(SETTING_CLOCKS, text);
		TRY(several_keep(&all->items[i]));
	}
	return OPK_OK;
}

void clock_guard_end(void)
{
	if (guard > 0)
		wait_for_guard();
}
