/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/process.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "offpeak.h"

static void end(int number)
{
	opk_discard_unfinished();
	signal(number, SIG_DFL);
	raise(number);
}

/* Whoever started this may have chosen to ignore it. */
static void catch (int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL)
		signal(number, end);
}

void process_prepare(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	struct rlimit files;

	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		catch (ending[i]);
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
