/* SPDX-License-Identifier: BSD-2-Clause */
/* opk_auto(opk_file) struct opk_file *file = NULL; frees what commands open. */
#ifndef OPK_TOOLS_AUTO_H
#define OPK_TOOLS_AUTO_H

#include "base/mem.h"
#include "chip/door.h"
#include "container/door.h"
#include "images/door.h"
#include "nsight/door.h"
#include "plan/door.h"
#include "set/door.h"

OPK_DEFINE_AUTO(opk_catalog)
OPK_DEFINE_AUTO(opk_chips)
OPK_DEFINE_AUTO(opk_description)
OPK_DEFINE_AUTO(opk_matcher)
OPK_DEFINE_AUTO(opk_plan)
OPK_DEFINE_AUTO(opk_plan_split)
OPK_DEFINE_AUTO(opk_set)
OPK_DEFINE_AUTO(opk_set_import)
OPK_DEFINE_AUTO(opk_single_pass_sets)
OPK_DEFINE_AUTO(opk_summary)
OPK_DEFINE_AUTO(opk_picture)

#endif
