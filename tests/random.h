/* SPDX-License-Identifier: BSD-2-Clause */
/* xorshift: the same bytes in every run. */
#ifndef OPK_RANDOM_H
#define OPK_RANDOM_H

#include <math.h>
#include <stdint.h>

#define RANDOM_SEED 88172645463325252u
static uint64_t random_state = RANDOM_SEED;

/* A fixture: a test gets the same bytes alone and after other tests in one process. */
static inline void random_restart(void)
{
	random_state = RANDOM_SEED;
}

static inline uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Between 0 and 1, and by the normal distribution. */
static inline double random_uniform(void)
{
	return ((double)(random64() >> 11) + 0.5) / 9007199254740992.0;
}

static inline double random_normal(void)
{
	return sqrt(-2 * log(random_uniform()))
	       * cos(2 * 3.14159265358979323846 * random_uniform());
}

#endif
