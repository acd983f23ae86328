/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* What a shell exits with where it can't run a program, or finds none. */
enum { CANT_RUN = 126, NOT_FOUND = 127 };

/* Whoever named no pager shall not be told that there is none. */
static const char default_pager[] = "command -v less >/dev/null || exit 127; exec less";

bool pager_show(const char *command, const char *text, size_t size)
{
	FILE *pager;
	int status;

	/* As git does: less ends by itself where all fits, shows bold, and leaves the text on the screen. */
	setenv("LESS", "FRX", 0);
	pager = popen(command && *command ? command : default_pager, "w");
	if (!pager)
		return false;
	/* Who leaves the pager early has seen enough, and an interrupt is the pager's to heed. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	fwrite(text, 1, size, pager);
	status = pclose(pager);
	return !WIFEXITED(status)
	       || (WEXITSTATUS(status) != CANT_RUN && WEXITSTATUS(status) != NOT_FOUND);
}
