/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_FAKE_NV_H
#define OPK_FAKE_NV_H
#include "adapters/nv/nv_table.h"
#endif
