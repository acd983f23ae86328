/* SPDX-License-Identifier: BSD-2-Clause */
/* A scratch folder for one test; make_folder() and remove_folder() are its fixture. */
#ifndef OPK_FOLDER_H
#define OPK_FOLDER_H

#include <dirent.h>

#include "testing.h"

/* Weak: all files of a program have one. */
char folder[64] __attribute__((weak));

static inline void make_folder(void)
{
	strcpy(folder, "/tmp/offpeak-check.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* Counts the entries of the folder, and removes them on request. */
static inline size_t entries(bool remove)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	for (struct dirent *entry; (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		count++;
		if (remove && unlink(in_folder(entry->d_name)))
			rmdir(in_folder(entry->d_name));
	}
	closedir(dir);
	return count;
}

static inline void remove_folder(void)
{
	entries(true);
	rmdir(folder);
}

/* Writes a file of these bytes into the folder. */
static inline void put_file(const char *name, const void *text, size_t size)
{
	FILE *file = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

#endif
