/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts that outlive a process: in System V memory, which needs no file and no descriptor. */
#include "collect/shared/shared.h"

#include <sys/shm.h>

enum { MOST_TALLIES = 4096 };

struct tallies {
	char token[24]; /* the run's: in another namespace the id may mean other shared memory */
	uint32_t count;
	struct tally tallies[MOST_TALLIES];
};

static struct tallies *shared;
static struct tally nobody_sees;
struct tally *tally = &nobody_sees;

static struct tallies *attach(int id)
{
	void *memory = shmat(id, NULL, 0);

	/* shmat() returns this on failure. */
	return memory == (void *)-1 ? NULL : memory; /* NOLINT(performance-no-int-to-ptr) */
}

/* The id is valid while the memory is attached; the last process to detach removes it. */
void tallies_new(const struct settings *settings)
{
	int id = shmget(IPC_PRIVATE, sizeof *shared, IPC_CREAT | 0600);
	char text[16];

	if (shared)
		shmdt(shared);
	shared = id < 0 ? NULL : attach(id);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	if (!shared)
		return;
	snprintf(shared->token, sizeof shared->token, "%s", settings->token);
	snprintf(text, sizeof text, "%d", id);
	settings_export(SETTING_TALLIES, text);
}

const struct tally *tallies_find(unsigned process, unsigned image)
{
	uint32_t count = shared ? shared->count : 0;

	for (uint32_t i = 0; i < count && i < MOST_TALLIES; i++)
		if (shared->tallies[i].process == process && shared->tallies[i].image == image)
			return &shared->tallies[i];
	return NULL;
}

uint64_t tallies_late(void)
{
	uint32_t count = shared ? shared->count : 0;
	uint64_t late = 0;

	for (uint32_t i = 0; i < count && i < MOST_TALLIES; i++)
		late += shared->tallies[i].late;
	return late;
}

void tally_begin(const struct settings *settings, unsigned image)
{
	struct tallies *tallies = settings->given[SETTING_TALLIES] ? attach((int)settings->tallies)
	                                                           : NULL;
	struct shmid_ds info;
	uint32_t number;

	tally->image = image;
	if (!tallies)
		return;
	if (shmctl((int)settings->tallies, IPC_STAT, &info) || info.shm_segsz < sizeof *tallies
	    || strncmp(tallies->token, settings->token, sizeof tallies->token)
	    || (number = __atomic_fetch_add(&tallies->count, 1, __ATOMIC_RELAXED))
	               >= MOST_TALLIES) {
		shmdt(tallies);
		return;
	}
	tallies->tallies[number] = *tally;
	tally = &tallies->tallies[number];
	tally->process = (unsigned)getpid();
}
