/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disassembler that prints the file "nvdisasm.json" beside itself. Without it: "nvdisasm.do" there
 * says how to misbehave. With --landlock: whether the kernel has Landlock, as the exit code.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *open_beside(const char *program, const char *ending)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.%s", program, ending);
	return fopen(path, "r");
}

static int print_all(FILE *in)
{
	int c;

	while ((c = getc(in)) != EOF)
		putchar(c);
	return 0;
}

/* Whether it got files besides the input, which has number 3. */
static int has_other_files(void)
{
	for (int fd = 4; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int others = has_other_files();
	FILE *json = open_beside(argv[0], "json"), *order = open_beside(argv[0], "do");
	char word[16] = "";

	if (argc == 2 && !strcmp(argv[1], "--landlock"))
		return syscall(444, NULL, 0, 1) <= 0; /* landlock_create_ruleset: its version */
	if (json)
		return print_all(json);
	if (!order || fscanf(order, "%15s", word) != 1)
		return 2;
	if (!strcmp(word, "crash"))
		raise(SIGKILL);
	if (!strcmp(word, "files"))
		return others ? 6 : 5;
	if (!strcmp(word, "wait"))
		pause();
	/* Only what it was started as may run. */
	if (!strcmp(word, "shell"))
		return execl("/bin/sh", "sh", "-c", "echo '[[],[]]'", NULL) ? 3 : 0;
	if (!strcmp(word, "write"))
		return fopen("written", "w") ? 0 : 4;
	for (;;)
		puts("[[[[[[[[[[[[[[[[");
}
