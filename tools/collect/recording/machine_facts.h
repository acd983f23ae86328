/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording tells of machine, command and environment: META's `run`. */
#ifndef OPK_FACTS_H
#define OPK_FACTS_H

#include "collect/shared/settings.h"
#include "collect/shared/target.h"

enum { MAX_FACTS = 256 };

struct facts {
	struct opk_property items[MAX_FACTS];
	size_t count;
};

void facts_collect(struct facts *facts, const struct target *target,
                   const struct settings *settings);
void facts_clear(struct facts *facts);
/* Of an MPI, SLURM or torchrun job, from the environment; -1 where there is none. */
int facts_rank(void);

#endif
