/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into offpeak: loads NVIDIA's libraries, and calls main() in a child for each client. */
#include "adapters/nv/nv_table.h"
#include "warm.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                     void *);

enum { LISTENER, OWNER, FIRST_CLIENT, MOST = 256 };

/* The client at i, and the pidfd of its child at i + 1. */
static struct pollfd polled[MOST];
static pid_t children[MOST];
static nfds_t polled_count = FIRST_CLIENT;
static main_fn *offpeak_main;

/* What one client sent. */
struct command {
	struct warm_request request;
	int fds[1 + WARM_STREAMS];
	char *texts;
};

static bool read_head(struct command *command, int client)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof command->fds)];
	} control;
	struct iovec part = { &command->request, sizeof command->request };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof control };

	if (recvmsg(client, &message, MSG_WAITALL) != sizeof command->request
	    || control.header.cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(command->fds, CMSG_DATA(&control.header), control.header.cmsg_len - CMSG_LEN(0));
	return true;
}

static bool read_command(struct command *command, int client)
{
	size_t size;

	if (!read_head(command, client))
		return false;
	size = command->request.text_size;
	command->texts = malloc(size + 1);
	return command->texts && recv(client, command->texts, size, MSG_WAITALL) == (ssize_t)size;
}

/* ---- in the child */

/* Replaces all descriptors of the server. */
static void take_descriptors(const struct command *command)
{
	int next = 1;

	for (int i = 0; i < WARM_STREAMS; i++) {
		if (command->request.streams & 1U << i)
			dup2(command->fds[next++], i);
		else
			close(i);
	}
	if (fchdir(command->fds[0]))
		_exit(125);
	warm_close_from(WARM_STREAMS);
}

static void take_attributes(const struct warm_request *request)
{
	umask(request->mask);
	for (int i = 1; i < WARM_SIGNALS; i++)
		signal(i, request->ignored & 1U << i ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		setrlimit((__rlimit_resource_t)i, &request->limits[i]);
}

static _Noreturn void run(struct command *command)
{
	const struct warm_request *request = &command->request;
	char **argv = calloc(request->argument_count + 1, sizeof *argv), *text = command->texts;

	if (!argv)
		_exit(125);
	clearenv();
	for (uint32_t i = 0; i < request->text_count; i++, text += strlen(text) + 1) {
		if (i < request->argument_count)
			argv[i] = text;
		else
			putenv(text);
	}
	take_descriptors(command);
	take_attributes(request);
	program_invocation_name = argv[0];
	exit(offpeak_main((int)request->argument_count, argv, environ));
}

/* ---- in the server */

static void add_client(int client, pid_t pid)
{
	polled[polled_count] = (struct pollfd){ client, POLLIN, 0 };
	polled[polled_count + 1] = (struct pollfd){ (int)syscall(SYS_pidfd_open, pid, 0), POLLIN,
		                                    0 };
	children[polled_count] = pid;
	polled_count += 2;
}

static void accept_client(void)
{
	int client = accept(polled[LISTENER].fd, NULL, NULL);
	struct command command = { 0 };
	bool whole = client >= 0 && read_command(&command, client);
	pid_t pid = whole && polled_count + 2 <= MOST ? fork() : -1;

	if (!pid)
		run(&command);
	for (size_t i = 0; i < sizeof command.fds / sizeof *command.fds; i++)
		if (command.fds[i])
			close(command.fds[i]);
	free(command.texts);
	if (pid > 0)
		add_client(client, pid);
	else
		close(client);
}

static void end_client(nfds_t i)
{
	int status = 125 << 8;
	ssize_t sent;

	waitpid(children[i], &status, 0);
	sent = send(abs(polled[i].fd), &status, sizeof status, MSG_NOSIGNAL);
	(void)sent;
	close(abs(polled[i].fd));
	close(polled[i + 1].fd);
	polled_count -= 2;
	polled[i] = polled[polled_count];
	polled[i + 1] = polled[polled_count + 1];
	children[i] = children[polled_count];
}

/* The client is gone: it was killed. poll() ignores a negative descriptor. */
static void pass_signal(nfds_t i)
{
	unsigned char number = SIGKILL;

	if (recv(polled[i].fd, &number, 1, MSG_DONTWAIT) == 0)
		polled[i].fd = -polled[i].fd;
	kill(children[i], number);
}

static _Noreturn void serve(void)
{
	while (poll(polled, polled_count, -1) >= 0 || errno == EINTR) {
		if (polled[OWNER].revents)
			_exit(0);
		for (nfds_t i = polled_count; i > FIRST_CLIENT; i -= 2) {
			if (polled[i - 1].revents)
				end_client(i - 2);
			else if (polled[i - 2].revents)
				pass_signal(i - 2);
		}
		if (polled[LISTENER].revents)
			accept_client();
	}
	_exit(125);
}

static void load_libraries(char *paths)
{
	char *rest = paths;

	for (char *path; (path = strsep(&rest, ":"));)
		nv_open_host(path);
}

static int become_server(int argc, char **argv, char **environment)
{
	const char *listener = getenv(WARM_LISTENER), *owner = getenv(WARM_OWNER);
	char *libraries = getenv(WARM_LIBRARIES);

	if (!listener || !owner || !libraries)
		return offpeak_main(argc, argv, environment);
	polled[LISTENER] = (struct pollfd){ atoi(listener), POLLIN, 0 };
	polled[OWNER] = (struct pollfd){ (int)syscall(SYS_pidfd_open, atoi(owner), 0), POLLIN, 0 };
	/* The test has ended already. */
	if (polled[OWNER].fd < 0)
		_exit(0);
	load_libraries(libraries);
	serve();
}

/* Every program starts here; it calls main(). */
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
	start_fn *start;

	*(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
	offpeak_main = main;
	return start(become_server, argc, argv, init, fini, rtld_fini, stack_end);
}
