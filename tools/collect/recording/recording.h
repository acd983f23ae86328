/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning of a process's recording: its name, and what its metadata says. */
#ifndef OPK_RECORDING_H
#define OPK_RECORDING_H

#include "collect/recording/segments.h"
#include "collect/shared/set_file.h"
#include "collect/shared/settings.h"
#include "collect/shared/target.h"

/*
 * Begins the file with the metadata of this run, of which `backend` is a part, and the
 * counter-availability image. NULL with a message on stderr.
 */
struct segments *recording_begin(const struct target *target, const struct settings *settings,
                                 const struct collect_set *set, const char *backend,
                                 const void *availability, size_t availability_size);
/* The rank in an MPI, SLURM or torchrun job, from the environment; -1 where there is none. */
int recording_rank(void);

#endif
