/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disassembler that prints the file "nvdisasm.json" beside itself. Without it: "nvdisasm.do" there
 * says how to misbehave. With --landlock: whether the kernel has Landlock, as the exit code.
 */
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

int main(int argc, char **argv)
{
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
	/* Only what it was started as may run. */
	if (!strcmp(word, "shell"))
		return execl("/bin/sh", "sh", "-c", "echo '[[],[]]'", NULL) ? 3 : 0;
	if (!strcmp(word, "write"))
		return fopen("written", "w") ? 0 : 4;
	for (;;)
		puts("[[[[[[[[[[[[[[[[");
}
