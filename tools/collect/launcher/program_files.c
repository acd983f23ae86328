/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a program, found in the same way as by the kernel, env and the loader. */
#include <elf.h>

#include "base/ascii.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

static bool is_program(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISREG(info.st_mode) && !access(path, X_OK);
}

/* Searches like execvp(); free(). NULL: not found. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return is_program(name) ? opk_strdup(name) : NULL;
	for (path = path ? path : "/bin:/usr/bin"; !found && path; path = strchr(path, ':')) {
		int length;

		path += *path == ':';
		length = (int)strcspn(path, ":");
		found = opk_printf("%.*s%s%s", length, path, length ? "/" : "", name);
		if (found && !is_program(found))
			free(opk_take(found));
	}
	return found;
}

/* The program in "env [OPTION...] [NAME=VALUE...] PROGRAM"; free(). */
static char *find_for_env(char *words)
{
	char *word;

	while ((word = strsep(&words, " \t")) != NULL)
		if (*word && *word != '-' && !strchr(word, '='))
			return find_program(word);
	return NULL;
}

/* A script's first line is "#!INTERPRETER [ARGUMENT]", and may name env. */
static int add_interpreters(struct opk_strlist *names, char *line)
{
	opk_autofree char *program = NULL;
	char *path = line + strspn(line, " \t"), *rest = path + strcspn(path, " \t");

	if (*rest)
		*rest++ = '\0';
	if (!strcmp(opk_base_name(path), "env"))
		program = find_for_env(rest);
	if (!is_program(path))
		return say(OPK_EFAILED, "%s: no such interpreter", path);
	return program_files(names, program ? program : path);
}

struct loading {
	const char *loader, *program;
};

/* In the child: the loader lists what it would load, without starting the program. */
static int list(const void *data, int fd)
{
	const struct loading *loading = data;

	if (dup2(fd, STDOUT_FILENO) >= 0)
		execl(loading->loader, loading->loader, "--list", loading->program, NULL);
	return OPK_EFAILED;
}

/* Lines are "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)"; the kernel's own has no path. */
static bool add_libraries(struct opk_strlist *names, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		char *path = strstr(line, " => "), *end = strstr(line, " (0x");

		path = path ? path + 4 : line + strspn(line, " \t");
		if (!end || *path != '/')
			continue;
		*end = '\0';
		if (!opk_strlist_add(names, path))
			return false;
	}
	return true;
}

static int ask_loader(struct opk_strlist *names, const char *loader, const char *program)
{
	opk_autobuf struct opk_buf buf = { 0 };
	int status = child_ask(&buf, list, &(struct loading){ loader, program });
	opk_autofree char *text = opk_buf_take_text(&buf);

	if (!text)
		return say(OPK_EFAILED, "out of memory");
	if (status)
		return say(OPK_EFAILED, "%s can't load %s", loader, program);
	return add_libraries(names, text) ? OPK_OK : say(OPK_EFAILED, "out of memory");
}

/* Writes the path of the program's loader, if it has one, to `path`. */
static bool find_loader(char path[PATH_MAX], int fd)
{
	Elf64_Ehdr header;

	if (!opk_pread_all(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG)
	    || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (uint64_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr part;

		if (!opk_pread_all(fd, &part, sizeof part, header.e_phoff + i * sizeof part))
			return false;
		if (part.p_type != PT_INTERP || !part.p_filesz || part.p_filesz >= PATH_MAX)
			continue;
		path[part.p_filesz] = '\0';
		return opk_pread_all(fd, path, part.p_filesz, part.p_offset);
	}
	return false;
}

int program_files(struct opk_strlist *names, const char *program)
{
	enum { MOST_SCRIPTS = 8 }; /* scripts may interpret scripts, as the kernel allows */
	opk_autofree char *path = find_program(program);
	opk_autoclose int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char line[PATH_MAX] = "", loader[PATH_MAX];

	if (fd < 0)
		return say(OPK_EFAILED, "%s: %s", program,
		           path ? strerror(errno) : "no such program");
	if (names->count >= MOST_SCRIPTS || !opk_strlist_add(names, path))
		return say(OPK_EFAILED, "%s: too many interpreters", program);
	if (pread(fd, line, sizeof line - 1, 0) > 2 && !memcmp(line, "#!", 2)) {
		line[strcspn(line, "\n")] = '\0';
		return add_interpreters(names, line + 2);
	}
	return find_loader(loader, fd) ? ask_loader(names, loader, path) : OPK_OK;
}
