/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks about GPUs in a child process, so that crashes of NVIDIA's code do no harm. */
#include "collect/launcher/launcher.h"

#include <dlfcn.h>

#include "base/program.h"

/*
 * Finds the library from this program's folder: beside it, in the build tree, or installed, also
 * where that was moved as a whole. A build tree takes its own, even if another is installed.
 */
char *launcher_library(void)
{
	static const char *const names[] = {
		"liboffpeak-inject.so",
		"../.libs/liboffpeak-inject.so",
		OPK_LIBRARY_BESIDE "/liboffpeak-inject.so",
		OPK_LIBRARY_FOLDER "/liboffpeak-inject.so",
	};
	char *library = opk_beside_program(names, sizeof names / sizeof *names);

	if (!library)
		say(OPK_EFAILED, "liboffpeak-inject.so is not beside this program");
	return library;
}

/* Keeps other tools' libraries out. */
int library_answer(const void *data, int fd)
{
	const struct question *question = data;
	int (*call)(int fd);
	void *library;

	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	settings_export(SETTING_PROBE, "1");
	library = dlopen(question->library, RTLD_NOW | RTLD_LOCAL);
	*(void **)&call = library ? dlsym(library, question->function) : NULL;
	return call ? call(fd) : say(OPK_EFAILED, "%s", dlerror());
}

static int ask(const char *function, struct opk_buf *text)
{
	opk_autofree char *library = launcher_library();
	int status = library ? child_ask(text, library_answer,
	                                 &(struct question){ library, function })
	                     : -1;

	if (status < 0)
		return OPK_EFAILED;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	return say(OPK_ENVIDIA, "asking the GPUs ended with signal %d (%s)", WTERMSIG(status),
	           strsignal(WTERMSIG(status)));
}

int probe_write(const struct settings *settings)
{
	opk_autobuf struct opk_buf nothing = { 0 };
	char name[4096];

	TRY(strategy_permission());
	if (!name_expand(name, sizeof name, settings->output))
		return say(OPK_EUSAGE, "-o %s: no usable name", settings->output);
	TRY(outputs_check(settings, name, OPK_OUTPUT_PROBE));
	return ask("offpeak_probe", &nothing);
}

char *probe_describe(void)
{
	opk_autobuf struct opk_buf text = { 0 };

	return ask("offpeak_describe", &text) ? NULL : opk_buf_take_text(&text);
}
