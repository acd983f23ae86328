/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks shared libraries before they are opened. */
#include "base/library.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/descriptor.h"
#include "base/mem.h"

static const char cut_off[] = "is cut off: install it again";

/* The most program headers of a library; a file that claims more is not a library. */
enum { MAX_PARTS = 1000 };
/* The most bytes between the ends of a library that is asked about. */
#define MAX_SPAN ((uint64_t)1 << 40)

/* The kernel refuses what the limit of a process's memory, ulimit -v, does not allow. */
static const char *check_memory(uint64_t span)
{
	void *room;

	if (!span)
		return NULL;
	room = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return errno == ENOMEM ? "needs more memory than this process may have: raise the "
		                         "limit, ulimit -v"
		                       : NULL;
	munmap(room, span);
	return NULL;
}

/* The file must have all bytes that are mapped: reading a missing one raises SIGBUS. */
static const char *check_parts(int fd, uint64_t size, const Elf64_Ehdr *header)
{
	uint64_t span = 0;

	for (uint64_t i = 0; i < header->e_phnum && i < MAX_PARTS; i++) {
		Elf64_Phdr part;

		if (!opk_pread_all(fd, &part, sizeof part, header->e_phoff + i * sizeof part))
			return cut_off;
		if (part.p_type == PT_LOAD
		    && (part.p_offset > size || part.p_filesz > size - part.p_offset))
			return cut_off;
		if (part.p_type == PT_LOAD && part.p_vaddr < MAX_SPAN && part.p_memsz < MAX_SPAN
		    && part.p_vaddr + part.p_memsz > span)
			span = part.p_vaddr + part.p_memsz;
	}
	return check_memory(span);
}

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define OWN_NAME "x86-64"
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#define OWN_NAME "arm64"
#else
#define OWN_MACHINE EM_NONE
#define OWN_NAME ""
#endif
#define BUT_OWN ", and this program is for " OWN_NAME

static const char *check_machine(uint16_t machine)
{
	if (machine == OWN_MACHINE || OWN_MACHINE == EM_NONE)
		return NULL;
	switch (machine) {
	case EM_X86_64:
		return "is for x86-64" BUT_OWN;
	case EM_AARCH64:
		return "is for arm64" BUT_OWN;
	case EM_PPC64:
		return "is for POWER" BUT_OWN;
	default:
		return "is for other processors" BUT_OWN;
	}
}

static bool is_text(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((bytes[i] < ' ' && !opk_is_blank((char)bytes[i])) || bytes[i] > '~')
			return false;
	return size > 0;
}

static const char *check(int fd, const struct stat *info)
{
	union {
		Elf64_Ehdr header;
		unsigned char bytes[sizeof(Elf64_Ehdr)];
	} first = { 0 };
	const char *flaw;
	ssize_t got;

	if (!S_ISREG(info->st_mode))
		return "is not a regular file";
	got = pread(fd, &first, sizeof first, 0);
	if (got > 0 && is_text(first.bytes, (size_t)got))
		return "is a text file, not a library";
	if (got < (ssize_t)sizeof first)
		return cut_off;
	if (memcmp(first.header.e_ident, ELFMAG, SELFMAG) != 0)
		return "is not a library";
	if (first.header.e_ident[EI_CLASS] != ELFCLASS64)
		return "is a library of 32 bits, and this program has 64";
	if (first.header.e_phentsize != sizeof(Elf64_Phdr))
		return "is not a library";
	flaw = check_machine(first.header.e_machine);
	return flaw ? flaw : check_parts(fd, (uint64_t)info->st_size, &first.header);
}

const char *opk_library_flaw(const char *path)
{
	/* The loader searches its own folders for a bare name. */
	bool bare = !strchr(path, '/');
	opk_autoclose int fd = bare ? -1
	                            : opk_beyond_standard(
					    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat info;

	if (!bare && fd < 0 && errno == EACCES)
		return "can't be read by this user: permission denied";
	return fd < 0 || fstat(fd, &info) ? NULL : check(fd, &info);
}
