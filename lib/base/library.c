/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks shared libraries before they are opened. */
#include "base/library.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/mem.h"

static const char cut_off[] = "is cut off: install it again";

/* The most program headers of a library; a file that claims more is not a library. */
enum { MAX_PARTS = 1000 };

/* The file must have all bytes that are mapped: reading a missing one raises SIGBUS. */
static const char *check_parts(int fd, uint64_t size, const Elf64_Ehdr *header)
{
	for (uint64_t i = 0; i < header->e_phnum && i < MAX_PARTS; i++) {
		Elf64_Phdr part;

		if (!opk_pread_all(fd, &part, sizeof part, header->e_phoff + i * sizeof part))
			return cut_off;
		if (part.p_type == PT_LOAD
		    && (part.p_offset > size || part.p_filesz > size - part.p_offset))
			return cut_off;
	}
	return NULL;
}

static const char *check(int fd, const struct stat *info)
{
	Elf64_Ehdr header;

	if (!S_ISREG(info->st_mode))
		return "is not a regular file";
	if (!opk_pread_all(fd, &header, sizeof header, 0))
		return cut_off;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64
	    || header.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return check_parts(fd, (uint64_t)info->st_size, &header);
}

const char *opk_library_flaw(const char *path)
{
	/* The loader searches its own folders for a bare name. */
	bool bare = !strchr(path, '/');
	opk_autoclose int fd = bare ? -1
	                            : opk_beyond_standard(
					    open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat info;

	return fd < 0 || fstat(fd, &info) ? NULL : check(fd, &info);
}
