/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes use a watched GPU, and when: a record for each, as of an NVTX range with the
 * process's name. A long use has several records, one after the other.
 */
#include "collect/profilers/profilers.h"

enum { LONGEST_NS = 2000000000 };

struct user {
	unsigned process;
	uint64_t since, seen;
	bool present; /* at the last look */
	char name[32];
};

struct users {
	int device;
	struct segments *segments;
	struct counts *counts;
	struct user items[MOST_USERS];
	size_t count;
	struct timespec looked; /* by users_look() */
};

/* NVML has the host's numbers: in a container with its own they mean other processes. */
static bool has_hosts_numbers(void)
{
	static const char first[] = "pid:[4026531836]"; /* Linux's first namespace */
	char own[sizeof first] = "";
	ssize_t length = readlink("/proc/self/ns/pid", own, sizeof own - 1);

	return length == (ssize_t)sizeof first - 1 && !strcmp(own, first);
}

/* A range has no device: its name says which GPU was used. */
static void write_record(struct users *users, const struct user *user)
{
	struct segment segment = { .activities = calloc(1, sizeof *segment.activities),
		                   .count = 1 };
	char *name = *user->name ? opk_printf("GPU %d: %s (%u)", users->device, user->name,
	                                      user->process)
	                         : opk_printf("GPU %d: process %u", users->device, user->process);

	if (!segment.activities || !name) {
		free(segment.activities);
		free(name);
		return;
	}
	*segment.activities = (struct opk_activity){
		.kind = OPK_ACTIVITY_RANGE,
		.device = -1,
		.name = name,
		.symbol = "",
		.start_ns = user->since,
		.end_ns = user->seen,
		.process = user->process,
		.rank = -1,
	};
	segments_add(users->segments, &segment);
	users->counts->activities++;
}

static struct user *find(struct users *users, unsigned process, uint64_t now)
{
	char number[16];

	for (size_t i = 0; i < users->count; i++)
		if (users->items[i].process == process)
			return &users->items[i];
	if (users->count == MOST_USERS)
		return NULL;
	users->items[users->count] = (struct user){ .process = process, .since = now, .seen = now };
	snprintf(number, sizeof number, "%u", process);
	if (has_hosts_numbers())
		process_name(users->items[users->count].name, number);
	return &users->items[users->count++];
}

/* Writes records of what has ended, or is long. The host's clock may have been set back. */
static void write_due(struct users *users, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < users->count; i++) {
		struct user *user = &users->items[i];
		bool ended = !user->present, back = now < user->seen;

		if (!ended && !back)
			user->seen = now;
		if (ended || back || now - user->since > LONGEST_NS) {
			write_record(users, user);
			user->since = user->seen = back ? now : user->seen;
		}
		user->present = false;
		if (!ended)
			users->items[kept++] = *user;
	}
	users->count = kept;
}

struct users *users_new(int device, struct segments *segments, struct counts *counts)
{
	struct users *users = calloc(1, sizeof *users);

	if (users) {
		users->device = device;
		users->segments = segments;
		users->counts = counts;
	}
	return users;
}

static void look(struct users *users)
{
	unsigned processes[MOST_USERS];
	size_t count = 0;
	bool known = clocks_processes(processes, &count, users->device);
	uint64_t now = clock_host_ns();

	for (size_t i = 0; i < count; i++) {
		struct user *user = find(users, processes[i], now);

		if (user)
			user->present = true;
	}
	/* If NVML can't say, what it said last holds. */
	for (size_t i = 0; !known && i < users->count; i++)
		users->items[i].present = true;
	write_due(users, now);
}

void users_look(struct users *users)
{
	if (users && clock_is_due(&users->looked, NVML_EVERY_S))
		look(users);
}

void users_end(struct users *users)
{
	if (!users)
		return;
	look(users);
	for (size_t i = 0; i < users->count; i++)
		write_record(users, &users->items[i]);
	free(users);
}
