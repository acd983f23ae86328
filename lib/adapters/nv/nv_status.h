/* SPDX-License-Identifier: BSD-2-Clause */
/* CUptiResult and NVPA_Status by number and name, with advice where a user can act. */
#ifndef OPK_NV_STATUS_H
#define OPK_NV_STATUS_H

struct nv_status {
	int number;
	const char *name;
	const char *advice; /* NULL: none */
};

/* Ended by a NULL name. */
extern const struct nv_status nv_cupti_statuses[];
extern const struct nv_status nv_nvpa_statuses[];

#endif
