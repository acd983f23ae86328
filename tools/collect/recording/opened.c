/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the libraries in the program's memory at its end, for the key of the cache. */
#include "collect/recording/recording.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"

/* The file whose code a line of /proc/self/maps shows; NULL: none, or a deleted file. */
static char *code_of(char *line)
{
	char permissions[5] = "";
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %4s %*s %*s %*s %n", permissions, &path) != 1 || !path)
		return NULL;
	return permissions[2] == 'x' && line[path] == '/' && !strstr(line + path, " (deleted)")
	               ? line + path
	               : NULL;
}

void opened_append(const char *path)
{
	opk_autoclose int fd = opk_beyond_standard(
		open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	opk_autofclose FILE *maps = fd >= 0 ? fopen("/proc/self/maps", "re") : NULL;
	opk_autobuf struct opk_buf text = { 0 };
	opk_autofree char *line = NULL;
	size_t size = 0;

	if (fd < 0 || !maps)
		say(0, "can't open %s: %s", fd < 0 ? path : "/proc/self/maps", strerror(errno));
	while (maps && getline(&line, &size, maps) > 0) {
		const char *file = code_of(line);

		if (file)
			opk_buf_add_printf(&text, "%s\n", file);
	}
	/* One write, so that lines of several processes don't mix. */
	if (!text.failed && text.size && !opk_write_all(fd, text.data, text.size))
		say(0, "can't write %s", path);
}
