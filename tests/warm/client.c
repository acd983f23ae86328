/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces offpeak in a warm test. If no server can be started, it becomes offpeak. */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int server = -1;

static _Noreturn void run_cold(char **argv)
{
	execv(TEST_TOOL, argv);
	fprintf(stderr, "%s: %s\n", TEST_TOOL, strerror(errno));
	_exit(127);
}

/* ---- a server */

static bool set_address(struct sockaddr_un *address)
{
	const char *path = getenv("OFFPEAK_WARM_SOCKET");

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!path || strlen(path) >= sizeof address->sun_path)
		return false;
	strcpy(address->sun_path, path);
	return true;
}

/* Its standard streams are /dev/null, so that it does not keep a pipe open. */
static _Noreturn void become_server(int listener)
{
	char number[16], tool[] = TEST_TOOL, *argv[] = { tool, NULL };
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < WARM_STREAMS; i++)
		dup2(null, i);
	warm_close_from(listener + 1);
	snprintf(number, sizeof number, "%d", listener);
	setenv(WARM_LISTENER, number, 1);
	setenv("LD_PRELOAD", WARM_SERVER, 1);
	setsid();
	execv(TEST_TOOL, argv);
	_exit(127);
}

/* Clients that connect before the server is ready wait. False: another client starts it. */
static bool start_server(const struct sockaddr_un *address)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bool ours = listener > 2 && !bind(listener, (const void *)address, sizeof *address)
	            && !listen(listener, 64);
	pid_t pid = ours ? fork() : -1;

	/* Forks twice: the client may have replaced the test's shell, which must not get a child */
	if (!pid && fork())
		_exit(0);
	if (!pid)
		become_server(listener);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	close(listener);
	return ours;
}

/* A server that is not ready after 0.2 s has died, or can't be started. */
static int connect_to(const struct sockaddr_un *address)
{
	bool missing;

	for (int i = 0; i < 100; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, WARM_STREAMS);

		close(fd);
		if (high < 0 || !connect(high, (const void *)address, sizeof *address))
			return high;
		missing = errno == ENOENT || errno == ECONNREFUSED;
		close(high);
		if (!missing)
			return -1;
		if (!start_server(address))
			usleep(2000);
	}
	return -1;
}

/* ---- the command */

static void describe(struct warm_request *request, char **argv)
{
	struct sigaction action;

	for (int i = 1; i < WARM_SIGNALS; i++)
		if (!sigaction(i, NULL, &action) && action.sa_handler == SIG_IGN)
			request->ignored |= 1U << i;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &request->limits[i]);
	request->mask = umask(0);
	umask(request->mask);
	for (; argv[request->argument_count]; request->argument_count++)
		request->text_size += (uint32_t)strlen(argv[request->argument_count]) + 1;
	request->text_count = request->argument_count;
	for (char **variable = environ; *variable; variable++, request->text_count++)
		request->text_size += (uint32_t)strlen(*variable) + 1;
}

static bool write_all(const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t some = send(server, (const char *)data + done, size - done, MSG_NOSIGNAL);

		if (some <= 0)
			return false;
		done += (size_t)some;
	}
	return true;
}

static bool send_head(const struct warm_request *request, const int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE((WARM_STREAMS + 1) * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)request, sizeof *request };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = CMSG_SPACE(count * sizeof *fds) };

	control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		                           .cmsg_type = SCM_RIGHTS,
		                           .cmsg_len = CMSG_LEN(count * sizeof *fds) };
	memcpy(CMSG_DATA(&control.header), fds, count * sizeof *fds);
	return sendmsg(server, &message, MSG_NOSIGNAL) == sizeof *request;
}

static bool send_request(char **argv)
{
	int fds[1 + WARM_STREAMS] = { open(".", O_PATH | O_CLOEXEC | O_DIRECTORY) };
	struct warm_request request = { 0 };
	size_t count = 1;
	bool sent;

	for (int i = 0; i < WARM_STREAMS; i++)
		if (fds[0] != i && fcntl(i, F_GETFD) != -1) {
			request.streams |= 1U << i;
			fds[count++] = i;
		}
	describe(&request, argv);
	sent = fds[0] >= 0 && send_head(&request, fds, count);
	for (; sent && *argv; argv++)
		sent = write_all(*argv, strlen(*argv) + 1);
	for (char **variable = environ; sent && *variable; variable++)
		sent = write_all(*variable, strlen(*variable) + 1);
	return sent;
}

/* ---- its end */

static void pass_on(int number)
{
	unsigned char byte = (unsigned char)number;
	ssize_t written = write(server, &byte, 1);

	(void)written;
}

static void watch_signals(void)
{
	static const int passed[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
		struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART }, old;

		if (!sigaction(passed[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(passed[i], &action, NULL);
	}
}

static _Noreturn void end_as(int status)
{
	if (WIFSIGNALED(status)) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	struct sockaddr_un address;
	int status;

	if (argc < 1 || !set_address(&address) || (server = connect_to(&address)) < 0)
		run_cold(argv);
	watch_signals();
	/* Nothing ran: the server starts a command only after the whole request. */
	if (!send_request(argv))
		run_cold(argv);
	if (recv(server, &status, sizeof status, MSG_WAITALL) != sizeof status) {
		fputs("tests/warm: the server is gone\n", stderr);
		return 125;
	}
	end_as(status);
}
