/* SPDX-License-Identifier: BSD-2-Clause */
/* The paths of this program and of the library. */
#include "base/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"

/* /proc/self/exe is right even after the program was moved. */
static char *find_program(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	const char *run_as = (const char *)getauxval(AT_EXECFN);

	return path || !run_as ? path : realpath(run_as, NULL);
}

/* The path of `name`, relative to the folder of `file`, or absolute. */
static char *find_beside(const char *file, const char *name)
{
	bool whole = *name == '/';
	size_t folder = (size_t)(strrchr(file, '/') - file);
	opk_autofree char *path = opk_printf("%.*s%s%s", whole ? 0 : (int)folder, file,
	                                     whole ? "" : "/", name);

	return path ? realpath(path, NULL) : NULL;
}

char *opk_beside_program(const char *const *names, unsigned long count)
{
	opk_autofree char *program = find_program();
	char *found = NULL;

	for (unsigned long i = 0; program && !found && i < count; i++)
		found = find_beside(program, names[i]);
	return found;
}

/*
 * The file that this code is in: a shared library, or a program that was statically linked with it.
 * The loader's name for a program is the one it was called by, which may lack a folder.
 */
static char *find_library(void)
{
	Dl_info here, entry;

	if (!dladdr((void *)(uintptr_t)opk_beside_library, &here) || !here.dli_fname)
		return find_program();
	if (dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &entry)
	    && entry.dli_fbase == here.dli_fbase)
		return find_program();
	return realpath(here.dli_fname, NULL);
}

char *opk_beside_library(const char *name)
{
	opk_autofree char *library = find_library();

	return library ? find_beside(library, name) : NULL;
}

bool opk_as_program(char **loader, char **library, void (*entry)(void))
{
	Dl_info own, ld;
	const ElfW(Ehdr) * head;

	if (!dladdr((void *)(uintptr_t)entry, &own) || !own.dli_fname || *own.dli_fname != '/'
	    || !dladdr((void *)getauxval(AT_BASE), &ld) || !ld.dli_fname)
		return false;
	/* Another entry point: this is a program that the code was linked into. */
	head = own.dli_fbase;
	if (!head->e_entry || (uintptr_t)own.dli_fbase + head->e_entry != (uintptr_t)entry)
		return false;
	*loader = realpath(ld.dli_fname, NULL);
	*library = realpath(own.dli_fname, NULL);
	return *loader && *library;
}
