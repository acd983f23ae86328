/* SPDX-License-Identifier: BSD-2-Clause */
/* The cache trusts only this user's files, and follows no links in its folder. */
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

static bool is_own_kind(const struct stat *info, mode_t kind)
{
	return (info->st_mode & S_IFMT) == kind && info->st_uid == geteuid();
}

bool is_own(const char *path, mode_t kind)
{
	struct stat info;

	return !lstat(path, &info) && is_own_kind(&info, kind);
}

/* -1 with errno set. */
static int open_kind(const char *path, int flags, mode_t kind)
{
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat info;

	if (fd < 0 || (!fstat(fd, &info) && is_own_kind(&info, kind)))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int own_open(const char *path, int flags)
{
	return open_kind(path, flags, S_IFREG);
}

DIR *own_folder(const char *path)
{
	int fd = open_kind(path, O_RDONLY | O_DIRECTORY, S_IFDIR);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

int own_check(const char *folder)
{
	struct stat info;

	if (stat(folder, &info))
		return say(OPK_EFAILED, "--cache %s: %s", folder, strerror(errno));
	if (!S_ISDIR(info.st_mode))
		return say(OPK_EFAILED, "--cache %s: %s", folder, strerror(ENOTDIR));
	if (info.st_uid != geteuid())
		return say(OPK_EFAILED, "--cache %s: it is of another user: name a folder of yours",
		           folder);
	if (info.st_mode & S_ISVTX)
		return say(OPK_EFAILED,
		           "--cache %s: it is for all users: name a folder of your own", folder);
	if (info.st_mode & (S_IWGRP | S_IWOTH))
		return say(OPK_EFAILED, "--cache %s: other users may write to it: chmod go-w %s",
		           folder, folder);
	return OPK_OK;
}
