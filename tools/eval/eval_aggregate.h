/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics over ranges that share a key, as table rows: one a group and metric. */
#ifndef OPK_EVAL_AGGREGATE_H
#define OPK_EVAL_AGGREGATE_H

#include "eval/eval_rows.h"

/*
 * What `key` is, opk_aggregate_new() says. Of `rows` that counts which columns are chosen, and
 * whether rows were left out. Computes all before it prints the first; reports failures.
 */
int eval_aggregate(struct app *app, const struct eval_input *inputs, size_t count,
                   const struct eval_rows *rows, const char *key, bool keep_first_sample,
                   unsigned timeout_s);

#endif
