/* SPDX-License-Identifier: BSD-2-Clause */
/* Confines a child with Landlock and resource limits. */
#include "child/child.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/mem.h"

/* Landlock's calls have no wrappers, and linux/landlock.h may be older than the kernel. */
enum {
	CREATE_RULESET = 444,
	ADD_RULE = 445,
	RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	RULE_OF_PATH = 1,
};

struct ruleset {
	uint64_t files;
	uint64_t net;    /* since version 4 */
	uint64_t scopes; /* since version 6 */
};

struct path_rule {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

enum {
	FILES_EXECUTE = 1 << 0,
	FILES_WRITE = 1 << 1,
	FILES_MAKE_AND_REMOVE = 0x1ff << 4,
	FILES_REFER = 1 << 13,    /* since version 2 */
	FILES_TRUNCATE = 1 << 14, /* since version 3 */
	NET_TCP = 3,
	SCOPES_SOCKETS_AND_SIGNALS = 3,
};

/* A kernel refuses unknown rules unless they are 0, so the rules depend on its version. */
static struct ruleset ruleset_of(long version)
{
	struct ruleset rules = { .files = FILES_EXECUTE | FILES_WRITE | FILES_MAKE_AND_REMOVE };

	if (version >= 2)
		rules.files |= FILES_REFER;
	if (version >= 3)
		rules.files |= FILES_TRUNCATE;
	if (version >= 4)
		rules.net = NET_TCP;
	if (version >= 6)
		rules.scopes = SCOPES_SOCKETS_AND_SIGNALS;
	return rules;
}

/* CUPTI may use the driver, if there is one, through its device files. */
static void allow_devices(long ruleset)
{
	glob_t devices;

	if (glob("/dev/nvidia*", 0, NULL, &devices))
		return;
	for (size_t i = 0; i < devices.gl_pathc; i++) {
		struct path_rule rule = { .allowed = FILES_WRITE,
			                  .fd = open(devices.gl_pathv[i], O_PATH | O_CLOEXEC) };

		if (rule.fd < 0)
			continue;
		syscall(ADD_RULE, ruleset, RULE_OF_PATH, &rule, 0);
		close(rule.fd);
	}
	globfree(&devices);
}

static void allow_execution(long ruleset, const char *path)
{
	struct path_rule rule = { .allowed = FILES_EXECUTE,
		                  .fd = path ? open(path, O_PATH | O_CLOEXEC) : -1 };

	if (rule.fd < 0)
		return;
	syscall(ADD_RULE, ruleset, RULE_OF_PATH, &rule, 0);
	close(rule.fd);
}

/* The path of a program's dynamic loader; "" if it names none. */
static void find_loader(char path[PATH_MAX], const char *program)
{
	opk_autofclose FILE *file = fopen(program, "re");
	Elf64_Ehdr header;
	Elf64_Phdr part = { 0 };

	*path = '\0';
	if (!file || fread(&header, sizeof header, 1, file) != 1
	    || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0
	    || fseek(file, (long)header.e_phoff, SEEK_SET))
		return;
	for (unsigned i = 0; i < header.e_phnum && part.p_type != PT_INTERP; i++)
		if (fread(&part, sizeof part, 1, file) != 1)
			return;
	if (part.p_type != PT_INTERP || part.p_filesz >= PATH_MAX
	    || fseek(file, (long)part.p_offset, SEEK_SET))
		return;
	path[fread(path, 1, part.p_filesz, file)] = '\0';
}

/* The kernel executes a program's dynamic loader, too. */
static void allow_program(long ruleset, const char *program)
{
	char loader[PATH_MAX];

	if (!program)
		return;
	allow_execution(ruleset, program);
	find_loader(loader, program);
	allow_execution(ruleset, loader);
}

static void confine(const char *program)
{
	long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
	struct ruleset rules = ruleset_of(version);
	long fd;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* In a coverage build, children write files with their counts. */
#ifndef OPK_COVERAGE
	/* The ruleset refuses all that it handles, except what a rule allows. */
	fd = version > 0 ? syscall(CREATE_RULESET, &rules, sizeof rules, 0) : -1;
	if (fd < 0)
		return;
	allow_devices(fd);
	allow_program(fd, program);
	syscall(RESTRICT_SELF, fd, 0);
	close((int)fd);
#else
	(void)fd, (void)rules, (void)allow_devices, (void)allow_program, (void)program;
#endif
}

/* ---- limits */

#ifndef __SANITIZE_ADDRESS__
/* Bytes that NVIDIA's libraries may map. */
static const uint64_t base_memory = (uint64_t)8 << 30;

/* The bytes that this process has mapped, and those that are data: limits include them. */
static void measure(uint64_t *mapped, uint64_t *data)
{
	opk_autofclose FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages[2] = { 0, 0 };

	if (file && fscanf(file, "%llu %*u %*u %*u %*u %llu", &pages[0], &pages[1]) != 2)
		pages[0] = pages[1] = 0;
	*mapped = (uint64_t)pages[0] * (uint64_t)sysconf(_SC_PAGESIZE);
	*data = (uint64_t)pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

static void lower(int resource, uint64_t wanted)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur <= wanted)
		return;
	limit.rlim_cur = wanted;
	setrlimit(resource, &limit);
}

/* A sanitizer maps terabytes and reports on stderr: its builds get neither limit. */
static void limit(const struct opk_limits *limits)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGXCPU, SIG_DFL);
	if (limits->seconds)
		lower(RLIMIT_CPU, limits->seconds);
#ifndef __SANITIZE_ADDRESS__
	uint64_t mapped, data;

	measure(&mapped, &data);
	uint64_t most = mapped + base_memory + limits->memory;
	struct rlimit space = { most, most };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setrlimit(RLIMIT_AS, &space);
	if (limits->data)
		lower(RLIMIT_DATA, data + limits->data);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
#endif
}

void opk_child_confine(const struct opk_limits *limits)
{
	limit(limits);
	confine(limits->program);
}

pid_t opk_child_start(void (*work)(void *data), void *data, const struct opk_limits *limits)
{
	pid_t parent = getpid(), pid;

	pid = fork();
	if (pid)
		return pid;
	/* Ends a child that hangs after its parent was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A terminal sends SIGINT to the whole process group; the parent handles it. */
	signal(SIGINT, SIG_IGN);
	if (getppid() == parent) {
		opk_child_confine(limits);
		work(data);
	}
	_exit(0);
}
