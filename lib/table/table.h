/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings as tables: columns and rows. */
#ifndef OPK_TABLE_H
#define OPK_TABLE_H

#include "base/ctx.h"

#endif
