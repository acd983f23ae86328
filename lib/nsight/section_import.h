/* SPDX-License-Identifier: BSD-2-Clause */
/* What a section file of Nsight Compute asks for. */
#ifndef OPK_SECTION_IMPORT_H
#define OPK_SECTION_IMPORT_H

#include "nsight/set_draft.h"

/* Puts its metrics and formulas into the drafts; a failure is the drafts' code. */
void opk_section_import(struct opk_drafts *drafts, struct opk_source *source);

#endif
